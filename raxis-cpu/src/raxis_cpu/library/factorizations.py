"""LU and Cholesky factorizations and triangular systems by SciPy's LAPACK, where SciPy is installed."""

from __future__ import annotations

import functools
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from raxis.backends.reference.kernels import KERNELS
from raxis_cpu.library.routine import Array, Call, Routine

_SMALL = 4
"""Matrices up to this size are done faster as a stack than one by one."""
_LARGE = 32
"""From this size on work by matrices outweighs the calls from Python."""


@functools.cache
def _function(name: str, dtype: np.dtype[Any]) -> Any:
    """LAPACK's routine (``trsm`` is BLAS's) for a dtype; None without SciPy."""
    try:
        linalg = import_module("scipy.linalg")
    except ImportError:
        return None
    find = linalg.get_blas_funcs if name == "trsm" else linalg.get_lapack_funcs
    return find((name,), dtype=dtype)[0]


def _routine_of(name: str, call: Call) -> Any:
    type = call.instruction.operands[0].type
    is_stack = type.rank > 2 and max(type.shape[-2:]) <= _SMALL
    return None if is_stack or 0 in type.shape else _function(name, type.dtype.numpy)


def lu(call: Call) -> Routine | None:
    """P L U of each matrix."""
    getrf = _routine_of("getrf", call)
    if getrf is None:
        return None

    def routine(x: Array, packed: Array, pivots: Array, info: Array) -> None:
        for place in np.ndindex(x.shape[:-2]):
            packed[place], exchanged, info[place] = getrf(x[place])
            pivots[place] = exchanged + 1

    return routine


def cholesky(call: Call) -> Routine | None:
    """L of each matrix; zeros where there is none. Small matrices are the reference's."""
    type = call.instruction.operands[0].type
    potrf = _function("potrf", type.dtype.numpy) if type.shape[-1] >= _LARGE and type.size else None
    if potrf is None:
        return None

    def routine(x: Array, factor: Array, info: Array) -> None:
        for place in np.ndindex(x.shape[:-2]):
            # The transpose of a row-major matrix needs no copy, nor does that of its upper factor.
            upper, info[place] = potrf(x[place].T, lower=0, clean=1)
            factor[place] = 0 if info[place] else upper.T

    return routine


def pivots_to_permutation(call: Call) -> Routine | None:
    """The order of rows after exchanges, matrix by matrix; the reference goes exchange by exchange."""
    shape, size = call.instruction.operands[0].type.shape, call.instruction.attributes["size"]
    laswp = _function("laswp", np.dtype(np.float64))
    if laswp is None or prod(shape[:-1]) >= shape[-1] or 0 in shape:
        return None
    rows = np.arange(size, dtype=np.float64)[:, None]

    def routine(pivots: Array, order: Array) -> None:
        for place in np.ndindex(shape[:-1]):
            order[place] = laswp(rows, np.clip(pivots[place] - 1, 0, size - 1))[:, 0]

    return routine


def triangular_solve(call: Call) -> Routine | None:
    """X of each A X = B; LAPACK refuses singular A, whose infinities the reference kernel finds."""
    trtrs = _routine_of("trtrs", call)
    right = call.instruction.operands[1].type
    if trtrs is None or 0 in right.shape:
        return None
    upper, unit = (call.instruction.attributes[name] for name in ("upper", "unit"))
    trsm = _function("trsm", right.dtype.numpy)
    kernel = KERNELS["triangular_solve"](call.instruction)

    # A row-major matrix is the transpose of LAPACK's, which so needs no copy.
    def narrow(a: Array, b: Array) -> tuple[Array, bool]:
        return trtrs(a.T, b, lower=upper, trans=1, unitdiag=unit)

    def wide(a: Array, b: Array) -> tuple[Array, bool]:
        if not unit and 0 in a.diagonal():
            return b, True
        return trsm(1, a.T, b.T, side=1, lower=upper, diag=unit).T, False

    solve = wide if right.shape[-1] >= _LARGE else narrow

    def routine(a: Array, b: Array, x: Array) -> None:
        for place in np.ndindex(a.shape[:-2]):
            x[place], refused = solve(a[place], b[place])
            if refused:
                x[...] = kernel(a, b)
                return

    return routine
