"""Signs and magnitudes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import binary, computed, unary
from raxis.ops.definitions.exponentials import as_like
from raxis.ops.formulas import conj
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_KEPT = "the dtype is kept"
neg = elementwise(
    "neg(Tensor input) -> Tensor",
    "neg",
    unary("neg", "``-input``.", "[1, -2]", "[-1,  2]", _KEPT + "; bool is refused"),
    operator="__neg__",
    aliases=("negative",),
    vjp={"input": lambda grad: -grad},
)


@composed("positive(Tensor input) -> Tensor", out=False, operator="__pos__")
def positive(input: Tensor) -> Tensor:
    """`input` itself.

    Raises:
        RuntimeError: if it is bool.

    Example:
        >>> import raxis
        >>> raxis.positive(raxis.tensor([1, -2]))
        tensor([ 1, -2])
    """
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


abs = computed(
    "abs(Tensor input) -> Tensor",
    unary("abs", "The magnitude of each element; real for complex ones.", "[1, -2]", "[1, 2]", _KEPT),
    lambda input: input if input.dtype is dtypes.bool_ else emit("abs", input),
    promotion=Promotion.ARITHMETIC,
    operator="__abs__",
    exact=lambda input: not input.dtype.is_complex,
    aliases=("absolute",),
    vjp={"input": lambda grad, input: grad * sgn(input)},
)


def _sgn_gradient(grad: Tensor, input: Tensor, result: Tensor) -> Tensor:
    if not input.dtype.is_complex:
        return zeros_like(grad)
    magnitude = input.abs()
    along = (conj(result) * grad).real
    slope = (grad - result * along) / where(magnitude == 0, 1, magnitude)
    return where(magnitude == 0, 0, slope)


sgn: Callable[..., Any] = computed(
    "sgn(Tensor input) -> Tensor",
    unary(
        "sgn", "The sign -1, 0 or 1; complex: ``input / abs(input)``.", "[3, 0, -2]", "[ 1,  0, -1]", _KEPT
    ),
    lambda input: input if input.dtype is dtypes.bool_ else emit("sign", input),
    promotion=Promotion.ARITHMETIC,
    vjp={"input": _sgn_gradient},
)


def _sign(input: Tensor) -> Any:
    if input.dtype.is_complex:
        raise RuntimeError(
            "Unlike NumPy, sign is not intended to support complex numbers. Please use sgn instead."
        )
    return input if input.dtype is dtypes.bool_ else emit("sign", input)


sign = computed(
    "sign(Tensor input) -> Tensor",
    unary("sign", "The sign of each element: -1, 0 or 1.", "[3, 0, -2]", "[ 1,  0, -1]", _KEPT),
    _sign,
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad: zeros_like(grad)},
)


def _signbit(input: Tensor) -> Any:
    category = input.dtype.category
    if category is Category.COMPLEX:
        raise RuntimeError("signbit is not implemented for complex tensors.")
    if category is Category.BOOL:
        return constant(False, dtypes.bool_, input.shape)
    if category is Category.INTEGER:
        return input < 0
    # Only the reciprocal shows the sign of zero.
    return (input < 0) | ((input == 0) & (1 / input < 0))


signbit = computed(
    "signbit(Tensor input) -> Tensor",
    unary(
        "signbit",
        "Whether the sign bit is set, also that of -0.",
        "[-1.0, 0.0, -0.0]",
        "[ True, False,  True]",
        _KEPT,
    ),
    _signbit,
    promotion=Promotion.ARITHMETIC,
    inplace=False,
)


def _copysign_gradient(grad: Tensor, input: Any, result: Tensor) -> Tensor:
    return where(as_like(input, grad) == 0, 0, grad * (result / input))


copysign = computed(
    "copysign(Tensor input, Tensor|Scalar other) -> Tensor",
    binary(
        "copysign",
        "The magnitude of `input` with the sign of `other` (also of zeros).",
        "raxis.tensor([1.0, 2.0]), raxis.tensor([-3.0, 0.0])",
        "[-1.,  2.]",
    ),
    lambda input, other: where(_signbit(other), -input.abs(), input.abs()),
    vjp={"input": _copysign_gradient, "other": lambda grad: zeros_like(grad)},
)


def _square(input: Tensor) -> Any:
    number = cast(input, dtypes.int64) if input.dtype is dtypes.bool_ else input
    return emit("mul", number, number)


square = computed(
    "square(Tensor input) -> Tensor",
    unary("square", "``input * input``.", "[1, -2]", "[1, 4]", _KEPT),
    _square,
    promotion=Promotion.ARITHMETIC,
    exact=False,
    vjp={"input": lambda grad, input: grad * conj(2 * input)},
)


nextafter = elementwise(
    "nextafter(Tensor input, Tensor other) -> Tensor",
    "nextafter",
    binary(
        "nextafter",
        "The next representable number after `input` towards `other`.",
        "raxis.tensor([0.0]), raxis.tensor([1.0])",
        "[1.4013e-45]",
        " of a float dtype",
    ),
    vjp={
        "input": lambda grad, input, other: where(input == other, 0, grad),
        "other": lambda grad: zeros_like(grad),
    },
)


def _check_heaviside(input: Tensor, values: Tensor) -> None:
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    if input.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")


heaviside = computed(
    "heaviside(Tensor input, Tensor values) -> Tensor",
    """The step function: 0 below zero, 1 above, `values` at zero; NaN counts as below.

    Args:
        input: any shape, real.
        values: same dtype; its shape must broadcast with `input`'s.

    Raises:
        RuntimeError: if the dtypes differ or are complex.

    Example:
        >>> import raxis
        >>> raxis.heaviside(raxis.tensor([-1.0, 0.0, 2.0]), raxis.tensor([0.5]))
        tensor([0.0000, 0.5000, 1.0000])
    """,
    lambda input, values: where(input == 0, values, cast(input > 0, input.dtype)),
    promotion=Promotion.ARITHMETIC,
    check=_check_heaviside,
    exact=True,
)
