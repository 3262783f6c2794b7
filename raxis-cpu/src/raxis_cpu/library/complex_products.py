"""Products of complex matrices as one product of real ones.

A row of complex numbers is a row of real ones, twice as long. Multiplied by the real matrix

    re₀₀  im₀₀  re₀₁  im₀₁ …
   -im₀₀  re₀₀ -im₀₁  re₀₁ …
    …

which has two rows for every row of the right operand, it is a row of the complex result. So the left operand and the
result stay where they are, and the right one is rewritten with twice as many numbers. A left operand that lies
column by column is rewritten as well, a column of real and one of imaginary parts in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

from raxis.backends.api import Executable
from raxis.dtypes import DType
from raxis.layout import Strides
from raxis.ptir.program import Instruction, Value
from raxis.ptir.types import TensorType
from raxis_cpu.library import complex_products_ir as code
from raxis_cpu.library.gemm import native_product
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.problems import Matrix, Problem, problem_of
from raxis_cpu.library.routine import Array, workspace

_FEWEST_ROWS = 4
"""Of the left matrix, for which a right one that lies by rows is worth rewriting."""


class _Operand(NamedTuple):
    """A stack of complex matrices: how each lies in memory, sizes and strides of the stack."""

    rows: int
    columns: int
    matrix: Matrix
    stack: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines a matrix has in memory, and their length."""
        return (self.columns, self.rows) if self.matrix.transposed else (self.rows, self.columns)


class _Real(NamedTuple):
    """An operand of the real product: what rewrites the complex one, unless it is read where it is."""

    shape: tuple[int, ...]
    strides: Strides
    rewrite: Executable | None


def complex_product(
    instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]
) -> Executable | None:
    """The built-in of a ``dot_general`` of complex matrices; None where operands cannot be read where they are.

    A row times a matrix that lies by rows is left to others as well.
    """
    problem = problem_of(instruction, operands, results[0])
    if problem is None:
        return None
    swaps, problem = problem.row_major()
    if problem.rows < _FEWEST_ROWS and not problem.right.transposed and problem.columns > 1:
        return None
    dtype = instruction.results[0].type.dtype
    left = _left(dtype, _operand(problem, 0, swaps))
    right = _right(dtype, _operand(problem, 1, swaps))
    if left is None or right is None:
        return None
    made = _real_product(instruction, problem, left, right)
    return _composed(dtype.to_real(), made, (left, right), int(swaps)) if made is not None else None


def _operand(problem: Problem, side: int, swaps: bool) -> _Operand:
    sizes = ((problem.rows, problem.inner), (problem.inner, problem.columns))[side]
    strides = problem.batch.strides[side ^ swaps]
    matrix = (problem.left, problem.right)[side]
    return _Operand(*sizes, matrix, problem.batch.shape, strides)


def _left(dtype: DType, operand: _Operand) -> _Real | None:
    if operand.matrix.transposed:
        return _rewritten(dtype, operand, "split")
    steps = [2 * stride for stride in (*operand.strides, operand.matrix.distance)]
    return _Real((*operand.stack, operand.rows, 2 * operand.columns), (*steps, 1), None)


def _right(dtype: DType, operand: _Operand) -> _Real | None:
    return _rewritten(dtype, operand, "columns" if operand.matrix.transposed else "rows")


def _rewritten(dtype: DType, operand: _Operand, phase: str) -> _Real | None:
    """An operand as `phase` writes it; None for stacks that are not evenly spaced."""
    kept = [(size, stride) for size, stride in zip(operand.stack, operand.strides, strict=True) if stride]
    sizes = tuple(size for size, _ in kept)
    step = flat_stride(sizes, tuple(stride for _, stride in kept))
    if step is None:
        return None
    lines, length = operand.lines
    width = length if phase == "split" else 2 * length
    size = 2 * lines * width
    numbers = {"lines": lines, "length": length, "gap": operand.matrix.distance, "stack": step}
    units = prod(sizes) * lines
    made = code.rewriting(dtype).bind(
        [dtype, dtype.to_real()], [Phase(phase, units, 2 * units * length)], numbers
    )
    rows, columns = operand.rows * (1 if phase == "split" else 2), operand.columns * 2
    strides = (1, width) if operand.matrix.transposed else (width, 1)
    return _Real((*operand.stack, rows, columns), (*_stack_strides(operand, size), *strides), made)


def _stack_strides(operand: _Operand, size: int) -> tuple[int, ...]:
    """Strides of a dense stack of matrices of so many elements, 0 where the operand's are."""
    strides = []
    for extent, stride in zip(reversed(operand.stack), reversed(operand.strides), strict=True):
        strides.append(size if stride else 0)
        size *= extent if stride else 1
    return tuple(reversed(strides))


def _real_product(instruction: Instruction, problem: Problem, left: _Real, right: _Real) -> Executable | None:
    """The product of the real matrices in place of the complex one that `instruction` is."""
    rank, dtype = len(problem.batch.shape), instruction.results[0].type.dtype.to_real()
    stack = tuple(range(rank))
    dims = {"lhs_batch": stack, "rhs_batch": stack, "lhs_contract": (rank + 1,), "rhs_contract": (rank,)}
    shapes = (left.shape, right.shape, (*problem.batch.shape, problem.rows, 2 * problem.columns))
    x, y, result = (Value(place, TensorType(dtype, shape)) for place, shape in enumerate(shapes))
    product = replace(instruction, operands=(x, y), results=(result,), attributes=dims)
    steps = [2 * stride for stride in (*problem.batch.strides[2], problem.result.distance)]
    return native_product(product, [left.strides, right.strides], [(*steps, 1)])


def _composed(dtype: DType, product: Executable, operands: tuple[_Real, _Real], first: int) -> Executable:
    """Rewrite what must be, then multiply; `first` is which argument is the left matrix."""
    left, right = (
        _reader(operand, name, dtype)
        for operand, name in zip(operands, ("complex left", "complex right"), strict=True)
    )

    def executable(*arguments: Any) -> None:
        a, b = arguments[2 * first : 2 * first + 2], arguments[2 - 2 * first : 4 - 2 * first]
        product(*left(*a), *right(*b), arguments[4], 2 * arguments[5])

    return executable


def _reader(operand: _Real, name: str, dtype: DType) -> Callable[[Array, int], tuple[Array, int]]:
    """Where the real matrices are, given where the complex ones are."""
    rewrite, nbytes = operand.rewrite, prod(operand.shape) * dtype.itemsize
    if rewrite is None:
        return lambda array, offset: (array, 2 * offset)

    def read(array: Array, offset: int) -> tuple[Array, int]:
        memory = workspace.memory(name, nbytes)
        rewrite(array, offset, memory, 0)
        return memory, 0

    return read
