"""Derives the polynomial coefficients in raxis_cpu.llvm.math: Remez exchange in 60-digit arithmetic (mpmath).

Each fit is the polynomial of the given degree whose greatest absolute error on the interval is least (Cheney,
Introduction to Approximation Theory, 1966). The functions are the smooth remainders that the kernels multiply
by a small power of the argument. Usage: ``python minimax.py [name ...]`` prints Python tables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import mpmath as mp

mp.mp.dps = 60
Function = Callable[[mp.mpf], mp.mpf]


def remez(function: Function, low: float, high: float, degree: int) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients, lowest power first, and the greatest error."""
    low, high = mp.mpf(low), mp.mpf(high)
    count = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]
    grid = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (24 * count)) for k in range(24 * count + 1)
    ]
    values = [function(x) for x in grid]
    for _ in range(12):
        matrix = mp.matrix(count, count)
        target = mp.matrix(count, 1)
        for row, x in enumerate(nodes):
            for power in range(degree + 1):
                matrix[row, power] = x**power
            matrix[row, degree + 1] = (-1) ** row
            target[row] = function(x)
        solution = mp.lu_solve(matrix, target)
        coefficients = list(solution[: degree + 1])
        errors = [mp.polyval(coefficients[::-1], x) - y for x, y in zip(grid, values, strict=True)]
        new_nodes = _extrema(grid, errors, count)
        greatest = max(map(abs, errors))
        if greatest < abs(solution[degree + 1]) * mp.mpf("1.01"):
            break
        nodes = new_nodes
    return coefficients, greatest


def _extrema(grid: list[mp.mpf], errors: list[mp.mpf], count: int) -> list[mp.mpf]:
    """The place of the greatest error of each run of one sign."""
    runs: list[tuple[mp.mpf, mp.mpf]] = []
    for x, error in zip(grid, errors, strict=True):
        if runs and (runs[-1][1] > 0) == (error > 0):
            runs[-1] = max(runs[-1], (x, error), key=lambda pair: abs(pair[1]))
        else:
            runs.append((x, error))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [x for x, _ in runs]


def _even(function: Function, at_zero: Callable[[mp.mpf], mp.mpf]) -> Function:
    """function(sqrt(z)) as a function of z, with a series where z is tiny."""
    return lambda z: function(mp.sqrt(z)) if z > mp.mpf("1e-18") else at_zero(z)


def _series(*coefficients: mp.mpf) -> Function:
    return lambda z: mp.polyval(list(coefficients)[::-1], z)


def _near(function: Function, limit: mp.mpf) -> Function:
    return lambda x: function(x) if abs(x) > mp.mpf("1e-15") else limit


F = mp.mpf
LN2_HALF = mp.log(2) / 2 * F("1.0001")
QUARTER = (mp.pi / 4) ** 2 * F("1.0001")
S_MAX = F("0.0401")  # (1/5)**2, for mantissas of up to 3/2
TAN_EIGHTH = mp.tan(mp.pi / 8) ** 2 * F("1.0001")


def _exp(r: mp.mpf) -> mp.mpf:
    return (mp.expm1(r) - r) / r**2


def _expm1(r: mp.mpf) -> mp.mpf:
    return (mp.expm1(r) - r - r * r / 2) / r**3


def _log_tail(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return (mp.log1p(s) - mp.log1p(-s) - 2 * s) / s**3 if z > F("1e-12") else F(2) / 3 + F(2) / 5 * z


def _log_far_tail(z: mp.mpf) -> mp.mpf:
    return (_log_tail(z) - F(2) / 3) / z if z > F("1e-10") else F(2) / 5 + F(2) / 7 * z + F(2) / 9 * z * z


def _log_of_one_plus(f: mp.mpf) -> mp.mpf:
    return (mp.log1p(f) - f + f * f / 2) / f**3


_SIN = _even(lambda r: (mp.sin(r) - r) / r**3, _series(F(-1) / 6, F(1) / 120))
_COS = _even(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4, _series(F(1) / 24, F(-1) / 720))
_ASIN = _even(lambda x: (mp.asin(x) - x) / x**3, _series(F(1) / 6, F(3) / 40))
_ATAN = _even(lambda x: (mp.atan(x) - x) / x**3, _series(F(-1) / 3, F(1) / 5))
_ERF = _even(lambda x: mp.erf(x) / x - 1, _series(2 / mp.sqrt(mp.pi) - 1, -2 / mp.sqrt(mp.pi) / 3))


def _erfc_scaled(t: mp.mpf) -> mp.mpf:
    """exp(x^2) erfc(x) (x + 2) at x = 2 (1 + t) / (1 - t)."""
    x = 2 * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x) * (x + 2)


