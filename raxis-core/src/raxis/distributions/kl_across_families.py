"""Divergences between distributions of two families.

Each is ``-entropy(p)`` less the mean of q's log density, which for these q needs no more of p than its mean, its
variance, the mean of its logarithm or of an exponential.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import raxis
from raxis import dtypes
from raxis.distributions.bernoulli import Bernoulli, ContinuousBernoulli
from raxis.distributions.beta import Beta
from raxis.distributions.binomial import Binomial
from raxis.distributions.exponential import Exponential
from raxis.distributions.gamma import Gamma
from raxis.distributions.gumbel import EULER_GAMMA, Gumbel
from raxis.distributions.kl import register_kl
from raxis.distributions.kl_same_family import unless
from raxis.distributions.laplace import Laplace
from raxis.distributions.normal import Normal
from raxis.distributions.pareto import Pareto
from raxis.distributions.poisson import Poisson
from raxis.distributions.uniform import Uniform
from raxis.layout import broadcast_shapes
from raxis.nn.functional import softplus
from raxis.tensor import Tensor

__all__: list[str] = []


def _to_normal(p: Any, q: Normal) -> Tensor:
    spread = (p.variance + (p.mean - q.loc) ** 2) / (2 * q.scale**2)
    return spread - p.entropy() + q.scale.log() + 0.5 * math.log(2 * math.pi)


def _to_exponential(p: Any, q: Exponential) -> Tensor:
    return unless(_negative(p), q.rate * p.mean - p.entropy() - q.rate.log())


def _negative(p: Any) -> Tensor:
    """Where p has values below 0."""
    return p.low < 0 if isinstance(p, Uniform) else raxis.zeros_like(p.mean, dtype=dtypes.bool_)


_MEAN_LOGARITHMS: dict[type, Callable[[Any], Tensor]] = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -EULER_GAMMA - p.rate.log(),
    Pareto: lambda p: p.scale.log() + 1 / p.alpha,
    Uniform: lambda p: _mean_logarithm(p.low, p.high),
}


def _mean_logarithm(low: Tensor, high: Tensor) -> Tensor:
    return (high.xlogy(high) - low.xlogy(low)) / (high - low) - 1


def _to_gamma(p: Any, q: Gamma) -> Tensor:
    (logarithm,) = [mean(p) for kind, mean in _MEAN_LOGARITHMS.items() if isinstance(p, kind)]
    k = q.concentration
    density = k * q.rate.log() - k.lgamma() + (k - 1) * logarithm - q.rate * p.mean
    return unless(_negative(p), -p.entropy() - density)


_MEAN_EXPONENTIALS: dict[type, Callable[[Any, Tensor], Tensor]] = {
    Exponential: lambda p, rate: p.rate / (p.rate + rate),
    Gamma: lambda p, rate: (1 + rate / p.rate) ** -p.concentration,
    Normal: lambda p, rate: (0.5 * (p.scale * rate) ** 2 - p.loc * rate).exp(),
    Uniform: lambda p, rate: ((-rate * p.low).exp() - (-rate * p.high).exp()) / (rate * (p.high - p.low)),
}
"""The mean of ``exp(-rate * x)``."""


def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    rate = 1 / q.scale
    (exponential,) = [mean(p, rate) for kind, mean in _MEAN_EXPONENTIALS.items() if isinstance(p, kind)]
    difference = (p.mean - q.loc) * rate
    return difference + (q.loc * rate).exp() * exponential - p.entropy() + q.scale.log()


def _to_uniform(p: Any, q: Uniform) -> Tensor:
    return unless((q.low > 0) | (q.high < 1), (q.high - q.low).log() - p.entropy())


def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    density = p.mean * q.logits - softplus(q.logits) + q._log_normalizer()
    return unless(_outside_unit_interval(p), -p.entropy() - density)


def _outside_unit_interval(p: Any) -> Tensor:
    """Where p has values outside [0, 1]."""
    return (p.low < 0) | (p.high > 1) if isinstance(p, Uniform) else _negative(p)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    low, high = _mean_logarithm(p.low, p.high), _mean_logarithm(1 - p.high, 1 - p.low)
    density = (q.concentration1 - 1) * low + (q.concentration0 - 1) * high - q._log_normalizer()
    return unless(_outside_unit_interval(p), -p.entropy() - density)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    density = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _mean_logarithm(p.low, p.high)
    return unless(p.low < q.scale, -p.entropy() - density)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    shift = (p.loc - q.loc) / p.scale
    folded = math.sqrt(2 / math.pi) * (-0.5 * shift**2).exp() + shift * (shift / math.sqrt(2)).erf()
    return (2 * q.scale).log() + p.scale / q.scale * folded - p.entropy()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.entropy() - p.probs.xlogy(q.rate)


def _infinite(p: Any, q: Any) -> Tensor:
    """p has values that q has not."""
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    parameter = p.__dict__[p._given[-1]]
    return parameter.new_full(shape, math.inf)


_FORMULAS: dict[Callable[[Any, Any], Tensor], dict[type[Any], tuple[type[Any], ...]]] = {
    _to_normal: {Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)},
    _to_exponential: {Exponential: (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)},
    _to_gamma: {Gamma: tuple(_MEAN_LOGARITHMS)},
    _to_gumbel: {Gumbel: tuple(_MEAN_EXPONENTIALS)},
    _to_uniform: {Uniform: (Beta, ContinuousBernoulli)},
    _to_continuous_bernoulli: {ContinuousBernoulli: (Beta, Uniform)},
    _infinite: {
        Bernoulli: (Poisson,),
        Beta: (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto),
        Binomial: (Poisson,),
        ContinuousBernoulli: (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto),
        Exponential: (Gumbel, Laplace, Normal),
        Gamma: (Gumbel, Laplace, Normal),
        Pareto: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal),
        Uniform: (Exponential, Gamma, Gumbel, Laplace, Normal, Pareto),
    },
}
"""By formula and q: the p it serves."""

for _formula, _by_q in _FORMULAS.items():
    for _q, _ps in _by_q.items():
        for _p in _ps:
            register_kl(_p, _q)(_formula)
