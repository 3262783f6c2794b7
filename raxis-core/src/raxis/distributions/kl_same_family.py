"""Divergences between two distributions of one family."""

from __future__ import annotations

import math
from typing import Any

import raxis
from raxis.distributions.bernoulli import Bernoulli, ContinuousBernoulli
from raxis.distributions.beta import Beta, Dirichlet
from raxis.distributions.binomial import Binomial
from raxis.distributions.categorical import Categorical, OneHotCategorical
from raxis.distributions.cauchy import Cauchy
from raxis.distributions.exponential import Exponential
from raxis.distributions.gamma import Gamma, InverseGamma
from raxis.distributions.geometric import Geometric
from raxis.distributions.gumbel import EULER_GAMMA, Gumbel
from raxis.distributions.half import HalfCauchy, HalfNormal
from raxis.distributions.independent import Independent
from raxis.distributions.kl import kl_divergence, register_kl
from raxis.distributions.laplace import Laplace
from raxis.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from raxis.distributions.multivariate_normal import MultivariateNormal, mahalanobis
from raxis.distributions.normal import Normal
from raxis.distributions.pareto import Pareto
from raxis.distributions.poisson import Poisson
from raxis.distributions.transformed_distribution import TransformedDistribution
from raxis.distributions.uniform import Uniform
from raxis.distributions.utils import fails, sum_rightmost
from raxis.distributions.wishart import Wishart
from raxis.linalg import solve_triangular
from raxis.nn.functional import softplus
from raxis.tensor import Tensor

__all__: list[str] = []


def unless(impossible: Tensor, value: Tensor) -> Tensor:
    """`value`; infinite where p has values that q has not."""
    return raxis.where(impossible, math.inf, value)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio, shift = (p.scale / q.scale) ** 2, ((p.loc - q.loc) / q.scale) ** 2
    return 0.5 * (ratio + shift - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc).abs()
    return shift / q.scale + ratio * (-shift / p.scale).exp() - 1 - ratio.log()


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak & Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy
    distributions (2019).
    """
    return ((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2).log() - (4 * p.scale * q.scale).log()


@register_kl(HalfNormal, HalfNormal)
@register_kl(HalfCauchy, HalfCauchy)
def _half(p: Any, q: Any) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return shift - ratio.log() + EULER_GAMMA * (ratio - 1) + ((1 + ratio).lgamma() - shift).exp() - 1


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    return unless((q.low > p.low) | (q.high < p.high), ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
@register_kl(InverseGamma, InverseGamma)
def _gamma(p: Any, q: Any) -> Tensor:
    k, other = p.concentration, q.concentration
    rates = other * (p.rate / q.rate).log() + (q.rate - p.rate) * (k / p.rate)
    return rates + other.lgamma() - k.lgamma() + (k - other) * k.digamma()


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    rows = [raxis.stack([each.concentration1, each.concentration0], -1) for each in (p, q)]
    return _dirichlet_of(*rows)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    return _dirichlet_of(p.concentration, q.concentration)


def _dirichlet_of(a: Tensor, b: Tensor) -> Tensor:
    total = a.sum(-1, keepdim=True)
    normalizers = total.squeeze(-1).lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma())).sum(-1)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    return unless(p.scale < q.scale, q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = _weighed(p.probs, softplus(-q.logits) - softplus(-p.logits), q.probs == 0)
    return ones + _weighed(1 - p.probs, softplus(q.logits) - softplus(p.logits), q.probs == 1)


def _weighed(chance: Tensor, difference: Tensor, impossible: Tensor) -> Tensor:
    """``chance * difference``: 0 where the chance is, else infinite where q excludes the value."""
    return raxis.where(chance == 0, 0.0, unless(impossible, chance * difference))


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    densities = p._log_normalizer() - q._log_normalizer() + softplus(q.logits) - softplus(p.logits)
    return p.mean * (p.logits - q.logits) + densities


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if fails(p.total_count >= q.total_count):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented: it has no closed form."
        )
    each = p.probs * (p.logits - q.logits) + softplus(q.logits) - softplus(p.logits)
    return unless(p.total_count > q.total_count, p.total_count * each)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate.xlogy(p.rate) - p.rate.xlogy(q.rate) - (p.rate - q.rate)


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categorical(p: Any, q: Any) -> Tensor:
    return _weighed(p.probs, p.logits - q.logits, q.probs == 0).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            f"KL-divergence between two multivariate normals with different event shapes {tuple(p.event_shape)} and "
            f"{tuple(q.event_shape)} cannot be computed"
        )
    ratio = solve_triangular(q.scale_tril, p.scale_tril, upper=False)
    distance = mahalanobis(q.scale_tril, p.loc - q.loc)
    spread = 0.5 * ((ratio * ratio).sum((-2, -1)) + distance - p.event_shape[0])
    return q._half_log_det - p._half_log_det + spread


@register_kl(Wishart, Wishart)
def _wishart(p: Wishart, q: Wishart) -> Tensor:
    log_det = p._mean_log_det()
    trace = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    normalizers = q._log_normalizer() - p._log_normalizer()
    return normalizers + 0.5 * ((p.df - q.df) * log_det + p.df * (trace - p.event_shape[-1]))


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError(
            "KL is implemented for distributions of equal transforms and event shapes only."
        )
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL is implemented for equal numbers of reinterpreted dimensions only.")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
