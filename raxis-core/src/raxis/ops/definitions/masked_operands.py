"""What the masked ops share: masks, and what unmarked elements count as."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType, end_of_range
from raxis.ops.definitions.comparison import where
from raxis.tensor import Tensor

OPTIONS = "dtype? dtype=None, Tensor? mask=None"
REDUCTION = "int[]? dim=None, *, bool keepdim=False, " + OPTIONS
NORMALIZATION = "int dim, *, " + OPTIONS
IN_MASKED: dict[str, Any] = {"namespace": "raxis.masked", "method": False, "out": False}


def counted(input: Tensor, mask: Tensor | None, other: float) -> Tensor:
    """`input` with `other` where the mask is False."""
    return input if mask is None else where(mask_like(input, mask), input, input.new_full((), other))


def mask_like(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool and in `input`'s shape.

    Raises:
        IndexError: if it has more dimensions.
        RuntimeError: if its shape does not broadcast.
    """
    if mask.ndim > input.ndim:
        raise IndexError(
            f"the mask must broadcast to the input, but has {mask.ndim} dimensions, the input {input.ndim}."
        )
    return mask.expand(input.shape).to(dtypes.bool_)


def sum_dtype(input: Tensor, dtype: DType | None) -> DType:
    """Small integers and bools are summed in int64."""
    whole = input.dtype.category in (Category.BOOL, Category.INTEGER)
    return dtype or (dtypes.int64 if whole else input.dtype)


def lowest(input: Tensor) -> float:
    """What no maximum is below."""
    return _end(input, -1)


def greatest(input: Tensor) -> float:
    """What no minimum is above."""
    return _end(input, 1)


def _end(input: Tensor, sign: int) -> float:
    return sign * math.inf if input.dtype.is_floating_point else end_of_range(input.dtype, sign)
