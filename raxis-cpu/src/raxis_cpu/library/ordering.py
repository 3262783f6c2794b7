"""Sorting.

Elements of up to 32 bits become 64-bit integers that hold the element's rank in the upper half and its position in the
lower one. These are all different, so NumPy's fastest sort, which is not stable, gives a stable order, and its
partition gives the greatest elements in a definite order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF, Category, DType
from raxis_cpu.library.routine import Array, Call, Routine

Keys = Callable[[Array], Array]
"""From elements to int64 numbers of 32 bits that are in the same order; equal elements have equal ones."""

_POSITION = np.int64(0xFFFFFFFF)
_GREATEST = np.int32(0x7FFFFFFF)


def key_of(dtype: DType) -> Keys | None:
    """The keys of elements of a dtype; None if they have too many bits."""
    if dtype in HALF or dtype is dtypes.float32:
        return _float_keys
    if dtype.category <= Category.INTEGER and dtype.itemsize <= 4:
        return lambda x: x.astype(np.int64)
    return None


def _keys_of_near(x: Array) -> Array | None:
    """Keys of 64-bit integers that lie within 32 bits of each other; None if they do not."""
    if x.dtype.kind != "i" or not x.size:
        return None
    least = x.min()
    if int(x.max()) - int(least) > _POSITION:
        return None
    near: Array = x - least
    return near - np.int64(1 << 31)


def _float_keys(x: Array) -> Array:
    numbers = x.astype(np.float32)
    numbers += np.float32(0)  # makes -0 equal to 0
    bits = numbers.view(np.int32)
    keys = np.bitwise_xor(bits, (bits >> 31) & _GREATEST)
    keys[np.isnan(numbers)] = _GREATEST
    wide: Array = keys.astype(np.int64)
    return wide


def packed(numbers: Array, *, descending: bool) -> Array:
    """Key and position along the last dim in one number each, in the memory of the keys."""
    if descending:
        np.invert(numbers, out=numbers)
    numbers <<= 32
    numbers |= np.arange(numbers.shape[-1], dtype=np.int64)
    return numbers


def positions(numbers: Array) -> Array:
    """The positions in packed numbers."""
    found: Array = np.bitwise_and(numbers, _POSITION)
    return found


def sort(call: Call) -> Routine:
    """Values in order and where they came from, always stable."""
    attributes, dtype = call.instruction.attributes, call.instruction.operands[0].type.dtype
    dim, descending = attributes["dim"], attributes["descending"]
    keys = key_of(dtype)

    def routine(x: Array, values: Array, indices: Array) -> None:
        rows = np.ascontiguousarray(np.moveaxis(x, dim, -1))
        numbers = keys(rows) if keys is not None else _keys_of_near(rows)
        if numbers is None:
            order = _stable_order(rows, descending=descending)
        else:
            numbers = packed(numbers, descending=descending)
            numbers.sort(axis=-1)
            order = positions(numbers)
        np.moveaxis(indices, dim, -1)[...] = order
        np.moveaxis(values, dim, -1)[...] = np.take_along_axis(rows, order, -1)

    return routine


def _stable_order(rows: Array, *, descending: bool) -> Array:
    if not descending:
        return np.argsort(rows, axis=-1, kind="stable")
    # Reversed before and after, so that equal elements keep their order.
    backwards = np.argsort(rows[..., ::-1], axis=-1, kind="stable")
    order: Array = rows.shape[-1] - 1 - backwards[..., ::-1]
    return order
