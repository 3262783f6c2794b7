"""Functions of complex numbers, in double: complex64 is widened and rounded once.

Sources: Kahan, Branch cuts for complex elementary functions (1987), for the inverse functions, sqrt and tanh; ISO C
2011, annex G, for the values at infinities and zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from math import pi

from raxis_cpu.llvm.complexes import divide, hypotenuse, multiply
from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.math.exponential import asinh as real_asinh
from raxis_cpu.llvm.math.exponential import cosh as real_cosh
from raxis_cpu.llvm.math.exponential import exp as real_exp
from raxis_cpu.llvm.math.exponential import expm1 as real_expm1
from raxis_cpu.llvm.math.exponential import sinh as real_sinh
from raxis_cpu.llvm.math.logarithm import log as real_log
from raxis_cpu.llvm.math.logarithm import log1p as real_log1p
from raxis_cpu.llvm.math.support import INF, NAN, absolute, at_most, copy_sign
from raxis_cpu.llvm.math.support import sqrt as real_sqrt
from raxis_cpu.llvm.math.trigonometric import atan2
from raxis_cpu.llvm.math.trigonometric import cos as real_cos
from raxis_cpu.llvm.math.trigonometric import sin as real_sin
from raxis_cpu.llvm.math.trigonometric import tan as real_tan
from raxis_cpu.llvm.registers import Complex

_Function = Callable[..., Complex]

_FAR = 1e150
"""Squares of what is larger may overflow."""


def _in_double(function: _Function) -> _Function:
    """`function` of double parts for both formats."""

    @wraps(function)
    def either(*operands: Complex) -> Complex:
        if operands[0].real.type.element == "double":
            return function(*operands)
        wide = (Complex(*(part.convert("fpext", "double") for part in operand)) for operand in operands)
        return Complex(*(part.convert("fptrunc", "float") for part in function(*wide)))

    return either


def _number(like: Value, number: float) -> Value:
    return like.function.constant(like.type, number)


def _is_finite(x: Value) -> Value:
    return absolute(x).compare("lt", INF)


def _turned(z: Complex) -> Complex:
    """z times i."""
    return Complex(-z.imag, z.real)


def _turned_back(z: Complex) -> Complex:
    """z divided by i."""
    return Complex(z.imag, -z.real)


def _through_turn(function: _Function) -> _Function:
    """A circular function by its hyperbolic one: f(z) = g(i z)/i."""
    return lambda z: _turned_back(function(_turned(z)))


@_in_double
def exp(z: Complex) -> Complex:
    """exp(x) (cos(y) + i sin(y)); exp(x) in two factors, either of which is far from overflow."""
    x, y = z
    root = real_exp(x * 0.5)
    real, imag = ((root * wave(y)) * root for wave in (real_cos, real_sin))
    lost = ~_is_finite(y)
    vanishes, grows = lost & x.compare("eq", -INF), lost & x.compare("eq", INF)
    real = vanishes.select(0.0, grows.select(INF, real))
    imag = vanishes.select(0.0, y.compare("eq", 0.0).select(y, imag))
    return Complex(real, imag)


@_in_double
def expm1(z: Complex) -> Complex:
    """exp(z) - 1."""
    x, y = z
    half = real_sin(y * 0.5)
    real = real_expm1(x) * real_cos(y) - half * half * 2.0
    return Complex(real, real_exp(x) * real_sin(y))


def _log_of_modulus(x: Value, y: Value) -> Value:
    """log(hypot(x, y)), to full precision around 1 too."""
    x, y = absolute(x), absolute(y)
    wide = x.compare("gt", y)
    most, least = wide.select(x, y), wide.select(y, x)
    near = real_log1p((most - 1.0) * (most + 1.0) + least * least) * 0.5
    is_near = most.compare("gt", 0.5) & most.compare("lt", 3.0)
    return is_near.select(near, real_log(hypotenuse(x, y)))


@_in_double
def log(z: Complex) -> Complex:
    """log|z| and the angle."""
    return Complex(_log_of_modulus(*z), atan2(z.imag, z.real))


@_in_double
def log1p(z: Complex) -> Complex:
    """log(1 + z)."""
    x, y = z
    near = real_log1p(x * (x + 2.0) + y * y) * 0.5
    small = absolute(x).compare("lt", 0.5) & absolute(y).compare("lt", 0.5)
    real = small.select(near, _log_of_modulus(x + 1.0, y))
    return Complex(real, atan2(y, x + 1.0))


def _scale_of_root(x: Value, y: Value) -> tuple[Value, Value]:
    """A power of four that brings the greater part away from the ends of the range, and the root of its inverse."""
    most = absolute(x).compare("gt", absolute(y)).select(absolute(x), absolute(y))
    large, small = most.compare("gt", 2.0**1000), most.compare("lt", 2.0**-960)
    one = _number(x, 1.0)
    scale = large.select(0.25, small.select(2.0**108, one))
    return scale, large.select(2.0, small.select(2.0**-54, one))


@_in_double
def sqrt(z: Complex) -> Complex:
    """The root in the right half plane."""
    scale, back = _scale_of_root(*z)
    x, y = (part * scale for part in z)
    large = real_sqrt((absolute(x) + hypotenuse(x, y)) * 0.5)
    small = absolute(y) / (large * 2.0)
    zero = z.real.compare("eq", 0.0) & z.imag.compare("eq", 0.0)
    small = (zero | absolute(z.real).compare("eq", INF) & _is_finite(z.imag)).select(0.0, small)
    positive = z.real.compare("ge", 0.0) | z.real.compare("ne", z.real)
    endless = absolute(z.imag).compare("eq", INF)
    real = endless.select(INF, positive.select(large, small) * back)
    imag = endless.select(INF, positive.select(small, large) * back)
    return Complex(real, copy_sign(imag, z.imag))


@_in_double
def rsqrt(z: Complex) -> Complex:
    """1/sqrt(z)."""
    return divide(Complex(_number(z.real, 1.0), _number(z.real, 0.0)), sqrt(z))


@_in_double
def sinh(z: Complex) -> Complex:
    """sinh(x) cos(y) + i cosh(x) sin(y)."""
    x, y = z
    real = x.compare("eq", 0.0).select(x, real_sinh(x) * real_cos(y))
    real = (absolute(x).compare("eq", INF) & ~_is_finite(y)).select(x, real)
    return Complex(real, y.compare("eq", 0.0).select(y, real_cosh(x) * real_sin(y)))


@_in_double
def cosh(z: Complex) -> Complex:
    """cosh(x) cos(y) + i sinh(x) sin(y)."""
    x, y = z
    real = (absolute(x).compare("eq", INF) & ~_is_finite(y)).select(INF, real_cosh(x) * real_cos(y))
    zero = x.compare("eq", 0.0) | y.compare("eq", 0.0)
    sign = (x.bits() ^ y.bits()).convert("bitcast", "double")
    nothing = copy_sign(_number(x, 0.0), sign)
    return Complex(real, zero.select(nothing, real_sinh(x) * real_sin(y)))


@_in_double
def tanh(z: Complex) -> Complex:
    """By sinh(x) and tan(y); 1 but for a remainder where x is large."""
    x, y = z
    inside = copy_sign(at_most(absolute(x), 20.0), x)
    slope, grown = real_tan(y), real_sinh(inside)
    beta = slope * slope + 1.0
    below = beta * grown * grown + 1.0
    real = beta * real_sqrt(grown * grown + 1.0) * grown / below
    far = absolute(x).compare("gt", 20.0)
    rest = real_sin(y) * real_cos(y) * 4.0 * real_exp(absolute(x) * -2.0)
    rest = (absolute(x).compare("eq", INF) & ~_is_finite(y)).select(0.0, rest)
    imag = y.compare("eq", 0.0).select(y, far.select(rest, slope / below))
    return Complex(far.select(copy_sign(_number(x, 1.0), x), real), imag)


@_in_double
def asinh(z: Complex) -> Complex:
    """By the roots of 1 + i z and 1 - i z."""
    first = sqrt(Complex(1.0 - z.imag, z.real))
    second = sqrt(Complex(z.imag + 1.0, -z.real))
    real = real_asinh(absolute(first.real * second.imag - second.real * first.imag))
    return Complex(copy_sign(real, z.real), atan2(z.imag, multiply(first, second).real))


@_in_double
def acos(z: Complex) -> Complex:
    """By the roots of 1 - z and 1 + z."""
    first = sqrt(Complex(1.0 - z.real, -z.imag))
    second = sqrt(Complex(z.real + 1.0, z.imag))
    imag = real_asinh(second.real * first.imag - second.imag * first.real)
    return Complex(atan2(first.real, second.real) * 2.0, imag)


@_in_double
def acosh(z: Complex) -> Complex:
    """By the roots of z - 1 and z + 1."""
    first = sqrt(Complex(z.real - 1.0, z.imag))
    second = sqrt(Complex(z.real + 1.0, z.imag))
    real = real_asinh(first.real * second.real + first.imag * second.imag)
    return Complex(real, atan2(first.imag, second.real) * 2.0)


@_in_double
def atanh(z: Complex) -> Complex:
    """By the logarithm of the ratio of 1 + z and 1 - z; 1/z beside a quarter turn where squares would overflow."""
    x, y = absolute(z.real), z.imag
    beside = 1.0 - x
    real = real_log1p(x * 4.0 / (beside * beside + y * y)) * 0.25
    imag = atan2(y * 2.0, beside * (x + 1.0) - y * y) * 0.5
    size = hypotenuse(x, y)
    far = size.compare("gt", _FAR)
    real = far.select(size.compare("eq", INF).select(0.0, x / size / size), real)
    imag = (far & y.compare("eq", y)).select(copy_sign(_number(y, pi / 2), y), imag)
    return Complex(copy_sign(real, z.real), imag)


@_in_double
def sign(z: Complex) -> Complex:
    """z/|z|, 0 of 0, NaN where |z| is not finite."""
    size = hypotenuse(*z)
    zero, finite = size.compare("eq", 0.0), size.compare("lt", INF)
    return Complex(*(zero.select(0.0, finite.select(part / size, NAN)) for part in z))


@_in_double
def power(z: Complex, exponent: Complex) -> Complex:
    """exp(exponent log z); 1 where the exponent is 0, else of 0 what its real part says."""
    value = exp(multiply(exponent, log(z)))
    origin = z.real.compare("eq", 0.0) & z.imag.compare("eq", 0.0)
    grows = exponent.real.compare("gt", 0.0)
    value = Complex(*(origin.select(grows.select(_number(part, 0.0), NAN), part) for part in value))
    none = exponent.real.compare("eq", 0.0) & exponent.imag.compare("eq", 0.0)
    return Complex(none.select(1.0, value.real), none.select(0.0, value.imag))


FUNCTIONS: Mapping[str, _Function] = {
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "log1p": log1p,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "sin": _through_turn(sinh),
    "cos": lambda z: cosh(_turned(z)),
    "tan": _through_turn(tanh),
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "asin": _through_turn(asinh),
    "acos": acos,
    "atan": _through_turn(atanh),
    "sign": sign,
    "pow": power,
}
"""By the name of the primitive."""
