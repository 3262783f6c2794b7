"""Error functions, gamma functions and relatives.

Sources: erfc: a Chebyshev series of log(erfcx(x)/t) in t = 2/(2 + x), fitted to 40-digit values; in the form of
Numerical Recipes (2007), 6.2.2. zeta: Euler-Maclaurin summation; polygamma: Abramowitz & Stegun 6.4.7, 6.4.10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.elementwise import binary, check_some_tensor, computed, require_category, unary
from raxis.ops.definitions.exponentials import as_like, exp, log, log1p
from raxis.ops.formulas import wide
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor

SPECIAL = "raxis.special"
_TWO_OVER_SQRT_PI = 2 / math.sqrt(math.pi)
_SQRT_HALF = math.sqrt(0.5)

erf = elementwise(
    "erf(Tensor input) -> Tensor",
    "erf",
    unary("erf", "The error function.", "[0.0, 1.0]", "[0.0000, 0.8427]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * (_TWO_OVER_SQRT_PI * exp(-input * input))},
)

# fmt: off
_SCALED_ERFC = (
    -0.651326859890854717, 0.64196979235649026, 0.0194764732041858363, -0.00956151478680863164,
    -0.000946595344482036866, 0.000366839497852761452, 0.0000425233248069077716, -0.0000202785781125342432,
    -1.62429000464702551e-6, 1.3036558355805232e-6, 1.56264417220661432e-8, -8.52380959149265425e-8,
    6.5290544390988515e-9, 5.05934349555146894e-9, -9.91364156493033087e-10, -2.27365122293183586e-10,
    9.6467911020155268e-11, 2.39403808303911474e-12, -6.8860275264975534e-12, 8.94487927309072572e-13,
    3.13092139934295808e-13, -1.12708223613672524e-13, 3.81090525518923206e-16, 7.10609761360923699e-15,
    -1.5230282014571043e-15,
)
# fmt: on


def _log_scaled_erfc(x: Tensor) -> Tensor:
    """log(exp(x**2) * erfc(x)) for x >= 0, by Clenshaw's recurrence."""
    t = 2 / (2 + x)
    twice = 4 * t - 2
    higher = second = t * 0
    for coefficient in _SCALED_ERFC[:0:-1]:
        higher, second = twice * higher - second + coefficient, higher
    made: Tensor = log(t) + (0.5 * twice * higher - second + _SCALED_ERFC[0])
    return made


def _erfc(input: Tensor) -> Any:
    require_category("erfc", input, Category.FLOAT)
    magnitude = input.abs()
    tail = exp(_log_scaled_erfc(magnitude) - magnitude * magnitude)
    tail = where(magnitude == math.inf, 0, tail)
    return where(input < 0, 2 - tail, tail)


erfc = computed(
    "erfc(Tensor input) -> Tensor",
    unary("erfc", "``1 - erf(input)``, accurate for large elements.", "[0.0, 1.0]", "[1.0000, 0.1573]"),
    _erfc,
    vjp={"input": lambda grad, input: grad * (-_TWO_OVER_SQRT_PI * exp(-input * input))},
)

erfinv = elementwise(
    "erfinv(Tensor input) -> Tensor",
    "erfinv",
    unary("erfinv", "The inverse of erf; NaN outside ``[-1, 1]``.", "[0.0, 0.5]", "[0.0000, 0.4769]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, result: grad * (exp(result * result) / _TWO_OVER_SQRT_PI)},
)

lgamma = elementwise(
    "lgamma(Tensor input) -> Tensor",
    "lgamma",
    unary(
        "lgamma", "The logarithm of the magnitude of the gamma function.", "[1.0, 3.0]", "[0.0000, 0.6931]"
    ),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * digamma(input)},
)

digamma: Callable[..., Any] = elementwise(
    "digamma(Tensor input) -> Tensor",
    "digamma",
    unary("digamma", "The derivative of lgamma.", "[1.0, 2.0]", "[-0.5772,  0.4228]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * polygamma(1, input)},
)

_SUMMED_TO = 9.0
# fmt: off
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)
# fmt: on


