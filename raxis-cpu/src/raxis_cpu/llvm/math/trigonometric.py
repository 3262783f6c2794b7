"""sin, cos, tan and their inverses.

The argument is reduced to abs(r) <= pi/4 by pi/2 in three parts (Cody and Waite, 1980; the first step is exact with
a fused multiply-add); beyond 2**30 (float: 2**16) by 256 bits of 2/pi (Payne and Hanek, 1983), lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from raxis_cpu.llvm.ir import DOUBLE, I64, PTR, Function, Type, Value, fma, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math.support import (
    FULL,
    INF,
    SHORT,
    Pair,
    Precision,
    absolute,
    any_lane,
    copy_sign,
    format_of,
    is_nan,
    quick_two_sum,
    quotient,
    reciprocal,
    sqrt,
    two_product,
    two_sum,
    with_tables,
)  # fmt: skip

_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
_HALF_PI = {
    "double": tuple(
        map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"))
    ),
    "float": tuple(map(float.fromhex, ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"))),
}
"""Every part holds as many bits as the format; the sum of all is pi/2."""
_TWO_OVER_PI_BITS = (
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"
    "fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08"
    "56033046fc7b6babf0cfbc209af4361da9e391615ee61b08"
)
"""The first 1344 bits after the point."""
_LARGEST_DIRECT = {"double": 2.0**30, "float": 2.0**16}
_WINDOW = Type("i256")


class _Reduced(NamedTuple):
    """x = quadrant pi/2 + r.high + r.low; of the quadrant the two low bits count."""

    x: Value
    quadrant: Value
    r: Pair


def _reduce(x: Value, bound: float = INF) -> _Reduced:
    """Of numbers of magnitudes up to `bound`."""
    form, function = format_of(x.type), x.function
    shifted = fma(x, _TWO_OVER_PI, form.magic)
    parts = (x, shifted.bits(), *_remainder(x, shifted - form.magic))
    if bound <= _LARGEST_DIRECT[x.type.element]:
        return _Reduced(*parts[:2], Pair(*parts[2:]))
    variables = [function.variable(part.type, part) for part in parts]
    huge = absolute(x).compare("gt", _LARGEST_DIRECT[x.type.element])
    with function.when(any_lane(huge)):
        # Copies, and x among them, so that nothing need be kept in memory where no call is made.
        places = [function.variable(part.type, part) for part in parts]
        name = f"reduce_huge_{x.type.suffix}"
        function.helpers["reduce_huge"] = _reduce_huge
        function.helpers[name] = lambda: _reduce_huge_lanes(name, x.type)
        function.line(f"call void @{name}({', '.join(str(place.address) for place in places)})")
        for variable, place in zip(variables, places, strict=True):
            variable.set(place.get())
    x, quadrant, high, low = (variable.get() for variable in variables)
    return _Reduced(x, quadrant, Pair(high, low))


def _remainder(x: Value, n: Value) -> Pair:
    """x - n pi/2; the first step is exact."""
    largest, middle, least = _HALF_PI[x.type.element]
    first = fma(-n, largest, x)
    second = two_product(n, x.function.constant(x.type, middle))
    high = first - second.high
    low = ((first - high) - second.high) - second.low
    return Pair(high, fma(-n, least, low))


def _reduce_huge_lanes(name: str, vector: Type) -> str:
    """The text of a function that replaces quadrant and remainder in the lanes beyond `_LARGEST_DIRECT`."""
    parameters = ("x", "quadrant", "high", "low")
    function = Function(f"internal void @{name}({', '.join(f'ptr %{p}' for p in parameters)}) noinline")
    x, quadrant, high, low = (function.argument(PTR, p) for p in parameters)
    type, size = Type(vector.element), vector.bits // 8
    parts = [function.variable(DOUBLE), function.variable(DOUBLE)]
    with function.loop(0, function.constant(I64, vector.lanes)) as lane:
        argument = function.load(type, function.advance(x, lane, size))
        with function.when(absolute(argument).compare("gt", _LARGEST_DIRECT[type.element])):
            wide = argument.convert("fpext", "double")
            found = function.call(I64, "@reduce_huge", wide, *(part.address for part in parts))
            whole, rest = (part.get() for part in parts)
            rounded = whole.convert("fptrunc", type.element)
            rest = (whole - rounded.convert("fpext", "double")) + rest
            function.store(rounded, function.advance(high, lane, size))
            function.store(rest.convert("fptrunc", type.element), function.advance(low, lane, size))
            narrow = found if size == 8 else found.convert("trunc", "i32")
            function.store(narrow, function.advance(quadrant, lane, size))
    function.line("ret void")
    return function.text


def _reduce_huge() -> str:
    """The text of a function that reduces one number beyond `_LARGEST_DIRECT`; infinities and NaN give NaN."""
    function = Function("internal i64 @reduce_huge(double %x, ptr %high, ptr %low) noinline")
    x, high, low = (
        function.argument(DOUBLE, "x"),
        function.argument(PTR, "high"),
        function.argument(PTR, "low"),
    )
    bits = x.bits()
    exponent = ((bits >> 52) & 0x7FF) - 1075
    with function.when(exponent.compare("eq", 0x7FF - 1075)):
        for part in (high, low):
            function.store(x - x, part)
        function.line("ret i64 0")
        function.label(function.fresh("unreachable"))
    product = _product_with_window(function, (bits & ((1 << 52) - 1)) | (1 << 52), exponent)
    # Two integer bits, then the fraction, which is taken to the nearest integer.
    fraction = product << 2
    negative = fraction.compare("lt", 0)
    quadrant = (product >> 254).convert("trunc", "i64") + negative.convert("zext", "i64")
    angle = _times_half_pi(function, negative.select(-fraction, fraction))
    flip = (negative.convert("zext", "i64") << 63) ^ (bits & (1 << 63))
    for part, target in zip(angle, (high, low), strict=True):
        function.store((part.bits() ^ flip).convert("bitcast", "double"), target)
    function.line(f"ret i64 {bits.compare('lt', 0).select(-quadrant, quadrant).name}")
    return _window_table() + "\n" + function.text


def _window_table() -> str:
    """The bits of 2/pi after 64 zeros, last byte first, so that a window is a little-endian number."""
    data = bytes.fromhex("00" * 8 + _TWO_OVER_PI_BITS)[::-1]
    text = "".join(f"\\{byte:02x}" for byte in data)
    return f'@two_over_pi = private constant [{len(data)} x i8] c"{text}"'


def _product_with_window(function: Function, mantissa: Value, exponent: Value) -> Value:
    """mantissa times the bits of 2/pi that matter, modulo 4, as a 256-bit fixed-point number."""
    position = exponent + 62
    last = len(_TWO_OVER_PI_BITS) // 2 + 8 - 32
    address = Value(function, PTR, "@two_over_pi")
    byte = function.advance(address, last - (position >> 3), 1)
    window = function.load(_WINDOW, byte, align=1) << (position & 7).convert("zext", "i256")
    return window * mantissa.convert("zext", "i256")


def _times_half_pi(function: Function, fraction: Value) -> Pair:
    """fraction / 2**256 * pi/2 for a positive 256-bit fraction."""
    largest, middle, _ = _HALF_PI["double"]
    zeros = function.emit(_WINDOW, f"call i256 @llvm.ctlz.i256({fraction}, i1 false)")
    normal = fraction << zeros
    leading = (normal >> 192).convert("trunc", "i64")
    following = (normal >> 128).convert("trunc", "i64")
    scale = ((1023 - 64) - zeros.convert("trunc", "i64") << 52).convert("bitcast", "double")
    high = (leading & ~0x7FF).convert("uitofp", "double") * scale
    low = fma(following.convert("uitofp", "double"), 2.0**-64, (leading & 0x7FF).convert("uitofp", "double"))
    low = low * scale
    product = two_product(high, function.constant(DOUBLE, largest))
    return Pair(product.high, product.low + fma(high, middle, low * largest))


def _sine(r: Pair, precision: Precision) -> Pair:
    """The sine as a sum whose second part is small."""
    square = r.high * r.high
    return Pair(r.high, fma(r.high * square, polynomial(square, precision.sin), r.low))


def _cosine(r: Pair, precision: Precision) -> Pair:
    """The cosine as a sum whose second part is small."""
    square = r.high * r.high
    whole = fma(square, -0.5, 1.0)
    rest = fma(square, -0.5, 1.0 - whole)
    tail = fma(square * square, polynomial(square, precision.cos), fma(-r.high, r.low, rest))
    return Pair(whole, tail)


class _Waves(NamedTuple):
    """Sine and cosine of the remainder, and whether their places are exchanged in the sine of the whole."""

    sine: Value
    cosine: Value
    exchanged: Value


def _waves(reduced: _Reduced, precision: Precision) -> _Waves:
    sine, cosine = _sine(reduced.r, precision), _cosine(reduced.r, precision)
    exchanged = (reduced.quadrant & 1).compare("ne", 0)
    return _Waves(sine.high + sine.low, cosine.high + cosine.low, exchanged)


def _with_sign(value: Value, quadrant: Value) -> Value:
    """`value`, negative in the quadrants 2 and 3."""
    flip = (quadrant << (value.type.bits - 2)) & -(1 << (value.type.bits - 1))
    return (value.bits() ^ flip).convert("bitcast", value.type.element)


def _sin_of(reduced: _Reduced, waves: _Waves) -> Value:
    value = waves.exchanged.select(waves.cosine, waves.sine)
    return reduced.x.compare("eq", 0.0).select(reduced.x, _with_sign(value, reduced.quadrant))


def _cos_of(reduced: _Reduced, waves: _Waves) -> Value:
    return _with_sign(waves.exchanged.select(waves.sine, waves.cosine), reduced.quadrant + 1)


@with_tables
def sin(x: Value, precision: Precision) -> Value:
    """Sine."""
    reduced = _reduce(x)
    return _sin_of(reduced, _waves(reduced, precision))


@with_tables
def cos(x: Value, precision: Precision) -> Value:
    """Cosine."""
    reduced = _reduce(x)
    return _cos_of(reduced, _waves(reduced, precision))


def sin_and_cos(x: Value, bound: float) -> dict[str, Value]:
    """Both, by name, for little more than one, of numbers of magnitudes up to `bound`."""
    reduced = _reduce(x, bound)
    waves = _waves(reduced, FULL if x.type.element == "double" else SHORT)
    return {"sin": _sin_of(reduced, waves), "cos": _cos_of(reduced, waves)}


@with_tables
def tan(x: Value, precision: Precision) -> Value:
    """Tangent."""
    x, quadrant, r = _reduce(x)
    odd = (quadrant & 1).compare("ne", 0)
    bent = Pair(r.high, r.low * fma(r.high * r.high, -0.5, 1.0))
    sine, cosine = quick_two_sum(*_sine(bent, precision)), quick_two_sum(*_cosine(r, precision))
    top = Pair(*(odd.select(-c, s) for s, c in zip(sine, cosine, strict=True)))
    bottom = Pair(*(odd.select(s, c) for s, c in zip(sine, cosine, strict=True)))
    ratio = quotient(top, bottom)
    return x.compare("eq", 0.0).select(x, ratio.high + ratio.low)


def _arc_sine_tail(square: Value, precision: Precision) -> Value:
    """asin(x)/x - 1."""
    return square * polynomial(square, precision.asin)


@with_tables
def asin(x: Value, precision: Precision) -> Value:
    """Arc sine: near 1 as pi/2 - 2 asin(sqrt((1 - x)/2))."""
    magnitude = absolute(x)
    large = magnitude.compare("gt", 0.5)
    square = large.select(0.5 - magnitude * 0.5, magnitude * magnitude)
    root = large.select(sqrt(square), magnitude)
    near = fma(root, _arc_sine_tail(square, precision), root)
    # The root's rounding error, doubled by the formula, is put back.
    error = fma(-root, root, square) / (root * 2.0)
    error = (large & root.compare("gt", 0.0)).select(error, 0.0)
    tail = fma(root, _arc_sine_tail(square, precision), error)
    quarter, quarter_low, _ = _HALF_PI[x.type.element]
    far = quarter - (root * 2.0 - (quarter_low - tail * 2.0))
    return copy_sign(large.select(far, near), x)


@with_tables
def acos(x: Value, precision: Precision) -> Value:
    """Arc cosine."""
    magnitude = absolute(x)
    large = magnitude.compare("gt", 0.5)
    square = large.select(0.5 - magnitude * 0.5, x * x)
    root = large.select(sqrt(square), x)
    error = fma(-root, root, square) / (root * 2.0)
    error = (large & root.compare("gt", 0.0)).select(error, 0.0)
    tail = fma(root, _arc_sine_tail(square, precision), error)
    quarter, quarter_low, _ = _HALF_PI[x.type.element]
    middle = quarter - (x - (quarter_low - tail))
    near_one = (root + tail) * 2.0
    near_minus_one = (quarter - (root - (quarter_low - tail))) * 2.0
    return large.select(x.compare("gt", 0.0).select(near_one, near_minus_one), middle)


def _arc_tangent(numerator: Value, denominator: Value, precision: Precision) -> Pair:
    """The angle, in [0, pi/4], of positive numbers of which the first is not the greater: base + rest."""
    turned = numerator.compare("gt", denominator * (2**0.5 - 1))
    top = turned.select(numerator - denominator, numerator)
    ratio = top / turned.select(numerator + denominator, denominator)
    square = ratio * ratio
    tail = ratio * square * polynomial(square, precision.atan)
    zero = numerator.function.constant(numerator.type, 0.0)
    base, low = (turned.select(part / 2, zero) for part in _HALF_PI[numerator.type.element][:2])
    sum_ = two_sum(base, ratio)
    return Pair(sum_.high, sum_.low + (tail + low))


@with_tables
def atan(x: Value, precision: Precision) -> Value:
    """Arc tangent."""
    magnitude = absolute(x)
    beyond = magnitude.compare("gt", 1.0)
    one = x.function.constant(x.type, 1.0)
    infinite = magnitude.compare("eq", INF)
    angle = _arc_tangent(
        infinite.select(0.0, beyond.select(one, magnitude)),
        infinite.select(one, beyond.select(magnitude, one)),
        precision,
    )
    quarter, quarter_low, _ = _HALF_PI[x.type.element]
    value = beyond.select(quarter - (angle.high - (quarter_low - angle.low)), angle.high + angle.low)
    return copy_sign(value, x)


def atan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    return _atan2_single(y, x) if x.type.element == "float" else _with_signs(y, x, FULL)


def _atan2_single(y: Value, x: Value) -> Value:
    """In double, where no float is too large or too small; the choices in float."""
    high, wide = absolute(y), absolute(x)
    steep = high.compare("gt", wide)
    least, most = steep.select(wide, high), steep.select(high, wide)
    one = x.function.constant(x.type, 1.0)
    infinite = most.compare("eq", INF)
    top = infinite.select(least.compare("eq", INF).select(one, 0.0), least)
    bottom = (infinite | most.compare("eq", 0.0)).select(one, most)
    ratio = top.convert("fpext", "double") * reciprocal(bottom.convert("fpext", "double"))
    square = ratio * ratio
    angle = fma(ratio * square, polynomial(square, tables.ATAN_OF_UNIT), ratio)
    angle = steep.select(_HALF_PI["double"][0] - angle, angle)
    angle = x.bits().compare("lt", 0).select(2 * _HALF_PI["double"][0] - angle, angle)
    value = copy_sign(angle.convert("fptrunc", "float"), y)
    return (is_nan(x) | is_nan(y)).select(x + y, value)


def _with_signs(y: Value, x: Value, precision: Precision) -> Value:
    high, wide = absolute(y), absolute(x)
    steep = high.compare("gt", wide)
    least, most = steep.select(wide, high), steep.select(high, wide)
    # Neither sums nor quotients of the extremes may leave the range.
    scale = most.compare("gt", 2.0**1000).select(x.function.constant(x.type, 2.0**-60), 1.0)
    scale = most.compare("lt", 2.0**-900).select(2.0**120, scale)
    zero, infinite = most.compare("eq", 0.0), most.compare("eq", INF)
    top = infinite.select(
        least.compare("eq", INF).select(x.function.constant(x.type, 1.0), 0.0), least * scale
    )
    bottom = (zero | infinite).select(1.0, most * scale)
    angle = _arc_tangent(top, bottom, precision)
    quarter, quarter_low, _ = _HALF_PI[x.type.element]
    first = steep.select(quarter - (angle.high - (quarter_low - angle.low)), angle.high + angle.low)
    behind = x.bits().compare("lt", 0)
    turned = steep.select(
        quarter + (angle.high + (quarter_low + angle.low)),
        2 * quarter - (angle.high - (2 * quarter_low - angle.low)),
    )
    value = copy_sign(behind.select(turned, first), y)
    return (is_nan(x) | is_nan(y)).select(x + y, value)


CIRCULAR: dict[str, Callable[[Value], Value]] = {
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
}
"""By the name of the primitive."""
