"""Products that call BLAS without NumPy: every arrangement that BLAS can read, and None for the others."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir import Builder, Program, TensorType
from raxis_cpu.library.gemm import native_product
from tests.ptir.harness import Placed


def product(
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    batch: int = 0,
    dtype: DType = dtypes.float64,
    **contract: tuple[int, ...],
) -> Program:
    builder = Builder("product")
    x, y = (builder.parameter(TensorType(dtype, shape)) for shape in (lhs, rhs))
    dims = {"lhs_contract": (batch + 1,), "rhs_contract": (batch,), **contract}
    stacked = tuple(range(batch))
    return builder.build([builder.emit("dot_general", x, y, lhs_batch=stacked, rhs_batch=stacked, **dims)])


def run(program: Program, x: Placed, y: Placed, out: Placed) -> np.ndarray | None:
    (instruction,) = program.instructions
    call = native_product(instruction, [x.strides, y.strides], [out.strides])
    if call is None:
        return None
    assert call(x.buffer, x.offset, y.buffer, y.offset, out.buffer, out.offset) is None
    return out.view


def values(shape: tuple[int, ...], rng: np.random.Generator, dtype: DType = dtypes.float64) -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype.numpy)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
@pytest.mark.parametrize(
    "left", [(4, 1), (1, 3), (9, 1), (1, 8)], ids=["rows", "columns", "far rows", "far columns"]
)
@pytest.mark.parametrize("right", [(5, 1), (1, 4), (11, 1)], ids=["rows", "columns", "far rows"])
@pytest.mark.parametrize("result", [(5, 1), (1, 3), (6, 1)], ids=["rows", "columns", "far rows"])
def test_arrangements(dtype: DType, left, right, result, rng: np.random.Generator) -> None:
    x, y = Placed(values((3, 4), rng, dtype), left, 2), Placed(values((4, 5), rng, dtype), right, 1)
    out = Placed(np.zeros((3, 5), dtype.numpy), result, 3)
    found = run(product((3, 4), (4, 5), dtype=dtype), x, y, out)
    assert found is not None
    expected = x.view.astype(np.float64) @ y.view.astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype is dtypes.float32 else 1e-12, atol=1e-6)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 7, 1), (7, 1, 5), (1, 3, 6), (64, 96, 80)])
def test_sizes(sizes: tuple[int, int, int], rng: np.random.Generator) -> None:
    m, k, n = sizes
    x, y, out = Placed(values((m, k), rng)), Placed(values((k, n), rng)), Placed(np.zeros((m, n)))
    found = run(product((m, k), (k, n)), x, y, out)
    np.testing.assert_allclose(found, x.view @ y.view, rtol=1e-10, atol=1e-12)


def test_stacks(rng: np.random.Generator) -> None:
    x, y = Placed(values((6, 3, 4), rng)), Placed(values((6, 4, 5), rng), (20, 1, 4))
    out = Placed(np.zeros((6, 3, 5)), (5, 30, 1))
    found = run(product((6, 3, 4), (6, 4, 5), batch=1), x, y, out)
    np.testing.assert_allclose(found, x.view @ y.view, rtol=1e-12)


def test_repeated_matrix(rng: np.random.Generator) -> None:
    x, y, out = Placed(values((6, 3, 4), rng)), Placed(values((6, 4, 5), rng)), Placed(np.zeros((6, 3, 5)))
    x.strides = (0, 4, 1)
    found = run(product((6, 3, 4), (6, 4, 5), batch=1), x, y, out)
    np.testing.assert_allclose(found, x.view @ y.view, rtol=1e-12)


def test_rows_of_several_dims(rng: np.random.Generator) -> None:
    x, y, out = Placed(values((2, 3, 4), rng)), Placed(values((4, 5), rng)), Placed(np.zeros((2, 3, 5)))
    program = product((2, 3, 4), (4, 5), lhs_contract=(2,), rhs_contract=(0,))
    np.testing.assert_allclose(run(program, x, y, out), x.view @ y.view, rtol=1e-12)


def test_nan_of_the_result_buffer_does_not_matter(rng: np.random.Generator) -> None:
    x, y, out = Placed(values((3, 4), rng)), Placed(values((4, 5), rng)), Placed(np.full((3, 5), np.nan))
    np.testing.assert_allclose(run(product((3, 4), (4, 5)), x, y, out), x.view @ y.view, rtol=1e-12)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [((8, 2), (5, 1), (5, 1)), ((4, 1), (0, 1), (5, 1)), ((0, 1), (5, 1), (5, 1)), ((4, 1), (5, 1), (10, 2))],
)
def test_what_blas_cannot_read_is_left_to_others(left, right, result) -> None:
    (instruction,) = product((3, 4), (4, 5)).instructions
    assert native_product(instruction, [left, right], [result]) is None


def test_empty_and_other_dtypes_are_left_to_others() -> None:
    for program in (
        product((3, 0), (0, 5)),
        product((0, 4), (4, 5)),
        product((3, 4), (4, 5), dtype=dtypes.int16),
    ):
        (instruction,) = program.instructions
        strides = [(max(t.shape[1], 1), 1) for t in (value.type for value in instruction.operands)]
        assert native_product(instruction, strides, [(instruction.results[0].type.shape[1], 1)]) is None