def _terms_left(_order: Tensor, shift: Tensor, _total: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", shift <= _SUMMED_TO, dims=tuple(range(shift.ndim))),)


def _next_term(order: Tensor, shift: Tensor, total: Tensor) -> tuple[Tensor, ...]:
    left = shift <= _SUMMED_TO
    return order, where(left, shift + 1, shift), where(left, total + emit("pow", shift, -order), total)


def _zeta(order: Tensor, shift: Tensor) -> Any:
    """The sum of (shift + k)**-order over k >= 0."""
    finite = where(shift.isfinite() & (shift > -1e6), shift, math.nan)
    operands = (order, finite, order * 0)
    regions = (region(operands, _terms_left), region(operands, _next_term))
    _, start, total = emit("while", *operands, regions=regions)
    power = emit("pow", start, -order)
    total = total + power * start / (order - 1) + 0.5 * power
    factor, power = order, power / start
    for index, bernoulli in enumerate(_BERNOULLI, start=1):
        total = total + factor * power * (bernoulli / math.factorial(2 * index))
        factor = factor * (order + (2 * index - 1)) * (order + 2 * index)
        power = power / (start * start)
    return _zeta_edges(order, shift, total)


def _zeta_edges(order: Tensor, shift: Tensor, inside: Tensor) -> Tensor:
    pole = (shift <= 0) & (shift == emit("floor", shift))
    undefined = (order < 1) | ((shift < 0) & (order != emit("floor", order)))
    beyond = where(shift == math.inf, 0, inside)
    made: Tensor = where(order == 1, math.inf, where(undefined, math.nan, where(pole, math.inf, beyond)))
    return made


zeta: Callable[..., Any] = computed(
    "zeta(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
    binary(
        "special.zeta",
        "The Hurwitz zeta function: the sum of ``(other + k) ** -input`` over k >= 0.",
        "raxis.tensor([2.0]), raxis.tensor([1.0])",
        "[1.6449]",
    ),
    lambda input, other: _zeta(input, other),
    namespace=SPECIAL,
    method=False,
    inplace=False,
    check=check_some_tensor,
    vjp={"other": lambda grad, input, other: grad * -input * zeta(input + 1, other)},
)


def _trigamma(input: Tensor) -> Any:
    mirrored = input < 0.5
    positive = where(mirrored, 1 - input, input)
    series = _zeta(positive * 0 + 2, positive)
    # The reduction keeps sin exact near integers.
    sine = emit("sin", (input - emit("round", input)) * math.pi)
    return where(mirrored, math.pi * math.pi / (sine * sine) - series, series)


def _polygamma(input: Tensor, n: int) -> Any:
    if n == 0:
        return emit("digamma", input)
    if n == 1:
        return _trigamma(input)
    scale = math.factorial(n) * (-1) ** (n + 1)
    return scale * _zeta(input * 0 + (n + 1), input)


_derivative_of_digamma = computed(
    "_polygamma(Tensor input, int n) -> Tensor",
    "The derivative of order `n` of digamma.",
    _polygamma,
    method=False,
    function=False,
    vjp={"input": lambda grad, input, n: grad * polygamma(n + 1, input)},
)


@composed("polygamma(int n, Tensor input) -> Tensor", method=False)
def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order `n` of digamma.

    Args:
        n: not negative.
        input: any shape; integers and bools are computed in the default float dtype.

    Raises:
        RuntimeError: if `n` is negative.

    Example:
        >>> import raxis
        >>> raxis.polygamma(1, raxis.tensor([1.0]))
        tensor([1.6449])
    """
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, but got n={n}.")
    made: Tensor = _derivative_of_digamma(input, n)
    return made


@composed(
    "polygamma(Tensor input, int n) -> Tensor",
    namespace="raxis.Tensor",
    function=False,
    out=False,
    inplace=True,
)
def _polygamma_method(input: Tensor, n: int) -> Tensor:
    """The derivative of order `n` of digamma; see `raxis.polygamma`."""
    return polygamma(n, input)


@composed("mvlgamma(Tensor input, int p) -> Tensor", inplace=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Args:
        input: any shape, elements above ``(p - 1) / 2``.
        p: at least 1.

    Raises:
        RuntimeError: if `p` is less than 1.

    Example:
        >>> import raxis
        >>> raxis.mvlgamma(raxis.tensor([2.0]), 2)
        tensor([0.4516])
    """
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but got {p}.")
    total: Tensor = lgamma(input) + p * (p - 1) / 4 * math.log(math.pi)
    for index in range(1, p):
        total = total + lgamma(input - index / 2)
    return total


# ---- the normal distribution ---------------------------------------------------------------------------


def _special_unary(name: str, summary: str, argument: str, result: str, body: Any, gradient: Any) -> Any:
    return computed(
        f"{name}(Tensor input) -> Tensor",
        unary(f"special.{name}", summary, argument, result),
        body,
        namespace=SPECIAL,
        method=False,
        inplace=False,
        vjp={"input": gradient},
    )


def _normal_density(x: Tensor) -> Tensor:
    made: Tensor = exp(x * x * -0.5) / math.sqrt(2 * math.pi)
    return made


def _log_ndtr(input: Tensor) -> Any:
    tail = _log_scaled_erfc(-input.clamp_max(0) * _SQRT_HALF) - 0.5 * input * input - math.log(2)
    body = log1p(-0.5 * _erfc(input * _SQRT_HALF))
    return where(input < -1, where(input == -math.inf, -math.inf, tail), body)


def _entr(input: Tensor) -> Any:
    return where(input > 0, -input * log(input), where(input == 0, 0, where(input < 0, -math.inf, input)))


def _erfcx(input: Tensor) -> Any:
    tail = exp(_log_scaled_erfc(input.abs()))
    return where(input < 0, 2 * exp(input * input) - tail, tail)


ndtr = _special_unary(
    "ndtr",
    "The normal distribution function.",
    "[0.0, 1.0]",
    "[0.5000, 0.8413]",
    lambda input: 0.5 * _erfc(-input * _SQRT_HALF),
    lambda grad, input: grad * _normal_density(input),
)
log_ndtr = _special_unary(
    "log_ndtr",
    "The logarithm of the normal distribution function, accurate in the lower tail.",
    "[0.0, 1.0]",
    "[-0.6931, -0.1728]",
    _log_ndtr,
    lambda grad, input, result: grad * exp(input * input * -0.5 - result) / math.sqrt(2 * math.pi),
)
ndtri = _special_unary(
    "ndtri",
    "The inverse of the normal distribution function.",
    "[0.5, 0.975]",
    "[0.0000, 1.9600]",
    lambda input: emit("erfinv", 2 * input - 1) * math.sqrt(2),
    lambda grad, result: grad / _normal_density(result),
)
erfcx = _special_unary(
    "erfcx",
    "``exp(input ** 2) * erfc(input)`` without overflow.",
    "[0.0, 1.0]",
    "[1.0000, 0.4276]",
    _erfcx,
    lambda grad, input, result: grad * (2 * input * result - _TWO_OVER_SQRT_PI),
)
entr = _special_unary(
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
    made: Tensor = where((first == 0) & (second <= -1), 0, grad * log1p(second))
    return made


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


# ---- binary exponents ----------------------------------------------------------------------------------


@composed("ldexp(Tensor input, Tensor other) -> Tensor", inplace=True)
def ldexp(input: Tensor, other: Tensor) -> Any:
    """``input * 2 ** other``.

    Args:
        input: any shape.
        other: exponents; shapes must broadcast.

    Example:
        >>> import raxis
        >>> raxis.ldexp(raxis.tensor([1.0]), raxis.tensor([3]))
        tensor([8.])
    """
    for name, operand in (("input", input), ("other", other)):
        if not isinstance(operand, Tensor):
            raise TypeError(f"ldexp(): argument '{name}' must be Tensor, not {type(operand).__name__}")
    return input * 2.0**other


@lowered(
    "frexp(Tensor input) -> (Tensor mantissa, Tensor exponent)",
    vjp={"input": lambda grad, results: ldexp(grad, -results[1])},
)
def frexp(input: Tensor) -> tuple[Any, Any]:
    """Mantissa in [0.5, 1) and exponent with ``input = mantissa * 2 ** exponent``; zeros and non-finite stay.

    Args:
        input: float, any shape.

    Returns:
        A named tuple of the mantissa, of `input`'s dtype, and the exponent, int32.

    Raises:
        NotImplementedError: for other dtypes.

    Example:
        >>> import raxis
        >>> raxis.frexp(raxis.tensor([10.0])).exponent
        tensor([4], dtype=raxis.int32)
    """
    require_category("frexp", input, Category.FLOAT)
    number = wide(input)
    ordinary = number.isfinite() & (number != 0)
    safe = where(ordinary, number, 1)
    exponent = emit("floor", log(safe.abs()) / math.log(2.0)) + 1
    mantissa = _scaled(safe, -exponent)
    # The logarithm may be off by one next to powers of two.
    high, low = mantissa.abs() >= 1, mantissa.abs() < 0.5
    mantissa = where(high, mantissa * 0.5, where(low, mantissa * 2, mantissa))
    exponent = exponent + cast(high, exponent.dtype) - cast(low, exponent.dtype)
    return (
        cast(where(ordinary, mantissa, number), input.dtype),
        cast(where(ordinary, exponent, 0), dtypes.int32),
    )


def _scaled(number: Tensor, exponent: Tensor) -> Tensor:
    """``number * 2 ** exponent`` in two steps, as the power alone may leave the range."""
    half = emit("floor", exponent / 2)
    made: Tensor = number * 2.0**half * 2.0 ** (exponent - half)
    return made
