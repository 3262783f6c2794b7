"""The primitives on complex registers that are plain arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.math.support import INF, absolute, sqrt
from raxis_cpu.llvm.registers import Complex, Register


def multiply(x: Complex, y: Complex) -> Complex:
    """The product."""
    return Complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def add(x: Complex, y: Complex) -> Complex:
    """The sum."""
    return Complex(x.real + y.real, x.imag + y.imag)


def divide(x: Complex, y: Complex) -> Complex:
    """The quotient, scaled by the greater part of the divisor: Smith, Algorithm 116 (1962)."""
    wide = absolute(y.real).compare("ge", absolute(y.imag))
    major, minor = wide.select(y.real, y.imag), wide.select(y.imag, y.real)
    zero = absolute(major).compare("eq", 0.0) & absolute(minor).compare("eq", 0.0)
    ratio = minor / major
    scale = 1.0 / (major + minor * ratio)
    first, second = wide.select(x.real, x.imag), wide.select(x.imag, x.real)
    real = (first + second * ratio) * scale
    imag = (second - first * ratio) * scale
    imag = wide.select(imag, -imag)
    size = absolute(y.real)
    return Complex(zero.select(x.real / size, real), zero.select(x.imag / size, imag))


def magnitude(x: Complex) -> Value:
    """The modulus, without overflow or underflow in between; infinite if a part is, even beside NaN."""
    if x.real.type.element == "float":
        real, imag = (part.convert("fpext", "double") for part in x)
        return hypotenuse(real, imag).convert("fptrunc", "float")
    return hypotenuse(x.real, x.imag)


def hypotenuse(x: Value, y: Value) -> Value:
    """sqrt(x**2 + y**2) of doubles, as `magnitude`."""
    x, y = absolute(x), absolute(y)
    most = x.compare("gt", y).select(x, y)
    one = x.function.constant(x.type, 1.0)
    scale = most.compare("gt", 2.0**500).select(2.0**-600, one)
    scale = most.compare("lt", 2.0**-400).select(2.0**600, scale)
    back = most.compare("gt", 2.0**500).select(2.0**600, one)
    back = most.compare("lt", 2.0**-400).select(2.0**-600, back)
    scaled_x, scaled_y = x * scale, y * scale
    value = sqrt(scaled_x * scaled_x + scaled_y * scaled_y) * back
    return (x.compare("eq", INF) | y.compare("eq", INF)).select(INF, value)


COMPLEX: Mapping[str, Callable[..., Register]] = {
    "add": add,
    "sub": lambda x, y: Complex(x.real - y.real, x.imag - y.imag),
    "mul": multiply,
    "div": divide,
    "neg": lambda x: Complex(-x.real, -x.imag),
    "conj": lambda x: Complex(x.real, -x.imag),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "abs": magnitude,
    "eq": lambda x, y: x.real.compare("eq", y.real) & x.imag.compare("eq", y.imag),
    "ne": lambda x, y: x.real.compare("ne", y.real) | x.imag.compare("ne", y.imag),
}
"""By the name of the primitive."""
