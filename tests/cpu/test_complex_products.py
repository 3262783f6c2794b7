"""Products of complex matrices: every arrangement of operands and result, against complex128 products by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import raxis
from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir import Program
from raxis_cpu.library.complex_products import complex_product
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.test_gemm import product
from tests.ptir.harness import Placed

DTYPES = [dtypes.complex64, dtypes.complex128]


def values(shape: tuple[int, ...], rng: np.random.Generator, dtype: DType) -> np.ndarray:
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype.numpy)


def run(program: Program, x: Placed, y: Placed, out: Placed) -> np.ndarray | None:
    (instruction,) = program.instructions
    call = complex_product(instruction, [x.strides, y.strides], [out.strides])
    if call is None:
        return None
    call(x.buffer, x.offset, y.buffer, y.offset, out.buffer, out.offset)
    return out.view


def close(found: np.ndarray | None, x: np.ndarray, y: np.ndarray) -> None:
    assert found is not None
    expected = x.astype(np.complex128) @ y.astype(np.complex128)
    scale = np.abs(x).astype(np.float64) @ np.abs(y).astype(np.float64)
    step = np.finfo(found.dtype).eps
    assert np.all(np.abs(found - expected) <= 2 * np.sqrt(x.shape[-1]) * step * scale)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "left", [(23, 1), (1, 37), (29, 1), (1, 41)], ids=["rows", "columns", "far rows", "far columns"]
)
@pytest.mark.parametrize("right", [(19, 1), (1, 23), (31, 1)], ids=["rows", "columns", "far rows"])
@pytest.mark.parametrize("result", [(19, 1), (1, 37), (21, 1)], ids=["rows", "columns", "far rows"])
def test_arrangements(dtype: DType, left, right, result, rng: np.random.Generator) -> None:
    x, y = Placed(values((37, 23), rng, dtype), left, 2), Placed(values((23, 19), rng, dtype), right, 1)
    out = Placed(np.zeros((37, 19), dtype.numpy), result, 3)
    close(run(product((37, 23), (23, 19), dtype=dtype), x, y, out), x.view, y.view)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", [(4, 1, 1), (5, 7, 1), (7, 1, 5), (4, 3, 6), (66, 130, 129), (200, 70, 90)])
@pytest.mark.parametrize("threads", [1, 2])
def test_sizes(dtype: DType, sizes: tuple[int, int, int], threads: int, rng: np.random.Generator) -> None:
    m, k, n = sizes
    x, y = Placed(values((m, k), rng, dtype)), Placed(values((k, n), rng, dtype))
    out = Placed(np.zeros((m, n), dtype.numpy))
    before = get_num_threads()
    set_num_threads(threads)
    try:
        close(run(product((m, k), (k, n), dtype=dtype), x, y, out), x.view, y.view)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize(
    "left", [(6000, 2000, 50, 1), (0, 2000, 50, 1), (0, 2000, 1, 40)], ids=["dense", "broadcast", "turned"]
)
@pytest.mark.parametrize("right", [(10500, 3500, 70, 1), (0, 3500, 1, 50), (10500, 0, 70, 1), (0, 0, 70, 1)])
def test_stacks(left: tuple[int, ...], right: tuple[int, ...], rng: np.random.Generator) -> None:
    dtype = dtypes.complex64
    x, y = Placed(values((2, 3, 40, 50), rng, dtype), left), Placed(values((2, 3, 50, 70), rng, dtype), right)
    out = Placed(np.zeros((2, 3, 40, 70), dtype.numpy))
    close(run(product(x.view.shape, y.view.shape, 2, dtype), x, y, out), x.view, y.view)


def test_what_cannot_be_read_in_lines_is_left_to_others(rng: np.random.Generator) -> None:
    dtype = dtypes.complex64
    program = product((8, 8), (8, 8), dtype=dtype)
    x, y = Placed(values((8, 8), rng, dtype), (32, 2)), Placed(values((8, 8), rng, dtype))
    assert run(program, x, y, Placed(np.zeros((8, 8), dtype.numpy))) is None
    row = Placed(values((1, 8), rng, dtype))
    assert run(product((1, 8), (8, 8), dtype=dtype), row, y, Placed(np.zeros((1, 8), dtype.numpy))) is None
    np.testing.assert_allclose(
        (raxis.tensor(x.view)[:, ::1] @ raxis.tensor(y.view)).numpy(), x.view @ y.view, rtol=1e-5, atol=1e-5
    )


def test_nan_reaches_its_row_alone(rng: np.random.Generator) -> None:
    dtype = dtypes.complex64
    x, y = values((6, 5), rng, dtype), values((5, 4), rng, dtype)
    x[2, 3] = complex(np.nan, 0)
    found = run(
        product((6, 5), (5, 4), dtype=dtype), Placed(x), Placed(y), Placed(np.zeros((6, 4), dtype.numpy))
    )
    assert found is not None
    np.testing.assert_array_equal(np.isnan(found).all(1), np.arange(6) == 2)
    np.testing.assert_array_equal(np.isnan(found).any(1), np.arange(6) == 2)


def test_gradients(rng: np.random.Generator) -> None:
    dtype = dtypes.complex64
    x, y, weights = (values(shape, rng, dtype) for shape in ((9, 6), (6, 8), (9, 8)))
    a, b = (raxis.tensor(array, requires_grad=True) for array in (x, y))
    ((a @ b) * raxis.tensor(weights)).sum().abs().backward()
    total = ((x @ y) * weights).sum()
    direction = total / np.abs(total)
    np.testing.assert_allclose(a.grad.numpy(), direction * (weights @ y.T).conj(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(b.grad.numpy(), direction * (x.T @ weights).conj(), rtol=1e-4, atol=1e-4)
