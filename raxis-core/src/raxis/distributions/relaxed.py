"""Continuous relaxations of the Bernoulli and the categorical distribution.

Sources: Maddison, Mnih & Teh, The concrete distribution (2017); Jang, Gu & Poole, Categorical reparameterization with
Gumbel-softmax (2017).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.categorical import OfCategories
from raxis.distributions.choices import FromChances, one_of
from raxis.distributions.distribution import Constraints, Shape
from raxis.distributions.gumbel import Gumbel
from raxis.distributions.transformed_distribution import TransformedDistribution
from raxis.distributions.transforms import ExpTransform, SigmoidTransform
from raxis.nn.functional import softplus
from raxis.tensor import Tensor

__all__ = ["ExpRelaxedCategorical", "LogitRelaxedBernoulli", "RelaxedBernoulli", "RelaxedOneHotCategorical"]


class LogitRelaxedBernoulli(FromChances):
    """The logit of a `RelaxedBernoulli` variable; arguments and errors as there.

    Example:
        >>> import raxis
        >>> from raxis.distributions.relaxed import LogitRelaxedBernoulli
        >>> LogitRelaxedBernoulli(1.0, 0.5).log_prob(raxis.tensor(0.0))
        tensor(-1.3863)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        name, chances = one_of(probs=probs, logits=logits)
        super().__init__(self._broadcast_parameters(**{name: chances}), validate_args=validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        noise = raxis.rand(shape, dtype=self._chances.dtype, device=self._chances.device)
        limits = raxis.finfo(noise.dtype)
        noise = noise.clamp(limits.tiny, 1 - limits.eps)
        return (noise.log() - (-noise).log1p() + self.logits) / self.temperature

    def _log_prob(self, value: Tensor) -> Tensor:
        difference = self.logits - value * self.temperature
        return _logarithm(self.temperature) + difference - 2 * softplus(difference)


def _logarithm(temperature: Any) -> Any:
    return temperature.log() if isinstance(temperature, Tensor) else math.log(temperature)


class _Relaxed(TransformedDistribution):
    """A transformed distribution with a temperature and chances."""

    @property
    def temperature(self) -> Any:
        """How far from discrete values: 0 is none."""
        return self.base_dist.temperature  # type: ignore[attr-defined]

    @property
    def logits(self) -> Tensor:
        """Logits of the discrete distribution."""
        return self.base_dist.logits  # type: ignore[attr-defined]

    @property
    def probs(self) -> Tensor:
        """Probabilities of the discrete distribution."""
        return self.base_dist.probs  # type: ignore[attr-defined]


class RelaxedBernoulli(_Relaxed):
    """A distribution on (0, 1) that nears the Bernoulli one as the temperature falls.

    Args:
        temperature: above 0.
        probs: probability of 1.
        logits: its log-odds.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.RelaxedBernoulli(1.0, 0.5).log_prob(raxis.tensor(0.5))
        tensor(0.)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(OfCategories):
    """The logarithm of a `RelaxedOneHotCategorical` variable; arguments and errors as there."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = Gumbel(raxis.zeros_like(self._chances), 1.0, validate_args=False)
        drawn = noise.expand((*self._batch_shape, self._count)).rsample(sample_shape)
        return ((self.logits + drawn) / self.temperature).log_softmax(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        count, temperature = self._count, self.temperature
        score = self.logits - value * temperature
        score = (score - score.logsumexp(-1, keepdim=True)).sum(-1)
        scale = math.lgamma(count) + (count - 1) * _logarithm(temperature)
        return score + scale


class RelaxedOneHotCategorical(_Relaxed):
    """A distribution of vectors of probabilities that nears one-hot vectors as the temperature falls.

    Args:
        temperature: above 0.
        probs: shape ``(..., categories)``.
        logits: logarithms of such, up to a constant.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.RelaxedOneHotCategorical(1.0, raxis.tensor([0.5, 0.5])).event_shape
        raxis.Size([2])
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
