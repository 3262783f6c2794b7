"""Arithmetic on two operands: sums, products, quotients, remainders, powers."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import Category, DType, scalar_category
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import binary, check_some_tensor
from raxis.ops.formulas import conj, given
from raxis.ops.promotion import Promotion, get_default_dtype
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor

BINARY = "(Tensor|Scalar input, Tensor|Scalar other) -> Tensor"


def category_of(operand: Any) -> Category:
    """The promotion category of a tensor or number."""
    return operand.dtype.category if isinstance(operand, Tensor) else scalar_category(operand.__class__)


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


def _check_subtraction(input: Any, other: Any) -> None:
    kinds = (category_of(input), category_of(other))
    if kinds == (Category.BOOL, Category.BOOL):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if Category.BOOL in kinds:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )


@lowered(
    "sub(Tensor|Scalar input, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    operator="__sub__",
    aliases=("subtract",),
    check=_check_subtraction,
    vjp={
        "input": lambda grad: grad,
        "other": lambda grad, alpha: -grad if alpha == 1 else -grad * conj(alpha),
    },
)
def sub(input: Tensor, other: Tensor, alpha: Any) -> Any:
    """``input - alpha * other``, element by element.

    Args:
        input: tensor or number.
        other: tensor or number; its shape must broadcast with `input`'s.
        alpha: number multiplied with `other`.

    Raises:
        RuntimeError: if the shapes do not broadcast, an operand is bool, or `alpha` is a float and both operands
            are integers.

    Example:
        >>> import raxis
        >>> raxis.sub(raxis.tensor([1, 2]), 10)
        tensor([-9, -8])
    """
    return emit("sub", input, other * alpha if given(alpha) else other)


@composed("rsub(Tensor input, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", out=False, method=False)
def rsub(input: Tensor, other: Any, *, alpha: Any = 1) -> Any:
    """``other - alpha * input``; see `sub`.

    Example:
        >>> import raxis
        >>> raxis.rsub(raxis.tensor([1, 2]), 10)
        tensor([9, 8])
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    return sub(other, input, alpha=alpha)


mul = elementwise(
    "mul" + BINARY,
    "mul",
    """``input * other``, element by element.

    Args:
        input: tensor or number.
        other: tensor or number; its shape must broadcast with `input`'s.

    Raises:
        RuntimeError: if the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.mul(raxis.tensor([1, 2]), 3)
        tensor([3, 6])
    """,
    operator="__mul__",
    aliases=("multiply",),
    vjp={
        "input": lambda grad, other: grad * conj(other),
        "other": lambda grad, input: grad * conj(input),
    },
)


def _check_rounding(rounding_mode: str | None) -> None:
    if rounding_mode not in (None, "trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )


def _quotient_gradient(grad: Tensor, other: Any, rounding_mode: str | None) -> Tensor:
    return grad / conj(other) if rounding_mode is None else zeros_like(grad)


def _divisor_gradient(grad: Tensor, input: Any, other: Tensor, rounding_mode: str | None) -> Tensor:
    if rounding_mode is not None:
        return zeros_like(grad)
    return -grad * conj((input / other) / other)


@lowered(
    "div(Tensor|Scalar input, Tensor|Scalar other, *, str? rounding_mode=None) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    operator="__truediv__",
    aliases=("divide", "true_divide"),
    check=_check_rounding,
    vjp={"input": _quotient_gradient, "other": _divisor_gradient},
)
def div(input: Tensor, other: Tensor, rounding_mode: str | None) -> Any:
    """``input / other``, element by element.

    Args:
        input: tensor or number.
        other: tensor or number; its shape must broadcast with `input`'s.
        rounding_mode: None divides truly (integers in the default float dtype), "trunc" rounds towards zero,
            "floor" towards minus infinity; both keep the operands' result type.

    Raises:
        RuntimeError: if the shapes do not broadcast, the rounding mode is unknown, or an integer is divided by
            zero with rounding.

    Example:
        >>> import raxis
        >>> raxis.div(raxis.tensor([7, -7]), 2, rounding_mode="floor")
        tensor([ 3, -4])
    """
    if rounding_mode is None:
        dtype = inexact(input.dtype)
        return emit("div", cast(input, dtype), cast(other, dtype))
    if rounding_mode == "floor":
        return emit("floor_divide", input, other)
    quotient = emit("div", input, other)
    return emit("trunc", quotient) if input.dtype.is_floating_point else quotient


def inexact(dtype: DType) -> DType:
    """The dtype quotients are made in: the default float dtype for bools and integers."""
    return get_default_dtype() if dtype.category <= Category.INTEGER else dtype


floor_divide = elementwise(
    "floor_divide" + BINARY,
    "floor_divide",
    binary(
        "floor_divide",
        "``input / other`` rounded towards minus infinity, as Python's ``//``.",
        "raxis.tensor([7, -7]), 2",
        "[ 3, -4]",
    ),
    operator="__floordiv__",
)


remainder = elementwise(
    "remainder" + BINARY,
    "remainder",
    binary(
        "remainder",
        "The remainder of ``input / other`` with the sign of `other`, as Python's ``%``.",
        "raxis.tensor([7, -7]), 4",
        "[3, 1]",
    ),
    operator="__mod__",
    check=check_some_tensor,
    vjp={
        "input": lambda grad: grad,
        "other": lambda grad, input, other: -grad * div(input, other, rounding_mode="floor"),
    },
)


fmod = elementwise(
    "fmod(Tensor input, Tensor|Scalar other) -> Tensor",
    "fmod",
    binary(
        "fmod",
        "The remainder of ``input / other`` with the sign of `input`, as C's ``fmod``.",
        "raxis.tensor([7, -7]), 4",
        "[ 3, -3]",
    ),
    vjp={
        "input": lambda grad: grad,
        "other": lambda grad, input, other: -grad * div(input, other, rounding_mode="trunc"),
    },
)
