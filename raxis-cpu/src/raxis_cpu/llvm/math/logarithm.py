"""log, log2, log10, log1p and the logarithm in two parts that pow needs.

log(2**k m) = k log 2 + log m with m around 1: in [3/4, 3/2) where one instruction takes numbers apart, else in
[sqrt(1/2), sqrt(2)). log m is a polynomial, in double one in s = (m - 1)/(m + 1), of which log m = 2 s + s**3 (...).
"""

from __future__ import annotations

from typing import NamedTuple

from raxis_cpu.llvm.ir import Value, fma, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math import instructions
from raxis_cpu.llvm.math.support import (
    INF,
    NAN,
    Pair,
    any_lane,
    at_least,
    format_of,
    pair_product,
    quick_two_sum,
    quotient,
    two_sum,
)  # fmt: skip

_SQRT_HALF = 0.5**0.5
_LOG2_HIGH = {"float": float.fromhex("0x1.62ep-1"), "double": float.fromhex("0x1.62e42fefa38p-1")}
"""So few bits that products with an exponent are exact."""
_LOG2_LOW = {"float": float.fromhex("0x1.0bfbe8e7bcd5ep-15"), "double": float.fromhex("0x1.ef35793c7673p-45")}
_TWO_THIRDS = (2 / 3, float.fromhex("0x1.5555555555555p-55"))


class _Base(NamedTuple):
    """1/log b and log 2/log b in two parts, products of an exponent with the third number being exact."""

    scale_high: float
    scale_low: float
    step_high: float
    step_low: float


_BASE_2 = {
    "float": _Base(float.fromhex("0x1.715476p+0"), float.fromhex("0x1.4ae0cp-26"), 1.0, 0.0),
    "double": _Base(float.fromhex("0x1.71547652b82fep+0"), float.fromhex("0x1.777d0ffda0d24p-56"), 1.0, 0.0),
}
_BASE_10 = {
    "float": _Base(*map(float.fromhex, ("0x1.bcb7b2p-2", "-0x1.5b235ep-27", "0x1.344p-2", "0x1.3509f8p-18"))),
    "double": _Base(*map(float.fromhex, ("0x1.bcb7b1526e50ep-2", "0x1.95355baaafad3p-57", "0x1.34413509f7p-2",
                                         "0x1.3fde623e2566bp-43"))),
}  # fmt: skip


class _Split(NamedTuple):
    """x = 2**exponent * mantissa, the mantissa around 1; both as numbers of the format."""

    exponent: Value
    mantissa: Value


def _irregular(x: Value) -> Value:
    """Whether any lane is not a positive, normal, finite number."""
    return any_lane(~(x.compare("ge", format_of(x.type).smallest_normal) & x.compare("lt", INF)))


def _split(x: Value) -> _Split:
    if instructions.available(x):
        mantissa = instructions.mantissa_of(x)
        return _Split(instructions.exponent_of(x) - instructions.exponent_of(mantissa), mantissa)
    return _split_by_bits(x)


def _split_by_bits(x: Value) -> _Split:
    form, function = format_of(x.type), x.function
    normal, bias = function.variable(x.type, x), function.variable(x.type, float(form.bias))
    with function.when(_irregular(x)):
        tiny = x.compare("lt", form.smallest_normal)
        scale = form.mantissa + 2
        normal.set(tiny.select(x * 2.0**scale, x))
        bias.set(tiny.select(function.constant(x.type, float(form.bias + scale)), float(form.bias)))
    bits = normal.get().bits()
    lowest = function.constant(x.type, _SQRT_HALF).bits()
    biased = (bits - lowest + (form.bias << form.mantissa)) >> form.mantissa
    mantissa = (bits - ((biased - form.bias) << form.mantissa)).convert("bitcast", x.type.element)
    # A small integer in the low bits of 2**mantissa becomes a number by one subtraction.
    offset = function.constant(x.type, 2.0**form.mantissa).bits()
    number = (biased | offset).convert("bitcast", x.type.element) - 2.0**form.mantissa
    return _Split(number - bias.get(), mantissa)


def _with_special_values(x: Value, value: Value) -> Value:
    """`value`, but for the log of numbers that are not positive and finite."""
    if instructions.available(x):
        # Exponent and mantissa of those are such that the value is right already.
        return value
    result = x.function.variable(x.type, value)
    with x.function.when(_irregular(x)):
        value = x.compare("eq", INF).select(x, value)
        value = x.compare("lt", 0.0).select(NAN, value)
        value = x.compare("eq", 0.0).select(-INF, value)
        result.set(x.compare("ne", x).select(x, value))
    return result.get()


def log(x: Value) -> Value:
    """Natural logarithm."""
    exponent, mantissa = _split(x)
    low = exponent * _LOG2_LOW[x.type.element]
    one_plus = _log_single if x.type.element == "float" else _log_double
    return _with_special_values(x, one_plus(mantissa - 1.0, exponent, low))


