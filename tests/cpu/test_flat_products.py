"""Products of a few rows with a matrix that lies row by row: sizes around tiles, strides, stacks, threads."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.library import few_rows, gemm
from raxis_cpu.llvm.compile import host
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.test_gemm import product, run, values
from tests.ptir.harness import Placed

pytestmark = pytest.mark.skipif(host().vector_bytes == 16, reason="needs registers that are loaded in part")
FLOATS = [dtypes.float32, dtypes.float64]


@pytest.fixture(autouse=True)
def _only_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_rows, "SMALLEST", 0)
    monkeypatch.setattr(few_rows, "_MANY_ELEMENTS", 0)
    monkeypatch.setattr(few_rows, "_thin_product", _refused)
    monkeypatch.setattr(gemm, "blocked_product", _refused)
    monkeypatch.setattr(gemm, "_blas_product", _refused)


def _refused(*_: object) -> None:
    raise AssertionError("the product should be one with a matrix that lies row by row.")


def check(
    m: int, k: int, n: int, rng: np.random.Generator, dtype: DType = dtypes.float32,
    strides: tuple[tuple[int, int], tuple[int, int], tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    own = strides or ((k, 1), (n, 1), (n, 1))
    x, y = Placed(values((m, k), rng, dtype), own[0], 2), Placed(values((k, n), rng, dtype), own[1], 1)
    out = Placed(np.full((m, n), np.nan, dtype.numpy), own[2], 3)
    found = run(product((m, k), (k, n), dtype=dtype), x, y, out)
    assert found is not None
    expected = x.view.astype(np.float64) @ y.view.astype(np.float64)
    tolerance = 2e-6 if dtype is dtypes.float32 else 1e-14
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * k**0.5 * 8)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("m", range(2, 13))
def test_sizes(m: int, dtype: DType, rng: np.random.Generator) -> None:
    for k in (2, 33):
        for n in (13, 16, 127, 128, 300):
            check(m, k, n, rng, dtype)


def test_elements_apart_and_operands_exchanged(rng: np.random.Generator) -> None:
    check(3, 21, 50, rng, strides=((24, 1), (53, 1), (55, 1)))
    check(3, 21, 50, rng, strides=((1, 5), (53, 1), (55, 1)))
    check(50, 21, 3, rng, strides=((1, 53), (1, 24), (1, 55)))
    check(50, 21, 3, rng, strides=((1, 53), (5, 1), (1, 55)))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(threads: int, rng: np.random.Generator) -> None:
    before = get_num_threads()
    set_num_threads(threads)
    try:
        check(5, 300, 1000, rng)
    finally:
        set_num_threads(before)


def test_stacks(rng: np.random.Generator) -> None:
    x, y = values((3, 2, 9), rng), values((3, 9, 30), rng)
    found = run(product((3, 2, 9), (3, 9, 30), 1), Placed(x), Placed(y), Placed(np.empty((3, 2, 30))))
    np.testing.assert_allclose(found, x @ y, rtol=1e-12, atol=1e-12)
    out = Placed(np.empty((3, 30, 2)), (60, 1, 30))
    program = product((3, 9, 30), (3, 2, 9), 1, lhs_contract=(1,), rhs_contract=(2,))
    np.testing.assert_allclose(
        run(program, Placed(y), Placed(x), out), (x @ y).transpose(0, 2, 1), rtol=1e-12, atol=1e-12
    )


def test_what_is_not_finite(rng: np.random.Generator) -> None:
    x, y = values((2, 20), rng, dtypes.float32), values((20, 30), rng, dtypes.float32)
    x[0, 3], y[19, 5], y[0, 7] = np.nan, np.inf, -np.inf
    x[1, 0], x[1, 19] = 1.0, 2.0
    program = product((2, 20), (20, 30), dtype=dtypes.float32)
    found = run(program, Placed(x), Placed(y), Placed(np.empty((2, 30), np.float32)))
    assert found is not None
    assert np.isnan(found[0]).all()
    assert found[1, 5] == np.inf
    assert found[1, 7] == -np.inf
    assert np.isfinite(np.delete(found[1], [5, 7])).all()
