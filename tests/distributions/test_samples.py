"""Samples against SciPy's distributions, and the draws underneath; identical for one seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats as st
import torch

import raxis
from raxis import distributions as D

COUNT = 20_000
LEAST = 1e-4
"""P-values below this fail; seeds are fixed."""


@pytest.fixture(autouse=True)
def fixed_seed(seed: int) -> None:
    raxis.manual_seed(seed % 1000)


CONTINUOUS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Normal": (lambda: D.Normal(1.0, 2.0), st.norm(1, 2)),
    "Uniform": (lambda: D.Uniform(-1.0, 2.0), st.uniform(-1, 3)),
    "Laplace": (lambda: D.Laplace(1.0, 2.0), st.laplace(1, 2)),
    "Cauchy": (lambda: D.Cauchy(1.0, 2.0), st.cauchy(1, 2)),
    "Gumbel": (lambda: D.Gumbel(1.0, 2.0), st.gumbel_r(1, 2)),
    "Exponential": (lambda: D.Exponential(2.0), st.expon(0, 0.5)),
    "Weibull": (lambda: D.Weibull(2.0, 1.5), st.weibull_min(1.5, 0, 2)),
    "Pareto": (lambda: D.Pareto(2.0, 3.0), st.pareto(3, 0, 2)),
    "GeneralizedPareto": (lambda: D.GeneralizedPareto(1.0, 2.0, 0.3), st.genpareto(0.3, 1, 2)),
    "Gamma": (lambda: D.Gamma(2.5, 2.0), st.gamma(2.5, 0, 0.5)),
    "Gamma below 1": (lambda: D.Gamma(0.3, 2.0), st.gamma(0.3, 0, 0.5)),
    "Gamma of 1": (lambda: D.Gamma(1.0, 1.0), st.expon()),
    "Gamma of many": (lambda: D.Gamma(1e4, 1.0), st.gamma(1e4)),
    "InverseGamma": (lambda: D.InverseGamma(2.5, 2.0), st.invgamma(2.5, 0, 2)),
    "Chi2": (lambda: D.Chi2(3.0), st.chi2(3)),
    "FisherSnedecor": (lambda: D.FisherSnedecor(3.0, 5.0), st.f(3, 5)),
    "Beta": (lambda: D.Beta(0.5, 2.0), st.beta(0.5, 2)),
    "Kumaraswamy of 1": (lambda: D.Kumaraswamy(2.0, 1.0), st.beta(2, 1)),
    "StudentT": (lambda: D.StudentT(3.0, 1.0, 2.0), st.t(3, 1, 2)),
    "HalfNormal": (lambda: D.HalfNormal(2.0), st.halfnorm(0, 2)),
    "HalfCauchy": (lambda: D.HalfCauchy(2.0), st.halfcauchy(0, 2)),
    "LogNormal": (lambda: D.LogNormal(0.5, 0.7), st.lognorm(0.7, 0, math.exp(0.5))),
    "VonMises": (lambda: D.VonMises(0.5, 2.0), st.vonmises(2, 0.5)),
    "VonMises, wide": (lambda: D.VonMises(0.0, 1e-6), st.uniform(-math.pi, 2 * math.pi)),
    "Dirichlet": (lambda: _First(D.Dirichlet(raxis.tensor([0.5, 1.0, 2.0]))), st.beta(0.5, 3)),
    "MultivariateNormal": (
        lambda: _First(D.MultivariateNormal(raxis.ones(2), raxis.tensor([[4.0, 1.0], [1.0, 2.0]]))),
        st.norm(1, 2),
    ),
    "LowRankMultivariateNormal": (
        lambda: _First(
            D.LowRankMultivariateNormal(raxis.ones(2), raxis.ones(2, 1), raxis.tensor([3.0, 1.0]))
        ),
        st.norm(1, 2),
    ),
    "MixtureSameFamily of equals": (
        lambda: D.MixtureSameFamily(D.Categorical(raxis.ones(2)), D.Normal(raxis.ones(2), 2.0)),
        st.norm(1, 2),
    ),
    "LKJCholesky": (lambda: _Correlation(D.LKJCholesky(3, 1.5)), st.beta(2, 2, -1, 2)),
    "Wishart": (lambda: _Corner(D.Wishart(3.0, 2 * raxis.eye(2))), st.chi2(3, 0, 2)),
    "RelaxedBernoulli": (lambda: D.RelaxedBernoulli(1.0, 0.5), st.uniform()),
}


class _Part:
    """One number of every sample."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole


