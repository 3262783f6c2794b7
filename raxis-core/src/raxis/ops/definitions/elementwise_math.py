"""Signs and magnitudes, bounds, and combinations of three tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.numeric_limits import finfo
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import binary, computed, unary
from raxis.ops.definitions.exponentials import as_like
from raxis.ops.formulas import conj, given, widened
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_ARITHMETIC = Promotion.ARITHMETIC
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
    promotion=_ARITHMETIC,
    operator="__abs__",
    aliases=("absolute",),
    vjp={"input": lambda grad, input: grad * sgn(input)},
)


def _sgn_gradient(grad: Tensor, input: Tensor, result: Tensor) -> Tensor:
    if not input.dtype.is_complex:
        made: Tensor = zeros_like(grad)
        return made
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
    promotion=_ARITHMETIC,
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
    promotion=_ARITHMETIC,
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
    promotion=_ARITHMETIC,
    inplace=False,
)


def _copysign_gradient(grad: Tensor, input: Any, result: Tensor) -> Tensor:
    made: Tensor = where(as_like(input, grad) == 0, 0, grad * (result / input))
    return made


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
    promotion=_ARITHMETIC,
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
    promotion=_ARITHMETIC,
    check=_check_heaviside,
)


# ---- bounds --------------------------------------------------------------------------------------------


def _check_bounds(input: Tensor, min: Any, max: Any) -> None:
    if min is None and max is None:
        raise ValueError("At least one of 'min' or 'max' must not be None")
    for operand in (input, min, max):
        if (isinstance(operand, Tensor) and operand.dtype.is_complex) or isinstance(operand, complex):
            raise RuntimeError("clamp is not supported for complex types")
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("\"clamp\" not implemented for 'Bool'")


def _inside(input: Tensor, min: Any, max: Any) -> Tensor:
    if min is None:
        inside: Tensor = input <= max
    elif max is None:
        inside = input >= min
    else:
        inside = (input >= min) & (input <= max)
    return inside


def _low_gradient(grad: Tensor, input: Tensor, min: Tensor, max: Any) -> Tensor:
    below = input < min if max is None else (input < min) & (min < max)
    made: Tensor = where(below, grad, 0)
    return made


def _high_gradient(grad: Tensor, input: Tensor, min: Any, max: Tensor) -> Tensor:
    above = input > max if min is None else (input > max) | (max < min)
    made: Tensor = where(above, grad, 0)
    return made


@lowered(
    "clamp(Tensor input, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    aliases=("clip",),
    check=_check_bounds,
    vjp={
        "input": lambda grad, input, min, max: where(_inside(input, min, max), grad, 0),
        "min": _low_gradient,
        "max": _high_gradient,
    },
)
def clamp(input: Tensor, min: Any, max: Any) -> Any:
    """Each element brought into ``[min, max]``; `max` where ``min > max``. NaN stays, a NaN bound gives NaN.

    Args:
        input: any shape, real.
        min: lower bound, tensor or number; None: none.
        max: upper bound, tensor or number; None: none. Tensors must broadcast with `input`.

    Raises:
        ValueError: if both bounds are None.
        RuntimeError: for complex operands, or if the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.clamp(raxis.tensor([-1, 2, 5]), 0, 3)
        tensor([0, 2, 3])
    """
    bounded = input if min is None else emit("maximum", input, min)
    return bounded if max is None else emit("minimum", bounded, max)


def _check_bound(input: Tensor, bound: Any) -> None:
    if input.dtype is dtypes.bool_ and isinstance(bound, bool):
        raise NotImplementedError("\"clamp\" not implemented for 'Bool'")
    for operand in (input, bound):
        if isinstance(operand, complex) or (isinstance(operand, Tensor) and operand.dtype.is_complex):
            raise RuntimeError("clamp is not supported for complex types")


@lowered(
    "clamp_min(Tensor input, Tensor|Scalar min) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    check=lambda input, min: _check_bound(input, min),
    vjp={
        "input": lambda grad, input, min: where(input >= min, grad, 0),
        "min": lambda grad, input, min: where(input < min, grad, 0),
    },
)
def clamp_min(input: Tensor, min: Any) -> Any:
    """Each element, but at least `min`; see `clamp`.

    Example:
        >>> import raxis
        >>> raxis.clamp_min(raxis.tensor([-1, 2]), 0)
        tensor([0, 2])
    """
    return emit("maximum", input, min)


@lowered(
    "clamp_max(Tensor input, Tensor|Scalar max) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    check=lambda input, max: _check_bound(input, max),
    vjp={
        "input": lambda grad, input, max: where(input <= max, grad, 0),
        "max": lambda grad, input, max: where(input > max, grad, 0),
    },
)
def clamp_max(input: Tensor, max: Any) -> Any:
    """Each element, but at most `max`; see `clamp`.

    Example:
        >>> import raxis
        >>> raxis.clamp_max(raxis.tensor([-1, 2]), 0)
        tensor([-1,  0])
    """
    return emit("minimum", input, max)


def _nan_to_num(input: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    if input.dtype.is_complex:
        parts = (_nan_to_num(emit(part, input), nan, posinf, neginf) for part in ("real", "imag"))
        return emit("make_complex", *parts)
    if not input.dtype.is_floating_point:
        return input
    largest = finfo(input.dtype).max
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    finite = where(input == math.inf, high, where(input == -math.inf, low, input))
    return where(input.isnan(), nan or 0.0, finite)


@lowered(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    vjp={"input": lambda grad, input: where(input.isfinite(), grad, 0)},
)
def nan_to_num(input: Tensor, nan: float | None, posinf: float | None, neginf: float | None) -> Any:
    """NaN and infinities replaced by numbers.

    Args:
        input: any shape; integers are returned as they are, complex parts are replaced one by one.
        nan: for NaN; default 0.
        posinf: for +inf; default: the largest number of the dtype.
        neginf: for -inf; default: the least number of the dtype.

    Example:
        >>> import raxis
        >>> raxis.nan_to_num(raxis.tensor([float("nan"), 1.0]), nan=2.0)
        tensor([2., 1.])
    """
    return _nan_to_num(input, nan, posinf, neginf)


# ---- combinations of three tensors ---------------------------------------------------------------------


def _check_lerp(input: Tensor, end: Tensor, weight: Any) -> None:
    for operand in (end, weight):
        if isinstance(operand, Tensor) and operand.dtype is not input.dtype:
            raise RuntimeError(
                f"expected dtype {input.dtype} for lerp's operands but got dtype {operand.dtype}"
            )
    if input.dtype.category <= Category.INTEGER:
        raise NotImplementedError(f'"lerp" not implemented for {input.dtype.name}')


@lowered(
    "lerp(Tensor input, Tensor end, Tensor|Scalar weight) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    check=_check_lerp,
    vjp={
        "input": lambda grad, weight: grad * conj(1 - weight),
        "end": lambda grad, weight: grad * conj(weight),
        "weight": lambda grad, input, end: grad * conj(end - input),
    },
)
@widened
def lerp(input: Tensor, end: Tensor, weight: Tensor) -> Any:
    """``input + weight * (end - input)``, exact at both ends.

    Args:
        input: float or complex, any shape.
        end: same dtype; shapes must broadcast.
        weight: tensor of the same dtype, or number.

    Raises:
        RuntimeError: if the dtypes differ or are not float or complex.

    Example:
        >>> import raxis
        >>> raxis.lerp(raxis.tensor([0.0]), raxis.tensor([10.0]), 0.25)
        tensor([2.5000])
    """
    distance = end - input
    return where(weight.abs() < 0.5, input + weight * distance, end - distance * (1 - weight))


@lowered(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    vjp={
        "input": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(tensor2 * value),
        "tensor2": lambda grad, tensor1, value: grad * conj(tensor1 * value),
    },
)
@widened
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Any:
    """``input + value * tensor1 * tensor2``.

    Args:
        input: any shape.
        tensor1: its shape must broadcast with the others'.
        tensor2: its shape must broadcast with the others'.
        value: number.

    Raises:
        RuntimeError: if the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.addcmul(raxis.tensor([1]), raxis.tensor([2]), raxis.tensor([3]), value=10)
        tensor([61])
    """
    return input + (tensor1 * value if given(value) else tensor1) * tensor2


def _check_addcdiv(tensor1: Tensor, tensor2: Tensor) -> None:
    if tensor1.dtype.category <= Category.INTEGER and tensor2.dtype.category <= Category.INTEGER:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported; convert the operands to a float dtype first."
        )


@lowered(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promotion=_ARITHMETIC,
    inplace=True,
    check=_check_addcdiv,
    vjp={
        "input": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(value / tensor2),
        "tensor2": lambda grad, tensor1, tensor2, value: -grad * conj(value * tensor1 / (tensor2 * tensor2)),
    },
)
@widened
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Any:
    """``input + value * tensor1 / tensor2``.

    Args:
        input: any shape.
        tensor1: its shape must broadcast with the others'.
        tensor2: its shape must broadcast with the others'.
        value: number.

    Raises:
        RuntimeError: if the shapes do not broadcast, or `tensor1` and `tensor2` are integers.

    Example:
        >>> import raxis
        >>> raxis.addcdiv(raxis.tensor([1.0]), raxis.tensor([3.0]), raxis.tensor([2.0]))
        tensor([2.5000])
    """
    return input + (tensor1 * value if given(value) else tensor1) / tensor2
