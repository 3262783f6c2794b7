"""lgamma and digamma, computed in double.

Sources: Abramowitz & Stegun 6.1.33 (series at 2), 6.1.40 and 6.3.18 (asymptotic series), 6.1.17 and 6.3.7
(reflection), as in the reference interpreter.
"""

from __future__ import annotations

import math

from raxis_cpu.llvm.ir import Value, polynomial
from raxis_cpu.llvm.math.logarithm import log, log1p
from raxis_cpu.llvm.math.support import INF, NAN, Precision, absolute, copy_sign, nearest, through_double
from raxis_cpu.llvm.math.trigonometric import sin, tan

_EULER = 0.57721566490153286061
_ZETA_MINUS_ONE = (
    6.449340668482264364724e-01, 2.020569031595942853997e-01, 8.232323371113819151600e-02,
    3.692775514336992633137e-02, 1.734306198444913971452e-02, 8.349277381922826839798e-03,
    4.077356197944339378685e-03, 2.008392826082214417853e-03, 9.945751278180853371459e-04,
    4.941886041194645587023e-04, 2.460865533080482986380e-04, 1.227133475784891467518e-04,
    6.124813505870482925854e-05, 3.058823630702049355173e-05, 1.528225940865187173257e-05,
    7.637197637899762273600e-06, 3.817293264999839856462e-06, 1.908212716553938925657e-06,
    9.539620338727961131520e-07, 4.769329867878064631167e-07, 2.384505027277329900036e-07,
    1.192199259653110730678e-07, 5.960818905125947961244e-08, 2.980350351465228018607e-08,
    1.490155482836504123465e-08, 7.450711789835429491981e-09, 3.725334024788457054819e-09,
)  # fmt: skip
"""zeta(k) - 1 for k = 2, 3, ..."""
_LGAMMA_AT_TWO = (
    1.0 - _EULER,
    *((-1.0) ** order * zeta / order for order, zeta in enumerate(_ZETA_MINUS_ONE, start=2)),
)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_DIGAMMA_ASYMPTOTIC = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
_LARGE = 10.0


def _greater(x: Value, limit: float) -> Value:
    return x.compare("gt", limit).select(x, limit)


def _lesser(x: Value, limit: float) -> Value:
    return x.compare("lt", limit).select(x, limit)


def _is_pole(x: Value) -> Value:
    return x.compare("le", 0.0) & x.compare("eq", nearest(x))


@through_double
def lgamma(x: Value, _: Precision) -> Value:
    """log|Gamma(x)|."""
    reflects = x.compare("lt", 0.5)
    positive = _lgamma_positive(_greater(reflects.select(1.0 - x, x), 0.5))
    sine = absolute(sin((x - nearest(x)) * math.pi))
    value = reflects.select(log(math.pi / sine) - positive, positive)
    infinite = absolute(x).compare("eq", INF) | _is_pole(x)
    return infinite.select(INF, x.compare("ne", x).select(x, value))


def _lgamma_positive(x: Value) -> Value:
    """For x >= 0.5: brought near 2 by the recurrence, or by Stirling's series when large."""
    near, product = _lesser(x, _LARGE), x.function.constant(x.type, 1.0)
    for _ in range(int(_LARGE) - 2):
        above = near.compare("gt", 2.5)
        near = above.select(near - 1.0, near)
        product = above.select(product * near, product)
    below = near.compare("lt", 1.5)
    offset = near - below.select(x.function.constant(x.type, 1.0), 2.0)
    series = offset * polynomial(offset, _LGAMMA_AT_TWO) + log(product)
    series = series - below.select(log1p(offset), 0.0)
    large = _greater(x, _LARGE)
    correction = polynomial(1.0 / (large * large), _STIRLING) / large
    stirling = (large - 0.5) * (log(large) - 1.0) + (0.5 * math.log(2 * math.pi) - 0.5) + correction
    return x.compare("lt", _LARGE).select(series, stirling)


@through_double
def digamma(x: Value, _: Precision) -> Value:
    """The derivative of lgamma."""
    reflects = x.compare("lt", 0.5)
    positive = _digamma_positive(_greater(reflects.select(1.0 - x, x), 0.5))
    cotangent = math.pi / tan((x - nearest(x)) * math.pi)
    value = reflects.select(positive - cotangent, positive)
    infinity = copy_sign(x.function.constant(x.type, INF), -x)
    undefined = (_is_pole(x) & x.compare("lt", 0.0)) | x.compare("eq", -INF)
    value = undefined.select(NAN, x.compare("eq", 0.0).select(infinity, value))
    return x.compare("ne", x).select(x, value)


def _digamma_positive(x: Value) -> Value:
    """For x >= 0.5, raised above 10 by the recurrence."""
    shift = x.function.constant(x.type, 0.0)
    for _ in range(int(_LARGE)):
        small = x.compare("lt", _LARGE)
        shift = small.select(shift - 1.0 / x, shift)
        x = small.select(x + 1.0, x)
    inverse = 1.0 / (x * x)
    return shift + log(x) - 0.5 / x + inverse * polynomial(inverse, _DIGAMMA_ASYMPTOTIC)
