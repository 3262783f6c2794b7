"""Index arithmetic: where a point of a kernel's iteration space lies in a value.

A value of rank r is visited through r affine expressions of the kernel's axes. Primitives that only
rearrange elements rewrite these expressions instead of moving data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Affine(NamedTuple):
    """``offset + sum(coefficient * axis)``, one coefficient per kernel axis."""

    coefficients: tuple[int, ...]
    offset: int

    def scaled(self, factor: int, shift: int = 0) -> Affine:
        """``factor * self + shift``."""
        return Affine(tuple(factor * item for item in self.coefficients), factor * self.offset + shift)

    def plus(self, other: Affine) -> Affine:
        """The sum of both."""
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return Affine(tuple(first + second for first, second in pairs), self.offset + other.offset)


Index = tuple[Affine, ...]
"""One affine expression per dimension of a value."""


def constant(rank: int, value: int = 0) -> Affine:
    """An expression that is the same at every point of `rank` axes."""
    return Affine((0,) * rank, value)


def identity(rank: int) -> Index:
    """Dimension i is axis i."""
    return tuple(Affine(tuple(int(axis == dim) for axis in range(rank)), 0) for dim in range(rank))


def linear(index: Index, strides: Sequence[int], rank: int) -> Affine:
    """The position in memory, in elements from the first one."""
    total = constant(rank)
    for expression, stride in zip(index, strides, strict=True):
        total = total.plus(expression.scaled(stride))
    return total


def through_view(
    primitive: str, attributes: Mapping[str, Any], shape: Sequence[int], index: Index, rank: int
) -> Index | None:
    """The operand's index when the result of a rearranging primitive is visited at `index`.

    `shape` is the operand's, `rank` the number of kernel axes. None if there is no affine one (some reshapes).
    """
    if primitive == "reshape":
        return _reshape(attributes["shape"], shape, index, rank)
    return _RULES[primitive](attributes, tuple(shape), index)


def _broadcast(attributes: Mapping[str, Any], shape: tuple[int, ...], index: Index) -> Index:
    repeated = attributes["shape"]
    return tuple(
        index[dim].scaled(0) if size == 1 and repeated[dim] != 1 else index[dim]
        for size, dim in zip(shape, attributes["dims"], strict=True)
    )  # fmt: skip


def _transpose(attributes: Mapping[str, Any], shape: tuple[int, ...], index: Index) -> Index:
    permutation = attributes["permutation"]
    return tuple(index[permutation.index(dim)] for dim in range(len(shape)))


def _slice(attributes: Mapping[str, Any], _shape: tuple[int, ...], index: Index) -> Index:
    triples = zip(index, attributes["start"], attributes["step"], strict=True)
    return tuple(expression.scaled(step, start) for expression, start, step in triples)


def _reverse(attributes: Mapping[str, Any], shape: tuple[int, ...], index: Index) -> Index:
    dims = attributes["dims"]
    return tuple(
        expression.scaled(-1, size - 1) if dim in dims else expression
        for dim, (expression, size) in enumerate(zip(index, shape, strict=True))
    )


def _unfold(attributes: Mapping[str, Any], _shape: tuple[int, ...], index: Index) -> Index:
    dim = attributes["dim"]
    windows, within = index[dim], index[-1]
    moved = windows.scaled(attributes["step"]).plus(within.scaled(attributes["dilation"]))
    return (*index[:dim], moved, *index[dim + 1 : -1])


def _reshape(target: Sequence[int], shape: Sequence[int], index: Index, rank: int) -> Index | None:
    """Dimensions may be split, and those of size 1 come and go; merged dimensions are not affine."""
    found: list[Affine] = []
    position = 0
    for size in shape:
        if size == 1:
            found.append(constant(rank))
            continue
        split = _split(target, position, size)
        if split is None:
            return None
        strides = [math.prod(target[axis + 1 : split]) for axis in range(position, split)]
        found.append(linear(index[position:split], strides, rank))
        position = split
    return tuple(found)


def _split(target: Sequence[int], position: int, size: int) -> int | None:
    """Where the run of result dimensions from `position` ends that one operand dimension became."""
    reached = 1
    while position < len(target) and reached < size:
        reached *= target[position]
        position += 1
    return position if reached == size else None


_RULES = {
    "broadcast": _broadcast,
    "reverse": _reverse,
    "slice": _slice,
    "transpose": _transpose,
    "unfold": _unfold,
}

VIEWS = frozenset({*_RULES, "reshape"})
"""Primitives that only rearrange elements."""
