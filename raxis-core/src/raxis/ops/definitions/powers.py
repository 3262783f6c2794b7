"""Powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ops.definitions.arithmetic import category_of
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.complex import real
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import check_some_tensor
from raxis.ops.definitions.exponentials import as_like, log
from raxis.ops.formulas import conj, widened
from raxis.ops.promotion import Promotion, result_type
from raxis.ops.table import composed, lowered
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


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


@composed(
    "pow(Tensor|Scalar input, Tensor|Scalar exponent) -> Tensor",
    exact=False,
    inplace=True,
    operator="__pow__",
)
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
    return input.pow_(_in_dtype(exponent, dtype))


def _widest(input: Any, exponent: Any) -> DType:
    """The dtype `float_power` computes in."""
    is_complex = Category.COMPLEX in (category_of(input), category_of(exponent))
    return dtypes.complex128 if is_complex else dtypes.float64


def _in_dtype(operand: Any, dtype: DType) -> Any:
    if isinstance(operand, Tensor):
        return operand.to(dtype)
    return complex(operand) if dtype.is_complex else float(operand)
