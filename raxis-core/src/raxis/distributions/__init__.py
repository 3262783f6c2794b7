"""Probability distributions, under PyTorch's names in ``torch.distributions``.

Example:
    >>> import raxis
    >>> from raxis.distributions import Normal
    >>> Normal(0.0, 1.0).cdf(raxis.tensor(0.0))
    tensor(0.5000)
"""

from __future__ import annotations

from raxis.distributions import constraints, transforms, utils
from raxis.distributions import kl_across_families as _formulas  # registers them, and those within families
from raxis.distributions.bernoulli import Bernoulli, ContinuousBernoulli
from raxis.distributions.beta import Beta, Dirichlet
from raxis.distributions.binomial import Binomial, NegativeBinomial
from raxis.distributions.categorical import (
    Categorical,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from raxis.distributions.cauchy import Cauchy
from raxis.distributions.constraint_registry import biject_to, transform_to
from raxis.distributions.distribution import Distribution
from raxis.distributions.exponential import Exponential
from raxis.distributions.gamma import Chi2, FisherSnedecor, Gamma, InverseGamma
from raxis.distributions.geometric import Geometric
from raxis.distributions.gumbel import Gumbel
from raxis.distributions.half import HalfCauchy, HalfNormal
from raxis.distributions.independent import Independent
from raxis.distributions.kl import kl_divergence, register_kl
from raxis.distributions.kumaraswamy import Kumaraswamy
from raxis.distributions.laplace import Laplace
from raxis.distributions.lkj_cholesky import LKJCholesky
from raxis.distributions.log_normal import LogisticNormal, LogNormal
from raxis.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from raxis.distributions.mixture_same_family import MixtureSameFamily
from raxis.distributions.multinomial import Multinomial
from raxis.distributions.multivariate_normal import MultivariateNormal
from raxis.distributions.normal import Normal
from raxis.distributions.pareto import GeneralizedPareto, Pareto
from raxis.distributions.poisson import Poisson
from raxis.distributions.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from raxis.distributions.student_t import StudentT
from raxis.distributions.transformed_distribution import TransformedDistribution
from raxis.distributions.transforms import *
from raxis.distributions.uniform import Uniform
from raxis.distributions.von_mises import VonMises
from raxis.distributions.weibull import Weibull
from raxis.distributions.wishart import Wishart

__all__ = [  # noqa: PLE0604  the transforms list their own
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "utils",
    *transforms.__all__,
]
