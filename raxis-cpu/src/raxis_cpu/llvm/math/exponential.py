"""exp, exp2, expm1, the logistic and the hyperbolic functions.

exp(x) = 2**n * exp(r) with n = nearest(x / log 2), r = x - n log 2 in two exact steps (Cody and Waite, 1980).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from raxis_cpu.llvm.ir import Value, fma, horner, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math import instructions, pieces
from raxis_cpu.llvm.math.logarithm import log, log1p
from raxis_cpu.llvm.math.support import (
    INF,
    NAN,
    Pair,
    absolute,
    at_least,
    at_most,
    by_format,
    copy_sign,
    format_of,
    piecewise,
    quick_two_sum,
    quotient,
    rounded_quotient,
    sqrt,
    through_double,
    two_product,
    two_sum,
)  # fmt: skip

_LOG2_E = float.fromhex("0x1.71547652b82fep+0")
_LOG_2 = float.fromhex("0x1.62e42fefa39efp-1")


class _Exp(NamedTuple):
    """Constants of one format: log 2 in two parts, bounds beyond which exp and exp2 are 0 or infinite."""

    log2_high: float
    log2_low: float
    low: float
    high: float
    low_power: float
    high_power: float
    table: tuple[float, ...]


_CONSTANTS = {
    "float": _Exp(
        float.fromhex("0x1.62e43p-1"), float.fromhex("-0x1.05c61p-29"), -104.0, 90.0, -151.0, 129.0, tables.EXP_SINGLE
    ),
    "double": _Exp(
        _LOG_2, float.fromhex("0x1.abc9e3b39803fp-56"), -746.0, 712.0, -1076.0, 1025.0, tables.EXP
    ),
}  # fmt: skip


def exp(x: Value, low: Value | None = None, halvings: int = 0) -> Value:
    """exp(x + low) / 2**halvings, without overflow before the division."""
    return _exp_below(at_most(x, _CONSTANTS[x.type.element].high), low, halvings)


def exp_of_negative(x: Value) -> Value:
    """exp(x) of numbers that are not positive."""
    return _exp_below(x)


def _exp_below(x: Value, low: Value | None = None, halvings: int = 0) -> Value:
    """As exp, of numbers up to the bound beyond which it is infinite."""
    constants, form = _CONSTANTS[x.type.element], format_of(x.type)
    inside, remains = _above(x, constants.low)
    shifted = fma(inside, _LOG2_E, form.magic)
    r = _remainder(inside, shifted - form.magic)
    if low is not None:
        r = r + low
    return remains.select(_grown(r, constants.table, shifted, halvings), 0.0)


def exp2(x: Value) -> Value:
    """2**x."""
    constants, form = _CONSTANTS[x.type.element], format_of(x.type)
    inside, remains = _above(at_most(x, constants.high_power), constants.low_power)
    shifted = inside + form.magic
    r = (inside - (shifted - form.magic)) * _LOG_2
    return remains.select(_grown(r, constants.table, shifted), 0.0)


def _above(x: Value, low: float) -> tuple[Value, Value]:
    """What to take the power of, and whether x is at least low, so that its power does not vanish; NaN is.

    Scaling down to nothing takes processors a hundred cycles, and masked softmax is full of it: where the condition is
    not a mask of the scaling instruction itself, the exponents of what vanishes are 0.
    """
    remains = x.compare("uge", low)
    return x if instructions.available(x) else remains.select(x, 0.0), remains


def exp_short(x: Value) -> Value:
    """exp of double numbers, to float32 precision."""
    form = format_of(x.type)
    inside = at_least(at_most(x, 712.0), -747.0)
    shifted = fma(inside, _LOG2_E, form.magic)
    r = fma(shifted - form.magic, -_CONSTANTS["double"].log2_high, inside)
    return _grown(r, tables.EXP_SHORT, shifted)


def _grown(r: Value, table: Sequence[float], shifted: Value, halvings: int = 0) -> Value:
    """exp(r) * 2**(n - halvings), n being the low bits of `shifted`."""
    if r.type.element == "float":
        return _shifted(horner(r, (1.0, 1.0, *table)), shifted, halvings)
    return _shifted(fma(r * r, polynomial(r, table), r) + 1.0, shifted, halvings)


def exp_product(x: Pair, factor: Pair) -> Value:
    """exp(x) * factor of doubles from -750 to 0, with hardly more than one rounding."""
    constants, form = _CONSTANTS["double"], format_of(x.high.type)
    shifted = fma(x.high, _LOG2_E, form.magic)
    n = shifted - form.magic
    first, correction = fma(n, -constants.log2_high, x.high), fma(n, -constants.log2_low, x.low)
    r = first + correction
    tail = fma(r * r, polynomial(r, constants.table), first - r + correction)
    rest = fma(r, factor.high, fma(tail, factor.high, factor.low))
    return _shifted(factor.high + rest, shifted)


def _shifted(value: Value, shifted: Value, halvings: int = 0) -> Value:
    """value * 2**(n - halvings), n being the low bits of `shifted`."""
    if not instructions.available(value):
        return _scaled(value, shifted, halvings)
    n = shifted - format_of(value.type).magic
    return instructions.scale(value, n - halvings if halvings else n)


def _remainder(x: Value, n: Value) -> Value:
    constants = _CONSTANTS[x.type.element]
    return fma(n, -constants.log2_low, fma(n, -constants.log2_high, x))


def _scaled(value: Value, shifted: Value, halvings: int) -> Value:
    """value * 2**(n - halvings), where n are the low bits of `shifted`; in two steps, for subnormal results."""
    form = format_of(value.type)
    # Biased by an even number, so that the halves are positive.
    excess = 1 << (form.mantissa.bit_length() + 6)
    bits = shifted.bits()
    n = bits - (value.function.constant(value.type, form.magic).bits() + (halvings - excess))
    first = n >> 1
    second = n - first
    return value * _power_of_two(first, excess // 2, value) * _power_of_two(second, excess // 2, value)


def _power_of_two(n: Value, excess: int, like: Value) -> Value:
    """2**(n - excess)."""
    form = format_of(like.type)
    return ((n + (form.bias - excess)) << form.mantissa).convert("bitcast", like.type.element)


def _expm1_pair(x: Value) -> Pair:
    """(exp(x) - 1)/2 in double: (2**n - 1)/2 + 2**(n - 1) expm1(r), halved as 2**n may overflow."""
    form = format_of(x.type)
    inside = at_least(at_most(x, 710.0), -60.0)
    shifted = fma(inside, _LOG2_E, form.magic)
    r = _remainder_pair(inside, shifted - form.magic)
    tail = fma(r.high * r.high, fma(r.high, polynomial(r.high, tables.EXPM1), 0.5), r.low)
    half = _power_of_two(shifted.bits() - x.function.constant(x.type, form.magic).bits(), 1, x)
    whole = two_sum(half - 0.5, half * r.high)
    return quick_two_sum(whole.high, fma(half, tail, whole.low))


def _remainder_pair(x: Value, n: Value) -> Pair:
    constants = _CONSTANTS[x.type.element]
    correction = two_product(n, x.function.constant(x.type, constants.log2_low))
    rest = two_sum(fma(n, -constants.log2_high, x), -correction.high)
    return Pair(rest.high, rest.low - correction.low)


def expm1(x: Value) -> Value:
    """exp(x) - 1."""
    if x.type.element == "double":
        return absolute(x).compare("lt", 2.0**-54).select(x, _expm1_pair(x).high * 2.0)
    return absolute(x).compare("lt", 2.0**-25).select(x, _half_expm1_single(x) * 2.0)


def _half_expm1_single(x: Value) -> Value:
    """(exp(x) - 1)/2 in float, as `_expm1_pair` has it in double."""
    constants, form = _CONSTANTS["float"], format_of(x.type)
    inside = at_least(at_most(x, 88.8), -20.0)
    # The low bits of the sum are n + 126, the exponent field of 2**(n - 1).
    shifted = fma(inside, _LOG2_E, form.magic + (form.bias - 1))
    half = (shifted.bits() << form.mantissa).convert("bitcast", "float")
    n = shifted - (form.magic + (form.bias - 1))
    first = fma(n, -constants.log2_high, inside)
    r = fma(n, -constants.log2_low, first)
    low = fma(n, -constants.log2_low, first - r)
    tail = fma(r * r, polynomial(r, tables.EXP_SHORT), low)
    rest = half - 0.5
    whole = fma(half, r, rest)
    return whole + fma(half, tail, fma(half, r, rest - whole))


def sigmoid(x: Value) -> Value:
    """The logistic function: 1/(1 + e), or e/(1 + e) of negative numbers, with e = exp(-abs(x))."""
    decayed = exp_of_negative(-absolute(x))
    bottom = quick_two_sum(x.function.constant(x.type, 1.0), decayed)
    return rounded_quotient(x.compare("lt", 0.0).select(decayed, 1.0), bottom)


def tanh(x: Value) -> Value:
    """Hyperbolic tangent."""
    return _tanh_single(x) if x.type.element == "float" else _tanh_double(x)


def _tanh_single(x: Value) -> Value:
    """By pieces between whole and half powers of two up to 9.1, where it is 1."""
    magnitude = at_most(absolute(x), 9.1)
    first = x.function.constant(x.type, 0.25).bits()
    piece = magnitude.bits().intrinsic("smax", first) >> 22
    return copy_sign(piecewise(magnitude, piece, magnitude.compare("lt", 0.375), pieces.TANH), x)


def _tanh_double(x: Value) -> Value:
    grown = _expm1_pair(at_most(absolute(x), 22.0) * 2.0)
    # tanh(x) = e/(e + 1) with e = expm1(2 x)/2.
    bottom = two_sum(grown.high, x.function.constant(x.type, 1.0))
    value = quotient(grown, Pair(bottom.high, bottom.low + grown.low))
    small = absolute(x).compare("lt", 2.0**-28)
    return small.select(x, copy_sign(value.high + value.low, x))


def _sinh_double(x: Value) -> Value:
    """e + e/(2 e + 1) with e = expm1(x)/2, or half of exp(x)."""
    magnitude = absolute(x)
    grown = _expm1_pair(at_most(magnitude, 40.0))
    bottom = two_sum(grown.high * 2.0, x.function.constant(x.type, 1.0))
    ratio = quotient(grown, Pair(bottom.high, fma(grown.low, 2.0, bottom.low)))
    small = grown.high + (ratio.high + (grown.low + ratio.low))
    value = magnitude.compare("lt", 22.0).select(small, exp(magnitude, halvings=1))
    return magnitude.compare("lt", 2.0**-28).select(x, copy_sign(value, x))


_SINH_SERIES = tuple(1 / math.factorial(2 * power + 1) for power in range(1, 6))


def _sinh_short(x: Value) -> Value:
    """sinh of double numbers, to float32 precision: the series up to 1, then from exp."""
    magnitude, square = absolute(x), x * x
    small = fma(x * square, polynomial(square, _SINH_SERIES), x)
    half = exp_short(magnitude) * 0.5
    return magnitude.compare("lt", 1.0).select(small, copy_sign(half - 0.25 / half, x))


sinh = by_format(_sinh_double, _sinh_short)
"""Hyperbolic sine."""


@through_double
def cosh(x: Value, _: object) -> Value:
    """Hyperbolic cosine."""
    half = exp(absolute(x), halvings=1)
    return half + 0.25 / half


@through_double
def asinh(x: Value, _: object) -> Value:
    """Inverse hyperbolic sine."""
    magnitude = absolute(x)
    inside = at_most(magnitude, 2.0**28)
    square = inside * inside
    near = log1p(inside + square / (sqrt(square + 1.0) + 1.0))
    value = magnitude.compare("gt", 2.0**28).select(_log_of_double(magnitude), near)
    return copy_sign(magnitude.compare("lt", 2.0**-28).select(magnitude, value), x)


@through_double
def acosh(x: Value, _: object) -> Value:
    """Inverse hyperbolic cosine."""
    over = at_most(x, 2.0**28) - 1.0
    sum_ = two_sum(sqrt(fma(over, over, over * 2.0)), over)
    near = log1p(sum_.high) + sum_.low / (sum_.high + 1.0)
    near = x.compare("lt", 1.0).select(NAN, near)
    return x.compare("gt", 2.0**28).select(_log_of_double(x), near)


def _log_of_double(x: Value) -> Value:
    """log(2 x) for large x, which doubling could make infinite."""
    return log(x) + _LOG_2


@through_double
def atanh(x: Value, _: object) -> Value:
    """Inverse hyperbolic tangent."""
    magnitude = absolute(x)
    double = magnitude * 2.0
    value = log1p(double / (1.0 - magnitude)) * 0.5
    value = magnitude.compare("eq", 1.0).select(INF, value)
    return copy_sign(magnitude.compare("lt", 2.0**-28).select(magnitude, value), x)
