"""Arithmetic on two operands: sums, products, quotients, remainders, powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import Category, DType, scalar_category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.complex import real
from raxis.ops.definitions.control import region
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import binary, check_some_tensor, computed, require_category
from raxis.ops.definitions.exponentials import as_like, log
from raxis.ops.formulas import conj, given, widened
from raxis.ops.promotion import Promotion, get_default_dtype, result_type
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

BINARY = "(Tensor|Scalar input, Tensor|Scalar other) -> Tensor"


def category_of(operand: Any) -> Category:
    """The promotion category of a tensor or number."""
    return operand.dtype.category if isinstance(operand, Tensor) else scalar_category(type(operand))


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
    made: Tensor = grad / conj(other) if rounding_mode is None else zeros_like(grad)
    return made


def _divisor_gradient(grad: Tensor, input: Any, other: Tensor, rounding_mode: str | None) -> Tensor:
    if rounding_mode is not None:
        made: Tensor = zeros_like(grad)
        return made
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


# ---- powers --------------------------------------------------------------------------------------------


def _power_base_gradient(grad: Tensor, input: Tensor, exponent: Any) -> Tensor:
    slope = exponent * input ** (exponent - 1)
    return grad * conj(where(as_like(exponent, grad) == 0, 0, slope))


def _power_exponent_gradient(grad: Tensor, input: Any, exponent: Tensor, result: Tensor) -> Tensor:
    base = as_like(input, grad)
    at_zero = (base == 0) & (real(exponent) >= 0 if exponent.is_complex() else exponent >= 0)
    return grad * where(at_zero, 0, conj(result * log(base)))


@lowered(
    "_pow(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    method=False,
    function=False,
    vjp={"input": _power_base_gradient, "exponent": _power_exponent_gradient},
)
def _pow(input: Tensor, exponent: Tensor) -> Any:
    """`input` to the power of `exponent`, element by element."""
    return emit("pow", input, exponent)


def _fixed_power_gradient(grad: Tensor, input: Tensor, exponent: Any) -> Any:
    number = exponent[1]
    if number == 0:
        return zeros_like(grad)
    return grad * conj(number * pow(input, number - 1))


def _check_fixed_power(input: Tensor, exponent: tuple[str, Any]) -> None:
    number = exponent[1]
    if input.dtype.category <= Category.INTEGER and isinstance(number, int) and number < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


@lowered(
    "_fixed_pow(Tensor input, typed_number exponent) -> Tensor",
    check=_check_fixed_power,
    method=False,
    function=False,
    promotion=Promotion.ARITHMETIC,
    vjp={"input": _fixed_power_gradient},
)
@widened
def _fixed_pow(input: Tensor, exponent: tuple[str, Any]) -> Any:
    """`input` to the power of a number known when the program is made; common ones are products or roots."""
    number = exponent[1]
    if input.dtype is dtypes.bool_:
        return input if number else constant(True, dtypes.bool_, input.shape)
    short = _SHORT_POWERS.get(number)
    if short is not None and (input.dtype.category >= Category.FLOAT or number > 1):
        return short(input)
    return emit("pow", input, constant(number, input.dtype, input.shape))


_SHORT_POWERS: dict[Any, Callable[[Tensor], Any]] = {
    2: lambda x: emit("mul", x, x),
    3: lambda x: emit("mul", emit("mul", x, x), x),
    0.5: lambda x: emit("sqrt", x),
    -0.5: lambda x: emit("rsqrt", x),
    -1: lambda x: emit("div", constant(1, x.dtype, x.shape), x),
    -2: lambda x: emit("div", constant(1, x.dtype, x.shape), emit("mul", x, x)),
}
"""Powers that are cheaper and more accurate without the general function."""


@composed("pow(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor", inplace=True, operator="__pow__")
def pow(input: Any, exponent: Any) -> Any:
    """`input` to the power of `exponent`, element by element.

    Args:
        input: tensor or number.
        exponent: tensor or number; its shape must broadcast with `input`'s.

    Returns:
        A tensor of the broadcast shape and the operands' result type.

    Raises:
        RuntimeError: if the shapes do not broadcast, or an integer tensor is raised to a negative integer.

    Example:
        >>> import raxis
        >>> raxis.pow(raxis.tensor([1, 2, 3]), 2)
        tensor([1, 4, 9])
    """
    if isinstance(exponent, Tensor) or not isinstance(input, Tensor):
        check_some_tensor(input, exponent)
        return _pow(input, exponent)
    number = exponent.item() if isinstance(exponent, np.generic) else exponent
    kind = type(number)
    if input._layout.dtype.category < Category.FLOAT or kind is complex:
        input = input.to(result_type(input, number))
    return _fixed_pow(input, (kind.__name__, number))


@composed("float_power(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor")
def float_power(input: Any, exponent: Any) -> Any:
    """`input` to the power of `exponent`, computed in float64 (complex128 if either is complex).

    Args:
        input: tensor or number.
        exponent: tensor or number; its shape must broadcast with `input`'s.

    Example:
        >>> import raxis
        >>> raxis.float_power(raxis.tensor([2]), -1)
        tensor([0.5000], dtype=raxis.float64)
    """
    check_some_tensor(input, exponent)
    dtype = _widest(input, exponent)
    return pow(_in_dtype(input, dtype), _in_dtype(exponent, dtype))


@composed("float_power_(Tensor input, Tensor|Scalar exponent) -> Tensor", function=False, out=False)
def float_power_(input: Tensor, exponent: Any) -> Tensor:
    """`float_power` in place.

    Raises:
        RuntimeError: if `input` is not of the dtype of the result, float64 or complex128.

    Example:
        >>> import raxis
        >>> raxis.tensor([2.0], dtype=raxis.float64).float_power_(-1)
        tensor([0.5000], dtype=raxis.float64)
    """
    dtype = _widest(input, exponent)
    if input.dtype is not dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {input.dtype} but the operation's result requires dtype {dtype}"
        )
    made: Tensor = input.pow_(_in_dtype(exponent, dtype))
    return made


def _widest(input: Any, exponent: Any) -> DType:
    """The dtype `float_power` computes in."""
    is_complex = Category.COMPLEX in (category_of(input), category_of(exponent))
    return dtypes.complex128 if is_complex else dtypes.float64


def _in_dtype(operand: Any, dtype: DType) -> Any:
    if isinstance(operand, Tensor):
        return operand.to(dtype)
    return complex(operand) if dtype.is_complex else float(operand)


# ---- common divisors -----------------------------------------------------------------------------------


def _some_left(_: Tensor, divisor: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", divisor != 0, dims=tuple(range(divisor.ndim))),)


def _euclid_step(number: Tensor, divisor: Tensor) -> tuple[Tensor, ...]:
    done = divisor == 0
    rest = emit("fmod", number, where(done, 1, divisor))
    return where(done, number, divisor), where(done, 0, rest)


def _greatest_common_divisor(input: Tensor, other: Tensor) -> Any:
    require_category("gcd", input, Category.INTEGER)
    operands = (input, other)
    found = emit("while", *operands, regions=(region(operands, _some_left), region(operands, _euclid_step)))
    return emit("abs", found[0])


gcd = computed(
    "gcd(Tensor input, Tensor other) -> Tensor",
    binary(
        "gcd", "The greatest common divisor, by Euclid's algorithm.", "raxis.tensor([12]), raxis.tensor([18])", "[6]",
        " of an integer dtype",
    ),
    _greatest_common_divisor,
    promotion=Promotion.ARITHMETIC,
)  # fmt: skip


def _least_common_multiple(input: Tensor, other: Tensor) -> Any:
    divisor = _greatest_common_divisor(input, other)
    return emit("abs", emit("mul", emit("div", input, where(divisor == 0, 1, divisor)), other))


lcm = computed(
    "lcm(Tensor input, Tensor other) -> Tensor",
    binary(
        "lcm", "The least common multiple; 0 if either is 0.", "raxis.tensor([4]), raxis.tensor([6])", "[12]",
        " of an integer dtype",
    ),
    _least_common_multiple,
    promotion=Promotion.ARITHMETIC,
)  # fmt: skip
