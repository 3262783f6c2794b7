"""Trigonometric and hyperbolic functions, their inverses, and angles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import binary, computed, require_category, unary
from raxis.ops.definitions.exponentials import rsqrt, sqrt
from raxis.ops.formulas import conj
from raxis.ops.promotion import Promotion
from raxis.ops.table import elementwise
from raxis.tensor import Tensor

_FLOAT = Promotion.FLOAT

sin = elementwise(
    "sin(Tensor input) -> Tensor",
    "sin",
    unary("sin", "The sine of radians.", "[0.0, 1.0]", "[0.0000, 0.8415]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, input: grad * conj(cos(input))},
)

cos: Callable[..., Any] = elementwise(
    "cos(Tensor input) -> Tensor",
    "cos",
    unary("cos", "The cosine of radians.", "[0.0, 1.0]", "[1.0000, 0.5403]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, input: grad * -conj(sin(input))},
)

tan = elementwise(
    "tan(Tensor input) -> Tensor",
    "tan",
    unary("tan", "The tangent of radians.", "[0.0, 1.0]", "[0.0000, 1.5574]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, result: grad * conj(1 + result * result)},
)

asin = elementwise(
    "asin(Tensor input) -> Tensor",
    "asin",
    unary("asin", "The inverse sine, in radians; NaN outside ``[-1, 1]``.", "[0.0, 1.0]", "[0.0000, 1.5708]"),
    promotion=_FLOAT,
    aliases=("arcsin",),
    vjp={"input": lambda grad, input: grad * conj(rsqrt(1 - input * input))},
)

acos = elementwise(
    "acos(Tensor input) -> Tensor",
    "acos",
    unary(
        "acos", "The inverse cosine, in radians; NaN outside ``[-1, 1]``.", "[0.0, 1.0]", "[1.5708, 0.0000]"
    ),
    promotion=_FLOAT,
    aliases=("arccos",),
    vjp={"input": lambda grad, input: grad * -conj(rsqrt(1 - input * input))},
)

atan = elementwise(
    "atan(Tensor input) -> Tensor",
    "atan",
    unary("atan", "The inverse tangent, in radians.", "[0.0, 1.0]", "[0.0000, 0.7854]"),
    promotion=_FLOAT,
    aliases=("arctan",),
    vjp={"input": lambda grad, input: grad / conj(input * input + 1)},
)

sinh = elementwise(
    "sinh(Tensor input) -> Tensor",
    "sinh",
    unary("sinh", "The hyperbolic sine.", "[0.0, 1.0]", "[0.0000, 1.1752]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, input: grad * conj(cosh(input))},
)

cosh: Callable[..., Any] = elementwise(
    "cosh(Tensor input) -> Tensor",
    "cosh",
    unary("cosh", "The hyperbolic cosine.", "[0.0, 1.0]", "[1.0000, 1.5431]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, input: grad * conj(sinh(input))},
)

_tanh_backward: Callable[..., Any] = computed(
    "_tanh_backward(Tensor upstream, Tensor output) -> Tensor",
    "The gradient of tanh, from its result.",
    lambda upstream, output: upstream * conj(1 - output * output),
    inplace=False,
    out=False,
    method=False,
    function=False,
    vjp={
        "upstream": lambda grad, output: _tanh_backward(grad, conj(output)),
        "output": lambda grad, upstream, output: -2 * conj(grad) * upstream * conj(output),
    },
)

tanh = elementwise(
    "tanh(Tensor input) -> Tensor",
    "tanh",
    unary("tanh", "The hyperbolic tangent.", "[0.0, 1.0]", "[0.0000, 0.7616]"),
    promotion=_FLOAT,
    vjp={"input": lambda grad, result: _tanh_backward(grad, result)},
)

asinh = elementwise(
    "asinh(Tensor input) -> Tensor",
    "asinh",
    unary("asinh", "The inverse hyperbolic sine.", "[0.0, 1.0]", "[0.0000, 0.8814]"),
    promotion=_FLOAT,
    aliases=("arcsinh",),
    vjp={"input": lambda grad, input: grad * conj(rsqrt(input * input + 1))},
)

acosh = elementwise(
    "acosh(Tensor input) -> Tensor",
    "acosh",
    unary("acosh", "The inverse hyperbolic cosine; NaN below 1.", "[1.0, 2.0]", "[0.0000, 1.3170]"),
    promotion=_FLOAT,
    aliases=("arccosh",),
    vjp={"input": lambda grad, input: grad * conj(rsqrt(input - 1) * rsqrt(input + 1))},
)

atanh = elementwise(
    "atanh(Tensor input) -> Tensor",
    "atanh",
    unary(
        "atanh", "The inverse hyperbolic tangent; NaN outside ``[-1, 1]``.", "[0.0, 0.5]", "[0.0000, 0.5493]"
    ),
    promotion=_FLOAT,
    aliases=("arctanh",),
    vjp={"input": lambda grad, input: grad / conj(1 - input * input)},
)

atan2 = elementwise(
    "atan2(Tensor input, Tensor other) -> Tensor",
    "atan2",
    binary(
        "atan2",
        "The angle of the point (x, y) = (`other`, `input`), in radians.",
        "raxis.tensor([1.0]), raxis.tensor([1.0])",
        "[0.7854]",
    ),
    promotion=_FLOAT,
    aliases=("arctan2",),
    vjp={
        "input": lambda grad, input, other: grad * other / (input * input + other * other),
        "other": lambda grad, input, other: grad * -input / (input * input + other * other),
    },
)


def _hypot(input: Tensor, other: Tensor) -> Any:
    require_category("hypot", input, Category.FLOAT)
    # Dividing by the larger keeps the squares in range.
    large = input.abs().maximum(other.abs())
    small = input.abs().minimum(other.abs())
    ratio = where(large == 0, 0.0, small / large)
    finite = large * sqrt(1 + ratio * ratio)
    return where(input.isinf() | other.isinf(), math.inf, finite)


hypot = computed(
    "hypot(Tensor input, Tensor other) -> Tensor",
    binary(
        "hypot",
        "``sqrt(input**2 + other**2)`` without overflow.",
        "raxis.tensor([3.0]), raxis.tensor([4.0])",
        "[5.]",
        note=" of a float dtype",
    ),
    _hypot,
    promotion=Promotion.ARITHMETIC,
    vjp={
        "input": lambda grad, input, result: grad * (input / result),
        "other": lambda grad, other, result: grad * (other / result),
    },
)


def _sinc(input: Tensor) -> Any:
    angle = input * math.pi
    return where(input == 0, 1.0, sin(angle) / angle)


def _sinc_gradient(grad: Tensor, input: Tensor) -> Tensor:
    angle = input * math.pi
    slope = (angle * cos(angle) - sin(angle)) / (angle * input)
    return grad * conj(where(input == 0, 0.0, slope))


sinc = computed(
    "sinc(Tensor input) -> Tensor",
    unary("sinc", "``sin(pi * input) / (pi * input)``, 1 at 0.", "[0.0, 0.5]", "[1.0000, 0.6366]"),
    _sinc,
    vjp={"input": _sinc_gradient},
)

deg2rad = computed(
    "deg2rad(Tensor input) -> Tensor",
    unary("deg2rad", "Degrees to radians.", "[0.0, 180.0]", "[0.0000, 3.1416]"),
    lambda input: input * (math.pi / 180),
    vjp={"input": lambda grad: grad * (math.pi / 180)},
)

rad2deg = computed(
    "rad2deg(Tensor input) -> Tensor",
    unary("rad2deg", "Radians to degrees.", "[0.0, 1.0]", "[ 0.0000, 57.2958]"),
    lambda input: input * (180 / math.pi),
    vjp={"input": lambda grad: grad * (180 / math.pi)},
)
