"""QR, singular values and Hermitian eigenvalues by NumPy's LAPACK, in the operands' own precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import NamedTuple

from raxis.backends.api import Executable
from raxis.dtypes import DType
from raxis_cpu.blas import LETTERS, Blas, numpy_function
from raxis_cpu.library import decompositions_ir as code
from raxis_cpu.library.factorizations import are_dense, in_own_thread, stack_of
from raxis_cpu.library.phases import Module, Phase
from raxis_cpu.library.routine import Call
from raxis_cpu.machine import whole_lines

_GROUPS = 16
"""So many threads at most share a stack of matrices."""
_BLOCK = 64
"""Columns that LAPACK works on at once, at most."""
_COST = 8
"""Elementary operations for every element and row."""


class _Work(NamedTuple):
    """Elements of the parts of a group's memory."""

    matrix: int
    work: int
    tau: int = 0
    real_work: int = 0
    integer_work: int = 0

    def numbers(self, dtype: DType) -> dict[str, int]:
        """Sizes and places of the parts, and the bytes of all together."""
        real = dtype.to_real().itemsize
        sizes = {"matrix": dtype.itemsize, "work": dtype.itemsize, "tau": dtype.itemsize, "real_work": real}
        numbers: dict[str, int] = {}
        place = 0
        for part in code.PARTS:
            elements = getattr(self, part)
            numbers |= {f"{part}_place": place, f"{part}_size": elements}
            place += whole_lines(elements * sizes.get(part, 8))
        return {**numbers, "group_bytes": place}


def _functions(dtype: DType, *names: str) -> tuple[Blas, dict[str, int]] | None:
    """The library, and the addresses of LAPACK's functions; None where one is not there."""
    found = [numpy_function(f"{LETTERS[dtype]}{name}_") for name in names]
    known = [pair for pair in found if pair is not None]
    if len(known) < len(names):
        return None
    return known[0][0], dict(zip(("first", "second"), (address for _, address in known), strict=False))


def _bound(
    call: Call, blas: Blas, module: Module, work: _Work, numbers: Mapping[str, int]
) -> Executable | None:
    """The built-in over the matrices of the operand; None if they are not evenly spaced, or results not dense."""
    type = call.instruction.operands[0].type
    stack = stack_of("x", type.shape, call.operands[0])
    if stack is None or not are_dense(call):
        return None
    *batch, rows, columns = type.shape
    count = prod(batch)
    groups, parts = min(count, _GROUPS), work.numbers(type.dtype)
    given = {"rows": rows, "columns": columns, "inner": min(rows, columns), "count": count, "groups": groups}
    arrays = [type.dtype, *(result.type.dtype for result in call.instruction.results)]
    phases = [Phase(code.PHASE, groups, type.size * min(rows, columns) * _COST)]
    scratch = groups * parts["group_bytes"]
    made = module.bind(arrays, phases, {**given, **stack, **parts, **numbers}, scratch=scratch)
    return in_own_thread(blas, made, count)


def qr(call: Call) -> Executable | None:
    """Q and R."""
    return _triangular(call, call.instruction.results[0].type.shape[-1], alone=False)


def qr_triangle(call: Call) -> Executable | None:
    """R."""
    return _triangular(call, call.instruction.results[0].type.shape[-2], alone=True)


def _triangular(call: Call, inner: int, *, alone: bool) -> Executable | None:
    type = call.instruction.operands[0].type
    found = _functions(type.dtype, "geqrf", "ungqr" if type.dtype.is_complex else "orgqr")
    if found is None or not type.size:
        return None
    rows, columns = type.shape[-2:]
    widest = max(columns, inner)
    blas, numbers = found
    numbers |= {"inner": inner, "left": min(rows, columns)}
    work = _Work(matrix=rows * widest, work=_BLOCK * widest, tau=min(rows, columns))
    return _bound(call, blas, code.qr(type.dtype, blas.has_long_integers, alone), work, numbers)


def svd(call: Call) -> Executable | None:
    """U, S and V^H."""
    job = "A" if call.instruction.attributes["full"] else "S"
    left, _, right = (result.type.shape for result in call.instruction.results)
    return _singular(call, job, left[-1], right[-2])


def svdvals(call: Call) -> Executable | None:
    """S."""
    return _singular(call, "N", 1, 1)


def _singular(call: Call, job: str, left: int, right: int) -> Executable | None:
    type = call.instruction.operands[0].type
    found = _functions(type.dtype, "gesdd")
    if found is None or not type.size:
        return None
    few, many = sorted(type.shape[-2:])
    # More than LAPACK's documentation asks for, so that it works in blocks.
    vectors = 0 if job == "N" else few * few
    work = _Work(
        matrix=few * many,
        work=5 * vectors + (_BLOCK + 10) * (few + many),
        real_work=(5 * vectors + 2 * many * few + 2 * few * few + 10 * few) * type.dtype.is_complex,
        integer_work=8 * few,
    )
    blas, numbers = found
    module = code.svd(type.dtype, blas.has_long_integers, job)
    return _bound(call, blas, module, work, {**numbers, "left": left, "right": right})


def eigh(call: Call) -> Executable | None:
    """Eigenvalues and eigenvectors."""
    return _hermitian(call, vectors=True)


def eigvalsh(call: Call) -> Executable | None:
    """Eigenvalues."""
    return _hermitian(call, vectors=False)


def _hermitian(call: Call, *, vectors: bool) -> Executable | None:
    type = call.instruction.operands[0].type
    found = _functions(type.dtype, "heevd" if type.dtype.is_complex else "syevd")
    if found is None or not type.size:
        return None
    rows = type.shape[-1]
    squares = 2 * rows * rows * vectors
    work = _Work(
        matrix=rows * rows,
        work=1 + squares + (_BLOCK + 6) * rows,
        real_work=(1 + 5 * rows + squares) * type.dtype.is_complex,
        integer_work=3 + 5 * rows,
    )
    blas, numbers = found
    return _bound(call, blas, code.eigh(type.dtype, blas.has_long_integers, vectors), work, numbers)


DECOMPOSITIONS: Mapping[str, Callable[[Call], Executable | None]] = {
    "qr": qr,
    "qr_triangle": qr_triangle,
    "svd": svd,
    "svdvals": svdvals,
    "eigh": eigh,
    "eigvalsh": eigvalsh,
}
"""Built-ins by primitive."""
