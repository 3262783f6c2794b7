"""Copies and conversions: clone, copy_, to and the dtype methods."""

from __future__ import annotations

from typing import Any

from raxis.ops.promotion import Promotion
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast
from raxis.tensor import Tensor


@lowered("_cast(Tensor input, dtype dtype) -> Tensor", promotion=Promotion.ARITHMETIC, vjp={"input": lambda grad: grad}, function=False, out=False)
def _cast(input: Tensor, dtype: Any) -> Any:
    """`input` in another dtype, in new memory."""
    return cast(input, dtype)


@lowered("clone(Tensor input) -> Tensor", promotion=Promotion.ARITHMETIC, vjp={"input": lambda grad: grad})
def clone(input: Tensor) -> Any:
    """A copy of `input` in new memory; gradients flow through it.

    Example:
        >>> import raxis
        >>> raxis.clone(raxis.tensor([1, 2]))
        tensor([1, 2])
    """
    return input