class _First(_Part):
    def sample(self, shape: tuple[int, ...]) -> Any:
        return self.whole.sample(shape)[..., 0]


class _Corner(_Part):
    def sample(self, shape: tuple[int, ...]) -> Any:
        return self.whole.sample(shape)[..., 1, 1]


class _Correlation(_Part):
    def sample(self, shape: tuple[int, ...]) -> Any:
        factor = self.whole.sample(shape)
        return (factor @ factor.mT)[..., 2, 1]


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str) -> None:
    build, expected = CONTINUOUS[name]
    drawn = build().sample((COUNT,)).numpy().astype(np.float64)
    assert st.kstest(drawn, expected.cdf).pvalue > LEAST


DISCRETE: dict[str, tuple[Callable[[], Any], Any]] = {
    "Bernoulli": (lambda: D.Bernoulli(0.3), st.bernoulli(0.3)),
    "Binomial": (lambda: D.Binomial(9, 0.3), st.binom(9, 0.3)),
    "Binomial, many": (lambda: D.Binomial(100, 0.4), st.binom(100, 0.4)),
    "Binomial, likely": (lambda: D.Binomial(100, 0.95), st.binom(100, 0.95)),
    "Binomial, very many": (lambda: D.Binomial(10_000, 0.8), st.binom(10_000, 0.8)),
    "Geometric": (lambda: D.Geometric(0.3), st.geom(0.3, -1)),
    "NegativeBinomial": (lambda: D.NegativeBinomial(2.5, 0.4), st.nbinom(2.5, 0.6)),
    "Poisson": (lambda: D.Poisson(3.0), st.poisson(3)),
    "Poisson, rare": (lambda: D.Poisson(0.01), st.poisson(0.01)),
    "Poisson of 10": (lambda: D.Poisson(10.0), st.poisson(10)),
    "Poisson, many": (lambda: D.Poisson(300.0), st.poisson(300)),
    "Categorical": (
        lambda: D.Categorical(raxis.tensor([1.0, 2.0, 5.0])),
        st.rv_discrete(values=([0, 1, 2], [0.125, 0.25, 0.625])),
    ),
    "Multinomial": (lambda: _First(D.Multinomial(6, raxis.tensor([1.0, 2.0, 5.0]))), st.binom(6, 0.125)),
    "OneHotCategorical": (lambda: _First(D.OneHotCategorical(raxis.tensor([1.0, 3.0]))), st.bernoulli(0.25)),
}


def chi_squared(drawn: np.ndarray, expected: Any) -> float:
    """The p-value of counts; those expected less than 20 times are one class."""
    values, counts = np.unique(drawn, return_counts=True)
    support = np.arange(values.min(), values.max() + 1)
    seen = np.zeros(support.size)
    seen[(values - values.min()).astype(int)] = counts
    wanted = expected.pmf(support) * drawn.size
    often = wanted >= 20
    seen = np.append(seen[often], seen[~often].sum())
    wanted = np.append(wanted[often], drawn.size - wanted[often].sum())
    used = wanted > 1e-6
    assert not seen[~used].any()
    statistic = ((seen - wanted)[used] ** 2 / wanted[used]).sum()
    return float(st.chi2.sf(statistic, max(used.sum() - 1, 1)))


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    build, expected = DISCRETE[name]
    assert chi_squared(build().sample((COUNT,)).numpy(), expected) > LEAST


