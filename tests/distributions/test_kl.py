"""Divergences against torch, for every pair of families that either library serves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raxis
from raxis import distributions as D
from tests.distributions.families import OURS, THEIRS, chance, definite, positive, real

UNIT = (np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.6, 0.9]))

PAIRS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "Bernoulli": ((np.array([0.0, 0.3, 1.0]),), (np.array([0.1, 0.4, 0.0]),)),
    "Beta": ((positive(3), positive(3)), (positive(3), positive(3))),
    "Binomial": ((7, chance(3)), (7, chance(3))),
    "Categorical": (
        (np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]),),
        (np.array([[0.5, 0.25, 0.25], [0.0, 0.3, 0.7]]),),
    ),
    "Cauchy": ((real(3), positive(3)), (real(3), positive(3))),
    "Chi2": ((positive(3),), (positive(3),)),
    "ContinuousBernoulli": ((chance(3),), (chance(3),)),
    "Dirichlet": ((positive(3, 4),), (positive(3, 4),)),
    "Exponential": ((positive(3),), (positive(3),)),
    "Gamma": ((positive(3), positive(3)), (positive(3), positive(3))),
    "Geometric": ((chance(3),), (chance(3),)),
    "Gumbel": ((real(3), positive(3)), (real(3), positive(3))),
    "HalfCauchy": ((positive(3),), (positive(3),)),
    "HalfNormal": ((positive(3),), (positive(3),)),
    "InverseGamma": ((positive(3), positive(3)), (positive(3), positive(3))),
    "Laplace": ((real(3), positive(3)), (real(3), positive(3))),
    "LogNormal": ((real(3), positive(3)), (real(3), positive(3))),
    "LowRankMultivariateNormal": (
        (real(2, 3), real(2, 3, 2), positive(2, 3)),
        (real(2, 3), real(2, 3, 2), positive(2, 3)),
    ),
    "MultivariateNormal": ((real(2, 3), definite(2, 3)), (real(2, 3), definite(2, 3))),
    "Normal": ((real(3), positive(3)), (real(3), positive(3))),
    "OneHotCategorical": ((positive(2, 3),), (positive(2, 3),)),
    "Pareto": ((np.array([0.1, 0.5, 0.7]), positive(3) + 2), (np.array([0.05, 0.6, 0.7]), positive(3))),
    "Poisson": ((positive(3),), (positive(3),)),
    "StudentT": ((positive(3),), (positive(3),)),
    "Uniform": (UNIT, (np.array([-1.0, 0.3, 0.2]), np.array([2.0, 3.0, 0.95]))),
}
"""Arguments of p and of q."""


def _built(library: Any, name: str, side: int) -> Any:
    arguments = [library.tensor(each) if isinstance(each, np.ndarray) else each for each in PAIRS[name][side]]
    return getattr(library.distributions, name)(*arguments)


def _outcome(library: Any, p: str, q: str) -> Any:
    try:
        return library.distributions.kl_divergence(_built(library, p, 0), _built(library, q, 1))
    except NotImplementedError:
        return NotImplementedError


@pytest.mark.parametrize("p", PAIRS)
def test_against_torch(p: str) -> None:
    for q in PAIRS:
        theirs, ours = _outcome(THEIRS, p, q), _outcome(OURS, p, q)
        if theirs is NotImplementedError:
            assert ours is NotImplementedError, (p, q)
            continue
        np.testing.assert_allclose(
            ours.numpy(), theirs.detach().numpy(), rtol=1e-8, atol=1e-12, err_msg=f"{p}, {q}"
        )


def test_binomials_of_different_counts() -> None:
    few, many = D.Binomial(5, 0.5), D.Binomial(7, 0.5)
    assert float(D.kl_divergence(many, few)) == np.inf
    with pytest.raises(NotImplementedError, match="total_count"):
        D.kl_divergence(few, many)


def test_independent() -> None:
    loc, scale, other = real(2, 3), positive(2, 3), real(2, 3)
    results = []
    for library in (OURS, THEIRS):
        normal = library.distributions.Normal
        p, q = (normal(library.tensor(each), library.tensor(scale)) for each in (loc, other))
        wrapped = [library.distributions.Independent(each, 1) for each in (p, q)]
        results.append(library.distributions.kl_divergence(*wrapped).numpy())
    np.testing.assert_allclose(*results, rtol=1e-12)
    p = D.Normal(raxis.zeros(2), 1.0)
    with pytest.raises(NotImplementedError, match="reinterpreted"):
        D.kl_divergence(D.Independent(p, 1), D.Independent(p, 0))


def test_wishart_is_the_mean_of_the_difference(seed: int) -> None:
    """Not against torch, whose divergence is not this mean."""
    raxis.manual_seed(seed)
    p, q = (D.Wishart(raxis.tensor(positive(2) + 3), raxis.tensor(definite(2, 3))) for _ in range(2))
    drawn = p.sample((4000,))
    difference = (p.log_prob(drawn) - q.log_prob(drawn)).numpy()
    error = abs(difference.mean(0) - D.kl_divergence(p, q).numpy())
    assert (error < 5 * difference.std(0) / np.sqrt(4000)).all()
    np.testing.assert_allclose(D.kl_divergence(p, p).numpy(), 0, atol=1e-12)


def test_divergences_are_differentiable() -> None:
    gradients = []
    for library in (OURS, THEIRS):
        loc = library.tensor(np.array([0.5, -1.0])).requires_grad_()
        normal = library.distributions.Normal
        library.distributions.kl_divergence(normal(loc, 1.0), normal(0.0, 2.0)).sum().backward()
        gradients.append(loc.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_the_nearest_classes_decide() -> None:
    class Own(D.Normal):
        pass

    assert float(D.kl_divergence(Own(0.0, 1.0), D.Normal(1.0, 1.0))) == pytest.approx(0.5)

    @D.register_kl(Own, D.Normal)
    def _(p: Own, q: D.Normal) -> raxis.Tensor:
        return raxis.tensor(7.0)

    assert float(D.kl_divergence(Own(0.0, 1.0), D.Normal(1.0, 1.0))) == 7.0
    with pytest.raises(TypeError, match="subclass"):
        D.register_kl(int, D.Normal)
    with pytest.raises(NotImplementedError, match="p type Own and q type Bernoulli"):
        D.kl_divergence(Own(0.0, 1.0), D.Bernoulli(0.5))
