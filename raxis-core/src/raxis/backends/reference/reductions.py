"""Reductions, scans along a dimension, and sorting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from raxis.backends.reference.casting import Kernel, widened
from raxis.dtypes import HALF, DType, end_of_range
from raxis.ptir.program import Instruction


def _folding(ufunc: np.ufunc) -> Callable[[Instruction], Kernel]:
    """Sums, products and bitwise reductions: reduction by a ufunc that has an identity."""

    def factory(instruction: Instruction) -> Kernel:
        dims, dtype = instruction.attributes["dims"], _accumulator(instruction.operands[0].type.dtype)
        target = instruction.results[0].type.dtype.numpy
        if dtype == target:
            return lambda x: ufunc.reduce(x, axis=dims, dtype=dtype)
        return lambda x: ufunc.reduce(x, axis=dims, dtype=dtype).astype(target)

    return factory


def _accumulator(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.float32) if dtype in HALF else dtype.numpy


def _extremum(ufunc: np.ufunc, sign: int) -> Callable[[Instruction], Kernel]:
    """Greatest (`sign` 1) or smallest (-1); of no elements, the end of the range."""

    def factory(instruction: Instruction) -> Kernel:
        dims, operand = instruction.attributes["dims"], instruction.operands[0].type
        dtype = _accumulator(operand.dtype)
        initial = dtype.type(end_of_range(operand.dtype, -sign))
        return widened(instruction, lambda x: ufunc.reduce(x, axis=dims, initial=initial))

    return factory


def _position(function: Kernel) -> Callable[[Instruction], Kernel]:
    def factory(instruction: Instruction) -> Kernel:
        dim, widened = instruction.attributes["dim"], instruction.operands[0].type.dtype in HALF
        return lambda x: function(x.astype(np.float32) if widened else x, axis=dim)

    return factory


def _scan(ufunc: np.ufunc) -> Callable[[Instruction], Kernel]:
    def factory(instruction: Instruction) -> Kernel:
        dim, dtype = instruction.attributes["dim"], _accumulator(instruction.operands[0].type.dtype)
        return widened(instruction, lambda x: ufunc.accumulate(x, axis=dim, dtype=dtype))

    return factory


def _sort(instruction: Instruction) -> Kernel:
    dim, descending = instruction.attributes["dim"], instruction.attributes["descending"]
    widened = instruction.operands[0].type.dtype in HALF

    def kernel(x: Any) -> tuple[Any, Any]:
        keys = x.astype(np.float32) if widened else x
        indices = _descending_order(keys, dim) if descending else np.argsort(keys, axis=dim, kind="stable")
        return np.take_along_axis(x, indices, dim), indices

    return kernel


def _descending_order(keys: Any, dim: int) -> Any:
    # Reversed before and after, so that equal elements keep their order.
    backwards = np.argsort(np.flip(keys, dim), axis=dim, kind="stable")
    return keys.shape[dim] - 1 - np.flip(backwards, dim)


def _searchsorted(instruction: Instruction) -> Kernel:
    side: Literal["left", "right"] = "right" if instruction.attributes["right"] else "left"
    widened = instruction.operands[0].type.dtype in HALF

    def kernel(boundaries: Any, values: Any) -> Any:
        if widened:
            boundaries, values = boundaries.astype(np.float32), values.astype(np.float32)
        result = np.empty(values.shape, np.int64)
        for row in np.ndindex(values.shape[:-1]):
            result[row] = np.searchsorted(boundaries[row], values[row], side)
        return result

    return kernel


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    "reduce_sum": _folding(np.add),
    "reduce_prod": _folding(np.multiply),
    "reduce_max": _extremum(np.maximum, 1),
    "reduce_min": _extremum(np.minimum, -1),
    "reduce_and": _folding(np.bitwise_and),
    "reduce_or": _folding(np.bitwise_or),
    "argmax": _position(np.argmax),
    "argmin": _position(np.argmin),
    "cumsum": _scan(np.add),
    "cumprod": _scan(np.multiply),
    "cummax": _scan(np.maximum),
    "cummin": _scan(np.minimum),
    "sort": _sort,
    "searchsorted": _searchsorted,
}
