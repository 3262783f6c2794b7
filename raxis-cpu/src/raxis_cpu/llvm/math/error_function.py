"""erf and its inverse.

erf(x) of floats is a polynomial of sixteen pieces. Of doubles it is x times a polynomial up to 1, then 1 - erfc(x) with
erfc from the smooth exp(x**2) erfc(x). erfinv(x) is x times a polynomial in x**2 up to 1/2, then in w = -log(1 - x**2),
or in its root where w is large: Giles, Approximating the erfinv function (2012).
"""

from __future__ import annotations

from raxis_cpu.llvm.ir import Value, fma, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math import pieces
from raxis_cpu.llvm.math.exponential import exp
from raxis_cpu.llvm.math.logarithm import log
from raxis_cpu.llvm.math.support import (
    INF,
    Precision,
    absolute,
    at_most,
    copy_sign,
    format_of,
    piecewise,
    sqrt,
    through_double,
)  # fmt: skip


def erf(x: Value) -> Value:
    """The error function."""
    return _erf_single(x) if x.type.element == "float" else _erf_double(x)


def _erf_single(x: Value) -> Value:
    """By pieces of equal width up to 4.06, where it is 1."""
    magnitude = at_most(absolute(x), 4.06)
    piece = fma(magnitude, 1 / 0.2625, format_of(x.type).magic).bits()
    return copy_sign(piecewise(magnitude, piece, (piece & 14).compare("eq", 0), pieces.ERF), x)


def _erf_double(x: Value) -> Value:
    magnitude, square = absolute(x), x * x
    small = fma(x, polynomial(square, tables.ERF), x)
    large = 1.0 - _erfc_double(magnitude)
    return magnitude.compare("lt", 1.0).select(small, copy_sign(large, x))


def _erfc_double(x: Value) -> Value:
    inside = at_most(x, 6.0)
    return exp(-inside * inside) * polynomial((inside - 2.0) / (inside + 2.0), tables.ERFC)


@through_double
def erfinv(x: Value, _: Precision) -> Value:
    """The inverse of the error function."""
    w = -log((1.0 - x) * (x + 1.0))
    root = sqrt(w)
    small = polynomial(x * x, tables.ERFINV_SMALL)
    centre = polynomial(at_most(w, 6.25) - 3.25, tables.ERFINV_CENTRE)
    middle = polynomial(at_most(root, 4.0) - 3.25, tables.ERFINV_MIDDLE)
    far = polynomial(at_most(root, 6.1) - 5.0, tables.ERFINV_FAR)
    tail = w.compare("lt", 16.0).select(middle, far)
    ratio = w.compare("lt", 6.25).select(centre, tail)
    value = x * absolute(x).compare("lt", 0.5).select(small, ratio)
    return absolute(x).compare("eq", 1.0).select(copy_sign(x.function.constant(x.type, INF), x), value)
