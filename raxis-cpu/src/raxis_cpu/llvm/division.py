"""Division with remainders.

Float remainders are exact: where the quotient is small, x - q y is one fused step; else, lane by lane, long division.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from raxis_cpu.llvm.ir import DOUBLE, I64, Function, Value, fma
from raxis_cpu.llvm.math.support import absolute, any_lane, at_most, copy_sign, format_of


def _guarded(y: Value) -> Value:
    """The divisor, or 1 where it is 0: kernels raise for that before they store anything."""
    return y.compare("eq", 0).select(1, y)


class _Division(NamedTuple):
    """The truncated quotient, and the rest with the sign of the dividend."""

    quotient: Value
    rest: Value


def _divided(x: Value, y: Value, signed: bool) -> _Division:
    """x by y, which is not 0; the quotient of the least number by -1 wraps."""
    bits = x.type.bits
    if bits == 64:
        return _divided_long(x, y)
    # Exact: the quotient differs from an integer by more than its rounding error.
    element, kind = ("float", "si" if signed else "ui") if bits <= 16 else ("double", "si")
    ratio = x.convert(f"{kind}tofp", element) / y.convert(f"{kind}tofp", element)
    quotient = ratio.convert("fptosi", "i64" if bits == 32 else "i32").convert("trunc", x.type.element)
    return _Division(quotient, x - quotient * y)


_BELOW_2_63 = 2.0**63 - 1024


def _divided_long(x: Value, y: Value) -> _Division:
    """In double, in two steps: the second divides what the first leaves, which is below abs(y) + 2**13."""
    reciprocal = 1.0 / y.convert("sitofp", "double")
    quotient, rest = x.function.constant(x.type, 0), x
    for _ in range(2):
        ratio = at_most(rest.convert("sitofp", "double") * reciprocal, _BELOW_2_63)
        whole = ratio.convert("fptosi", "i64")
        quotient, rest = quotient + whole, rest - whole * y
    # Where the ratio was rounded to an integer, or from one, the quotient is one too large or too small.
    opposite = (x ^ y).compare("lt", 0)
    one, divisor = opposite.select(-1, x.function.constant(x.type, 1)), opposite.select(-y, y)
    for wrong, step, part in (
        (_differs_in_sign(rest, x), -one, divisor),
        (_magnitude(rest).compare("uge", _magnitude(y)), one, -divisor),
    ):
        quotient, rest = wrong.select(quotient + step, quotient), wrong.select(rest + part, rest)
    return _Division(quotient, rest)


def _magnitude(x: Value) -> Value:
    """The absolute value, unsigned."""
    return x.compare("lt", 0).select(-x, x)


def _integer_divide(x: Value, y: Value, *, signed: bool) -> Value:
    return _divided(x, _guarded(y), signed).quotient


def _integer_fmod(x: Value, y: Value, *, signed: bool) -> Value:
    return _divided(x, _guarded(y), signed).rest


def _integer_remainder(x: Value, y: Value, *, signed: bool) -> Value:
    y = _guarded(y)
    rest = _divided(x, y, signed).rest
    return _differs_in_sign(rest, y).select(rest + y, rest) if signed else rest


def _integer_floor_divide(x: Value, y: Value, *, signed: bool) -> Value:
    y = _guarded(y)
    quotient, rest = _divided(x, y, signed)
    return _differs_in_sign(rest, y).select(quotient - 1, quotient) if signed else quotient


def _differs_in_sign(rest: Value, y: Value) -> Value:
    return rest.compare("ne", 0) & (rest ^ y).compare("lt", 0)


def fmod(x: Value, y: Value) -> Value:
    """x - trunc(x/y) y, exact, with the sign of x."""
    form, function = format_of(x.type), x.function
    dividend, divisor = absolute(x), absolute(y)
    quotient = (dividend / divisor).intrinsic("trunc")
    rest = fma(-quotient, divisor, dividend)
    # The rounded quotient may be one too large, or too small.
    rest = rest.compare("lt", 0.0).select(rest + divisor, rest)
    rest = rest.compare("ge", divisor).select(rest - divisor, rest)
    rest = dividend.compare("lt", divisor).select(dividend, rest)
    small = quotient.compare("lt", 2.0 ** (form.mantissa - 2))
    regular = small | dividend.compare("lt", divisor)
    undefined = (dividend - dividend).compare("ne", 0.0) | divisor.compare("eq", 0.0) | y.compare("ne", y)
    result = function.variable(x.type, undefined.select((x * y) / (x * y), rest))
    large = ~(regular | undefined)
    with function.when(any_lane(large)):
        long = _long_division(large.select(dividend, 0.0), large.select(divisor, 1.0))
        result.set(large.select(long, result.get()))
    return copy_sign(result.get(), x)


def _long_division(x: Value, y: Value) -> Value:
    """Lane by lane, in double, which holds every float."""
    function, element = x.function, x.type.element
    function.helpers.setdefault("long_division", _long_division_text)
    wide = [value.convert("fpext", "double") for value in (x, y)]
    left, right = (function.variable(value.type, value) for value in wide)
    with function.loop(0, function.constant(I64, x.type.lanes)) as lane:
        place = function.advance(left.address, lane, 8)
        divisor = function.load(DOUBLE, function.advance(right.address, lane, 8))
        rest = function.call(DOUBLE, "@long_division", function.load(DOUBLE, place), divisor)
        function.store(rest, place)
    return left.get().convert("fptrunc", element)


def _long_division_text() -> str:
    """fmod of positive numbers, the first finite: subtracts the divisor times falling powers of two."""
    function = Function("internal double @long_division(double %x, double %y) noinline")
    x, y = function.argument(DOUBLE, "x"), function.argument(DOUBLE, "y")
    rest = function.variable(DOUBLE, x)
    with function.repeat_while() as loop:
        left = rest.get()
        loop.test(left.compare("ge", y))
        # y times the power of two that brings it to left's exponent, or one below; halving is exact then.
        gap = _exponent(left) - _exponent(y)
        scaled = _times_power(y, gap)
        scaled = scaled.compare("gt", left).select(_times_power(y, gap - 1), scaled)
        rest.set(left - scaled)
    function.line(f"ret double {rest.get().name}")
    return function.text


def _exponent(x: Value) -> Value:
    """Of positive numbers, subnormal ones included; biased."""
    tiny = x.compare("lt", 2.0**-1022)
    return (tiny.select(x * 2.0**64, x).bits() >> 52) - tiny.select(x.function.constant(I64, 64), 0)


def _times_power(y: Value, power: Value) -> Value:
    """y * 2**power, in four steps: from the least number to the greatest it is 2**2097."""
    quarter = power >> 2
    for share in (quarter, quarter, quarter, power - quarter * 3):
        y = y * ((share + 1023) << 52).convert("bitcast", "double")
    return y


def remainder(x: Value, y: Value) -> Value:
    """x - floor(x/y) y, with the sign of y."""
    rest = fmod(x, y)
    opposite = (rest.bits() ^ y.bits()).compare("lt", 0)
    moved = opposite.select(rest + y, rest)
    return rest.compare("eq", 0.0).select(copy_sign(rest, y), moved)


def floor_divide(x: Value, y: Value) -> Value:
    """floor(x/y), exact."""
    rest = fmod(x, y)
    opposite = rest.compare("ne", 0.0) & (rest.bits() ^ y.bits()).compare("lt", 0)
    quotient = (x - rest) / y
    quotient = opposite.select(quotient - 1.0, quotient)
    whole = quotient.intrinsic("floor")
    whole = (quotient - whole).compare("gt", 0.5).select(whole + 1.0, whole)
    signed_zero = copy_sign(whole.function.constant(x.type, 0.0), x / y)
    whole = quotient.compare("eq", 0.0).select(signed_zero, whole)
    return y.compare("eq", 0.0).select(x / y, whole)


INTEGER_DIVISION: Mapping[str, Callable[..., Value]] = {
    "div": _integer_divide,
    "fmod": _integer_fmod,
    "remainder": _integer_remainder,
    "floor_divide": _integer_floor_divide,
}
"""By the name of the primitive; they take `signed`. A divisor of 0 is an error that the kernel finds first."""

FLOAT_DIVISION: Mapping[str, Callable[..., Value]] = {
    "fmod": fmod,
    "remainder": remainder,
    "floor_divide": floor_divide,
}
"""By the name of the primitive."""
