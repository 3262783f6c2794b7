"""The Bernoulli distribution and its continuous relative."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.choices import FromChances, one_of
from raxis.distributions.distribution import Constraints, Shape
from raxis.distributions.utils import clamp_probs, lazy_property, probs_to_logits
from raxis.nn.functional import binary_cross_entropy_with_logits, softplus
from raxis.tensor import Tensor

__all__ = ["Bernoulli", "ContinuousBernoulli"]


def binary_log_prob(logits: Tensor, value: Tensor) -> Tensor:
    """``value * log(p) + (1 - value) * log(1 - p)`` of the probabilities that `logits` stand for."""
    logits, value = raxis.broadcast_tensors(logits, value.to(logits.dtype))
    return -binary_cross_entropy_with_logits(logits, value, reduction="none")


class Bernoulli(FromChances):
    """1 with probability `probs`, else 0.

    Args:
        probs: probability of 1.
        logits: its log-odds.

    Raises:
        ValueError: unless exactly one of the two is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.Bernoulli(0.25).mean
        tensor(0.2500)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        name, chances = one_of(probs=probs, logits=logits)
        super().__init__(self._broadcast_parameters(**{name: chances}), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likelier = (self.probs > 0.5).to(self.probs.dtype)
        return raxis.where(self.probs == 0.5, math.nan, likelier)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return raxis.bernoulli(self._expanded_probs(sample_shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        return binary_log_prob(self.logits, value)

    def entropy(self) -> Tensor:
        return -binary_log_prob(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = raxis.arange(2, dtype=self._chances.dtype, device=self._chances.device)
        return self._enumerated(values, expand)


class ContinuousBernoulli(FromChances):
    """Values of [0, 1] with density proportional to ``probs ** x * (1 - probs) ** (1 - x)``.

    Source: Loaiza-Ganem & Cunningham, The continuous Bernoulli: fixing a pervasive error in variational autoencoders
    (2019).

    Args:
        probs: parameter in (0, 1), which is not the mean.
        logits: its log-odds.
        lims: between these, near 0.5 where the formulas cancel, their Taylor series are used.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.ContinuousBernoulli(0.5).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        name, chances = one_of(probs=probs, logits=logits)
        self._lims = lims
        super().__init__(self._broadcast_parameters(**{name: chances}), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter, kept away from 0 and 1."""
        return clamp_probs(self.logits.sigmoid())

    @lazy_property
    def logits(self) -> Tensor:
        """The parameter's log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    def _split(self) -> tuple[Tensor, Tensor, Tensor]:
        """Where formulas hold, the parameter there (else the lower limit), and its distance from 0.5."""
        probs = clamp_probs(self.probs)
        outside = (probs <= self._lims[0]) | (probs > self._lims[1])
        return outside, raxis.where(outside, probs, self._lims[0]), probs - 0.5

    def _log_normalizer(self) -> Tensor:
        """The logarithm of what the density is multiplied with."""
        outside, p, x = self._split()
        exact = ((-p).log1p() - p.log()).abs().log() - (1 - 2 * p).abs().log()
        return raxis.where(outside, exact, math.log(2) + (4 / 3 + 104 / 45 * x * x) * x * x)

    @property
    def mean(self) -> Tensor:
        outside, p, x = self._split()
        exact = p / (2 * p - 1) + 1 / ((-p).log1p() - p.log())
        return raxis.where(outside, exact, 0.5 + (1 / 3 + 16 / 45 * x * x) * x)

    @property
    def variance(self) -> Tensor:
        outside, p, x = self._split()
        exact = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / ((-p).log1p() - p.log()) ** 2
        return raxis.where(outside, exact, 1 / 12 - (1 / 15 - 128 / 945 * x * x) * x * x)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(raxis.rand(shape, dtype=self._chances.dtype, device=self._chances.device))

    def _log_prob(self, value: Tensor) -> Tensor:
        return binary_log_prob(self.logits, value) + self._log_normalizer()

    def _cdf(self, value: Tensor) -> Tensor:
        outside, p, _ = self._split()
        exact = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        return raxis.where(outside, exact, value).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        outside, p, _ = self._split()
        exact = ((value * (2 * p - 1) - p).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return raxis.where(outside, exact, value)

    def entropy(self) -> Tensor:
        log_failure = -softplus(self.logits)
        return -self.mean * self.logits - log_failure - self._log_normalizer()
