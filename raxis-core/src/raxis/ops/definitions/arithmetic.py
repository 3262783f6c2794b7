"""Arithmetic on two operands: add, sub, mul, div and relatives."""

from __future__ import annotations

from typing import Any

from raxis.ops.formulas import conj, given
from raxis.ops.promotion import Promotion
from raxis.ops.table import elementwise, lowered
from raxis.ops.trace import emit
from raxis.tensor import Tensor

BINARY = "(Tensor|Scalar input, Tensor|Scalar other) -> Tensor"


@lowered(
    "add(Tensor|Scalar input, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    operator="__add__",
    vjp={
        "input": lambda grad: grad,
        "other": lambda grad, alpha: grad if alpha == 1 else grad * conj(alpha),
    },
)
def add(input: Tensor, other: Tensor, alpha: Any) -> Any:
    """``input + alpha * other``, element by element.

    Args:
        input: tensor or number.
        other: tensor or number; its shape must broadcast with `input`'s.
        alpha: number multiplied with `other`.

    Raises:
        RuntimeError: if the shapes do not broadcast, or `alpha` is a float and both operands are integers.

    Example:
        >>> import raxis
        >>> raxis.add(raxis.tensor([1, 2]), 10)
        tensor([11, 12])
    """
    return emit("add", input, other * alpha if given(alpha) else other)


mul = elementwise(
    "mul" + BINARY,
    "mul",
    """``input * other``, element by element.

    Args:
        input: tensor or number.
        other: tensor or number; its shape must broadcast with `input`'s.

    Example:
        >>> import raxis
        >>> raxis.mul(raxis.tensor([1, 2]), 3)
        tensor([3, 6])
    """,
    operator="__mul__",
    vjp={
        "input": lambda grad, other: grad * conj(other),
        "other": lambda grad, input: grad * conj(input),
    },
)
