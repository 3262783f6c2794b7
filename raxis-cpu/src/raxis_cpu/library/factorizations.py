"""LU and Cholesky factorizations and triangular systems: small matrices by own code, large ones by NumPy's LAPACK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from raxis.backends.api import Executable, Strides
from raxis.dtypes import int32, int64
from raxis.ptir.types import TensorType
from raxis_cpu.blas import LETTERS, LOWER, PLAIN, TRANSPOSED, UPPER, Blas, numpy_function
from raxis_cpu.library import factorizations_ir as code
from raxis_cpu.library import lu_ir, triangular_ir
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.routine import Call
from raxis_cpu.machine import CACHE_LINE, whole_lines

_SMALL = 32
"""Matrices up to this size are done faster without LAPACK."""
_LARGE = 1024
"""Matrices up to this size are done faster in one thread."""
_FEWEST_COLUMNS = 16
"""Of systems that are solved by blocks."""
_PART_COLUMNS = 128
"""Columns of systems that a thread solves at once."""


def in_own_thread(blas: Blas, made: Executable, matrices: int) -> Executable:
    """Large matrices are shared by our threads, one by BLAS's."""
    if matrices == 1:
        return made

    def executable(*arguments: Any) -> None:
        with blas.serial():
            made(*arguments)

    return executable


def stack_of(name: str, shape: tuple[int, ...], strides: Strides) -> Mapping[str, int] | None:
    """The numbers that say where a stack of matrices is; None if it is not evenly spaced."""
    step = flat_stride(shape[:-2], strides[:-2])
    if step is None:
        return None
    return {f"{name}_stack": step, f"{name}_row": strides[-2], f"{name}_column": strides[-1]}


def are_dense(call: Call) -> bool:
    """Whether all results are contiguous."""
    return all(call.is_dense(result) for result in range(len(call.results)))


def lu(call: Call) -> Executable | None:
    """P L U of each matrix; results are dense."""
    type = call.instruction.operands[0].type
    stack = stack_of("x", type.shape, call.operands[0])
    if stack is None or not are_dense(call):
        return None
    *batch, rows, columns = type.shape
    numbers = {"rows": rows, "columns": columns, **stack}
    arrays, count = [type.dtype, type.dtype, int32, int32], prod(batch)
    phases = [Phase(code.PHASE, count, type.size * min(rows, columns))]
    if min(rows, columns) <= _SMALL:
        return code.elimination(type.dtype).bind(arrays, phases, numbers)
    if not type.dtype.is_complex and min(rows, columns) <= _LARGE:
        return _lu_by_panels(call, numbers)
    found = numpy_function(f"{LETTERS[type.dtype]}getrf_")
    if found is None:
        return None
    blas, numbers["getrf"] = found
    module = code.getrf(type.dtype, blas.has_long_integers)
    scratch = count * code.scratch_bytes(rows, columns, type.dtype)
    return in_own_thread(blas, module.bind(arrays, phases, numbers, scratch=scratch), count)


def _lu_by_panels(call: Call, numbers: Mapping[str, int]) -> Executable | None:
    type = call.instruction.operands[0].type
    dtype, count = type.dtype, prod(type.shape[:-2])
    found = numpy_function(f"cblas_{LETTERS[dtype]}gemm")
    if found is None:
        return None
    blas, address = found
    gap = whole_lines(numbers["rows"] * dtype.itemsize) // dtype.itemsize
    phases = [Phase(lu_ir.PHASE, count, type.size * min(type.shape[-2:]))]
    made = lu_ir.panels(dtype, blas.has_long_integers).bind(
        [dtype, dtype, int32, int32], phases, {**numbers, "blas": address, "panel_gap": gap},
        scratch=count * gap * lu_ir.PANEL * dtype.itemsize + CACHE_LINE,
    )  # fmt: skip
    return in_own_thread(blas, made, count + 1)


