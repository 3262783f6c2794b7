"""What the vector functions share. All of them take and give float or double values of any number of lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple

from raxis_cpu.llvm.ir import I1, Type, Value, fma, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math import instructions

Unary = Callable[[Value], Value]


class Format(NamedTuple):
    """An IEEE format. Adding `magic` to a small number leaves its nearest integer in the low bits."""

    mantissa: int
    bias: int
    magic: float
    smallest_normal: float


_FORMATS = {
    "float": Format(23, 127, 1.5 * 2.0**23, 2.0**-126),
    "double": Format(52, 1023, 1.5 * 2.0**52, 2.0**-1022),
}


def format_of(type: Type) -> Format:
    """The format of a float or double type."""
    return _FORMATS[type.element]


class Precision(NamedTuple):
    """Tables for results of double precision, or, where float32 results are computed in double, short ones."""

    sin: tuple[float, ...]
    cos: tuple[float, ...]
    asin: tuple[float, ...]
    atan: tuple[float, ...]


FULL = Precision(tables.SIN, tables.COS, tables.ASIN, tables.ATAN)
SHORT = Precision(tables.SIN_SHORT, tables.COS_SHORT, tables.ASIN_SHORT, tables.ATAN_SHORT)


def through_double(function: Callable[[Value, Precision], Value]) -> Unary:
    """`function` for both formats: float is computed in double with short tables, and rounded once."""

    return wraps(function)(by_format(lambda x: function(x, FULL), lambda x: function(x, SHORT)))


def by_format(double: Unary, short: Unary) -> Unary:
    """`double` for double; float is computed in double by `short`, to float32 precision, and rounded once."""

    def either(x: Value) -> Value:
        if x.type.element == "double":
            return double(x)
        return short(x.convert("fpext", "double")).convert("fptrunc", "float")

    return either


def with_tables(function: Callable[[Value, Precision], Value]) -> Unary:
    """`function` with the tables for the format of its operand."""

    @wraps(function)
    def either(x: Value) -> Value:
        return function(x, FULL if x.type.element == "double" else SHORT)

    return either


def absolute(x: Value) -> Value:
    """|x|."""
    return x.intrinsic("fabs")


def copy_sign(magnitude: Value, sign: Value) -> Value:
    """`magnitude` with the sign bit of `sign`."""
    return magnitude.intrinsic("copysign", sign)


def sqrt(x: Value) -> Value:
    """Square root, correctly rounded."""
    return x.intrinsic("sqrt")


def nearest(x: Value) -> Value:
    """The nearest integer, ties to even."""
    return x.intrinsic("rint")


def is_nan(x: Value) -> Value:
    """NaN."""
    return x.compare("ne", x)


def at_most(x: Value, limit: float) -> Value:
    """min(x, limit); NaN stays."""
    return x.compare("gt", limit).select(limit, x)


def at_least(x: Value, limit: float) -> Value:
    """max(x, limit); NaN stays."""
    return x.compare("lt", limit).select(limit, x)


def any_lane(condition: Value) -> Value:
    """Whether a condition holds in any lane."""
    if condition.type.lanes == 1:
        return condition
    return condition.function.emit(I1, f"call i1 @llvm.vector.reduce.or.{condition.type.suffix}({condition})")


def piecewise(x: Value, piece: Value, near_zero: Value, table: Sequence[Sequence[float]]) -> Value:
    """The polynomial of its piece at each float.

    `table` is the centres, then the coefficients of every power; where `near_zero`, they give what is to be added to x.
    """
    centre, constant, *rest = (instructions.lookup(row, piece) for row in table)
    distance = x - centre
    value = fma(distance, polynomial(distance, rest), constant)
    return near_zero.select(x + value, value)


class Pair(NamedTuple):
    """An unevaluated sum of two numbers, the second at most half a unit of the first (Dekker, 1971)."""

    high: Value
    low: Value


def quick_two_sum(large: Value, small: Value) -> Pair:
    """The exact sum, where abs(large) >= abs(small)."""
    high = large + small
    return Pair(high, small - (high - large))


def two_sum(x: Value, y: Value) -> Pair:
    """The exact sum (Knuth)."""
    high = x + y
    part = high - x
    return Pair(high, (x - (high - part)) + (y - part))


def two_product(x: Value, y: Value) -> Pair:
    """The exact product."""
    high = x * y
    return Pair(high, fma(x, y, -high))


def pair_product(x: Pair, y: Pair) -> Pair:
    """The product, but for its last few bits."""
    high, low = two_product(x.high, y.high)
    return Pair(high, low + fma(x.high, y.low, x.low * y.high))


def quotient(top: Pair, bottom: Pair) -> Pair:
    """The quotient, but for its last few bits."""
    estimate = reciprocal(bottom.high)
    high = top.high * estimate
    remainder = fma(-high, bottom.high, top.high) + fma(-high, bottom.low, top.low)
    return Pair(high, remainder * estimate)


def rounded_quotient(top: Value, bottom: Pair) -> Value:
    """The quotient to hardly more than half a unit, where neither is large and the bottom is not tiny."""
    rough = top.type.element == "float" and instructions.available(top)
    estimate = (instructions.reciprocal_estimate if rough else reciprocal)(bottom.high)
    ratio = top * estimate
    rest = fma(-bottom.low, ratio, fma(-bottom.high, ratio, top))
    return fma(rest, estimate, ratio)


def reciprocal(x: Value) -> Value:
    """1/x of ordinary numbers, but for the last bit or two."""
    if not instructions.available(x):
        return 1.0 / x
    estimate = instructions.reciprocal_estimate(x)
    for _ in range(1 if x.type.element == "float" else 2):
        estimate = fma(estimate, fma(-x, estimate, 1.0), estimate)
    return estimate


NAN, INF = math.nan, math.inf
