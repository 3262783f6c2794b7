"""Reads and writes at computed positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from raxis.backends.reference.casting import Kernel
from raxis.dtypes import HALF
from raxis.errors import IndexOutOfRangeError
from raxis.ptir.program import Instruction

_COMBINE: Mapping[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _check_bounds(index: Any, dim: int, size: int) -> None:
    if index.size and not (index.min() >= 0 and index.max() < size):
        wrong = index[(index < 0) | (index >= size)].reshape(-1)[0]
        raise IndexOutOfRangeError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def _gather(instruction: Instruction) -> Kernel:
    dim, operand = instruction.attributes["dim"], instruction.operands[0].type
    others = _other_dims(instruction)

    def kernel(x: Any, index: Any) -> Any:
        _check_bounds(index, dim, operand.shape[dim])
        return x[_positions(others, dim, index)]

    return kernel


def _other_dims(instruction: Instruction) -> list[Any]:
    """For every dim of the index, its own positions, shaped to broadcast."""
    return list(np.ogrid[tuple(slice(size) for size in instruction.operands[1].type.shape)])


def _positions(others: list[Any], dim: int, index: Any) -> tuple[Any, ...]:
    return (*others[:dim], index, *others[dim + 1 :])


def _take(instruction: Instruction) -> Kernel:
    dim, size = (
        instruction.attributes["dim"],
        instruction.operands[0].type.shape[instruction.attributes["dim"]],
    )

    def kernel(x: Any, index: Any) -> Any:
        _check_bounds(index, dim, size)
        return np.take(x, index, axis=dim)

    return kernel


def _scatter(instruction: Instruction) -> Kernel:
    dim, operand = instruction.attributes["dim"], instruction.operands[0].type
    others, combine = _other_dims(instruction), _combination(instruction)

    def kernel(x: Any, index: Any, updates: Any) -> Any:
        _check_bounds(index, dim, operand.shape[dim])
        return combine(x, _positions(others, dim, index), updates)

    return kernel


def _put(instruction: Instruction) -> Kernel:
    dim, operand = instruction.attributes["dim"], instruction.operands[0].type
    before, after = prod(operand.shape[:dim]), prod(operand.shape[dim + 1 :])
    combine = _combination(instruction)

    def kernel(x: Any, index: Any, updates: Any) -> Any:
        _check_bounds(index, dim, operand.shape[dim])
        # Flat positions, since ufunc.at is many times faster with one index array than with slices.
        rows = np.arange(before)[:, None] * operand.shape[dim] + index
        flat = (rows[..., None] * after + np.arange(after)).reshape(-1)
        return combine(x.reshape(-1), (flat,), updates.reshape(-1)).reshape(operand.shape)

    return kernel


def _combination(instruction: Instruction) -> Callable[[Any, tuple[Any, ...], Any], Any]:
    """Writes updates at positions of a copy of x, one after another."""
    reduce, dtype = instruction.attributes["reduce"], instruction.operands[0].type.dtype
    if reduce == "set":
        return _set
    ufunc = _COMBINE[reduce]

    def combine(x: Any, positions: tuple[Any, ...], updates: Any) -> Any:
        result = np.array(x, np.float32 if dtype in HALF else dtype.numpy, order="C")
        ufunc.at(result, positions, updates.astype(result.dtype))
        return result.astype(dtype.numpy, copy=False)

    return combine


def _set(x: Any, positions: tuple[Any, ...], updates: Any) -> Any:
    result = np.array(x, order="C")
    result[positions] = updates
    return result


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    "gather": _gather,
    "take": _take,
    "scatter": _scatter,
    "put": _put,
}
