"""Conversion between dtypes, and half precision by way of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF, Category, DType
from raxis.ptir.program import Instruction

Kernel = Callable[..., Any]
"""Takes one array (or NumPy scalar, if of rank 0) per operand; gives one, or a tuple, for the results."""


def wrapped_integer(number: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A rank-0 integer array; of a number outside the dtype's range, the low bits."""
    try:
        return np.array(number, dtype)
    except OverflowError:
        return np.array(number % (1 << 8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype)


def in_float32(function: Kernel, result: DType) -> Kernel:
    """`function` for half-precision operands: computed in float32, rounded once to `result`."""
    target = result.numpy

    def kernel(*operands: Any) -> Any:
        return function(*[operand.astype(np.float32) for operand in operands]).astype(target)

    return kernel


def widened(instruction: Instruction, function: Kernel) -> Kernel:
    """`function` in float32 for half-precision operands, as it is for other dtypes."""
    if instruction.operands[0].type.dtype not in HALF:
        return function
    return in_float32(function, instruction.results[0].type.dtype)


def cast(source: DType, target: DType) -> Kernel:
    """The conversion of arrays of `source` to arrays of `target`."""
    if source.is_complex and target is dtypes.bool_:
        return lambda x: x != 0
    if source.is_complex and not target.is_complex:
        return _after(lambda x: x.real, cast(source.to_real(), target))
    if source.is_floating_point and target.category is Category.INTEGER:
        return _float_to_integer(target)
    if source is not dtypes.float32 and target in HALF:
        return _after(lambda x: x.astype(np.float32), cast(dtypes.float32, target))
    return lambda x: x.astype(target.numpy)


def _after(first: Kernel, second: Kernel) -> Kernel:
    return lambda x: second(first(x))


def _float_to_integer(target: DType) -> Kernel:
    # The range test makes the result the same on every machine; a bare C conversion is undefined there.
    wide, bits = (np.int64, 64) if target is dtypes.int64 else (np.int32, 32)
    low, high = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)

    def kernel(x: Any) -> Any:
        exact = x if x.dtype.itemsize >= 4 else x.astype(np.float32)
        inside = np.greater_equal(exact, low) & np.less(exact, high)
        return np.where(inside, exact, exact.dtype.type(low)).astype(wide).astype(target.numpy)

    return kernel
