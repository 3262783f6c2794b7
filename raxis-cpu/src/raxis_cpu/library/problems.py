"""What a ``dot_general`` multiplies: a stack of products of matrices, and how each lies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF
from raxis.layout import Strides
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction

NARROW_INTEGERS = frozenset({dtypes.uint8, dtypes.int8, dtypes.int16})
DTYPES = HALF | NARROW_INTEGERS | {dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64}
"""Of products that are computed without NumPy."""


class _Run(NamedTuple):
    """Dimensions that are traversed as one: how many elements, how far apart."""

    size: int
    stride: int


def _merged(sizes: Sequence[int], strides: Sequence[int]) -> _Run | None:
    """The dimensions as one run; None if they are not evenly spaced."""
    run = _Run(1, 1)
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if run.size > 1 and stride != run.stride * run.size:
            return None
        run = _Run(run.size * size, run.stride if run.size > 1 else stride)
    return run


class Matrix(NamedTuple):
    """How a matrix is read: transposed or not, and the distance of its lines."""

    transposed: bool
    distance: int

    def other_way(self) -> Matrix:
        """The transposed matrix in the same memory."""
        return self._replace(transposed=not self.transposed)


def _matrix(rows: _Run, columns: _Run) -> Matrix | None:
    """A matrix of row-major lines, or of column-major ones (then transposed); None if neither is contiguous."""
    if columns.stride == 1 or columns.size == 1:
        distance = rows.stride if rows.size > 1 else columns.size
        if distance >= columns.size and (columns.size == 1 or columns.stride == 1):
            return Matrix(False, max(distance, 1))
    if rows.stride == 1 or rows.size == 1:
        distance = columns.stride if columns.size > 1 else rows.size
        if distance >= rows.size:
            return Matrix(True, max(distance, 1))
    return None


class Batch(NamedTuple):
    """The dimensions of a stack of products, with the strides of both operands and of the result."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many products."""
        return prod(self.shape)

    def steps(self) -> list[int] | None:
        """How far apart the matrices of every array are, if they are evenly spaced."""
        runs = [_merged(self.shape, strides) for strides in self.strides]
        return (
            None if None in runs else [0 if self.size == 1 else run.stride for run in runs if run is not None]
        )

    def starts(self) -> list[int]:
        """Where the matrices of every product begin: three numbers each."""
        places = np.indices(self.shape).reshape(len(self.shape), self.size)
        starts: list[int] = np.ravel(
            np.array(self.strides, np.int64).reshape(3, -1) @ places, order="F"
        ).tolist()
        return starts


class Problem(NamedTuple):
    """A stack of products result = left · right."""

    batch: Batch
    rows: int
    columns: int
    inner: int
    left: Matrix
    right: Matrix
    result: Matrix

    @property
    def work(self) -> int:
        """Multiplications."""
        return self.batch.size * self.rows * self.columns * self.inner

    def row_major(self) -> tuple[bool, Problem]:
        """The same with a result of row-major lines, and whether the operands are exchanged for it."""
        return (True, self.exchanged()) if self.result.transposed else (False, self)

    def exchanged(self) -> Problem:
        """The transposed product: the operands in the other order."""
        return self._replace(
            rows=self.columns, columns=self.rows, left=self.right.other_way(), right=self.left.other_way(),
            result=self.result.other_way(),
        )  # fmt: skip


def problem_of(instruction: Instruction, operands: Sequence[Strides], result: Strides) -> Problem | None:
    """None where a matrix cannot be read where it is, or is empty."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches, rows, columns = _dims(instruction)
    shape = instruction.results[0].type.shape
    first, second = len(batches[0]), len(batches[0]) + len(rows)

    def run(shape: Sequence[int], strides: Strides, dims: Sequence[int]) -> _Run | None:
        return _merged([shape[dim] for dim in dims], [strides[dim] for dim in dims])

    runs = [
        run(lhs.shape, operands[0], rows),
        run(lhs.shape, operands[0], attributes["lhs_contract"]),
        run(rhs.shape, operands[1], attributes["rhs_contract"]),
        run(rhs.shape, operands[1], columns),
        run(shape, result, range(first, second)),
        run(shape, result, range(second, len(shape))),
    ]
    strides = [tuple(operands[side][dim] for dim in batches[side]) for side in (0, 1)]
    batch = Batch(shape[:first], (*strides, result[:first]))
    known = [item for item in runs if item is not None]
    if len(known) < len(runs) or 0 in (batch.size, *(item.size for item in known)):
        return None
    matrices = [_matrix(*known[place : place + 2]) for place in (0, 2, 4)]
    left, right, target = matrices
    if left is None or right is None or target is None:
        return None
    return Problem(batch, known[0].size, known[3].size, known[1].size, left, right, target)


def _dims(
    instruction: Instruction,
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], Sequence[int], Sequence[int]]:
    """Batch dimensions of both operands, rows of the first, columns of the second."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches = (attributes["lhs_batch"], attributes["rhs_batch"])
    rows = free_dims(lhs.rank, batches[0], attributes["lhs_contract"])
    return batches, rows, free_dims(rhs.rank, batches[1], attributes["rhs_contract"])


def exchanged(starts: Sequence[int]) -> list[int]:
    """Where matrices begin, three numbers a product, with the first two exchanged."""
    return [starts[place + move] for place in range(0, len(starts), 3) for move in (1, 0, 2)]
