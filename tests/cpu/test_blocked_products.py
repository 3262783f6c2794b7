"""Products by our own blocks: forms, sizes around tiles, panels and blocks, stacks, threads, special numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.library import block_products
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.test_gemm import product, run, values
from tests.ptir.harness import Placed


@pytest.fixture(autouse=True)
def _all_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_products, "LARGE", 0)


@pytest.fixture(params=[1, 3])
def _threads(request: pytest.FixtureRequest):
    before = get_num_threads()
    set_num_threads(request.param)
    yield
    set_num_threads(before)


def lines(rows: int, columns: int, kind: str) -> tuple[int, int]:
    """Strides of a matrix by rows or by columns, perhaps with room between its lines."""
    gap = 3 if "far" in kind else 0
    return (1, rows + gap) if "columns" in kind else (columns + gap, 1)


def check(
    m: int, k: int, n: int, kinds: tuple[str, str, str], dtype: DType, rng: np.random.Generator
) -> None:
    x = Placed(values((m, k), rng, dtype), lines(m, k, kinds[0]), 2)
    y = Placed(values((k, n), rng, dtype), lines(k, n, kinds[1]), 1)
    out = Placed(np.full((m, n), np.nan, dtype.numpy), lines(m, n, kinds[2]), 3)
    before = out.buffer.copy()
    found = run(product((m, k), (k, n), dtype=dtype), x, y, out)
    assert found is not None
    expected = x.view.astype(np.float64) @ y.view.astype(np.float64)
    tolerance = 2e-6 if dtype is dtypes.float32 else 1e-14
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * k**0.5 * 8)
    touched = Placed(np.zeros((m, n), dtype.numpy), lines(m, n, kinds[2]), 3)
    touched.view[...] = 1
    outside = touched.buffer == 0
    inner = np.repeat(touched.buffer.view(dtype.numpy) == 1, dtype.itemsize)
    assert (out.buffer[outside & ~inner] == before[outside & ~inner]).all()


KINDS = list(itertools.product(["rows", "far columns"], ["far rows", "columns"], ["far rows", "columns"]))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("sizes", [(2, 1, 2), (13, 5, 33), (12, 257, 32), (31, 64, 70)], ids=str)
def test_forms(sizes, kinds, dtype: DType, rng: np.random.Generator) -> None:
    check(*sizes, kinds, dtype, rng)


@pytest.mark.parametrize("m", [2, 3, 11, 12, 13, 17, 25])
@pytest.mark.parametrize("n", [2, 15, 16, 17, 31, 33, 49])
def test_edges_of_tiles(m: int, n: int, rng: np.random.Generator) -> None:
    check(m, 19, n, ("rows", "rows", "rows"), dtypes.float32, rng)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize(
    "sizes", [(300, 600, 90), (70, 513, 400), (64, 2, 64), (129, 31, 65), (1100, 300, 40)], ids=str
)
def test_blocks_and_threads(sizes, rng: np.random.Generator) -> None:
    check(*sizes, ("far rows", "columns", "rows"), dtypes.float32, rng)


@pytest.mark.usefixtures("_threads")
def test_stacks_that_are_not_evenly_spaced(rng: np.random.Generator) -> None:
    x, y = Placed(values((2, 3, 5, 4), rng)), Placed(values((2, 3, 4, 6), rng))
    x.strides, y.strides = (0, 20, 4, 1), (72, 0, 1, 4)
    out = Placed(np.zeros((2, 3, 5, 6)), (30, 60, 6, 1))
    found = run(product((2, 3, 5, 4), (2, 3, 4, 6), batch=2), x, y, out)
    np.testing.assert_allclose(found, x.view @ y.view, rtol=1e-12)


@pytest.mark.usefixtures("_threads")
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize("rows", [2, 13, 1100])
def test_left_rows_that_are_pages_apart(rows: int, dtype: DType, rng: np.random.Generator) -> None:
    inner = 300
    x, y = Placed(values((rows, inner), rng, dtype), (1024, 1), 2), Placed(values((inner, 257), rng, dtype))
    out = Placed(np.full((rows, 257), np.nan, dtype.numpy))
    found = run(product((rows, inner), (inner, 257), dtype=dtype), x, y, out)
    expected = x.view.astype(np.float64) @ y.view.astype(np.float64)
    tolerance = 3e-4 if dtype is dtypes.float32 else 1e-12
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_stacks_of_results_by_columns(rng: np.random.Generator) -> None:
    x, y = values((3, 30, 40), rng), values((3, 40, 50), rng)
    out = Placed(np.zeros((3, 30, 50)), (1500, 1, 30))
    found = run(product((3, 30, 40), (3, 40, 50), batch=1), Placed(x), Placed(y), out)
    np.testing.assert_allclose(found, x @ y, rtol=1e-12, atol=1e-12)


def test_nan_and_infinity_stay_in_their_rows_and_columns(rng: np.random.Generator) -> None:
    x, y = values((20, 30), rng), values((30, 40), rng)
    x[3, 4], y[5, 6], y[7, 39] = np.nan, np.inf, 1e308
    left, right, out = Placed(x), Placed(y), Placed(np.zeros((20, 40)))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(run(product((20, 30), (30, 40)), left, right, out), x @ y, rtol=1e-10)
