"""log10, erf, erfc, erfinv, lgamma and digamma for NumPy arrays, accurate to float64; float32 is rounded from there.

Sources: erf, erfc: the rational approximations of fdlibm (Sun Microsystems, 1993). erfinv: Wichura, Algorithm AS 241
(1988), as erfinv(x) = normal quantile of (x + 1)/2, divided by sqrt(2). lgamma, digamma: Abramowitz & Stegun
6.1.33 (series at 2), 6.1.40 and 6.3.18 (asymptotic series), 6.1.17 and 6.3.7 (reflection).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_Array = Any


def _in_float64(function: Callable[[_Array], _Array]) -> Callable[[_Array], _Array]:
    """Computes in float64 and rounds to the operand's dtype."""

    def rounded(x: _Array) -> _Array:
        wide = np.array(x, np.float64, ndmin=1)
        return function(wide).astype(x.dtype).reshape(x.shape)

    rounded.__name__ = function.__name__
    rounded.__doc__ = function.__doc__
    return rounded


def _polynomial(x: _Array, coefficients: Sequence[float]) -> _Array:
    """Horner's scheme; the coefficient of the lowest power comes first."""
    result = coefficients[-1] * x + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        result *= x
        result += coefficient
    return result


def _ratio(x: _Array, table: tuple[Sequence[float], Sequence[float]]) -> _Array:
    return _polynomial(x, table[0]) / _polynomial(x, table[1])


_ERF_SMALL = (
    (1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
     -5.77027029648944159157e-03, -2.37630166566501626084e-05),
    (1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
     1.32494738004321644526e-04, -3.96022827877536812320e-06),
)  # fmt: skip
_ERF_MIDDLE = (
    (-2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
     3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
     -2.16637559486879084300e-03),
    (1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
     1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02),
)  # fmt: skip
_ERF_AT_ONE = 8.45062911510467529297e-01
_ERFC_NEAR = (
    (-9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
     -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
     -8.12874355063065934246e+01, -9.81432934416914548592e+00),
    (1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
     6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
     6.57024977031928170135e+00, -6.04244152148580987438e-02),
)  # fmt: skip
_ERFC_FAR = (
    (-9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
     -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
     -4.83519191608651397019e+02),
    (1.0, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
     3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
     -2.24409524465858183362e+01),
)  # fmt: skip


@_in_float64
def erf(x: _Array) -> _Array:
    """The error function."""
    result = x + x * _ratio(np.square(np.minimum(np.abs(x), 0.84375)), _ERF_SMALL)
    beyond = np.abs(x) >= 0.84375
    result[beyond] = _erf_beyond(x[beyond])
    return result


def _erf_beyond(x: _Array) -> _Array:
    """For magnitudes from 0.84375 on."""
    magnitude = np.abs(x)
    middle = _ERF_AT_ONE + _ratio(np.minimum(magnitude, 1.25) - 1.0, _ERF_MIDDLE)
    return np.copysign(np.where(magnitude < 1.25, middle, 1.0 - _erfc_tail(magnitude)), x)


def _erfc_tail(x: _Array) -> _Array:
    """erfc from 1.25 on; the exponential of the square in two parts, the first of which is exact."""
    tail = np.clip(x, 1.25, 28.0)  # erfc(28) is less than any number
    inverse = 1.0 / np.square(tail)
    exponent = np.where(tail < 1 / 0.35, _ratio(inverse, _ERFC_NEAR), _ratio(inverse, _ERFC_FAR))
    rounded = tail.astype(np.float32).astype(np.float64)
    rest = (rounded - tail) * (rounded + tail) + exponent
    scaled = np.exp(31.4375 - np.square(rounded)) * np.exp(rest) / tail
    return scaled * np.exp(-32.0)  # alone may be subnormal, so that it is rounded once


@_in_float64
def erfc(x: _Array) -> _Array:
    """1 - erf(x), without cancellation."""
    small = x * _ratio(np.square(np.clip(x, -0.84375, 0.84375)), _ERF_SMALL)
    near = np.where(x < 0.25, 1.0 - (x + small), 0.5 - (small + (x - 0.5)))
    middle = 1.0 - _ERF_AT_ONE - _ratio(np.clip(x, 0.84375, 1.25) - 1.0, _ERF_MIDDLE)
    beyond = np.where(x < 1.25, middle, _erfc_tail(x))
    return np.where(x < 0.84375, np.where(x < -0.84375, 1.0 - _erf_beyond(x), near), beyond)


