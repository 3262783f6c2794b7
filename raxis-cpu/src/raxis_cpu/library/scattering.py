"""Writes at computed positions, combined with what is there, in order."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis.errors import IndexOutOfRangeError
from raxis_cpu.library.routine import Array, Call, Routine
from raxis_cpu.library.scattering_ir import ELEMENTS, combine_rows

_Combine = Callable[[Array, Array, Array, tuple[int, int, int]], None]
"""Takes the result as rows [before, size, width], the index, the updates and (before, size, width)."""

_Native = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 4)


def check_bounds(index: Array, dim: int, size: int) -> None:
    """Raise IndexError naming the first index outside [0, size)."""
    if index.size and not (index.min() >= 0 and index.max() < size):
        wrong = index[(index < 0) | (index >= size)].reshape(-1)[0]
        raise IndexOutOfRangeError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def _in_order(index: Array) -> Array:
    # NumPy walks an index in the order of memory, and of several updates the last must win.
    return np.ascontiguousarray(index)


def _arithmetic(dtype: DType, reduce: str) -> tuple[DType, str, int] | None:
    """What a reduction computes with: dtype, reduction, elements of it per element; None if it is not served."""
    if dtype in HALF:
        return dtypes.float32, reduce, 1
    if dtype is dtypes.bool_:
        return dtypes.uint8, {"add": "max", "mul": "min"}.get(reduce, reduce), 1
    if dtype.is_complex:
        return (dtype.to_real(), reduce, 2) if reduce == "add" else None
    return (dtype, reduce, 1) if dtype in ELEMENTS else None


def _combination(dtype: DType, reduce: str, parts: int) -> _Combine:
    function = _Native(combine_rows(reduce, dtype))

    def combine(result: Array, index: Array, updates: Array, rows: tuple[int, int, int]) -> None:
        before, size, width = rows
        function(
            result.ctypes.data,
            index.ctypes.data,
            updates.ctypes.data,
            before,
            index.size,
            size,
            width * parts,
        )

    return combine


def put(call: Call) -> Routine | None:
    """Slices along a dim set to, or combined with, slices of the updates."""
    attributes, operand = call.instruction.attributes, call.instruction.operands[0].type
    dim = attributes["dim"]
    rows = (prod(operand.shape[:dim]), operand.shape[dim], prod(operand.shape[dim + 1 :]))
    if attributes["reduce"] == "set":
        place = (slice(None),) * dim

        def routine(x: Array, index: Array, updates: Array, out: Array) -> None:
            check_bounds(index, dim, rows[1])
            out[...] = x
            out[(*place, _in_order(index))] = updates

        return routine
    return _combining(call, dim, rows, lambda index: index)


def scatter(call: Call) -> Routine | None:
    """Elements at positions along a dim set to, or combined with, the updates."""
    attributes, operand = call.instruction.attributes, call.instruction.operands[0].type
    dim = attributes["dim"]
    shape = call.instruction.operands[1].type.shape
    others = list(np.ogrid[tuple(slice(size) for size in shape)])
    if attributes["reduce"] == "set":

        def routine(x: Array, index: Array, updates: Array, out: Array) -> None:
            check_bounds(index, dim, operand.shape[dim])
            out[...] = x
            out[(*others[:dim], _in_order(index), *others[dim + 1 :])] = updates

        return routine
    steps = [prod(operand.shape[axis + 1 :]) for axis in range(operand.rank)]
    start: Any = sum(
        (other * step for axis, (other, step) in enumerate(zip(others, steps, strict=True)) if axis != dim),
        start=np.zeros((1,) * operand.rank, np.int64),
    )
    return _combining(call, dim, (1, operand.size, 1), lambda index: index * steps[dim] + start)


def _combining(
    call: Call, dim: int, rows: tuple[int, int, int], positions: Callable[[Array], Array]
) -> Routine | None:
    """The routine that combines rows; `positions` gives their numbers."""
    operand, reduce = call.instruction.operands[0].type, call.instruction.attributes["reduce"]
    arithmetic = _arithmetic(operand.dtype, reduce)
    if arithmetic is None:
        return None
    combine = _combination(*arithmetic)
    computed = dtypes.float32.numpy if operand.dtype in HALF else operand.dtype.numpy
    direct = call.is_dense() and computed == operand.dtype.numpy

    def routine(x: Array, index: Array, updates: Array, out: Array) -> None:
        check_bounds(index, dim, operand.shape[dim])
        result = out if direct else np.empty(operand.shape, computed)
        result[...] = x
        combine(result, _in_order(positions(index)), np.ascontiguousarray(updates, computed), rows)
        if not direct:
            out[...] = result

    return routine
