"""The Airy function of the first kind.

Source: DLMF 9.7: amplitude and phase below -4, decay above 2. Chebyshev series fitted to 60-digit values.
"""

from __future__ import annotations

import math
from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import SPECIAL, chebyshev, computed, unary
from raxis.ops.definitions.exponentials import exp, rsqrt, sqrt
from raxis.ops.definitions.trigonometry import cos, sin
from raxis.tensor import Tensor

_AI_CENTRE = (
    0.0607852568507972646, 0.189960308817291225, -0.250924387032336011, -0.0951201401350305422, 0.202363241983700768,
    -0.0641872830630524977, -0.0268147031860399641, 0.0240519042812738565, -0.00413259164974894983,
    -0.00201968179054942258, 0.00112507687506545585, -0.000116975387096766061, -0.0000712549925306068209,
    0.000028167833107042442, -1.75947423896915616e-6, -1.45872015241687175e-6, 4.38874795843603274e-7,
    -1.46270958661975066e-8, -1.9495992841846797e-8, 4.66055277416388398e-9, -5.1062451179042338e-11,
    -1.83433267087891972e-10, 3.58576420412789252e-11, 2.65824132747957269e-13, -1.28054475741980592e-12,
    2.08858966045024075e-13, 4.8741837202287107e-15, -6.89508092788503504e-15, 9.51965014570017066e-16,
    3.59789914221450354e-17, -2.95027058337212553e-17, 3.48398944245941637e-18,
)  # fmt: skip
_AI_RIGHT = (
    0.984405304917155196, -0.0147927848501041987, 0.000732717746542671434, -0.0000612595423417824993,
    6.83476697557269029e-6, -9.23722973540398155e-7, 1.4362253404380519e-7, -2.48931942232209598e-8,
    4.7097934400543278e-9, -9.58386370811273208e-10, 2.07458554836775917e-10, -4.73726733219227696e-11,
    1.13360998082242348e-11, -2.82770678231935085e-12, 7.32071209512559757e-13, -1.95997939110897221e-13,
    5.41011625706839221e-14, -1.53564668022238356e-14, 4.47234039330002478e-15, -1.33380946747566825e-15,
    4.06658204645623099e-16, -1.26558322564528899e-16, 4.0151263340158711e-17, -1.29699721359609367e-17,
    4.26134990741239982e-18, -1.42267684229350711e-18,
)  # fmt: skip
_AI_LEFT_P = (
    0.999370889074277834, -0.00062168365843741161, 7.18119377436864486e-6, -2.31626981350175815e-7,
    1.32162838885287557e-8, -1.09387361727581263e-9, 1.17946207379085343e-10, -1.55188419099298557e-11,
    2.38692741149246599e-12, -4.16552889201034997e-13, 8.0716781107414668e-14, -1.70875732111056695e-14,
    3.90294514854081473e-15, -9.52397678490706461e-16, 2.46328108857526029e-16, -6.70907746346485779e-17,
    1.91393968371870712e-17, -5.69308436211376999e-18, 1.75895281622296004e-18,
)  # fmt: skip
_AI_LEFT_Q = (
    0.0129040697930775017, -0.000114171597015613012, 2.4701533151418698e-6, -1.12763848367030586e-7,
    8.11413251680968616e-9, -7.96449699929011027e-10, 9.81053508156467567e-11, -1.43855455783406697e-11,
    2.42321427238100836e-12, -4.57224329457804368e-13, 9.48571357101015796e-14, -2.13347133604806151e-14,
    5.14525824531042319e-15, -1.31896539611860866e-15, 3.56852144384979669e-16, -1.01307010151424514e-16,
    3.00313331748473123e-17, -9.25786395066151252e-18, 2.95751921208396606e-18, -9.76149296594710876e-19,
    3.32002274013753084e-19, -1.16093805389686401e-19, 4.16529978414508027e-20, -1.5306603799082378e-20,
)  # fmt: skip
_FROM, _TO = 2 / 3 * 2**1.5, 2 / 3 * 4**1.5
"""2/3 x**1.5 at 2, where the series of the decay begins, and at 4, where that of the waves does."""


def _left(x: Tensor) -> Any:
    """Ai(-x) for x >= 4."""
    root = sqrt(x)
    turn = 2 / 3 * x * root
    inverse = _TO / turn
    square = 2 * inverse * inverse - 1
    sine, cosine = sin(turn + math.pi / 4), cos(turn + math.pi / 4)
    p, q = chebyshev(square, _AI_LEFT_P), chebyshev(square, _AI_LEFT_Q) * inverse
    return (sine * p - cosine * q) * rsqrt(root) / math.sqrt(math.pi)


def _right(x: Tensor) -> Any:
    """Ai(x) for x >= 2."""
    root = sqrt(x)
    decay = 2 / 3 * x * root
    series = chebyshev(2 * _FROM / decay - 1, _AI_RIGHT)
    return series * exp(-decay) * rsqrt(root) / (2 * math.sqrt(math.pi))


def _airy_ai(input: Tensor) -> Any:
    centre = chebyshev((input.clamp(-4, 2) + 1) / 3, _AI_CENTRE)
    sides = where(input > 2, _right(input.clamp(2, 1e4)), _left((-input).clamp_min(4)))
    inside = where((input >= -4) & (input <= 2), centre, sides)
    return where(input.abs() == math.inf, 0, where(input.isnan(), input, inside))


airy_ai = computed(
    "airy_ai(Tensor input) -> Tensor",
    unary("special.airy_ai", "The Airy function of the first kind.", "[0.0, 1.0]", "[0.3550, 0.1353]"),
    _airy_ai,
    namespace=SPECIAL,
    method=False,
    inplace=False,
)
