"""Products of a few rows with many, both read along their rows: sizes around tiles and vectors, stacks, threads."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.library import few_rows, gemm
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.test_gemm import product, run, values
from tests.ptir.harness import Placed

FLOATS = [dtypes.float32, dtypes.float64]


@pytest.fixture(autouse=True)
def _only_thin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_rows, "SMALLEST", 0)
    monkeypatch.setattr(few_rows, "_flat_product", _refused)
    monkeypatch.setattr(gemm, "blocked_product", _refused)
    monkeypatch.setattr(gemm, "_blas_product", _refused)


def _refused(*_: object) -> None:
    raise AssertionError("the product should be one of few rows.")


def check(
    m: int, k: int, n: int, rng: np.random.Generator, dtype: DType = dtypes.float32,
    strides: tuple[tuple[int, int], tuple[int, int], tuple[int, int]] | None = None,
) -> None:  # fmt: skip
    own = strides or ((k, 1), (1, k), (n, 1))
    x, y = Placed(values((m, k), rng, dtype), own[0], 2), Placed(values((k, n), rng, dtype), own[1], 1)
    out = Placed(np.full((m, n), np.nan, dtype.numpy), own[2], 3)
    found = run(product((m, k), (k, n), dtype=dtype), x, y, out)
    assert found is not None
    expected = x.view.astype(np.float64) @ y.view.astype(np.float64)
    tolerance = 2e-6 if dtype is dtypes.float32 else 1e-14
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * k**0.5 * 4)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 7, 9, 24])
@pytest.mark.parametrize("k", [2, 7, 8, 16, 33])
def test_sizes(m: int, k: int, dtype: DType, rng: np.random.Generator) -> None:
    for n in (24, 25, 31, 72):
        check(m, k, n, rng, dtype)
        check(n, k, m, rng, dtype)


@pytest.mark.parametrize("far", [0, 3])
@pytest.mark.parametrize("by_columns", [False, True])
def test_rows_apart_and_results_by_columns(far: int, by_columns: bool, rng: np.random.Generator) -> None:
    for m, n in ((3, 40), (40, 3), (1, 40), (40, 1)):
        result = (1, m + far) if by_columns else (n + far, 1)
        check(m, 21, n, rng, strides=((21 + far, 1), (1, 21 + far), result))


@pytest.mark.parametrize("threads", [1, 3])
def test_threads(threads: int, rng: np.random.Generator) -> None:
    before = get_num_threads()
    set_num_threads(threads)
    try:
        check(5, 300, 1000, rng)
        check(1000, 300, 1, rng, dtypes.float64)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("sizes", [(2, 9, 30), (30, 9, 2)], ids=["wide right", "wide left"])
def test_stacks(sizes: tuple[int, int, int], rng: np.random.Generator) -> None:
    m, k, n = sizes
    x, y = values((3, m, k), rng), values((3, n, k), rng)
    program = product((3, m, k), (3, n, k), 1, lhs_contract=(2,), rhs_contract=(2,))
    found = run(program, Placed(x), Placed(y), Placed(np.empty((3, m, n))))
    np.testing.assert_allclose(found, x @ y.transpose(0, 2, 1), rtol=1e-12, atol=1e-12)


def test_what_is_not_finite(rng: np.random.Generator) -> None:
    x, y = values((2, 20), rng, dtypes.float32), values((30, 20), rng, dtypes.float32)
    x[0, 3], y[5, 19], y[7, 0] = np.nan, np.inf, -np.inf
    x[1, 0], x[1, 19] = 1.0, 2.0
    program = product((2, 20), (30, 20), lhs_contract=(1,), rhs_contract=(1,), dtype=dtypes.float32)
    found = run(program, Placed(x), Placed(y), Placed(np.empty((2, 30), np.float32)))
    assert found is not None
    assert np.isnan(found[0]).all()
    assert found[1, 5] == np.inf
    assert found[1, 7] == -np.inf
    assert np.isfinite(np.delete(found[1], [5, 7])).all()
