"""Error functions, the normal distribution, entropy.

Source: erfcx: a Chebyshev series of log(erfcx(x)/t) in t = 2/(2 + x), fitted to 40-digit values; in the form of
Numerical Recipes (2007), 6.2.2.
"""

from __future__ import annotations

import math
from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import (
    SPECIAL,
    binary,
    chebyshev,
    check_some_tensor,
    computed,
    require_category,
    special_unary,
    unary,
)
from raxis.ops.definitions.exponentials import as_like, exp, log, log1p
from raxis.ops.promotion import Promotion
from raxis.ops.table import elementwise
from raxis.ops.trace import emit
from raxis.tensor import Tensor

_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)
_SQRT_HALF = math.sqrt(0.5)
erf = elementwise(
    "erf(Tensor input) -> Tensor",
    "erf",
    unary("erf", "The error function.", "[0.0, 1.0]", "[0.0000, 0.8427]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * (_TWO_OVER_SQRT_PI * exp(-input * input))},
)


_SCALED_ERFC = (
    -0.651326859890854717, 0.64196979235649026, 0.0194764732041858363, -0.00956151478680863164,
    -0.000946595344482036866, 0.000366839497852761452, 0.0000425233248069077716, -0.0000202785781125342432,
    -1.62429000464702551e-6, 1.3036558355805232e-6, 1.56264417220661432e-8, -8.52380959149265425e-8,
    6.5290544390988515e-9, 5.05934349555146894e-9, -9.91364156493033087e-10, -2.27365122293183586e-10,
    9.6467911020155268e-11, 2.39403808303911474e-12, -6.8860275264975534e-12, 8.94487927309072572e-13,
    3.13092139934295808e-13, -1.12708223613672524e-13, 3.81090525518923206e-16, 7.10609761360923699e-15,
    -1.5230282014571043e-15,
)  # fmt: skip


def _log_scaled_erfc(x: Tensor) -> Tensor:
    """log(exp(x**2) * erfc(x)) for x >= 0."""
    t = 2 / (2 + x)
    return log(t) + chebyshev(2 * t - 1, _SCALED_ERFC)


erfc = elementwise(
    "erfc(Tensor input) -> Tensor",
    "erfc",
    unary("erfc", "``1 - erf(input)``, accurate for large elements.", "[0.0, 1.0]", "[1.0000, 0.1573]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * (-_TWO_OVER_SQRT_PI * exp(-input * input))},
)


erfinv = elementwise(
    "erfinv(Tensor input) -> Tensor",
    "erfinv",
    unary("erfinv", "The inverse of erf; NaN outside ``[-1, 1]``.", "[0.0, 0.5]", "[0.0000, 0.4769]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: grad * (exp(result * result) / _TWO_OVER_SQRT_PI)},
)


def normal_density(x: Tensor) -> Tensor:
    """The density of the standard normal distribution."""
    return exp(x * x * -0.5) / math.sqrt(2 * math.pi)


def _log_ndtr(input: Tensor) -> Any:
    tail = _log_scaled_erfc(-input.clamp_max(0) * _SQRT_HALF) - 0.5 * input * input - math.log(2)
    body = log1p(-0.5 * emit("erfc", input * _SQRT_HALF))
    return where(input < -1, where(input == -math.inf, -math.inf, tail), body)


def _entr(input: Tensor) -> Any:
    return where(input > 0, -input * log(input), where(input == 0, 0, where(input < 0, -math.inf, input)))


def _erfcx(input: Tensor) -> Any:
    tail = exp(_log_scaled_erfc(input.abs()))
    return where(input < 0, 2 * exp(input * input) - tail, tail)


ndtr = special_unary(
    "ndtr",
    "The normal distribution function.",
    "[0.0, 1.0]",
    "[0.5000, 0.8413]",
    lambda input: 0.5 * emit("erfc", -input * _SQRT_HALF),
    lambda grad, input: grad * normal_density(input),
)


log_ndtr = special_unary(
    "log_ndtr",
    "The logarithm of the normal distribution function, accurate in the lower tail.",
    "[0.0, 1.0]",
    "[-0.6931, -0.1728]",
    _log_ndtr,
    lambda grad, input, result: grad * exp(input * input * -0.5 - result) / math.sqrt(2 * math.pi),
)


ndtri = special_unary(
    "ndtri",
    "The inverse of the normal distribution function.",
    "[0.5, 0.975]",
    "[0.0000, 1.9600]",
    lambda input: emit("erfinv", 2 * input - 1) * math.sqrt(2),
    lambda grad, result: grad / normal_density(result),
)


erfcx = special_unary(
    "erfcx",
    "``exp(input ** 2) * erfc(input)`` without overflow.",
    "[0.0, 1.0]",
    "[1.0000, 0.4276]",
    _erfcx,
    lambda grad, input, result: grad * (2 * input * result - _TWO_OVER_SQRT_PI),
)


entr = special_unary(
    "entr",
    "``-input * log(input)``; 0 at 0, -inf below.",
    "[0.0, 0.5]",
    "[0.0000, 0.3466]",
    _entr,
    lambda grad, input: grad * where(input >= 0, -log(input) - 1, where(input < 0, -math.inf, input)),
)


def _xlog1py(input: Tensor, other: Tensor) -> Any:
    require_category("xlog1py", input, Category.FLOAT)
    return where(other.isnan(), other, where(input == 0, 0, input * log1p(other)))


def _xlog1py_gradient(grad: Tensor, input: Any, other: Any) -> Tensor:
    first, second = as_like(input, grad), as_like(other, grad)
    return where((first == 0) & (second <= -1), 0, grad * log1p(second))


xlog1py = computed(
    "xlog1py(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
    binary(
        "special.xlog1py",
        "``input * log1p(other)``, and 0 where `input` is 0 (unless `other` is NaN).",
        "raxis.tensor([2.0]), raxis.tensor([1.0])",
        "[1.3863]",
    ),
    _xlog1py,
    namespace=SPECIAL,
    method=False,
    inplace=False,
    check=check_some_tensor,
    vjp={
        "input": _xlog1py_gradient,
        "other": lambda grad, input, other: grad * input / (other + 1),
    },
)
