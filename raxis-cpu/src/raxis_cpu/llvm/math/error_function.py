"""erf, erfc and the inverse of erf.

erf(x) of floats is a polynomial of sixteen pieces. Of doubles it is x times a polynomial up to 1, then 1 - erfc(x) with
erfc from the smooth exp(x**2) erfc(x) (x + 2). erfinv(x) is x times a polynomial in x**2 up to 1/2, then in
w = -log(1 - x**2), or in its root where w is large: Giles, Approximating the erfinv function (2012). Floats need only
the latter two.
"""

from __future__ import annotations

from raxis_cpu.llvm.ir import Value, fma, polynomial
from raxis_cpu.llvm.math import coefficients as tables
from raxis_cpu.llvm.math import instructions, pieces
from raxis_cpu.llvm.math.exponential import exp, exp_product, exp_short
from raxis_cpu.llvm.math.logarithm import log, log_short
from raxis_cpu.llvm.math.support import (
    INF,
    Pair,
    absolute,
    at_most,
    by_format,
    copy_sign,
    format_of,
    piecewise,
    quotient,
    sqrt,
    two_product,
    two_sum,
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
    inside = at_most(magnitude, 6.0)
    inverse = 1.0 / (inside + 2.0)
    large = 1.0 - exp(-inside * inside) * (polynomial(fma(inverse, -4.0, 1.0), tables.ERFC) * inverse)
    return magnitude.compare("lt", 1.0).select(small, copy_sign(large, x))


def _scaled_erfc(x: Value) -> Pair:
    """exp(x**2) erfc(x) of doubles from 1/2 to 27.4."""
    over = two_sum(x, x.function.constant(x.type, 2.0))
    zero = x.function.constant(x.type, 0.0)
    t = quotient(Pair(x - 2.0, zero), over)
    constant, *rest = tables.ERFC
    slope = polynomial(t.high, rest)
    high = fma(t.high, slope, constant)
    low = fma(t.high, slope, constant - high) + t.low * slope
    return quotient(Pair(high, low), over)


def _erfc_double(x: Value) -> Value:
    magnitude = absolute(x)
    inside = at_most(magnitude, 27.4)
    square = two_product(inside, inside)
    tail = exp_product(Pair(-square.high, -square.low), _scaled_erfc(inside))
    large = x.compare("lt", 0.0).select(2.0 - tail, tail)
    near = 1.0 - fma(x, polynomial(x * x, tables.ERF), x)
    return magnitude.compare("lt", 0.5).select(near, large)


def _erfc_short(x: Value) -> Value:
    """erfc of double numbers, to float32 precision."""
    inside = at_most(absolute(x), 10.5)
    inverse = _short_reciprocal(inside + 2.0)
    scaled = polynomial(fma(inverse, -4.0, 1.0), tables.ERFC_SHORT) * inverse
    tail = exp_short(-inside * inside) * scaled
    return x.compare("lt", 0.0).select(2.0 - tail, tail)


erfc = by_format(_erfc_double, _erfc_short)
"""1 - erf(x)."""


def _short_reciprocal(x: Value) -> Value:
    """1/x of double numbers of ordinary size, to float32 precision."""
    if not instructions.available(x):
        return 1.0 / x
    estimate = instructions.reciprocal_estimate(x)
    return fma(estimate, fma(-x, estimate, 1.0), estimate)


def _short_root(x: Value) -> Value:
    """sqrt(x) of positive double numbers of ordinary size, to float32 precision."""
    if not instructions.available(x):
        return sqrt(x)
    estimate = instructions.reciprocal_root_estimate(x)
    root = x * estimate
    return fma(root * 0.5, fma(-root, estimate, 1.0), root)


def _erfinv_double(x: Value) -> Value:
    w = -log((1.0 - x) * (x + 1.0))
    root = sqrt(w)
    small = polynomial(x * x, tables.ERFINV_SMALL)
    centre = polynomial(at_most(w, 6.25) - 3.25, tables.ERFINV_CENTRE)
    middle = polynomial(at_most(root, 4.0) - 3.25, tables.ERFINV_MIDDLE)
    far = polynomial(at_most(root, 6.1) - 5.0, tables.ERFINV_FAR)
    tail = w.compare("lt", 16.0).select(middle, far)
    ratio = w.compare("lt", 6.25).select(centre, tail)
    return _with_poles(x, x * absolute(x).compare("lt", 0.5).select(small, ratio))


def _erfinv_short(x: Value) -> Value:
    """erfinv of double numbers, to float32 precision."""
    w = -log_short(fma(-x, x, 1.0))
    centre = polynomial(w - 2.5, tables.ERFINV_CENTRE_SHORT)
    tail = polynomial(_short_root(w) - 3.0, tables.ERFINV_TAIL_SHORT)
    return _with_poles(x, x * w.compare("lt", 5.0).select(centre, tail))


erfinv = by_format(_erfinv_double, _erfinv_short)
"""The inverse of the error function."""


def _with_poles(x: Value, value: Value) -> Value:
    return absolute(x).compare("eq", 1.0).select(copy_sign(x.function.constant(x.type, INF), x), value)
