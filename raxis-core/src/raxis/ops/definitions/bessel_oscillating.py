"""Bessel functions of the first and second kind, orders 0 and 1, and the spherical one of order 0.

Source: Abramowitz & Stegun 9.2.5, 9.2.6: amplitude and phase beyond 8. Chebyshev series fitted to 40-digit values.
"""

from __future__ import annotations

import math
from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import chebyshev, special_unary
from raxis.ops.definitions.exponentials import log, rsqrt
from raxis.ops.definitions.signs import sgn
from raxis.ops.definitions.trigonometry import cos, sin
from raxis.tensor import Tensor

_J0_NEAR = (
    0.15772797147489012, -0.00872344235285222129, 0.26517861320333681, -0.370094993872649779, 0.158067102332097261,
    -0.0348937694114088852, 0.0048191800694676045, -0.000460626166206275048, 0.0000324603288210050808,
    -1.76194690776215075e-6, 7.60816359241878187e-8, -2.6792535305576729e-9, 7.84869631447946442e-11,
    -1.94383468673701657e-12, 4.12532059563437393e-14, -7.58850812544754634e-16, 1.2218515873961411e-17,
)  # fmt: skip
_J1_NEAR = (
    0.0810448463256581151, -0.148975145067652109, 0.160999262357209703, -0.0826804917668179066, 0.0222136396549660354,
    -0.00364694060076927596, 0.000405033772835482183, -0.0000325555486685725852, 1.98587740499151674e-6,
    -9.52198475675043618e-8, 3.68713375909714824e-9, -1.17802662269588484e-10, 3.16015458034800332e-12,
    -7.22175523965177343e-14, 1.42321440035139423e-15, -2.44419729161904639e-17, 3.69126829979293326e-19,
)  # fmt: skip
_Y0_NEAR = (
    -0.0331461132032849417, -0.274474305529745265, 0.179034314077182663, 0.261567346255046637, -0.177302012781143582,
    0.0471966895957633869, -0.00728796247955207918, 0.000753113593257774228, -0.0000563207914105698698,
    3.20653253765480098e-6, -1.44072332740186995e-7, 5.24879478733051612e-9, -1.58375525418120151e-10,
    4.02633081830612075e-12, -8.74734120331076955e-14, 1.6434898714919469e-15, -2.69778811525668356e-17,
    3.90325841734759827e-19,
)  # fmt: skip
_Y1_NEAR = (
    0.00253801323574178173, -0.0160871730476687502, -0.0959120453608307425, 0.0844519725965234584,
    -0.0283281239445943656, 0.00528989754416711301, -0.000641455145132635599, 0.0000550598287333874384,
    -3.5380800186893499e-6, 1.77078045561544034e-7, -7.11055004989927978e-9, 2.34433790591151639e-10,
    -6.46515184141159424e-12, 1.51429151205001995e-13, -3.05118596944732527e-15, 5.34668038572867012e-17,
    -8.22491137202158463e-19,
)  # fmt: skip
_P0 = (
    0.999460349347518665, -0.000536522046813211742, 3.07518478751947462e-6, -5.1705945376060977e-8,
    1.63064646351513831e-9, -7.86409137723707e-11, 5.16826238734919246e-12, -4.30457886992539122e-13,
    4.32659574315494056e-14, -5.06903409593523608e-15, 6.7480722157338737e-16, -1.00115137234677858e-16,
    1.63059192337441847e-17, -2.8808661694828712e-18,
)  # fmt: skip
_Q0 = (
    -0.0155558546053370091, 0.000068385199426116496, -7.41449841106064726e-7, 1.79724572479689918e-8,
    -7.27191593686631998e-10, 4.22012190466873844e-11, -3.20674742099663474e-12, 3.00614512535170631e-13,
    -3.336328185322427e-14, 4.25522504024546112e-15, -6.09993013164005001e-16, 9.66212897030325674e-17,
    -1.66860652143781463e-17, 3.10824404867381443e-18, -6.19111578735814493e-19, 1.30914487172201215e-19,
    -2.92116271526427736e-20,
)  # fmt: skip
_P1 = (
    1.0009030408600137, 0.000898989833085940856, -3.98728430048890852e-6, 6.17763396064429853e-8,
    -1.87189074910630661e-9, 8.8168986595823389e-11, -5.7048636403956447e-12, 4.69919551523054238e-13,
    -4.68422378399048922e-14, 5.45267489604471717e-15, -7.22118084227401792e-16, 1.06676891143354125e-16,
    -1.7312313216116335e-17, 3.04929911976658723e-18,
)  # fmt: skip
_Q1 = (
    0.0467777870695353252, -0.0000962772354915707932, 9.13861525795545412e-7, -2.09597813840834225e-8,
    8.22919332765055413e-10, -4.68636368817694523e-11, 3.51521879496860809e-12, -3.26431567432789993e-13,
    3.59677658291652919e-14, -4.56125239507729719e-15, 6.50828295778338395e-16, -1.02691475318232429e-16,
    1.76763554877647916e-17, -3.28345198729816146e-18, 6.5240811495892603e-19, -1.3765771484849488e-19,
)  # fmt: skip


