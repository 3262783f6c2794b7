"""Gradients of samples and of densities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special
import torch

import raxis
from raxis import distributions as D
from tests.distributions.families import OURS, SIMPLE, THEIRS, values

CONCENTRATIONS = [1e-3, 0.05, 0.5, 1.0, 2.5, 30.0, 1e3, 1e6]


@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_gamma_against_torch(concentration: float, seed: int) -> None:
    raxis.manual_seed(seed)
    a = raxis.full((500,), concentration, dtype=raxis.float64, requires_grad=True)
    drawn = a._standard_gamma()
    drawn.sum().backward()
    theirs = torch._standard_gamma_grad(
        torch.full((500,), concentration, dtype=torch.float64), torch.tensor(drawn.numpy(force=True))
    ).numpy()
    # torch's piecewise approximation is up to 2e-3 off in places; the next test has the exact derivative.
    np.testing.assert_allclose(a.grad.numpy(), theirs, rtol=1e-2, atol=1e-300)
    assert np.median(abs(a.grad.numpy() / theirs - 1)) < 1e-4


@pytest.mark.parametrize("concentration", CONCENTRATIONS[1:])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_against_the_quantile_function(concentration: float, dtype: type) -> None:
    chances = np.linspace(0.02, 0.98, 25)
    quantiles = scipy.special.gammaincinv(concentration, chances)
    step = 1e-5 * concentration
    above, below = (scipy.special.gammaincinv(concentration + each, chances) for each in (step, -step))
    a = raxis.tensor(np.full(25, concentration, dtype))
    ours = a._log_gamma_slope(raxis.tensor(np.log(quantiles).astype(dtype))).numpy()
    exact = (above - below) / (2 * step) / quantiles
    np.testing.assert_allclose(ours, exact, rtol=1e-4 if dtype is np.float32 else 2e-6)


def test_gamma_in_the_tails() -> None:
    # Far below, P ~ x**a / gamma(a + 1).
    a, logarithm = (raxis.tensor([each], dtype=raxis.float64) for each in (0.01, -5000.0))
    expected = -(-5000.0 - scipy.special.digamma(1.01)) / 0.01
    np.testing.assert_allclose(float(a._log_gamma_slope(logarithm)), expected, rtol=1e-9)
    # Where 1 - P underflows beside 1, the tail has its own asymptotic series: Q ~ x**(a - 1) * exp(-x) / gamma(a).
    one, far = (raxis.tensor([each], dtype=raxis.float64) for each in (1.0, np.log(500.0)))
    expected = (np.log(500.0) - scipy.special.digamma(1.0) + 1 / 500) / 500
    np.testing.assert_allclose(float(one._log_gamma_slope(far)), expected, rtol=1e-5)


@pytest.mark.parametrize("concentration", [0.3, 4.0])
def test_the_mean_of_gradients_is_the_gradient_of_the_mean(concentration: float, seed: int) -> None:
    raxis.manual_seed(seed)
    count = 20_000
    for mean_of in (_gamma, _beta, _dirichlet):
        a = raxis.full((count,), concentration, dtype=raxis.float64, requires_grad=True)
        sample, expected = mean_of(a, concentration)
        sample.sum().backward()
        gradients = a.grad.numpy()
        assert abs(gradients.mean() - expected) < 5 * gradients.std() / np.sqrt(count)


def _gamma(a: Any, _: float) -> tuple[Any, float]:
    return D.Gamma(a, 2.0).rsample(), 0.5


def _beta(a: Any, value: float) -> tuple[Any, float]:
    return D.Beta(a, 2.0).rsample(), 2.0 / (value + 2.0) ** 2


def _dirichlet(a: Any, value: float) -> tuple[Any, float]:
    others = raxis.full((*a.shape, 2), 1.0, dtype=a.dtype)
    return D.Dirichlet(raxis.cat([a.unsqueeze(-1), others], -1)).rsample()[..., 0], 2.0 / (value + 2.0) ** 2


DENSITIES = [name for name in SIMPLE if name not in ("LKJCholesky", "Uniform", "VonMises")]


@pytest.mark.parametrize("name", DENSITIES)
def test_of_densities(name: str, seed: int) -> None:
    value = values(name, 3, seed)
    gradients = []
    for library in (OURS, THEIRS):
        arguments = [library.tensor(each) if isinstance(each, np.ndarray) else each for each in SIMPLE[name]]
        tensors = [each.requires_grad_() for each in arguments if not isinstance(each, (int, float))]
        log_prob = getattr(library.distributions, name)(*arguments).log_prob(library.tensor(value))
        log_prob.sum().backward()
        gradients.append([tensor.grad.numpy() for tensor in tensors])
    for ours, theirs in zip(*gradients, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)


REPARAMETERISED = [
    "Cauchy", "Exponential", "Gumbel", "HalfNormal", "InverseGamma", "Kumaraswamy", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MultivariateNormal", "Normal",
    "OneHotCategoricalStraightThrough", "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Uniform",
    "Weibull", "Wishart",
]  # fmt: skip


@pytest.mark.parametrize("name", REPARAMETERISED)
def test_samples_depend_on_their_parameters(name: str, seed: int) -> None:
    """The gradient of a sample is its difference quotient for one seed."""
    arguments = [raxis.tensor(each) for each in SIMPLE[name]]
    changed = arguments[-1]

    def drawn(value: Any) -> Any:
        raxis.manual_seed(seed)
        return getattr(D, name)(*arguments[:-1], value).rsample((2,))

    weights = raxis.tensor(np.random.default_rng(seed).normal(size=tuple(drawn(changed).shape)))
    leaf = changed.clone().requires_grad_()
    (drawn(leaf) * weights).sum().backward()
    if name == "OneHotCategoricalStraightThrough":
        assert leaf.grad.abs().sum() > 0
        return
    direction = raxis.ones_like(changed)
    if name == "Wishart":
        direction = raxis.eye(3, dtype=changed.dtype).expand(changed.shape)
    step = 1e-6
    quotient = ((drawn(changed + step * direction) - drawn(changed - step * direction)) * weights).sum() / (
        2 * step
    )
    np.testing.assert_allclose(float((leaf.grad * direction).sum()), float(quotient), rtol=1e-5, atol=1e-7)


def test_samples_without_gradients() -> None:
    scale = raxis.ones(2, requires_grad=True)
    assert not D.Normal(0.0, scale).sample().requires_grad
    assert not D.Poisson(scale).sample().requires_grad
    assert not D.Categorical(scale).sample().requires_grad
    assert D.Normal(0.0, scale).rsample().requires_grad
    assert D.Normal(0.0, scale).log_prob(raxis.zeros(2)).requires_grad
