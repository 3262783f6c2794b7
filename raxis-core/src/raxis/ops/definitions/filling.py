"""Writing one value everywhere: fill, fill_, zero_."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.factory import check_fits
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast
from raxis.tensor import Tensor


@lowered(
    "_fill(Tensor input, Tensor|Scalar value) -> Tensor",
    vjp={"input": lambda grad: zeros_like(grad), "value": lambda grad: grad.sum()},
    inplace=True,
    function=False,
    out=False,
)
def _fill(input: Tensor, value: Tensor) -> Any:
    """`value` everywhere."""
    if value._layout.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._layout.ndim} dimensions."
        )
    return broadcast(cast(value, input.dtype), input._layout.shape)


@composed("fill(Tensor input, Tensor|Scalar value) -> Tensor", method=False, out=False)
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with every element `value`; see `fill_`."""
    _check_fill(input, value)
    return input._fill(value)


@composed("fill_(Tensor input, Tensor|Scalar value) -> Tensor", out=False)
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write `value` over every element.

    Args:
        input: any shape and dtype.
        value: number or 0-d tensor.

    Raises:
        RuntimeError: if `value` has dimensions, or does not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.zeros(2).fill_(3)
        tensor([3., 3.])
    """
    _check_fill(input, value)
    return input._fill_(value)


_REAL = frozenset({int, float})
_ROOMY = frozenset(
    {dtypes.bool_, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128}
)


def _check_fill(input: Tensor, value: Any) -> None:
    """Check the range of numbers; a small one fits every roomy dtype, which keeps the usual call fast."""
    dtype = input._layout.dtype
    small = type(value) in _REAL and dtype in _ROOMY and -(1 << 31) < value < 1 << 31
    if not small and not isinstance(value, Tensor):
        check_fits(value, dtype)


@composed("zero_(Tensor input) -> Tensor", out=False)
def zero_(input: Tensor) -> Tensor:
    """Write 0 over every element.

    Example:
        >>> import raxis
        >>> raxis.ones(2).zero_()
        tensor([0., 0.])
    """
    return input._fill_(0)
