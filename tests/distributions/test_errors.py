"""Wrong arguments raise PyTorch's exception classes, and what is not checked is not checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributions

import raxis
from raxis import distributions as D

NAN = float("nan")

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "negative scale": lambda L, M: M.Normal(0.0, L.tensor(-1.0)),
    "text": lambda L, M: M.Normal("a", 1.0),
    "shapes that do not broadcast": lambda L, M: M.Normal(L.zeros(3), L.ones(4)),
    "NaN": lambda L, M: M.Normal(NAN, 1.0),
    "value that is a number": lambda L, M: M.Normal(0.0, 1.0).log_prob(1.0),
    "value that is NaN": lambda L, M: M.Normal(0.0, 1.0).log_prob(L.tensor(NAN)),
    "value of another shape": lambda L, M: M.Normal(L.zeros(3), 1.0).log_prob(L.zeros(2)),
    "event of another shape": lambda L, M: M.Dirichlet(L.ones(3)).log_prob(L.ones(2) / 2),
    "low above high": lambda L, M: M.Uniform(1.0, 0.0),
    "value outside": lambda L, M: M.Uniform(0.0, 1.0).log_prob(L.tensor(2.0)),
    "cdf outside": lambda L, M: M.Uniform(0.0, 1.0).cdf(L.tensor(2.0)),
    "chance above 1": lambda L, M: M.Bernoulli(2.0),
    "neither probs nor logits": lambda L, M: M.Bernoulli(),
    "both probs and logits": lambda L, M: M.Bernoulli(0.5, logits=0.5),
    "half an event": lambda L, M: M.Bernoulli(0.5).log_prob(L.tensor(0.5)),
    "no rsample": lambda L, M: M.Bernoulli(0.5).rsample(),
    "no cdf": lambda L, M: M.Bernoulli(0.5).cdf(L.tensor(1.0)),
    "no icdf": lambda L, M: M.Bernoulli(0.5).icdf(L.tensor(1.0)),
    "no entropy": lambda L, M: M.Poisson(1.0).entropy(),
    "no support to list": lambda L, M: M.Normal(0.0, 1.0).enumerate_support(),
    "supports that differ": lambda L, M: M.Binomial(L.tensor([2.0, 3.0]), 0.5).enumerate_support(),
    "categories without dimension": lambda L, M: M.Categorical(L.tensor(1.0)),
    "no categories": lambda L, M: M.Categorical(),
    "negative category": lambda L, M: M.Categorical(L.tensor([1.0, -1.0])),
    "category out of range": lambda L, M: M.Categorical(L.ones(2)).log_prob(L.tensor(2)),
    "NaN logits": lambda L, M: M.Categorical(logits=L.tensor([1.0, NAN])),
    "tensor of counts": lambda L, M: M.Multinomial(L.tensor(2), L.ones(3)),
    "too many counts": lambda L, M: M.Multinomial(2, L.ones(3)).log_prob(L.ones(3)),
    "geometric of no chance": lambda L, M: M.Geometric(0.0),
    "negative count": lambda L, M: M.Binomial(-1, 0.5),
    "count above total": lambda L, M: M.Binomial(5, 0.5).log_prob(L.tensor(6.0)),
    "certain negative binomial": lambda L, M: M.NegativeBinomial(3, 1.0),
    "fractional count": lambda L, M: M.Poisson(2.0).log_prob(L.tensor(1.5)),
    "negative rate": lambda L, M: M.Poisson(-1.0),
    "gamma of 0": lambda L, M: M.Gamma(0.0, 1.0),
    "beta outside": lambda L, M: M.Beta(1.0, 1.0).log_prob(L.tensor(1.5)),
    "dirichlet without dimension": lambda L, M: M.Dirichlet(L.tensor(1.0)),
    "dirichlet off the simplex": lambda L, M: M.Dirichlet(L.ones(2)).log_prob(L.tensor([0.5, 0.6])),
    "no matrix": lambda L, M: M.MultivariateNormal(L.zeros(2)),
    "two matrices": lambda L, M: M.MultivariateNormal(L.zeros(2), L.eye(2), L.eye(2)),
    "indefinite matrix": lambda L, M: M.MultivariateNormal(L.zeros(2), -L.eye(2)),
    "matrix that is a vector": lambda L, M: M.MultivariateNormal(L.zeros(2), L.ones(2)),
    "loc without dimension": lambda L, M: M.MultivariateNormal(L.tensor(1.0), L.eye(3)),
    "asymmetric matrix": lambda L, M: M.MultivariateNormal(L.zeros(2), L.tensor([[1.0, 0.5], [0.2, 1.0]])),
    "factor that is full": lambda L, M: M.MultivariateNormal(L.zeros(2), scale_tril=L.ones(2, 2)),
    "low rank of another size": lambda L, M: M.LowRankMultivariateNormal(L.zeros(2), L.ones(3, 1), L.ones(2)),
    "diagonal of another size": lambda L, M: M.LowRankMultivariateNormal(L.zeros(2), L.ones(2, 1), L.ones(3)),
    "too few degrees of freedom": lambda L, M: M.Wishart(L.tensor(0.5), L.eye(2)),
    "one by one correlations": lambda L, M: M.LKJCholesky(1),
    "too few dimensions": lambda L, M: M.Independent(M.Normal(0.0, 1.0), 1),
    "no transform": lambda L, M: M.TransformedDistribution(M.Normal(0.0, 1.0), 1),
    "transform of vectors": lambda L, M: M.TransformedDistribution(
        M.Normal(0.0, 1.0), M.StickBreakingTransform()
    ),
    "mixture of no weights": lambda L, M: M.MixtureSameFamily(M.Normal(0.0, 1.0), M.Normal(0.0, 1.0)),
    "mixture of numbers": lambda L, M: M.MixtureSameFamily(M.Categorical(L.ones(3)), 1),
    "weights of other components": lambda L, M: M.MixtureSameFamily(
        M.Categorical(L.ones(3)), M.Normal(L.zeros(2), 1.0)
    ),
    "divergence without formula": lambda L, M: M.kl_divergence(M.Normal(0.0, 1.0), M.Bernoulli(0.5)),
    "batch that does not expand": lambda L, M: M.Normal(L.zeros(3), 1.0).expand((2,)),
    "default that is no bool": lambda L, M: M.Distribution.set_default_validate_args(3),
    "negative sample shape": lambda L, M: M.Normal(0.0, 1.0).sample((-1,)),
    "jacobian of none": lambda L, M: M.AbsTransform().log_abs_det_jacobian(L.ones(1), L.ones(1)),
    "shape without dimension": lambda L, M: M.SoftmaxTransform().forward_shape(()),
    "reshaping sizes": lambda L, M: M.ReshapeTransform((2,), (3,)),
    "relaxed outside": lambda L, M: M.RelaxedBernoulli(1.0, 0.5).log_prob(L.tensor(2.0)),
    "negative log-normal": lambda L, M: M.LogNormal(0.0, 1.0).log_prob(L.tensor(-1.0)),
    "negative half-normal": lambda L, M: M.HalfNormal(1.0).log_prob(L.tensor(-1.0)),
    "below the least": lambda L, M: M.Pareto(1.0, 1.0).log_prob(L.tensor(0.5)),
    "not one-hot": lambda L, M: M.OneHotCategorical(L.ones(3)).log_prob(L.ones(3)),
}


@pytest.mark.parametrize("name", CALLS)
def test_classes(name: str) -> None:
    with pytest.raises(Exception) as theirs:
        CALLS[name](torch, torch.distributions)
    with pytest.raises(type(theirs.value)) as ours:
        CALLS[name](raxis, D)
    assert type(ours.value).__name__ == type(theirs.value).__name__.lstrip("_")
    assert len(str(ours.value)) > 10


def test_messages_name_parameter_constraint_and_values() -> None:
    message = (
        "Expected parameter scale (Tensor of shape (2,)) of distribution Normal(loc: raxis.Size([2]), scale: "
        "raxis.Size([2])) to satisfy the constraint GreaterThan(lower_bound=0.0), but found invalid values:\n"
        "tensor([ 1., -1.])"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        D.Normal(0.0, raxis.tensor([1.0, -1.0]))


def test_checks_can_be_left_out() -> None:
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1
    assert float(D.Uniform(0.0, 1.0, validate_args=False).log_prob(raxis.tensor(2.0))) == -raxis.inf
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).scale == -1
        with pytest.raises(ValueError, match="satisfy"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    assert D.Normal(raxis.ones(2, device="meta"), -raxis.ones(2, device="meta")).scale.device.type == "meta"


def test_sample_n_is_deprecated() -> None:
    with pytest.warns(FutureWarning, match="sample_n"):
        assert tuple(D.Normal(0.0, 1.0).sample_n(3).shape) == (3,)


def test_in_compiled_functions() -> None:
    """Parameters have no values while a function is recorded: nothing is checked, and draws follow the seed."""

    def step(loc: Any, rate: Any, logits: Any) -> Any:
        normal = D.Normal(loc, 2.0)
        drawn = normal.rsample((3,))
        counts = D.Poisson(rate).sample()
        return (
            normal.log_prob(drawn),
            counts,
            D.Categorical(logits=logits).sample((4,)),
            D.Gamma(rate, 1.0).rsample(),
        )

    arguments = raxis.zeros(2), raxis.tensor([3.0, 30.0]), raxis.tensor([[0.0, 1.0, 2.0]])
    raxis.manual_seed(3)
    expected = step(*arguments)
    compiled = raxis.compile(step)
    for _ in range(2):
        raxis.manual_seed(3)
        for got, wanted in zip(compiled(*arguments), expected, strict=True):
            assert (got - wanted).abs().max() < 1e-5


def test_under_vmap() -> None:
    """All examples are checked."""
    value, locs = raxis.tensor([0.5, 1.0]), raxis.arange(3.0)
    together = raxis.func.vmap(lambda loc: D.Normal(loc, 1.0).log_prob(value))(locs)
    one_by_one = raxis.stack([D.Normal(loc, 1.0).log_prob(value) for loc in locs])
    assert (together - one_by_one).abs().max() < 1e-6
    with pytest.raises(ValueError, match="satisfy"):
        raxis.func.vmap(lambda scale: D.Normal(0.0, scale).log_prob(value))(locs)
