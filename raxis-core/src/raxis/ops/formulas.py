"""Small helpers shared by lowerings and derivative formulas."""

from __future__ import annotations

import functools
from collections.abc import Callable
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


def widened(body: Callable[..., Any]) -> Callable[..., Any]:
    """A lowering whose half-precision operands arrive in float32 and whose result is rounded once, at the end."""

    @functools.wraps(body)
    def lowering(**arguments: Any) -> Any:
        tensors = [value for value in arguments.values() if isinstance(value, Tensor)]
        ready = {
            name: wide(value) if isinstance(value, Tensor) else value for name, value in arguments.items()
        }
        result = body(**ready)
        narrow = tensors[0]._layout.dtype
        return (
            cast(result, narrow)
            if narrow in dtypes.HALF and result._layout.dtype is dtypes.float32
            else result
        )

    return lowering
