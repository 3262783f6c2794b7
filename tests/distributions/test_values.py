"""Densities, moments and shapes against torch in float64."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.stats
import torch

import raxis
from raxis import distributions as D
from tests.distributions.families import NAMES, OURS, THEIRS, both, build, values

WRONG_IN_TORCH = {
    ("Kumaraswamy", "mode"),  # NaN where there is one
    ("VonMises", "variance"),  # 1e-8 off, as the next two
    ("VonMises", "stddev"),
    ("VonMises", "log_prob"),
    ("Multinomial", "entropy"),  # computed in float32
}


def _outcome(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except NotImplementedError:
        return NotImplementedError


def _same(ours: Any, theirs: Any) -> None:
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs
        return
    expected = theirs.detach().numpy()
    assert ours.numpy(force=True).dtype == expected.dtype
    np.testing.assert_allclose(ours.numpy(force=True), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "attribute", ["mean", "mode", "variance", "stddev", "has_rsample", "has_enumerate_support"]
)
def test_moments(name: str, attribute: str) -> None:
    if (name, attribute) in WRONG_IN_TORCH:
        pytest.skip("torch is wrong here")
    ours, theirs = both(name)
    _same(_outcome(lambda: getattr(ours, attribute)), _outcome(lambda: getattr(theirs, attribute)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("function", ["log_prob", "cdf"])
def test_functions_of_values(name: str, function: str, seed: int) -> None:
    if (name, function) in WRONG_IN_TORCH:
        pytest.skip("torch is wrong here")
    ours, theirs = both(name)
    value = values(name, 5, seed)
    expected = _outcome(lambda: getattr(theirs, function)(torch.tensor(value)))
    _same(_outcome(lambda: getattr(ours, function)(raxis.tensor(value))), expected)


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_nothing(name: str) -> None:
    ours, theirs = both(name)
    if (name, "entropy") not in WRONG_IN_TORCH and name != "Binomial of logits":
        _same(_outcome(ours.entropy), _outcome(theirs.entropy))
    _same(_outcome(ours.enumerate_support), _outcome(theirs.enumerate_support))
    _same(_outcome(lambda: ours.enumerate_support(False)), _outcome(lambda: theirs.enumerate_support(False)))


@pytest.mark.parametrize("name", NAMES)
def test_icdf(name: str, rng: np.random.Generator) -> None:
    ours, theirs = both(name)
    chances = rng.uniform(0.01, 0.99, (5, *theirs.batch_shape))
    expected = _outcome(lambda: theirs.icdf(torch.tensor(chances)))
    _same(_outcome(lambda: ours.icdf(raxis.tensor(chances))), expected)


@pytest.mark.parametrize("name", NAMES)
def test_shapes(name: str, seed: int) -> None:
    ours, theirs = both(name)
    assert tuple(ours.batch_shape) == tuple(theirs.batch_shape)
    assert tuple(ours.event_shape) == tuple(theirs.event_shape)
    assert ours.support.event_dim == theirs.support.event_dim
    assert ours.support.is_discrete == theirs.support.is_discrete
    whole = (*theirs.batch_shape, *theirs.event_shape)
    for shape in ((), (5,), (2, 3), (2, 0)):
        assert tuple(ours.sample(shape).shape) == (*shape, *whole)
        if theirs.has_rsample:
            assert tuple(ours.rsample(shape).shape) == (*shape, *whole)
    value = raxis.tensor(values(name, 4, seed))
    assert ours.support.check(value).all()
    assert tuple(ours.support.check(value).shape) == tuple(
        theirs.support.check(torch.tensor(value.numpy())).shape
    )


@pytest.mark.parametrize("name", NAMES)
def test_expand(name: str, seed: int) -> None:
    ours, theirs = both(name)
    batch = (4, *theirs.batch_shape)
    wide = ours.expand(batch)
    assert type(wide) is type(ours)
    assert tuple(wide.batch_shape) == batch
    assert tuple(wide.sample().shape) == (*batch, *theirs.event_shape)
    value = raxis.tensor(values(name, 4, seed))
    np.testing.assert_allclose(wide.log_prob(value).numpy(), ours.log_prob(value).numpy(), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_empty_batch(name: str) -> None:
    ours = build(name, OURS)
    empty = ours.expand((0, *ours.batch_shape))
    sample = empty.sample((2,))
    assert tuple(sample.shape) == (2, 0, *ours.batch_shape, *ours.event_shape)
    assert tuple(empty.log_prob(sample).shape) == (2, 0, *ours.batch_shape)


# What torch computes less exactly or not at all, against SciPy.
SCIPY = {
    "VonMises": (D.VonMises(0.5, 2.0), scipy.stats.vonmises(2.0, 0.5)),
    "FisherSnedecor": (D.FisherSnedecor(3.0, 5.0), scipy.stats.f(3.0, 5.0)),
    **{
        f"GeneralizedPareto of {k}": (D.GeneralizedPareto(0.5, 2.0, k), scipy.stats.genpareto(k, 0.5, 2.0))
        for k in (-0.3, 0.0, 0.3)
    },
}


@pytest.mark.parametrize("name", SCIPY)
def test_densities_against_scipy(name: str) -> None:
    ours, theirs = SCIPY[name]
    grid = np.linspace(0.6, 3.0, 7, dtype=np.float32)
    np.testing.assert_allclose(ours.log_prob(raxis.tensor(grid)).numpy(), theirs.logpdf(grid), rtol=2e-5)
    if name.startswith("Generalized"):
        np.testing.assert_allclose(ours.cdf(raxis.tensor(grid)).numpy(), theirs.cdf(grid), rtol=2e-5)
        inside = np.array([0.1, 0.5, 0.9], np.float32)
        np.testing.assert_allclose(ours.icdf(raxis.tensor(inside)).numpy(), theirs.ppf(inside), rtol=2e-5)
        np.testing.assert_allclose(float(ours.entropy()), theirs.entropy(), rtol=1e-5)
        np.testing.assert_allclose([float(ours.mean), float(ours.variance)], theirs.stats("mv"), rtol=1e-5)


def test_circular_variance() -> None:
    ours = D.VonMises(raxis.tensor(0.0).double(), raxis.tensor(2.0).double())
    expected = 1 - scipy.special.i1(2.0) / scipy.special.i0(2.0)
    np.testing.assert_allclose(float(ours.variance), expected, rtol=1e-12)


def test_multinomial_entropy_is_the_sum_over_all_counts() -> None:
    ours = D.Multinomial(3, raxis.tensor([0.2, 0.3, 0.5]).double())
    counts = [each for each in itertools.product(range(4), repeat=3) if sum(each) == 3]
    log_probs = ours.log_prob(raxis.tensor(counts, dtype=raxis.float64)).numpy()
    np.testing.assert_allclose(np.exp(log_probs).sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(float(ours.entropy()), -(np.exp(log_probs) * log_probs).sum(), rtol=1e-12)


def test_numbers_take_the_dtype_of_tensors() -> None:
    assert D.Normal(0.0, raxis.ones(2, dtype=raxis.float64)).loc.dtype is raxis.float64
    assert D.Normal(0, 1).loc.dtype is raxis.get_default_dtype()
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Normal(raxis.zeros(3), 1.0)) == "Normal(loc: raxis.Size([3]), scale: raxis.Size([3]))"


def test_gradients_reach_parameters_that_were_computed() -> None:
    probs = raxis.tensor([0.2, 0.7], requires_grad=True)
    D.Bernoulli(probs).log_prob(raxis.tensor([1.0, 0.0])).sum().backward()
    np.testing.assert_allclose(probs.grad.numpy(), [1 / 0.2, -1 / 0.3], rtol=1e-5)


def test_distributions_are_imported_when_first_used() -> None:
    code = "import sys, raxis; assert 'raxis.distributions' not in sys.modules; raxis.distributions.Normal(0.0, 1.0)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_are_torchs() -> None:
    missing = {name for name in THEIRS.distributions.__all__ if not hasattr(D, name)}
    assert missing == {"ExponentialFamily"}


class Scaled(D.Distribution):
    """What a user may write: PyTorch's protocol, without this library's helpers."""

    arg_constraints: ClassVar[Any] = {"factor": D.constraints.positive}
    support = D.constraints.real

    def __init__(self, factor: Any, validate_args: bool | None = None) -> None:
        self.factor = raxis.as_tensor(factor)
        super().__init__(self.factor.shape, validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.factor.expand(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return value * self.factor


def test_own_distributions() -> None:
    own = Scaled(raxis.tensor([1.0, 2.0]))
    assert repr(own) == "Scaled(factor: raxis.Size([2]))"
    assert own.log_prob(raxis.ones(2)).tolist() == [1.0, 2.0]
    assert tuple(own.expand((3, 2)).sample((4,)).shape) == (4, 3, 2)
    assert tuple(D.Independent(own, 1).log_prob(raxis.ones(5, 2)).shape) == (5,)
    with pytest.raises(ValueError, match="parameter factor"):
        Scaled(-1.0)


COPIED = [
    "Normal",
    "LogNormal",
    "Categorical of logits",
    "MultivariateNormal",
    "MixtureSameFamily",
    "HalfNormal",
]


@pytest.mark.parametrize("name", COPIED)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies(name: str, copied: Callable[[Any], Any], seed: int) -> None:
    ours = build(name, OURS)
    value = raxis.tensor(values(name, 3, seed))
    np.testing.assert_array_equal(copied(ours).log_prob(value).numpy(), ours.log_prob(value).numpy())
