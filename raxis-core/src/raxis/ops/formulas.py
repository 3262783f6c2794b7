"""Small helpers shared by lowerings and derivative formulas."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ops.trace import cast
from raxis.tensor import Tensor


def given(value: Any) -> bool:
    """Whether a `Scalar` argument of a lowering was passed (then it is a rank-0 traced tensor)."""
    return isinstance(value, Tensor)


def conj(value: Any) -> Any:
    """The complex conjugate; real tensors and numbers themselves."""
    if isinstance(value, Tensor):
        return value.conj() if value._layout.dtype.is_complex else value
    return value.conjugate()


def wide(operand: Tensor) -> Tensor:
    """`operand` in float32 when it is half precision, so that a chain of primitives rounds once at its end."""
    return cast(operand, wide_dtype(operand._layout.dtype))


def wide_dtype(dtype: DType) -> DType:
    """The dtype in which half-precision values are computed; others themselves."""
    return dtypes.float32 if dtype in dtypes.HALF else dtype