_QUANTILE_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3),
    (1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3),
)  # fmt: skip
_QUANTILE_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip
_QUANTILE_FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15),
)  # fmt: skip


@_in_float64
def erfinv(x: _Array) -> _Array:
    """The inverse of erf."""
    half = 0.5 * x
    centre = half * _ratio(np.maximum(0.180625 - np.square(half), 0.0), _QUANTILE_CENTRE)
    root = np.sqrt(-np.log(0.5 * (1.0 - np.abs(x))))
    near = _ratio(np.minimum(root, 5.0) - 1.6, _QUANTILE_TAIL)
    far = _ratio(np.maximum(root, 5.0) - 5.0, _QUANTILE_FAR_TAIL)
    tail = np.copysign(np.where(root <= 5.0, near, far), x)
    inside = np.where(np.abs(half) <= 0.425, centre, tail) / np.sqrt(2.0)
    return np.where(np.abs(x) == 1.0, np.copysign(np.inf, x), inside)


@_in_float64
def log10(x: _Array) -> _Array:
    """Logarithm to base 10; NumPy's of float32 misses powers of ten."""
    return np.log10(x)


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
    0.0,
    1.0 - _EULER,
    *((-1.0) ** order * zeta / order for order, zeta in enumerate(_ZETA_MINUS_ONE, start=2)),
)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_DIGAMMA_ASYMPTOTIC = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)
_LARGE = 10.0


@_in_float64
def lgamma(x: _Array) -> _Array:
    """log|Gamma(x)|."""
    reflected = np.log(np.pi / np.abs(_sine_of_pi(x))) - _lgamma_positive(np.maximum(1.0 - x, 0.5))
    result = np.where(x < 0.5, reflected, _lgamma_positive(np.maximum(x, 0.5)))
    return np.where(np.isinf(x) | _is_pole(x), np.inf, result)


def _lgamma_positive(x: _Array) -> _Array:
    """For x >= 0.5: brought near 2 by the recurrence, or by Stirling's series when large."""
    near = np.minimum(x, _LARGE)
    product = np.ones_like(x)
    for _ in range(int(_LARGE) - 2):
        above = near > 2.5
        near = np.where(above, near - 1.0, near)
        product = np.where(above, product * near, product)
    below = near < 1.5
    offset = np.where(below, near - 1.0, near - 2.0)
    series = _polynomial(offset, _LGAMMA_AT_TWO) + np.log(product) - np.where(below, np.log1p(offset), 0.0)
    large = np.maximum(x, _LARGE)
    correction = _polynomial(1.0 / np.square(large), _STIRLING) / large
    stirling = (large - 0.5) * (np.log(large) - 1.0) + (0.5 * np.log(2 * np.pi) - 0.5) + correction
    return np.where(x < _LARGE, series, stirling)


@_in_float64
def digamma(x: _Array) -> _Array:
    """The derivative of lgamma."""
    reflected = _digamma_positive(np.maximum(1.0 - x, 0.5)) - np.pi * _cotangent_of_pi(x)
    result = np.where(x < 0.5, reflected, _digamma_positive(np.maximum(x, 0.5)))
    result = np.where(x == 0.0, np.copysign(np.inf, -x), result)
    return np.where((_is_pole(x) & (x < 0.0)) | (x == -np.inf), np.nan, result)


def _digamma_positive(x: _Array) -> _Array:
    """For x >= 0.5, raised above 10 by the recurrence."""
    shift = np.zeros_like(x)
    for _ in range(int(_LARGE)):
        small = x < _LARGE
        shift = np.where(small, shift - 1.0 / x, shift)
        x = np.where(small, x + 1.0, x)
    inverse = 1.0 / np.square(x)
    return shift + np.log(x) - 0.5 / x + inverse * _polynomial(inverse, _DIGAMMA_ASYMPTOTIC)


def _is_pole(x: _Array) -> _Array:
    return (x <= 0.0) & (x == np.floor(x))


def _sine_of_pi(x: _Array) -> _Array:
    # The sign does not matter to lgamma; the reduction keeps sin exact near integers.
    return np.sin(np.pi * (x - np.rint(x)))


def _cotangent_of_pi(x: _Array) -> _Array:
    return 1.0 / np.tan(np.pi * (x - np.rint(x)))