def _near(x: Tensor, series: tuple[float, ...]) -> Any:
    """A series in x**2, for x <= 8."""
    inside = x.clamp_max(8)
    return chebyshev(inside * inside / 32 - 1, series)


def _far(order: int, x: Tensor) -> tuple[Any, Any]:
    """The functions of the first and of the second kind for x > 8."""
    large = x.clamp_min(8)
    inverse = 8 / large
    square = 2 * inverse * inverse - 1
    p, q = (chebyshev(square, series) for series in ((_P0, _Q0) if order == 0 else (_P1, _Q1)))
    q = q * inverse
    phase = large - (order / 2 + 0.25) * math.pi
    amplitude = math.sqrt(2 / math.pi) * rsqrt(large)
    sine, cosine = sin(phase), cos(phase)
    return amplitude * (p * cosine - q * sine), amplitude * (p * sine + q * cosine)


def _first_kind(order: int, x: Tensor) -> Any:
    """J(x) for x >= 0."""
    near = _near(x, _J0_NEAR) if order == 0 else x * _near(x, _J1_NEAR)
    return where(x == math.inf, 0, where(x <= 8, near, _far(order, x)[0]))


def _second_kind(order: int, x: Tensor) -> Any:
    """Y(x); -inf at 0 and NaN below it."""
    first = _first_kind(order, x.clamp(0, 8))
    regular = _near(x, _Y0_NEAR) if order == 0 else x * _near(x, _Y1_NEAR) - 2 / (math.pi * x)
    near = regular + 2 / math.pi * log(x) * first
    beyond = where(x == math.inf, 0, where(x <= 8, near, _far(order, x)[1]))
    return where(x == 0, -math.inf, where(x < 0, math.nan, beyond))


bessel_j0: Any = special_unary(
    "bessel_j0",
    "The Bessel function of the first kind, order 0.",
    "[0.0, 1.0]",
    "[1.0000, 0.7652]",
    lambda input: _first_kind(0, input.abs()),
    lambda grad, input: grad * -bessel_j1(input),
)
bessel_j1: Any = special_unary(
    "bessel_j1",
    "The Bessel function of the first kind, order 1.",
    "[0.0, 1.0]",
    "[0.0000, 0.4401]",
    lambda input: sgn(input) * _first_kind(1, input.abs()),
    lambda grad, input, result: grad * (bessel_j0(input) - _over(result, input)),
)
bessel_y0: Any = special_unary(
    "bessel_y0",
    "The Bessel function of the second kind, order 0.",
    "[1.0, 2.0]",
    "[0.0883, 0.5104]",
    lambda input: _second_kind(0, input),
    lambda grad, input: grad * -bessel_y1(input),
)
bessel_y1: Any = special_unary(
    "bessel_y1",
    "The Bessel function of the second kind, order 1.",
    "[1.0, 2.0]",
    "[-0.7812, -0.1070]",
    lambda input: _second_kind(1, input),
    lambda grad, input, result: grad * (bessel_y0(input) - result / input),
)


def _over(numerator: Tensor, input: Tensor) -> Tensor:
    """``numerator / input``, whose limit at 0 is one half."""
    return where(input == 0, 0.5, numerator / where(input == 0, 1, input))


def _spherical(input: Tensor) -> Any:
    small = input.abs() < 0.5
    square = where(small, input * input, 0)
    series: Any = square * 0
    for factor in (156, 110, 72, 42, 20, 6):
        series = -(series + 1) * square / factor
    return where(input.abs() == math.inf, 0, where(small, 1 + series, sin(input) / where(small, 1, input)))


spherical_bessel_j0: Any = special_unary(
    "spherical_bessel_j0",
    "The spherical Bessel function of the first kind, order 0: ``sin(input) / input``.",
    "[0.0, 1.0]",
    "[1.0000, 0.8415]",
    _spherical,
    lambda grad, input, result: (
        grad * where(input == 0, 0, (cos(input) - result) / where(input == 0, 1, input))
    ),
)
