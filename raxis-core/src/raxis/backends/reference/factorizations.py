"""Factorizations of matrices by NumPy's LAPACK; LU and triangular solutions, which NumPy lacks, by halving."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from raxis.backends.reference.casting import Kernel
from raxis.ptir.program import Instruction

_SMALL = 16
"""Columns that are done one by one."""


# ---- factorizations that NumPy has -----------------------------------------------------------------------------------


def _decomposed(instruction: Instruction, function: Kernel) -> Kernel:
    """`function` of stacks of matrices; NaN for each that it raises for or that is not finite: LAPACK may never end."""
    types = [value.type for value in instruction.results]

    def one_by_one(x: Any) -> tuple[Any, ...]:
        results = tuple(np.full(type.shape, np.nan, type.dtype.numpy) for type in types)
        for place in np.ndindex(x.shape[:-2]):
            if not np.isfinite(x[place]).all():
                continue
            try:
                parts = function(x[place])
            except np.linalg.LinAlgError:
                continue
            for result, part in zip(results, parts, strict=True):
                result[place] = part
        return results

    def kernel(x: Any) -> tuple[Any, ...]:
        if not np.isfinite(x).all():
            return one_by_one(x)
        try:
            return tuple(function(x))
        except np.linalg.LinAlgError:
            return one_by_one(x)

    return kernel


def _qr(instruction: Instruction) -> Kernel:
    mode: Any = "complete" if instruction.attributes["full"] else "reduced"
    return lambda x: tuple(np.linalg.qr(x, mode=mode))


def _svd(instruction: Instruction) -> Kernel:
    full = instruction.attributes["full"]
    return _decomposed(instruction, lambda x: np.linalg.svd(x, full_matrices=full))


def _eigh(instruction: Instruction) -> Kernel:
    kernel = _decomposed(instruction, np.linalg.eigh)
    return lambda x: kernel(np.tril(x))


def _alone(instruction: Instruction, function: Kernel) -> Kernel:
    """The kernel of what has one result."""
    kernel = _decomposed(instruction, lambda x: (function(x),))
    return lambda x: kernel(x)[0]


def _qr_triangle(_: Instruction) -> Kernel:
    return lambda x: np.linalg.qr(x, mode="r")


def _svdvals(instruction: Instruction) -> Kernel:
    return _alone(instruction, lambda x: np.linalg.svd(x, compute_uv=False))


def _eigvalsh(instruction: Instruction) -> Kernel:
    kernel = _alone(instruction, np.linalg.eigvalsh)
    return lambda x: kernel(np.tril(x))


def _eig(instruction: Instruction) -> Kernel:
    target = instruction.results[0].type.dtype.numpy

    def eigenpairs(x: Any) -> tuple[Any, Any]:
        values, vectors = np.linalg.eig(x)
        return values.astype(target), vectors.astype(target)

    return _decomposed(instruction, eigenpairs)


def _cholesky(instruction: Instruction) -> Kernel:
    batch = instruction.results[1].type.shape

    def one_by_one(x: Any) -> Any:
        factor = np.zeros_like(x)
        for place in np.ndindex(batch):
            order = _order_of_breakdown(x[place])
            factor[place] = np.nan
            factor[place][:order, :order] = np.linalg.cholesky(x[place][:order, :order])
        return factor

    def kernel(x: Any) -> tuple[Any, Any]:
        try:
            factor = np.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            factor = one_by_one(x)
        # NumPy's LAPACK goes on after NaN.
        info = _first_place(np.isnan(np.diagonal(factor, axis1=-2, axis2=-1)))
        return np.where((info != 0)[..., None, None], 0, factor).astype(x.dtype), info

    return kernel


def _order_of_breakdown(matrix: Any) -> int:
    """The order of the greatest leading minor that has a factor, found by bisection."""
    low, high = 0, len(matrix) + 1
    while high - low > 1:
        middle = (low + high) // 2
        try:
            np.linalg.cholesky(matrix[:middle, :middle])
            low = middle
        except np.linalg.LinAlgError:
            high = middle
    return low


def _first_place(found: Any) -> Any:
    """The first place, from 1, where something is true in the last dim; 0 if there is none."""
    if not found.shape[-1]:
        return np.zeros(found.shape[:-1], np.int32)
    return np.where(found.any(-1), found.argmax(-1) + 1, 0).astype(np.int32)


# ---- LU --------------------------------------------------------------------------------------------------------------


def _lu(instruction: Instruction) -> Kernel:
    packed_shape, pivots_shape, batch = (value.type.shape for value in instruction.results)
    count = prod(batch)

    def kernel(x: Any) -> tuple[Any, Any, Any]:
        packed = np.array(x, order="C").reshape(count, *packed_shape[-2:])
        pivots = np.empty((count, pivots_shape[-1]), np.int32)
        _factor(packed, pivots)
        return (
            packed.reshape(packed_shape),
            (pivots + 1).reshape(pivots_shape),
            _first_place(np.diagonal(packed, axis1=-2, axis2=-1) == 0).reshape(batch),
        )

    return kernel


def _factor(packed: Any, pivots: Any) -> None:
    """Factor a stack in place: the left half of the columns, then what is left of the others."""
    count = pivots.shape[-1]
    if count <= _SMALL:
        for step in range(count):
            _eliminate(packed, pivots, step)
        return
    half = count // 2
    left, right = packed[..., :half], packed[..., half:]
    _factor(left, pivots[..., :half])
    _exchange(right, pivots[..., :half])
    right[..., :half, :] = _solve(left[..., :half, :], right[..., :half, :], upper=False, unit=True)
    rest = right[..., half:, :]
    rest -= left[..., half:, :] @ right[..., :half, :]
    _factor(rest, pivots[..., half:])
    _exchange(left[..., half:, :], pivots[..., half:])
    pivots[..., half:] += half


def _eliminate(packed: Any, pivots: Any, step: int) -> None:
    """One column: bring the greatest element to the diagonal and subtract multiples of its row from those below."""
    column = packed[:, step:, step]
    pivots[:, step] = step + np.argmax(np.abs(column.real) + np.abs(column.imag), axis=-1)
    stack = np.arange(len(packed))
    chosen = packed[stack, pivots[:, step]]
    packed[stack, pivots[:, step]] = packed[:, step]
    packed[:, step] = chosen
    divisor = chosen[:, step, None]
    below = packed[:, step + 1 :]
    below[..., step] /= np.where(divisor == 0, 1, divisor)
    below[..., step + 1 :] -= below[..., step, None] * chosen[:, None, step + 1 :]


def _exchange(rows: Any, pivots: Any) -> None:
    order = _order(pivots, rows.shape[-2])
    rows[...] = np.take_along_axis(rows, order[..., None], -2)


def _order(pivots: Any, size: int) -> Any:
    """Where rows come from after exchanges counted from 0."""
    order = np.broadcast_to(np.arange(size), (len(pivots), size)).copy()
    stack = np.arange(len(pivots))
    for step in range(pivots.shape[-1]):
        chosen = order[stack, pivots[:, step]]
        order[stack, pivots[:, step]] = order[:, step]
        order[:, step] = chosen
    return order


def _permutation(instruction: Instruction) -> Kernel:
    size, shape = instruction.attributes["size"], instruction.results[0].type.shape
    count, length = prod(shape[:-1]), instruction.operands[0].type.shape[-1]

    def kernel(pivots: Any) -> Any:
        places = np.clip(pivots.reshape(count, length).astype(np.int64) - 1, 0, size - 1)
        return _order(places, size).reshape(shape)

    return kernel


# ---- triangular systems ----------------------------------------------------------------------------------------------


def _triangular_solve(instruction: Instruction) -> Kernel:
    upper, unit = instruction.attributes["upper"], instruction.attributes["unit"]
    return lambda a, b: _solve(a, b, upper=upper, unit=unit)


def _solve(a: Any, b: Any, *, upper: bool, unit: bool) -> Any:
    """Substitution: one half of the unknowns, then the other with what is left of the right side."""
    size = a.shape[-1]
    if size <= _SMALL:
        return _substitute(a, b, upper=upper, unit=unit)
    half = size // 2
    first, second = (slice(half, None), slice(half)) if upper else (slice(half), slice(half, None))
    x = np.empty_like(b)
    x[..., first, :] = _solve(a[..., first, first], b[..., first, :], upper=upper, unit=unit)
    rest = b[..., second, :] - a[..., second, first] @ x[..., first, :]
    x[..., second, :] = _solve(a[..., second, second], rest, upper=upper, unit=unit)
    return x


def _substitute(a: Any, b: Any, *, upper: bool, unit: bool) -> Any:
    x = np.array(b)
    size = a.shape[-1]
    for row in range(size - 1, -1, -1) if upper else range(size):
        if not unit:
            x[..., row, :] /= a[..., row, row, None]
        others = slice(row) if upper else slice(row + 1, size)
        x[..., others, :] -= a[..., others, row, None] * x[..., row, None, :]
    return x


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    "cholesky": _cholesky,
    "lu": _lu,
    "pivots_to_permutation": _permutation,
    "triangular_solve": _triangular_solve,
    "qr": _qr,
    "svd": _svd,
    "eigh": _eigh,
    "qr_triangle": _qr_triangle,
    "svdvals": _svdvals,
    "eigvalsh": _eigvalsh,
    "eig": _eig,
}