def _erfinv_over_x(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x at w = -log(1 - x^2)."""
    if w < F("1e-20"):
        return mp.sqrt(mp.pi) / 2
    x = mp.sqrt(-mp.expm1(-w))
    # 1 - x, without cancellation.
    complement = mp.exp(-w) / (1 + x)
    return _inverse_erfc(complement) / x


def _inverse_erfc(c: mp.mpf) -> mp.mpf:
    """x with erfc(x) = c, for 0 < c <= 1: Newton steps on log erfc, which is concave, from above."""
    x = mp.sqrt(-mp.log(c))
    for _ in range(80):
        y = mp.erfc(x)
        step = mp.log(y / c) * y * mp.sqrt(mp.pi) / 2 * mp.exp(x * x)
        x += step
        if abs(step) < F("1e-50"):
            break
    return x


_ERFINV = _even(lambda x: _inverse_erfc(1 - x) / x, _series(mp.sqrt(mp.pi) / 2, mp.sqrt(mp.pi) ** 3 / 24))

FITS: dict[str, tuple[Function, object, object, int]] = {
    "EXP": (_near(_exp, F(1) / 2), -LN2_HALF, LN2_HALF, 9),
    "EXP_SHORT": (_near(_exp, F(1) / 2), -LN2_HALF, LN2_HALF, 5),
    "EXP_SINGLE": (_near(_exp, F(1) / 2), -LN2_HALF, LN2_HALF, 4),
    "EXPM1": (_near(_expm1, F(1) / 6), -LN2_HALF, LN2_HALF, 9),
    "LOG": (_log_tail, 0, S_MAX, 7),
    "LOG_FAR": (_log_far_tail, 0, S_MAX, 7),
    "LOG_SHORT": (_near(_log_of_one_plus, F(1) / 3), F("-0.293"), F("0.5"), 12),
    "LOG_SINGLE": (_near(_log_of_one_plus, F(1) / 3), F("-0.293"), F("0.5"), 9),
    "SIN": (_SIN, 0, QUARTER, 6),
    "COS": (_COS, 0, QUARTER, 6),
    "SIN_SHORT": (_SIN, 0, QUARTER, 3),
    "COS_SHORT": (_COS, 0, QUARTER, 3),
    "ASIN": (_ASIN, 0, F("0.25"), 12),
    "ASIN_SHORT": (_ASIN, 0, F("0.25"), 5),
    "ATAN": (_ATAN, 0, TAN_EIGHTH, 11),
    "ATAN_OF_UNIT": (_ATAN, 0, F("1.0001"), 9),
    "ATAN_SHORT": (_ATAN, 0, TAN_EIGHTH, 5),
    "ERF": (_ERF, 0, 1, 14),
    "ERFC": (_erfc_scaled, F("-0.6"), F("0.864"), 23),
    "ERFC_SHORT": (_erfc_scaled, F(-1), F("0.68"), 11),
    "ERFINV_SMALL": (_ERFINV, 0, F("0.3"), 15),
    "ERFINV_CENTRE": (lambda w: _erfinv_over_x(w + F("3.25")), F("-3.0"), F("3.0"), 22),
    "ERFINV_MIDDLE": (lambda s: _erfinv_over_x((s + F("3.25")) ** 2), F("-0.75"), F("0.75"), 18),
    "ERFINV_CENTRE_SHORT": (lambda w: _erfinv_over_x(w + F("2.5")), F("-2.5"), F("2.5"), 10),
    "ERFINV_TAIL_SHORT": (lambda s: _erfinv_over_x((s + F("3.0")) ** 2), F("-0.77"), F("1.09"), 10),
    "ERFINV_FAR": (lambda s: _erfinv_over_x((s + F("5.0")) ** 2), F("-1.0"), F("1.1"), 17),
}  # fmt: skip
"""name: (function, low, high, degree)."""


def main(names: list[str]) -> None:
    """Print the tables."""
    for name in names or FITS:
        function, low, high, degree = FITS[name]
        coefficients, error = remez(function, low, high, degree)
        numbers = ", ".join(float(c).hex() for c in coefficients)
        print(f"{name} = ({numbers})  # error {mp.nstr(error, 3)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
