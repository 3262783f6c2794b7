"""Bounds: clamp and relatives, replacing what is not finite."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.numeric_limits import finfo
from raxis.ops.definitions.comparison import where
from raxis.ops.promotion import Promotion
from raxis.ops.table import lowered
from raxis.ops.trace import emit
from raxis.tensor import Tensor


def _check_bounds(input: Tensor, min: Any, max: Any) -> None:
    if min is None and max is None:
        raise RuntimeError("At least one of 'min' or 'max' must not be None")
    for operand in (input, min, max):
        if (isinstance(operand, Tensor) and operand.dtype.is_complex) or isinstance(operand, complex):
            raise NotImplementedError("clamp is not supported for complex types")
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("\"clamp\" not implemented for 'Bool'")


def _bounded_by_numbers(min: Any, max: Any) -> bool:
    return not isinstance(min, Tensor) and not isinstance(max, Tensor)


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
    return where(below, grad, 0)


def _high_gradient(grad: Tensor, input: Tensor, min: Any, max: Tensor) -> Tensor:
    above = input > max if min is None else (input > max) | (max < min)
    return where(above, grad, 0)


@lowered(
    "clamp(Tensor input, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    aliases=("clip",),
    check=_check_bounds,
    exact=_bounded_by_numbers,
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
            raise NotImplementedError("clamp is not supported for complex types")


@lowered(
    "clamp_min(Tensor input, Tensor|Scalar min) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    check=lambda input, min: _check_bound(input, min),
    exact=lambda min: not isinstance(min, Tensor),
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
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    check=lambda input, max: _check_bound(input, max),
    exact=lambda max: not isinstance(max, Tensor),
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
    return where(input.isnan(), 0.0 if nan is None else nan, finite)


@lowered(
    "nan_to_num(Tensor input, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    promotion=Promotion.ARITHMETIC,
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
