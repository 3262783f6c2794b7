"""Long tuples of numbers as raw little-endian bytes, in the narrowest dtype that holds every one of them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir.attributes import Attribute
from raxis.ptir.types import SHORT_NAMES

PACKED_FROM = 16
"""Tuples of at least that many numbers of one type are packed; shorter ones are written number by number."""

_CANDIDATES: dict[type, tuple[DType, ...]] = {
    bool: (dtypes.bool_,),
    int: (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    float: (dtypes.float16, dtypes.float32, dtypes.float64),
    complex: (dtypes.complex64, dtypes.complex128),
}


def packed(values: tuple[Attribute, ...]) -> tuple[DType, bytes] | None:
    """The dtype and the bytes of a long tuple of numbers of one Python type; None for any other tuple.

    Example:
        >>> packed((1.0,) * 16)[0]
        raxis.float16
    """
    if len(values) < PACKED_FROM or len(set(map(type, values))) > 1:
        return None
    candidates = _CANDIDATES.get(type(values[0]))
    if candidates is None:
        return None
    try:
        wide = np.array(values, candidates[-1].numpy)
    except OverflowError:  # an integer beyond int64
        return None
    dtype = next(dtype for dtype in candidates if _holds(dtype, wide))
    return dtype, wide.astype(_little_endian(dtype)).tobytes()


def _holds(dtype: DType, wide: Any) -> bool:
    with np.errstate(all="ignore"):
        narrow = wide.astype(dtype.numpy).astype(wide.dtype)
    if dtype.is_complex:  # NaN in one part says nothing of the other
        narrow, wide = narrow.view(np.float64), wide.view(np.float64)
    return bool(np.array_equal(narrow, wide, equal_nan=dtype.category >= dtypes.Category.FLOAT))


def unpacked(dtype: DType, data: bytes) -> tuple[Attribute, ...]:
    """The numbers of `packed` bytes.

    Raises:
        ValueError: if the bytes are no whole number of elements, or no elements of that dtype.
    """
    if dtype.numpy.kind == "V" or len(data) % dtype.itemsize:
        raise ValueError(f"{len(data)} bytes are not elements of {SHORT_NAMES[dtype]}.")
    if dtype is dtypes.bool_ and data.strip(b"\0\1"):
        raise ValueError("the bytes of booleans must be 0 or 1.")
    return tuple(np.frombuffer(data, _little_endian(dtype)).tolist())


def _little_endian(dtype: DType) -> Any:
    return dtype.numpy.newbyteorder("<")
