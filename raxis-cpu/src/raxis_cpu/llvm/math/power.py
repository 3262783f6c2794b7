"""pow: exp(y log|x|), in double for float; for double with the logarithm and the product in two parts."""

from __future__ import annotations

from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.math.exponential import exp, exp_short
from raxis_cpu.llvm.math.logarithm import log_pair, log_short
from raxis_cpu.llvm.math.support import INF, NAN, absolute, copy_sign, is_nan, nearest, two_product

_BEYOND = 1e4
"""exp of this is infinite, of its negative zero."""


def power(x: Value, y: Value) -> Value:
    """x to the power y."""
    if x.type.element == "double":
        return _with_sign(x, y, _power_double(absolute(x), y))
    logarithm = log_short(absolute(x).convert("fpext", "double"))
    value = exp_short(y.convert("fpext", "double") * logarithm)
    return _with_sign(x, y, value.convert("fptrunc", "float"))


def _bounded(exponent: Value) -> Value:
    exponent = exponent.compare("gt", _BEYOND).select(_BEYOND, exponent)
    return exponent.compare("lt", -_BEYOND).select(-_BEYOND, exponent)


def _power_double(x: Value, y: Value) -> Value:
    logarithm = log_pair(x)
    special = x.compare("eq", 0.0).select(x.function.constant(x.type, -INF), x)
    regular = x.compare("gt", 0.0) & x.compare("lt", INF)
    high = regular.select(logarithm.high, special)
    product = two_product(y, high)
    low = product.low + y * logarithm.low
    bounded = _bounded(product.high)
    inside = regular & absolute(product.high).compare("lt", _BEYOND)
    return exp(bounded, inside.select(low, 0.0))


def _with_sign(x: Value, y: Value, value: Value) -> Value:
    """Sign, domain and the cases in which NaN operands give 1, from the power of |x|."""
    whole = nearest(y).compare("eq", y)
    odd = whole & nearest(y * 0.5).compare("ne", y * 0.5)
    negative = x.bits().compare("lt", 0)
    value = (negative & odd).select(copy_sign(value, x), value)
    finite_negative = x.compare("lt", 0.0) & x.compare("gt", -INF)
    value = (finite_negative & ~whole).select(NAN, value)
    value = (is_nan(x) | is_nan(y)).select(x + y, value)
    unit = absolute(x).compare("eq", 1.0) & absolute(y).compare("eq", INF)
    return (y.compare("eq", 0.0) | x.compare("eq", 1.0) | unit).select(1.0, value)
