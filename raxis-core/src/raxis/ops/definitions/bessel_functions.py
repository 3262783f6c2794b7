"""Modified Bessel functions of the first and second kind, orders 0 and 1.

Source: Chebyshev series of exp(-x) I(x) on [0, 8] and of exp(-x) sqrt(x) I(x) beyond, in the form of Clenshaw (1962);
likewise K(x) without its logarithm on [0, 2] and exp(x) sqrt(x) K(x) beyond; fitted to 40-digit values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import chebyshev, computed, special_unary, unary
from raxis.ops.definitions.exponentials import exp, log, rsqrt
from raxis.ops.definitions.signs import sgn
from raxis.tensor import Tensor

_I0_NEAR = (
    0.338397637204738042, -0.304682672343198399, 0.171620901522208775, -0.0949010970480476444,
    0.0493052842396707085, -0.0237374148058994688, 0.0105464603945949983, -0.00432430999505057594,
    0.0016394756169413358, -0.000576375574538582366, 0.000188502885095841656, -0.000057541950100821037,
    0.0000164484480707288971, -4.41673835845875056e-6, 1.11738753912010372e-6, -2.67079385394061173e-7,
    6.04699502254191895e-8, -1.30002500998624804e-8, 2.65982372468238665e-9, -5.18979560163526291e-10,
    9.67580903537323691e-11, -1.72682629144155571e-11, 2.95505266312963983e-12, -4.85644678311192946e-13,
    7.67618549860493562e-14, -1.16853328779934517e-14, 1.71539128555513303e-15, -2.43127984654795469e-16,
    3.3307945188222381e-17,
)  # fmt: skip
_I0_FAR = (
    0.402245205507054416, 0.00336911647825569409, 0.0000688975834691682398, 2.89137052083475648e-6,
    2.04891858946906374e-7, 2.26666899049817806e-8, 3.39623202570838635e-9, 4.94060238822496959e-10,
    1.18891471078464383e-11, -3.14991652796324136e-11, -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13, 3.8527783827421427e-13, 1.54008621752140983e-14, -4.15056934728722209e-14,
    -9.55484669882830765e-15, 3.81168066935262242e-15, 1.77256013305652638e-15, -3.42548561967721914e-16,
    -2.82762398051658348e-16, 3.461222867697461e-17, 4.46562142029675996e-17,
)  # fmt: skip
_I1_NEAR = (
    0.126293593221816827, -0.176416518357834055, 0.102643658689847095, -0.0529459812080949914,
    0.0247264490306265168, -0.0105640848946261982, 0.00415642294431288816, -0.00151357245063125315,
    0.000512285956168575773, -0.000161760815825896746, 0.0000478156510755005423, -0.0000132731636560394358,
    3.47025130813767848e-6, -8.56872026469545474e-7, 2.00329475355213526e-7, -4.44505912879632808e-8,
    9.38153738649577178e-9, -1.88724975172282929e-9, 3.62559028155211704e-10, -6.66348972350202774e-11,
    1.17361862988909016e-11, -1.98397439776494372e-12, 3.22379336594557471e-13, -5.04218550472791169e-14,
    7.60068429473540693e-15, -1.10559694773538631e-15, 1.55363195773620047e-16, -2.11142121435816608e-17,
)  # fmt: skip
_I1_FAR = (
    0.38928811750914006, -0.00976109749136146841, -0.000110588938762623716, -3.88256480887769039e-6,
    -2.51223623787020893e-7, -2.63146884688951951e-8, -3.83538038596423702e-9, -5.58974346219658381e-10,
    -1.89749581235054123e-11, 3.25260358301548824e-11, 1.41258074366137813e-11, 2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13, -2.10154184277266431e-14, 4.27244001671195135e-14,
    1.04202769841288028e-14, -3.8144030724370078e-15, -1.88035477551078245e-15, 3.30820231092092828e-16,
    2.96262899764595013e-16, -3.20952592199342386e-17, -4.65030536848935829e-17,
)  # fmt: skip

_K0_NEAR = (
    -0.267663696616951384, 0.344289899924628487, 0.0359799365153615016, 0.00126461541144692592,
    0.0000228621210311945179, 2.53479107902614946e-7, 1.90451637722020886e-9, 1.03496952576336246e-11,
    4.25981614279108258e-14, 1.3744654358807509e-16, 3.57089652850837359e-19,
)  # fmt: skip
_K1_NEAR = (
    0.762650113669473885, -0.353155960776544876, -0.122611180822657148, -0.00697572385963986435,
    -0.000173028895751305206, -2.43340614156596823e-6, -2.21338763073472586e-8, -1.41148839263352776e-10,
    -6.66690169419932901e-13, -2.42744985051936593e-15, -7.0238634793862876e-18,
)  # fmt: skip
_K0_FAR = (
    1.22015154103297773, -0.0314481013119645005, 0.00156988388573005337, -0.000128495495816278026,
    0.0000139498137188764994, -1.83175552271911948e-6, 2.76681363944501508e-7, -4.66048989768794767e-8,
    8.57403401741422609e-9, -1.69753450938906152e-9, 3.57739728140032845e-10, -7.95748924447739704e-11,
    1.85594911495492655e-11, -4.51459788337451918e-12, 1.14034058820734423e-12, -2.98009692314817835e-13,
    8.03289077506837437e-14, -2.22751332674629636e-14, 6.34007647627664597e-15, -1.84859337792090717e-15,
    5.51205599940433336e-16, -1.67823112575490064e-16, 5.21039177764355411e-17, -1.64758059398426328e-17,
    5.30043377117733577e-18, -1.73317120058210003e-18,
)  # fmt: skip
_K1_FAR = (
    1.36031309524222133, 0.103923736576817238, -0.00285781685962277939, 0.000195215518471351631,
    -0.0000193619797416608296, 2.40648494783721712e-6, -3.50196060308781254e-7, 5.74108412545004929e-8,
    -1.0345762465678097e-8, 2.01504975519703462e-9, -4.19035475934192558e-10, 9.21831518760531413e-11,
    -2.12996783842779102e-11, 5.13963967348234354e-12, -1.28917396094982294e-12, 3.34841966605224312e-13,
    -8.97670518201014607e-14, 2.47715442421959868e-14, -7.01983708921476885e-15, 2.03870316623986088e-15,
    -6.05704727064301782e-16, 1.83809357524304543e-16, -5.68946284919364837e-17, 1.79405104788635729e-17,
    -5.75674448207330245e-18, 1.87786519016232674e-18,
)  # fmt: skip


def _scaled(x: Tensor, near: Sequence[float], far: Sequence[float], factor: Tensor | float) -> Any:
    """exp(-x) I(x) for x >= 0; the series `near` lacks `factor`."""
    large = x.clamp_min(8)
    close = chebyshev(x.clamp_max(8) / 4 - 1, near) * factor
    return where(x <= 8, close, chebyshev(16 / large - 1, far) * rsqrt(large))


def _i0e(input: Tensor) -> Any:
    return _scaled(input.abs(), _I0_NEAR, _I0_FAR, 1.0)


def _i1e(input: Tensor) -> Any:
    magnitude = input.abs()
    return sgn(input) * _scaled(magnitude, _I1_NEAR, _I1_FAR, magnitude)


def _over(numerator: Tensor, input: Tensor) -> Tensor:
    """``numerator / input``, whose limit at 0 is one half for order 1."""
    return where(input == 0, 0.5, numerator / where(input == 0, 1, input))


i0 = computed(
    "i0(Tensor input) -> Tensor",
    unary("i0", "The modified Bessel function of the first kind, order 0.", "[0.0, 1.0]", "[1.0000, 1.2661]"),
    lambda input: exp(input.abs()) * _i0e(input),
    vjp={"input": lambda grad, input: grad * i1(input)},
)
i1: Callable[..., Any] = special_unary(
    "i1",
    "The modified Bessel function of the first kind, order 1.",
    "[0.0, 1.0]",
    "[0.0000, 0.5652]",
    lambda input: exp(input.abs()) * _i1e(input),
    lambda grad, input, result: grad * (i0(input) - _over(result, input)),
)
i0e = special_unary(
    "i0e",
    "``exp(-abs(input)) * i0(input)``.",
    "[0.0, 1.0]",
    "[1.0000, 0.4658]",
    _i0e,
    lambda grad, input, result: grad * (i1e(input) - sgn(input) * result),
)
i1e: Callable[..., Any] = special_unary(
    "i1e",
    "``exp(-abs(input)) * i1(input)``.",
    "[0.0, 1.0]",
    "[0.0000, 0.2079]",
    _i1e,
    lambda grad, input, result: grad * (i0e(input) - sgn(input) * result - _over(result, input)),
)


def _second_near(order: int, x: Tensor) -> Any:
    """K(x) for 0 < x <= 2."""
    square = x * x / 2 - 1
    if order == 0:
        return chebyshev(square, _K0_NEAR) - log(x / 2) * exp(x) * _i0e(x)
    return chebyshev(square, _K1_NEAR) / x + log(x / 2) * exp(x) * _i1e(x)


def _second_far(order: int, x: Tensor) -> Any:
    """exp(x) K(x) for x > 2."""
    return chebyshev(4 / x - 1, _K0_FAR if order == 0 else _K1_FAR) * rsqrt(x)


def _second_kind(order: int, input: Tensor, *, scaled: bool) -> Any:
    """K(x), or exp(x) K(x) if `scaled`; inf at 0 and NaN below it."""
    small, large = input.clamp(None, 2), input.clamp_min(2)
    near, far = _second_near(order, small), _second_far(order, large)
    near, far = (near * exp(small), far) if scaled else (near, far * exp(-large))
    beyond = where(input == math.inf, 0, where(input <= 2, near, far))
    return where(input == 0, math.inf, where(input < 0, math.nan, beyond))


modified_bessel_i0 = special_unary(
    "modified_bessel_i0",
    "The modified Bessel function of the first kind, order 0; see `raxis.special.i0`.",
    "[0.0, 1.0]",
    "[1.0000, 1.2661]",
    lambda input: exp(input.abs()) * _i0e(input),
    lambda grad, input: grad * i1(input),
)
modified_bessel_i1 = special_unary(
    "modified_bessel_i1",
    "The modified Bessel function of the first kind, order 1; see `raxis.special.i1`.",
    "[0.0, 1.0]",
    "[0.0000, 0.5652]",
    lambda input: exp(input.abs()) * _i1e(input),
    lambda grad, input, result: grad * (i0(input) - _over(result, input)),
)
modified_bessel_k0: Callable[..., Any] = special_unary(
    "modified_bessel_k0",
    "The modified Bessel function of the second kind, order 0.",
    "[1.0, 2.0]",
    "[0.4210, 0.1139]",
    lambda input: _second_kind(0, input, scaled=False),
    lambda grad, input: grad * -modified_bessel_k1(input),
)
modified_bessel_k1: Callable[..., Any] = special_unary(
    "modified_bessel_k1",
    "The modified Bessel function of the second kind, order 1.",
    "[1.0, 2.0]",
    "[0.6019, 0.1399]",
    lambda input: _second_kind(1, input, scaled=False),
    lambda grad, input, result: grad * -(modified_bessel_k0(input) + result / input),
)
scaled_modified_bessel_k0: Callable[..., Any] = special_unary(
    "scaled_modified_bessel_k0",
    "``exp(input) * modified_bessel_k0(input)``.",
    "[1.0, 2.0]",
    "[1.1445, 0.8416]",
    lambda input: _second_kind(0, input, scaled=True),
    lambda grad, input, result: grad * (result - scaled_modified_bessel_k1(input)),
)
scaled_modified_bessel_k1: Callable[..., Any] = special_unary(
    "scaled_modified_bessel_k1",
    "``exp(input) * modified_bessel_k1(input)``.",
    "[1.0, 2.0]",
    "[1.6362, 1.0335]",
    lambda input: _second_kind(1, input, scaled=True),
    lambda grad, input, result: grad * (result - scaled_modified_bessel_k0(input) - result / input),
)
