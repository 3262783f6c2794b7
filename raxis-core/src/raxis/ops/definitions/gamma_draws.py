"""Draws of the gamma distribution, and their derivative with respect to its concentration.

Sources: Marsaglia & Tsang, A simple method for generating gamma variables (2000); Figurnov, Mohamed & Mnih, Implicit
reparameterization gradients (2018); Takahasi & Mori, Double exponential formulas for numerical integration (1974).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.numeric_limits import finfo
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.random import check_float, unit_interval
from raxis.ops.definitions.rejection import rejected
from raxis.ops.table import Effect, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_INTERNAL: dict[str, Any] = {"function": False, "out": False}


def _propose(first: Tensor, second: Tensor, third: Tensor, center: Tensor) -> tuple[Tensor, Tensor]:
    """A cube ``v`` near 1 such that ``center * v`` is a candidate, from a normal and a uniform number."""
    normal = (-2 * (-first).log1p()).sqrt() * (second * (2 * math.pi)).cos()
    root = 1 + normal / (9 * center).sqrt()
    cube = root * root * root
    bound = 0.5 * normal * normal + center * (1 - cube + cube.log())
    hopeless = ~((center > 0) & (center < math.inf))
    return cube, ((root > 0) & (third.log() < bound)) | hopeless


def _log_gamma_draw(concentration: Tensor) -> Tensor:
    """Logarithms, in float64. A concentration below 1 is drawn one higher and scaled with ``u ** (1 / a)``."""
    boosted = concentration < 1
    center = where(boosted, concentration + 1, concentration) - 1 / 3
    cube = rejected(_propose, 3, [center])
    boost = (-unit_interval(dtypes.float64, tuple(concentration.shape))).log1p() / concentration
    return center.log() + cube.log() + where(boosted, boost, 0.0)


@lowered(
    "_standard_gamma(Tensor input, Generator? generator=None) -> Tensor",
    effect=Effect.RANDOM,
    vjp={"input": lambda grad, input, result: grad * result * input._log_gamma_slope(result.log())},
    **_INTERNAL,
)
def _standard_gamma(input: Tensor) -> Any:
    """Gamma variables of rate 1, none below the least normal number."""
    check_float("_standard_gamma", input.dtype)
    drawn = _log_gamma_draw(cast(input, dtypes.float64)).exp()
    return cast(drawn, input.dtype).clamp(min=finfo(input.dtype).tiny)


@lowered(
    "_log_standard_gamma(Tensor input, Generator? generator=None) -> Tensor",
    effect=Effect.RANDOM,
    vjp={"input": lambda grad, input, result: grad * input._log_gamma_slope(result)},
    **_INTERNAL,
)
def _log_standard_gamma(input: Tensor) -> Any:
    """Logarithms of gamma variables of rate 1, which do not underflow where those would."""
    check_float("_log_standard_gamma", input.dtype)
    return cast(_log_gamma_draw(cast(input, dtypes.float64)), input.dtype)


def _quadrature(low: float, high: float, count: int) -> tuple[Any, Any]:
    """Distances and weights of the double exponential rule for exponentially decaying functions on (0, inf)."""
    nodes = np.linspace(low, high, count)
    distances = np.exp(nodes - np.exp(-nodes))
    return distances, (nodes[1] - nodes[0]) * distances * (1 + np.exp(-nodes))


_EXACT = _quadrature(-3.5, 4.0, 64)
"""Relative errors below 1e-11."""
_QUICK = _quadrature(-3.0, 3.6, 32)
"""Relative errors below 1e-6: for results in float32."""


@lowered("_log_gamma_slope(Tensor input, Tensor logarithm) -> Tensor", **_INTERNAL)
def _log_gamma_slope(input: Tensor, logarithm: Tensor) -> Any:
    """The derivative of a variable's logarithm with respect to its concentration, its quantile held.

    That is ``-dP/da / (x p(x))`` with P the distribution and p its density: the integral of
    ``(log t - digamma(a)) p(t) / (x p(x))`` over the tail that x cuts off, on the side where no term cancels others:
    ``t = x exp(-s)`` below the concentration, ``t = x (1 + s)`` above.
    """
    shape = (*input.shape, 1)
    a, ell = (cast(value, dtypes.float64).reshape(shape) for value in (input, logarithm))
    x = ell.exp()
    upper = x > a
    scale = 1 / ((x - a).abs() + where(x > 1, x.sqrt(), x))
    distances, weights = _EXACT if input.dtype is dtypes.float64 else _QUICK
    s = scale * _row(distances)
    step = where(upper, s.log1p(), -s)
    exponent = where(upper, (a - 1) * step - x * s, a * step - x * (-s).expm1())
    terms = (exponent.exp() * (ell - emit("digamma", a) + step)) * _row(weights)
    # Where the density has vanished, infinite distances give no number.
    total = where(exponent > -700, terms, 0.0).sum(-1, keepdim=True)
    return cast((where(upper, scale, -scale) * total).reshape(tuple(input.shape)), input.dtype)


def _row(numbers: Any) -> Tensor:
    return constant(tuple(numbers.tolist()), dtypes.float64, numbers.shape)