def cholesky(call: Call) -> Executable | None:
    """L of each matrix, zeros where there is none; results are dense."""
    type = call.instruction.operands[0].type
    stack = stack_of("x", type.shape, call.operands[0])
    if stack is None or not are_dense(call):
        return None
    *batch, rows, _ = type.shape
    numbers, count = {"rows": rows, **stack}, prod(batch)
    arrays, phases = [type.dtype, type.dtype, int32], [Phase(code.PHASE, count, type.size * rows)]
    if rows <= _SMALL:
        return code.cholesky(type.dtype).bind(arrays, phases, numbers)
    found = numpy_function(f"{LETTERS[type.dtype]}potrf_")
    if found is None:
        return None
    blas, numbers["potrf"] = found
    module = code.potrf(type.dtype, blas.has_long_integers)
    return in_own_thread(blas, module.bind(arrays, phases, numbers), count)


def pivots_to_permutation(call: Call) -> Executable | None:
    """The order of rows after exchanges; the result is dense."""
    shape, strides = call.instruction.operands[0].type.shape, call.operands[0]
    stack, size = flat_stride(shape[:-1], strides[:-1]), call.instruction.attributes["size"]
    if stack is None or not call.is_dense():
        return None
    count = prod(shape[:-1])
    numbers = {"length": shape[-1], "size": size, "stack": stack, "along": strides[-1]}
    phases = [Phase(code.PHASE, count, 2 * count * size)]
    return code.exchanges().bind([int32, int64], phases, numbers)


def triangular_solve(call: Call) -> Executable | None:
    """X of each A X = B; the result is dense."""
    left, right = (operand.type for operand in call.instruction.operands)
    stack_a, stack_b = (
        stack_of("a", left.shape, call.operands[0]),
        stack_of("b", right.shape, call.operands[1]),
    )
    if stack_a is None or stack_b is None or not call.is_dense():
        return None
    *_, rows, columns = right.shape
    numbers = {"rows": rows, "columns": columns, **stack_a, **stack_b}
    if rows <= _SMALL or not right.size:
        upper, unit = (call.instruction.attributes[name] for name in ("upper", "unit"))
        module = triangular_ir.substitution(left.dtype, upper, unit)
        return module.bind([left.dtype] * 3, [_systems(right)], numbers)
    return _large_systems(call, numbers)


def _systems(right: TensorType, parts: int = 1) -> Phase:
    """The phase over systems of equations, or over parts of each."""
    *batch, rows, _ = right.shape
    return Phase(triangular_ir.PHASE, prod(batch) * parts, right.size * rows)


def _large_systems(call: Call, numbers: Mapping[str, int]) -> Executable | None:
    upper, unit = (call.instruction.attributes[name] for name in ("upper", "unit"))
    right, columns = call.instruction.operands[1].type, numbers["columns"]
    dtype, form = right.dtype, _form(numbers, upper)
    by_blocks = not dtype.is_complex and columns >= _FEWEST_COLUMNS
    found = numpy_function(f"cblas_{LETTERS[dtype]}{'gemm' if by_blocks else 'trsm'}")
    if found is None or form is None:
        return None
    blas, address = found
    parts = -(-columns // _PART_COLUMNS) if by_blocks else 1
    module = (triangular_ir.blocked if by_blocks else triangular_ir.trsm)(
        dtype, upper, unit, blas.has_long_integers
    )
    more = {"blas": address, "parts": parts, "part_columns": _PART_COLUMNS}
    phase = _systems(right, parts)
    return in_own_thread(
        blas, module.bind([dtype] * 3, [phase], {**numbers, **form, **more}), phase.units + by_blocks
    )


def _form(numbers: Mapping[str, int], upper: bool) -> Mapping[str, int] | None:
    """How BLAS is told where the elements of A are; None if it cannot read them there."""
    rows, row, column = (numbers[name] for name in ("rows", "a_row", "a_column"))
    if column == 1 and row >= rows:
        return {"uplo": UPPER if upper else LOWER, "transpose": PLAIN, "gap": row}
    if row == 1 and column >= rows:
        return {"uplo": LOWER if upper else UPPER, "transpose": TRANSPOSED, "gap": column}
    return None


FACTORIZATIONS: Mapping[str, Callable[[Call], Executable | None]] = {
    "lu": lu,
    "cholesky": cholesky,
    "pivots_to_permutation": pivots_to_permutation,
    "triangular_solve": triangular_solve,
}
"""Built-ins by primitive."""
