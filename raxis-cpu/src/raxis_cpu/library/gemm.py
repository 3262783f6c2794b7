"""Small matrix products as built-ins that call BLAS by its C symbols, without NumPy arrays in between.

A built-in takes ``a, offset, b, offset, result, offset`` (arrays of bytes, offsets in elements), as kernels do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import Strides
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction
from raxis_cpu.blas import Blas, numpy_blas
from raxis_cpu.library.gemm_ir import gemm_ir
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.native import built_in, method_definition

_ROW_MAJOR, _COLUMN_MAJOR = 101, 102
_PLAIN, _TRANSPOSED = 111, 112
_LARGE = 1 << 20
"""Multiplications from which several threads are worth while; `products` shares such work among them."""
_LETTERS = {dtypes.float32: "s", dtypes.float64: "d"}


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


class _Matrix(NamedTuple):
    """How BLAS is told to read a matrix: transposed or not, and the distance of its lines."""

    transposed: bool
    distance: int


def _matrix(rows: _Run, columns: _Run) -> _Matrix | None:
    """A matrix of row-major lines, or of column-major ones (then transposed); None if neither is contiguous."""
    if columns.stride == 1 or columns.size == 1:
        distance = rows.stride if rows.size > 1 else columns.size
        if distance >= columns.size and (columns.size == 1 or columns.stride == 1):
            return _Matrix(False, max(distance, 1))
    if rows.stride == 1 or rows.size == 1:
        distance = columns.stride if columns.size > 1 else rows.size
        if distance >= rows.size:
            return _Matrix(True, max(distance, 1))
    return None


@lru_cache(maxsize=2)
def _code(dtype: DType) -> _Product | None:
    blas = numpy_blas()
    gemm = blas.address(f"cblas_{_LETTERS[dtype]}gemm") if blas is not None else 0
    return _Product(dtype, blas, gemm) if blas is not None and gemm else None


class _Product:
    """The compiled product of one dtype."""

    def __init__(self, dtype: DType, blas: Blas, gemm: int) -> None:
        threads = (blas.address(f"openblas_{verb}_num_threads") for verb in ("get", "set"))
        self._addresses = [runtime.ADDRESS, gemm, *threads]
        self._compiled = Code(compile(gemm_ir(dtype, has_long_integers=blas.has_long_integers), host()))
        self._definition = method_definition("dot_general", self._compiled.address("entry"))

    def bind(self, numbers: Sequence[int]) -> Callable[..., None]:
        """The built-in of one shape."""
        return built_in(self._definition, [*self._addresses, *numbers], self)


def native_product(
    instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]
) -> Callable[..., None] | None:
    """The built-in of a small ``dot_general``; None where BLAS cannot read the operands where they are."""
    dtype = instruction.results[0].type.dtype
    if instruction.primitive != "dot_general" or dtype not in _LETTERS:
        return None
    numbers = _numbers(instruction, operands, results[0])
    product = _code(dtype) if numbers is not None else None
    return None if product is None or numbers is None else product.bind(numbers)


def _numbers(instruction: Instruction, operands: Sequence[Strides], result: Strides) -> list[int] | None:
    """What `gemm_ir` reads: the call's constants, how many calls, and how far apart their operands."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches, rows, columns = _dims(instruction)

    def run(shape: Sequence[int], strides: Strides, dims: Sequence[int]) -> _Run | None:
        return _merged([shape[dim] for dim in dims], [strides[dim] for dim in dims])

    shape = instruction.results[0].type.shape
    first, second = len(batches[0]), len(batches[0]) + len(rows)
    runs = [
        run(lhs.shape, operands[0], batches[0]),
        run(rhs.shape, operands[1], batches[1]),
        run(shape, result, range(first)),
        run(lhs.shape, operands[0], rows),
        run(lhs.shape, operands[0], attributes["lhs_contract"]),
        run(rhs.shape, operands[1], attributes["rhs_contract"]),
        run(rhs.shape, operands[1], columns),
        run(shape, result, range(first, second)),
        run(shape, result, range(second, len(shape))),
    ]
    if any(item is None for item in runs):
        return None
    a_batch, b_batch, c_batch, *parts = [item for item in runs if item is not None]
    constants = _constants(parts)
    if constants is None:
        return None
    count = prod(shape[:first])
    if count * parts[0].size * parts[1].size * parts[3].size >= _LARGE:
        return None
    steps = [0 if count == 1 else item.stride for item in (a_batch, b_batch, c_batch)]
    return [*constants, count, *steps]


def _dims(
    instruction: Instruction,
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], Sequence[int], Sequence[int]]:
    """Batch dimensions of both operands, rows of the first, columns of the second."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches = (attributes["lhs_batch"], attributes["rhs_batch"])
    rows = free_dims(lhs.rank, batches[0], attributes["lhs_contract"])
    return batches, rows, free_dims(rhs.rank, batches[1], attributes["rhs_contract"])


def _constants(parts: Sequence[_Run]) -> list[int] | None:
    """Order, transpositions, sizes and distances of one call."""
    rows, left_inner, right_inner, columns, result_rows, result_columns = parts
    left, right = _matrix(rows, left_inner), _matrix(right_inner, columns)
    result = _matrix(result_rows, result_columns)
    if left is None or right is None or result is None or 0 in (rows.size, columns.size, left_inner.size):
        return None
    order = _COLUMN_MAJOR if result.transposed else _ROW_MAJOR
    # Column-major BLAS reads row-major lines as transposed ones, and the other way round.
    flags = [_TRANSPOSED if matrix.transposed != result.transposed else _PLAIN for matrix in (left, right)]
    sizes = [rows.size, columns.size, left_inner.size]
    return [order, *flags, *sizes, left.distance, right.distance, result.distance]