def log_short(x: Value) -> Value:
    """Natural logarithm of double numbers, to two units of 2**-34."""
    exponent, mantissa = _split(x)
    f = mantissa - 1.0
    square = f * f
    tail = fma(square * f, polynomial(f, tables.LOG_SHORT), exponent * _LOG2_LOW["double"])
    return _with_special_values(x, fma(exponent, _LOG2_HIGH["double"], fma(square, -0.5, tail) + f))


def _log_single(f: Value, exponent: Value, low: Value) -> Value:
    square = f * f
    tail = fma(square * f, polynomial(f, tables.LOG_SINGLE), low)
    return fma(exponent, _LOG2_HIGH["float"], fma(square, -0.5, tail) + f)


def _log_double(f: Value, exponent: Value, low: Value) -> Value:
    """log(1 + f) + exponent log 2, ordered as in fdlibm so that the large parts are added last."""
    s = f / (f + 2.0)
    square = s * s
    half_square = f * f * 0.5
    tail = fma(s, fma(square, polynomial(square, tables.LOG), half_square), low)
    return fma(exponent, _LOG2_HIGH["double"], f - (half_square - tail))


def log2(x: Value) -> Value:
    """Logarithm to base 2."""
    return _in_base(x, _BASE_2[x.type.element])


def log10(x: Value) -> Value:
    """Logarithm to base 10."""
    return _in_base(x, _BASE_10[x.type.element])


def _in_base(x: Value, base: _Base) -> Value:
    exponent, mantissa = _split(x)
    high, rest = (_parts_single if x.type.element == "float" else _parts_double)(mantissa - 1.0)
    scaled = high * base.scale_high
    low = fma(high, base.scale_high, -scaled) + fma(high, base.scale_low, rest * base.scale_high)
    if base.step_low:
        low = fma(exponent, base.step_low, low)
    whole = quick_two_sum(exponent * base.step_high, scaled)
    value = whole.high + (whole.low + low)
    value = exponent.intrinsic("fabs").compare("lt", INF).select(value, exponent)
    return _with_special_values(x, value)


def _parts_single(f: Value) -> Pair:
    """log(1 + f) as f - f**2/2 and the rest."""
    square = f * f
    half_square = square * 0.5
    high = f - half_square
    rest = fma(fma(f, f, -square), -0.5, square * f * polynomial(f, tables.LOG_SINGLE))
    return Pair(high, f - high - half_square + rest)


def _parts_double(f: Value) -> Pair:
    """log(1 + f) as f - f**2/2 and the rest, as in `_log_double`."""
    s = f / (f + 2.0)
    square, half_square = s * s, f * f * 0.5
    high = f - half_square
    tail = s * fma(square, polynomial(square, tables.LOG), half_square)
    return Pair(high, f - high - half_square + tail)


def log1p(x: Value) -> Value:
    """log(1 + x)."""
    element = x.type.element
    sum_ = two_sum(x, x.function.constant(x.type, 1.0))
    exponent, mantissa = _split(sum_.high)
    low = fma(exponent, _LOG2_LOW[element], _correction(sum_))
    one_plus = _log_single if element == "float" else _log_double
    value = one_plus(mantissa - 1.0, exponent, low)
    value = _with_special_values(sum_.high, value)
    value = x.compare("eq", INF).select(x, value)
    return x.compare("eq", 0.0).select(x, value)


def _correction(sum_: Pair) -> Value:
    """What the low part adds to the logarithm."""
    if not instructions.available(sum_.high):
        return sum_.low / sum_.high
    # Beyond the domain anything will do, but 0 may not become NaN.
    high = at_least(sum_.high, 2.0**-60)
    estimate = instructions.reciprocal_estimate(high)
    if high.type.element == "double":
        estimate = fma(estimate, fma(-high, estimate, 1.0), estimate)
    ratio = sum_.low * estimate
    return fma(fma(-high, ratio, sum_.low), estimate, ratio)


def log_pair(x: Value) -> Pair:
    """log(x) of a positive double to about 68 bits."""
    exponent, mantissa = _split(x)
    s = _area_tangent_argument(mantissa - 1.0)
    square = pair_product(s, s)
    tail = square.high * polynomial(square.high, tables.LOG_FAR)
    series = quick_two_sum(x.function.constant(x.type, _TWO_THIRDS[0]), tail)
    series = Pair(series.high, series.low + _TWO_THIRDS[1])
    cubic = pair_product(s, pair_product(square, series))
    logarithm = quick_two_sum(s.high * 2.0, cubic.high)
    low = logarithm.low + fma(s.low, 2.0, cubic.low)
    whole = two_sum(exponent * _LOG2_HIGH["double"], logarithm.high)
    return quick_two_sum(whole.high, whole.low + fma(exponent, _LOG2_LOW["double"], low))


def _area_tangent_argument(f: Value) -> Pair:
    """f / (2 + f)."""
    zero, two = (f.function.constant(f.type, number) for number in (0.0, 2.0))
    return quotient(Pair(f, zero), quick_two_sum(two, f))
