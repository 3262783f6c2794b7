"""Exponentials, logarithms, roots and the logistic function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import binary, check_some_tensor, computed, require_category, unary
from raxis.ops.formulas import conj
from raxis.ops.promotion import Promotion
from raxis.ops.table import elementwise
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor

_LOG_2 = math.log(2.0)
_LOG_10 = math.log(10.0)


def _scaled(value: Tensor, factor: float) -> Any:
    """A complex number times a real one, without the NaN that infinity times its imaginary part 0 would be."""
    return emit("make_complex", emit("real", value) * factor, emit("imag", value) * factor)


exp = elementwise(
    "exp(Tensor input) -> Tensor",
    "exp",
    unary("exp", "e to the power of each element.", "[0.0, 1.0]", "[1.0000, 2.7183]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: grad * conj(result)},
)

exp2 = computed(
    "exp2(Tensor input) -> Tensor",
    unary("exp2", "2 to the power of each element.", "[0.0, 3.0]", "[1., 8.]"),
    lambda input: emit("exp2", input) if input.is_floating_point() else exp(_scaled(input, _LOG_2)),
    vjp={"input": lambda grad, result: grad * conj(result) * _LOG_2},
)

expm1 = elementwise(
    "expm1(Tensor input) -> Tensor",
    "expm1",
    unary("expm1", "``exp(input) - 1``, accurate near 0.", "[0.0, 1.0]", "[0.0000, 1.7183]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: grad * (conj(result) + 1)},
)

log = elementwise(
    "log(Tensor input) -> Tensor",
    "log",
    unary("log", "The natural logarithm; NaN below 0.", "[1.0, 10.0]", "[0.0000, 2.3026]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad / conj(input)},
)

log1p = elementwise(
    "log1p(Tensor input) -> Tensor",
    "log1p",
    unary("log1p", "``log(1 + input)``, accurate near 0.", "[0.0, 1.0]", "[0.0000, 0.6931]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad / (conj(input) + 1)},
)

log2 = computed(
    "log2(Tensor input) -> Tensor",
    unary("log2", "The logarithm to base 2.", "[1.0, 8.0]", "[0., 3.]"),
    lambda input: emit("log2", input) if input.is_floating_point() else _scaled(log(input), 1 / _LOG_2),
    vjp={"input": lambda grad, input: grad / (conj(input) * _LOG_2)},
)

log10 = computed(
    "log10(Tensor input) -> Tensor",
    unary("log10", "The logarithm to base 10.", "[1.0, 1000.0]", "[0., 3.]"),
    lambda input: emit("log10", input) if input.is_floating_point() else _scaled(log(input), 1 / _LOG_10),
    vjp={"input": lambda grad, input: grad / (conj(input) * _LOG_10)},
)

sqrt = elementwise(
    "sqrt(Tensor input) -> Tensor",
    "sqrt",
    unary("sqrt", "The square root; NaN below 0.", "[0.0, 9.0]", "[0., 3.]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: grad / (2 * conj(result))},
)

rsqrt = elementwise(
    "rsqrt(Tensor input) -> Tensor",
    "rsqrt",
    unary("rsqrt", "``1 / sqrt(input)``.", "[1.0, 4.0]", "[1.0000, 0.5000]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: -0.5 * grad * conj(result * result * result)},
)

reciprocal = computed(
    "reciprocal(Tensor input) -> Tensor",
    unary("reciprocal", "``1 / input``.", "[2.0, 4.0]", "[0.5000, 0.2500]"),
    lambda input: emit("div", constant(1.0, input.dtype, input.shape), input),
    vjp={"input": lambda grad, result: -grad * conj(result * result)},
)

sigmoid = computed(
    "sigmoid(Tensor input) -> Tensor",
    unary("sigmoid", "The logistic function ``1 / (1 + exp(-input))``.", "[0.0, 1.0]", "[0.5000, 0.7311]"),
    lambda input: emit("sigmoid", input) if input.is_floating_point() else reciprocal(1 + exp(-input)),
    vjp={"input": lambda grad, result: _sigmoid_backward(grad, result)},
)

_sigmoid_backward: Callable[..., Any] = computed(
    "_sigmoid_backward(Tensor upstream, Tensor output) -> Tensor",
    "The gradient of sigmoid, from its result.",
    lambda upstream, output: upstream * conj((1 - output) * output),
    inplace=False,
    out=False,
    method=False,
    function=False,
    vjp={
        "upstream": lambda grad, output: _sigmoid_backward(grad, conj(output)),
        "output": lambda grad, upstream, output: conj(grad) * upstream * conj(1 - 2 * output),
    },
)


def _logit(input: Tensor, eps: float | None) -> Any:
    inner = input if eps is None else input.clamp(eps, 1 - eps)
    return log(inner / (1 - inner))


def _logit_gradient(grad: Tensor, input: Tensor, eps: float | None) -> Tensor:
    low = 0.0 if eps is None else eps
    outside = math.nan if eps is None else 0.0
    inside = (input >= low) & (input <= 1 - low)
    return where(inside, grad / (input * (1 - input)), outside)


logit = computed(
    "logit(Tensor input, float? eps=None) -> Tensor",
    """The inverse of sigmoid, ``log(input / (1 - input))``.

    Args:
        input: probabilities, any shape; integers and bools are computed in the default float dtype.
        eps: clamp `input` to ``[eps, 1 - eps]`` first; without it, values outside ``[0, 1]`` give NaN.

    Returns:
        A tensor of `input`'s shape.

    Example:
        >>> import raxis
        >>> raxis.logit(raxis.tensor([0.5, 0.75]))
        tensor([0.0000, 1.0986])
    """,
    _logit,
    vjp={"input": _logit_gradient},
)


def _larger_first(input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """The larger and the smaller real part; NaN counts as larger."""
    swap = emit("real", input) < emit("real", other) if input.dtype.is_complex else input < other
    return where(swap, other, input), where(swap, input, other)


def _logaddexp(input: Tensor, other: Tensor) -> Any:
    require_category("logaddexp", input, Category.FLOAT, Category.COMPLEX)
    large, small = _larger_first(input, other)
    # Equal infinities would give inf - inf.
    return where((large == small) & large.isinf(), large, large + log1p(exp(small - large)))


logaddexp = computed(
    "logaddexp(Tensor input, Tensor other) -> Tensor",
    binary(
        "logaddexp",
        "``log(exp(input) + exp(other))`` without overflow.",
        "raxis.tensor([1000.0]), raxis.tensor([1000.0])",
        "[1000.6932]",
    ),
    _logaddexp,
    promotion=Promotion.ARITHMETIC,
    inplace=False,
    vjp={
        "input": lambda grad, input, result: grad * conj(exp(input - result)),
        "other": lambda grad, other, result: grad * conj(exp(other - result)),
    },
)


def _logaddexp2(input: Tensor, other: Tensor) -> Any:
    require_category("logaddexp2", input, Category.FLOAT)
    return _logaddexp(input * _LOG_2, other * _LOG_2) / _LOG_2


logaddexp2 = computed(
    "logaddexp2(Tensor input, Tensor other) -> Tensor",
    binary(
        "logaddexp2",
        "``log2(2**input + 2**other)`` without overflow.",
        "raxis.tensor([1000.0]), raxis.tensor([1000.0])",
        "[1001.]",
    ),
    _logaddexp2,
    promotion=Promotion.ARITHMETIC,
    inplace=False,
    vjp={
        "input": lambda grad, input, result: grad * exp2(input - result),
        "other": lambda grad, other, result: grad * exp2(other - result),
    },
)


def _xlogy(input: Tensor, other: Tensor) -> Any:
    require_category("xlogy", input, Category.FLOAT)
    return where(other.isnan(), other, where(input == 0, 0.0, input * log(other)))


xlogy = computed(
    "xlogy(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
    binary(
        "xlogy",
        "``input * log(other)``, and 0 where `input` is 0 (unless `other` is NaN).",
        "raxis.tensor([0.0, 2.0]), raxis.tensor([0.0, 1.0])",
        "[0., 0.]",
    ),
    _xlogy,
    check=check_some_tensor,
    vjp={
        "input": lambda grad, input, other: where(
            (as_like(input, grad) == 0) & (as_like(other, grad) <= 0), 0.0, grad * log(as_like(other, grad))
        ),
        "other": lambda grad, input, other: grad * input / other,
    },
)


def as_like(value: Any, tensor: Tensor) -> Tensor:
    """A number as a 0-d tensor of `tensor`'s dtype and device; tensors themselves."""
    return value if isinstance(value, Tensor) else tensor.new_full((), value)
