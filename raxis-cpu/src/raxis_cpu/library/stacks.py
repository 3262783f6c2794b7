"""Products of stacks of matrices in parallel, by the native body of `products_ir`."""

from __future__ import annotations

import ctypes
from enum import Enum
from math import prod
from typing import NamedTuple

from raxis_cpu.blas import PLAIN, TRANSPOSED, Blas
from raxis_cpu.library.products_ir import (
    ELEMENTS,
    STACK_DIMS,
    Description,
    product_body,
)
from raxis_cpu.library.routine import Array
from raxis_cpu.threads import thread_pool

_SMALLEST = 1 << 21
"""Multiplications below which one thread is as fast."""

_SMALLEST_OF_VECTORS = 1 << 18
"""The same where one operand is a vector: every element of the other comes from memory."""

_SPLIT_BY_BLAS = 1 << 17
"""From about so many multiplications on OpenBLAS would use threads of its own."""

_BLOCK = 64
"""Rows or columns of a block are a multiple of this, so that BLAS's own blocks are full."""


class Form(NamedTuple):
    """How a stack of matrices lies in memory: BLAS's word for it, gaps and strides in elements."""

    order: int
    gap: int
    row: int
    column: int
    stack: tuple[int, ...]

    def transposed(self) -> Form:
        """The form of the transposed matrices in the same memory."""
        order = PLAIN if self.order == TRANSPOSED else TRANSPOSED
        return Form(order, self.gap, self.column, self.row, self.stack)


def form_of(matrices: Array) -> Form | None:
    """The form of a stack; None if BLAS cannot read it."""
    *stack, row, column = (stride // matrices.itemsize for stride in matrices.strides)
    rows, columns = matrices.shape[-2:]
    if (column == 1 or columns == 1) and (rows == 1 or row >= columns):
        return Form(PLAIN, max(row if rows > 1 else columns, 1), row, column, tuple(stack))
    if (row == 1 or rows == 1) and column >= rows:
        return Form(TRANSPOSED, max(column, 1), row, column, tuple(stack))
    return None


class StackProduct:
    """Products of two stacks of fixed shapes and forms.

    Args:
        left: [stack..., rows, depth], as every later operand.
        right: [stack..., depth, columns].
        blas: where the products are computed.
    """

    def __init__(self, left: Array, right: Array, forms: tuple[Form, Form], blas: Blas) -> None:
        self._blas = blas
        self._stack = left.shape[:-2]
        (self._rows, self._depth), self._columns = left.shape[-2:], right.shape[-1]
        self._left, self._right = forms
        # A row times a matrix is the transposed matrix times a column.
        self._swaps = self._rows == 1
        if self._swaps:
            self._rows, self._columns = self._columns, 1
            self._left, self._right = forms[1].transposed(), forms[0].transposed()
        self._vectors = self._columns == 1
        dtype = next(known for known in ELEMENTS if known.numpy == left.dtype)
        self._body = ctypes.c_void_p(product_body(dtype, blas.has_long_integers, self._vectors))
        letter = ELEMENTS[dtype][1]
        self._routines = [blas.address(f"cblas_{letter}{name}") for name in ("gemm", "gemv")]

    def __call__(self, left: Array, right: Array, out: Array) -> None:
        """Write the products to a dense result."""
        pool = thread_pool()
        rows, columns = self._blocks(pool.num_threads)
        row_blocks, column_blocks = -(-self._rows // rows), -(-self._columns // columns)
        operands = (right, left) if self._swaps else (left, right)
        gap = self._right.row if self._vectors else self._right.gap
        missing = STACK_DIMS - len(self._stack)
        description = Description(
            *(array.ctypes.data for array in (*operands, out)), *self._routines,
            self._rows, self._columns, self._depth, self._left.order, self._right.order, self._left.gap,
            max(gap, 1), self._left.row, self._right.column, rows, row_blocks, columns, column_blocks,
            *(1,) * missing, *self._stack,
            *(0,) * missing, *self._left.stack,
            *(0,) * missing, *self._right.stack,
        )  # fmt: skip
        with self._blas.serial():
            pool.run(
                self._body, ctypes.addressof(description), prod(self._stack) * row_blocks * column_blocks, 1
            )

    def _blocks(self, threads: int) -> tuple[int, int]:
        """Rows and columns of a block: whole products if there are enough, else parts of the longer side."""
        parts = -(-2 * threads // prod(self._stack))
        if parts == 1 or threads == 1:
            return self._rows, self._columns
        if self._rows >= self._columns:
            return self._share(self._rows, parts), self._columns
        return self._rows, self._share(self._columns, parts)

    @staticmethod
    def _share(total: int, parts: int) -> int:
        return min(total, -(-total // (parts * _BLOCK)) * _BLOCK)


class Effort(Enum):
    """How products are best computed."""

    PLAIN = "by one call, as it is"
    SERIAL = "in one thread"
    PARALLEL = "in the threads of the pool"


def effort_of(left: Array, right: Array) -> Effort:
    """How the products of two stacks are best computed."""
    count = left.size * right.shape[-1]
    if count < _SPLIT_BY_BLAS or thread_pool().num_threads == 1:
        return Effort.PLAIN
    vectors = left.shape[-2] == 1 or right.shape[-1] == 1
    smallest = _SMALLEST_OF_VECTORS if vectors else _SMALLEST
    return Effort.PARALLEL if count >= smallest else Effort.SERIAL
