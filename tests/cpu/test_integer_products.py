"""Products of integers: exact, and wrapping as NumPy's do."""

from __future__ import annotations

import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.dtypes import DType
from tests.cpu.test_gemm import product, run
from tests.ptir.harness import Placed

WIDE = [dtypes.int32, dtypes.int64]
ALL = [dtypes.uint8, dtypes.int8, dtypes.int16, *WIDE]


def values(shape: tuple[int, ...], rng: np.random.Generator, dtype: DType) -> np.ndarray:
    """Any integers, so that most sums wrap."""
    limits = np.iinfo(dtype.numpy)
    return rng.integers(limits.min, limits.max, shape, dtype.numpy, endpoint=True)


@pytest.mark.parametrize("dtype", WIDE, ids=str)
@pytest.mark.parametrize("left", ["rows", "columns"])
@pytest.mark.parametrize("right", ["rows", "columns"])
@pytest.mark.parametrize(
    "sizes", [(1, 1, 1), (1, 300, 200), (5, 100, 90), (70, 9, 1), (37, 300, 65)], ids=str
)
def test_arrangements(
    sizes: tuple[int, int, int], left: str, right: str, dtype: DType, rng: np.random.Generator
) -> None:
    m, k, n = sizes
    strides = [(k, 1) if left == "rows" else (1, m), (n, 1) if right == "rows" else (1, k)]
    x, y = (
        Placed(values(shape, rng, dtype), stride, 1)
        for shape, stride in zip(((m, k), (k, n)), strides, strict=True)
    )
    out = Placed(np.zeros((m, n), dtype.numpy))
    found = run(product((m, k), (k, n), dtype=dtype), x, y, out)
    assert found is not None
    np.testing.assert_array_equal(found, x.view @ y.view)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize(
    "sizes",
    [(0, 3, 2), (2, 0, 3), (3, 4, 5), (1, 500, 64), (1, 999, 301), (7, 400, 77), (130, 70, 90)],
    ids=str,
)
def test_dtypes(sizes: tuple[int, int, int], dtype: DType, rng: np.random.Generator) -> None:
    m, k, n = sizes
    x, y = values((m, k), rng, dtype), values((k, n), rng, dtype)
    np.testing.assert_array_equal((raxis.tensor(x) @ raxis.tensor(y)).numpy(), x @ y)
    np.testing.assert_array_equal((raxis.tensor(y).t() @ raxis.tensor(x).t()).numpy(), y.T @ x.T)


def test_stacks_and_gaps(rng: np.random.Generator) -> None:
    x, y = values((6, 30, 80), rng, dtypes.int32), values((6, 40, 50), rng, dtypes.int32)
    found = raxis.tensor(x)[:, :, ::2] @ raxis.tensor(y)
    np.testing.assert_array_equal(found.numpy(), x[:, :, ::2] @ y)