def test_samples_vary_over_the_batch() -> None:
    rates = raxis.tensor([0.5, 20.0, 5.0, 2000.0])
    drawn = D.Poisson(rates).sample((4000,)).numpy().astype(np.float64)
    np.testing.assert_allclose(drawn.mean(0), rates.numpy(), rtol=0.1)
    drawn = D.Gamma(rates, 1.0).sample((4000,)).numpy().astype(np.float64)
    np.testing.assert_allclose(drawn.mean(0), rates.numpy(), rtol=0.1)
    assert abs(np.corrcoef(drawn.T) - np.eye(4)).max() < 0.1


DRAWS: dict[str, Callable[[], Any]] = {
    "poisson": lambda: raxis.poisson(raxis.tensor([0.5, 20.0] * 10)),
    "binomial": lambda: raxis.binomial(raxis.full((20,), 50.0), raxis.tensor([0.01, 0.5] * 10)),
    "gamma": lambda: D.Gamma(raxis.tensor([0.5, 20.0] * 10), 1.0).sample(),
    "beta": lambda: D.Beta(raxis.tensor([0.5, 20.0] * 10), 1.0).sample(),
    "von mises": lambda: D.VonMises(raxis.zeros(20), 1.0).sample(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_seeds_repeat(name: str) -> None:
    raxis.manual_seed(5)
    first, second = DRAWS[name]().tolist(), DRAWS[name]().tolist()
    assert first != second
    raxis.manual_seed(5)
    assert DRAWS[name]().tolist() == first


# Recorded once: every backend must repeat them.
FIRST_NUMBERS = {
    "poisson": [0.0, 14.0, 0.0, 16.0, 1.0, 23.0],
    "binomial": [0.0, 20.0, 0.0, 28.0, 1.0, 28.0],
    "gamma": [1.08294, 20.26544, 0.03735, 25.63311, 0.58978, 21.10344],
    "beta": [0.35898, 0.99042, 0.08901, 0.98810, 0.72581, 0.99067],
    "von mises": [0.94214, 0.01596, 1.59931, 0.72533, -2.96779, -0.34608],
}


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_the_same_on_every_backend(name: str) -> None:
    raxis.manual_seed(5)
    np.testing.assert_allclose(DRAWS[name]().numpy()[:6], FIRST_NUMBERS[name], rtol=1e-5, atol=1e-5)


def test_small_means_are_quantiles_of_uniform_numbers() -> None:
    for draw, expected in (
        (lambda: raxis.poisson(raxis.full((200,), 3.5)), st.poisson(3.5)),
        (lambda: raxis.binomial(raxis.full((200,), 10.0), raxis.full((200,), 0.25)), st.binom(10, 0.25)),
    ):
        raxis.manual_seed(8)
        drawn = draw().numpy()
        raxis.manual_seed(8)
        np.testing.assert_array_equal(drawn, expected.ppf(raxis.rand(200, dtype=raxis.float64).numpy()))


def test_a_loop_of_rejections_changes_nothing_drawn_later() -> None:
    raxis.manual_seed(5)
    raxis.poisson(raxis.full((10,), 1e6))
    after = raxis.rand(3).tolist()
    raxis.manual_seed(5)
    raxis.poisson(raxis.full((10,), 10.5))
    assert raxis.rand(3).tolist() == after


def test_generators_are_streams() -> None:
    rates, chances = raxis.full((20,), 20.0), raxis.full((20,), 0.5)
    for draw in (lambda made: raxis.poisson(rates, made), lambda made: raxis.binomial(rates, chances, made)):
        first = draw(raxis.Generator().manual_seed(3)).tolist()
        assert draw(raxis.Generator().manual_seed(3)).tolist() == first
        assert draw(raxis.Generator().manual_seed(4)).tolist() != first


EDGES: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "poisson": (lambda L: L.poisson(L.tensor([0.0, 0.0])), [0.0, 0.0]),
    "binomial, certain": (
        lambda L: L.binomial(L.tensor([7.0, 7.0, 0.0]), L.tensor([0.0, 1.0, 0.5])),
        [0, 7, 0],
    ),
    "binomial, no chance": (lambda L: L.binomial(L.tensor([7.0, 7.0]), L.tensor([-1.0, 2.0])), [0, 7]),
    "binomial of NaN": (lambda L: L.binomial(L.tensor([7.0]), L.tensor([math.nan])), [math.nan]),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("library", [raxis, torch])
def test_edges(name: str, library: Any) -> None:
    draw, expected = EDGES[name]
    np.testing.assert_array_equal(draw(library).numpy(), np.array(expected, np.float32))


def test_gamma_at_the_edges() -> None:
    drawn = raxis.tensor([math.nan, -1.0, math.inf, 1e-30])._standard_gamma()
    np.testing.assert_array_equal(drawn.numpy(), [math.nan, math.nan, math.inf, np.finfo(np.float32).tiny])


def test_tiny_concentrations() -> None:
    """Gamma variables would all underflow; their logarithms do not, so that nothing is NaN and means are right."""
    drawn = D.Dirichlet(raxis.tensor([1e-3, 2e-3, 1e-3])).sample((4000,))
    assert not drawn.isnan().any()
    np.testing.assert_allclose(drawn.mean(0).numpy(), [0.25, 0.5, 0.25], atol=0.04)
    drawn = D.Beta(1e-3, 1e-3).sample((4000,))
    assert not drawn.isnan().any()
    np.testing.assert_allclose(float(drawn.mean()), 0.5, atol=0.04)


SHAPED = {
    "poisson": lambda x: raxis.poisson(x),
    "binomial": lambda x: raxis.binomial(x, raxis.full_like(x, 0.5)),
    "gamma": lambda x: x._standard_gamma(),
    "von mises": lambda x: x._standard_von_mises(),
}


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (2, 3)])
def test_shapes_and_dtypes(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    parameter = raxis.full(shape, 4.0, dtype=getattr(raxis, dtype))
    drawn = SHAPED[name](parameter)
    assert drawn.dtype is parameter.dtype
    assert tuple(drawn.shape) == shape
    assert not drawn.isnan().any()


def test_strided_parameters() -> None:
    rates = raxis.tensor([[0.0, 50.0], [1000.0, 0.0]]).t()
    drawn = raxis.poisson(rates).numpy()
    assert (drawn == 0).tolist() == [[True, False], [False, True]]
    assert abs(drawn[0, 1] - 1000) < 250
    assert abs(drawn[1, 0] - 50) < 50


ERRORS: dict[str, Callable[[Any], Any]] = {
    "negative rate": lambda L: L.poisson(L.tensor([-1.0])),
    "NaN rate": lambda L: L.poisson(L.tensor([math.nan])),
    "integer rate": lambda L: L.poisson(L.tensor([1])),
    "complex rate": lambda L: L.poisson(L.tensor([1j])),
    "integer count": lambda L: L.binomial(L.tensor([1]), L.tensor([0.5])),
    "two dtypes": lambda L: L.binomial(L.tensor([1.0]), L.tensor([0.5], dtype=L.float64)),
    "two shapes": lambda L: L.binomial(L.ones(2, 3), L.ones(4)),
    "exponential of integers": lambda L: L.ones(2, dtype=L.int64).exponential_(),
    "exponential of complex": lambda L: L.ones(2, dtype=L.complex64).exponential_(),
    "cauchy of integers": lambda L: L.ones(2, dtype=L.int64).cauchy_(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    with pytest.raises(Exception) as theirs:
        ERRORS[name](torch)
    with pytest.raises(type(theirs.value)) as ours:
        ERRORS[name](raxis)
    assert type(ours.value) is type(theirs.value)


def test_integers_keep_memory_formats() -> None:
    like = raxis.ones(2, 3, 4, 5).to(memory_format=raxis.channels_last)
    assert raxis.randint_like(like, 5).stride() == like.stride()
    assert raxis.randint_like(raxis.ones(3, 2).t(), 5).stride() == (1, 2)
    assert tuple(raxis.multinomial(raxis.ones(0, 4), 2).shape) == (0, 2)
