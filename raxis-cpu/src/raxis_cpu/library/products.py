"""Generalised matrix products by BLAS, which reads transposed matrices where they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from raxis.dtypes import HALF
from raxis.layout import Strides
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.types import TensorType
from raxis_cpu.blas import Blas
from raxis_cpu.library.products_ir import STACK_DIMS
from raxis_cpu.library.routine import Array, Call, Routine
from raxis_cpu.library.stacks import Effort, StackProduct, effort_of, form_of
from raxis_cpu.mkl import is_mkl, product_blas


class _Matrices:
    """How an operand becomes a stack of matrices [batch..., rows, columns] that BLAS can read."""

    def __init__(
        self, type: TensorType, strides: Strides, batch: Sequence[int], rows: Sequence[int], columns: Sequence[int]
    ) -> None:  # fmt: skip
        self._permutation = (*batch, *rows, *columns)
        self._in_order = self._permutation == tuple(range(type.rank))
        sizes = [[type.shape[dim] for dim in dims] for dims in (batch, rows, columns)]
        self._shape = (*sizes[0], prod(sizes[1]), prod(sizes[2]))
        self._keeps_shape = len(rows) == len(columns) == 1
        # Merged dims that are not evenly spaced are copied by reshape, and are dense then.
        self._needs_copy = self._keeps_shape and not _suits_blas(
            self._shape[-2:], (strides[rows[0]], strides[columns[0]])
        )

    def __call__(self, x: Array) -> Array:
        if not self._in_order:
            x = x.transpose(self._permutation)
        if not self._keeps_shape:
            x = x.reshape(self._shape)
            return x if x.dtype.itemsize in x.strides[-2:] else np.ascontiguousarray(x)
        return np.ascontiguousarray(x) if self._needs_copy else x


def _suits_blas(shape: tuple[int, ...], strides: tuple[int, int]) -> bool:
    """Whether rows or columns are contiguous and do not overlap."""
    (rows, columns), (down, right) = shape, strides
    if rows <= 1 or columns <= 1:
        return True
    return (right == 1 and down >= columns) or (down == 1 and right >= rows)


def dot_general(call: Call) -> Routine | None:
    """Products summed over the contracted dims; None for half precision: see `widening`."""
    instruction = call.instruction
    if instruction.results[0].type.dtype in HALF:
        return None
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batch, contract = attributes["lhs_batch"], attributes["lhs_contract"]
    rows = free_dims(lhs.rank, batch, contract)
    left = _Matrices(lhs, call.operands[0], batch, rows, contract)
    batch, contract = attributes["rhs_batch"], attributes["rhs_contract"]
    columns = free_dims(rhs.rank, batch, contract)
    right = _Matrices(rhs, call.operands[1], batch, contract, columns)
    result = instruction.results[0].type
    stack = [lhs.shape[dim] for dim in attributes["lhs_batch"]]
    shape = (*stack, prod(lhs.shape[dim] for dim in rows), prod(rhs.shape[dim] for dim in columns))
    multiply = _Multiplication()
    if not call.is_dense():
        return _through_copy(left, right, multiply, result, shape)
    if shape == result.shape:
        return lambda x, y, out: multiply(left(x), right(y), out)
    return lambda x, y, out: multiply(left(x), right(y), out.reshape(shape))


def _through_copy(
    left: _Matrices, right: _Matrices, multiply: _Multiplication, result: TensorType, shape: tuple[int, ...]
) -> Routine:
    """The product in memory of its own, then written to the result."""

    def routine(x: Array, y: Array, out: Array) -> None:
        product = np.empty(shape, result.dtype.numpy)
        multiply(left(x), right(y), product)
        out[...] = product.reshape(result.shape)

    return routine


class _Multiplication:
    """Multiplies stacks of matrices whose layout is the same in every call."""

    def __init__(self) -> None:
        self._parallel: StackProduct | None = None
        self._blas = product_blas()

    def __call__(self, left: Array, right: Array, out: Array) -> None:
        effort = Effort.PARALLEL if is_mkl(self._blas) else effort_of(left, right)
        if effort is Effort.PLAIN or self._blas is None:
            np.matmul(left, right, out)
        elif effort is Effort.SERIAL or not self._multiply_in_parallel(self._blas, left, right, out):
            with self._blas.serial():
                np.matmul(left, right, out)

    def _multiply_in_parallel(self, blas: Blas, left: Array, right: Array, out: Array) -> bool:
        if self._parallel is None:
            self._parallel = _parallel_product(blas, left, right)
        if self._parallel is None:
            return False
        self._parallel(left, right, out)
        return True


def _parallel_product(blas: Blas, left: Array, right: Array) -> StackProduct | None:
    """None for dtypes, layouts and numbers of dims that it does not serve."""
    forms = form_of(left), form_of(right)
    served = left.dtype in (np.float32, np.float64) and left.ndim - 2 <= STACK_DIMS
    if not served or forms[0] is None or forms[1] is None:
        return None
    return StackProduct(left, right, (forms[0], forms[1]), blas)
