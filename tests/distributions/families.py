"""Every family with parameters in float64, in raxis and in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributions

import raxis
import raxis.distributions

Distribution = Any


class Library(NamedTuple):
    """One of the two libraries, with its constructor of tensors."""

    distributions: Any
    tensor: Callable[[Any], Any]


OURS = Library(raxis.distributions, raxis.tensor)
THEIRS = Library(torch.distributions, torch.tensor)

_RANDOM = np.random.default_rng(20240817)


def positive(*shape: int) -> np.ndarray:
    return _RANDOM.uniform(0.3, 3.0, shape)


def real(*shape: int) -> np.ndarray:
    return _RANDOM.normal(size=shape)


def chance(*shape: int) -> np.ndarray:
    return _RANDOM.uniform(0.05, 0.95, shape)


def definite(*shape: int) -> np.ndarray:
    matrix = real(*shape, shape[-1])
    return matrix @ np.swapaxes(matrix, -1, -2) + np.eye(shape[-1])


SIMPLE: dict[str, tuple[Any, ...]] = {
    "Bernoulli": (chance(2, 3),),
    "Beta": (positive(3), positive(2, 3)),
    "Binomial": (7, chance(3)),
    "Categorical": (positive(2, 4),),
    "Cauchy": (real(3), positive(2, 3)),
    "Chi2": (positive(3),),
    "ContinuousBernoulli": (np.array([0.1, 0.4995, 0.5, 0.9]),),
    "Dirichlet": (positive(2, 4),),
    "Exponential": (positive(3),),
    "FisherSnedecor": (3 * positive(3), positive(2, 3) + 4.1),
    "Gamma": (positive(3), positive(2, 3)),
    "Geometric": (chance(2, 3),),
    "Gumbel": (real(3), positive(2, 3)),
    "HalfCauchy": (positive(3),),
    "HalfNormal": (positive(3),),
    "InverseGamma": (positive(3) + 2.1, positive(2, 3)),
    "Kumaraswamy": (positive(3) + 1, positive(2, 3) + 1),
    "LKJCholesky": (3, positive(2)),
    "Laplace": (real(3), positive(2, 3)),
    "LogNormal": (real(3), positive(2, 3)),
    "LogisticNormal": (real(2, 3), positive(2, 3)),
    "LowRankMultivariateNormal": (real(2, 4), real(2, 4, 2), positive(2, 4)),
    "Multinomial": (5, positive(2, 4)),
    "MultivariateNormal": (real(2, 3), definite(2, 3)),
    "NegativeBinomial": (2.5, chance(3)),
    "Normal": (real(3), positive(2, 3)),
    "OneHotCategorical": (positive(2, 4),),
    "OneHotCategoricalStraightThrough": (positive(2, 4),),
    "Pareto": (positive(3), positive(2, 3) + 2.1),
    "Poisson": (positive(3),),
    "RelaxedBernoulli": (positive(1), chance(3)),
    "RelaxedOneHotCategorical": (positive(1), positive(2, 4)),
    "StudentT": (positive(3) + 2, real(3), positive(2, 3)),
    "Uniform": (real(3), real(3) + 5),
    "VonMises": (real(3), positive(2, 3)),
    "Weibull": (positive(3), positive(2, 3) + 1),
    "Wishart": (positive(2) + 3, definite(2, 3)),
}
"""Positional arguments, by class."""

_MATRIX, _LOC, _SCALE, _WEIGHTS = definite(3), real(2, 3), positive(2, 3), positive(2, 3)
_COUNTS = np.array([3.0, 7.0, 2.0])


def _normal(library: Library) -> Distribution:
    return library.distributions.Normal(library.tensor(_LOC), library.tensor(_SCALE))


def _mixture(library: Library) -> Distribution:
    weights = library.distributions.Categorical(library.tensor(_WEIGHTS))
    return library.distributions.MixtureSameFamily(weights, _normal(library))


def _transformed(library: Library) -> Distribution:
    parts = [library.distributions.AffineTransform(1.0, -2.0), library.distributions.TanhTransform()]
    return library.distributions.TransformedDistribution(_normal(library), parts)


def _given(name: str, **arguments: np.ndarray) -> Callable[[Library], Distribution]:
    def build(library: Library) -> Distribution:
        tensors = {key: library.tensor(value) for key, value in arguments.items()}
        return getattr(library.distributions, name)(**tensors)

    return build


OTHERS: dict[str, Callable[[Library], Distribution]] = {
    "Independent": lambda library: library.distributions.Independent(_normal(library), 1),
    "MixtureSameFamily": _mixture,
    "TransformedDistribution": _transformed,
    "Bernoulli of logits": _given("Bernoulli", logits=real(2, 3)),
    "Binomial of logits": _given("Binomial", total_count=_COUNTS, logits=real(3)),
    "Categorical of logits": _given("Categorical", logits=real(2, 4)),
    "Geometric of logits": _given("Geometric", logits=real(3)),
    "Multivariate of precision": _given("MultivariateNormal", loc=real(2, 3), precision_matrix=_MATRIX),
    "Multivariate of factor": _given(
        "MultivariateNormal", loc=real(3), scale_tril=np.linalg.cholesky(definite(2, 3))
    ),
    "Wishart of precision": _given("Wishart", df=positive(2) + 3, precision_matrix=_MATRIX),
}

NAMES = (*SIMPLE, *OTHERS)


def build(name: str, library: Library) -> Distribution:
    """The distribution of that name."""
    if name in OTHERS:
        return OTHERS[name](library)
    arguments = [library.tensor(value) if isinstance(value, np.ndarray) else value for value in SIMPLE[name]]
    return getattr(library.distributions, name)(*arguments)


def both(name: str) -> tuple[Distribution, Distribution]:
    """Ours and theirs."""
    return build(name, OURS), build(name, THEIRS)


def values(name: str, count: int, seed: int) -> np.ndarray:
    """Values drawn by raxis; torch checks that they are within the support when it is asked for their density."""
    raxis.manual_seed(seed)
    return build(name, OURS).sample((count,)).numpy()
