"""Limits of the element types: `finfo` and `iinfo`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from raxis.dtypes import Category, DType, as_dtype
from raxis.ops.promotion import get_default_dtype


class finfo:
    """Limits of a floating point dtype: bits, eps, max, min, tiny, smallest_normal, resolution.

    Args:
        type: a floating point or complex dtype (then of its components); default: the default dtype.

    Raises:
        TypeError: for other dtypes.

    Example:
        >>> import raxis
        >>> raxis.finfo(raxis.float32).bits
        32
    """

    def __init__(self, type: DType | None = None) -> None:
        dtype = as_dtype(type or get_default_dtype()).to_real()
        if dtype.category is not Category.FLOAT:
            raise TypeError(
                f"finfo() requires a floating point input type, but got {dtype}. Use iinfo to handle it."
            )
        info: Any = ml_dtypes.finfo(dtype.numpy)  # type: ignore[no-untyped-call]
        self.bits: int = int(info.bits)
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = float(info.tiny)
        self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)
        self.dtype = dtype.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: bits, max, min.

    Raises:
        TypeError: for other dtypes.
    """

    def __init__(self, type: DType) -> None:
        dtype = as_dtype(type)
        if dtype.category is not Category.INTEGER:
            raise TypeError(
                f"iinfo() requires an integer input type, but got {dtype}. Use finfo to handle it."
            )
        info = np.iinfo(dtype.numpy)
        self.bits: int = info.bits
        self.max: int = int(info.max)
        self.min: int = int(info.min)
        self.dtype = dtype.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
