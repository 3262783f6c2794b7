"""The binomial and the negative binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.choices import FromChances, one_of
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Constraints, Shape
from raxis.distributions.gamma import drawn_gamma
from raxis.nn.functional import logsigmoid, softplus
from raxis.tensor import Tensor

__all__ = ["Binomial", "NegativeBinomial"]


class _OfTrials(FromChances):
    """Parameters: `total_count` and the chances."""

    total_count: Tensor

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, chances = one_of(probs=probs, logits=logits)
        if not isinstance(chances, Tensor):
            chances = raxis.tensor(float(chances))
        # The number of trials is counted in the dtype of the chances.
        count = total_count.to(chances.dtype) if isinstance(total_count, Tensor) else total_count
        chances, count = raxis.broadcast_tensors(chances, raxis.as_tensor(count).to(chances))
        self._keep(**{"total_count": count, name: chances})
        super().__init__(chances.shape, validate_args=validate_args)


class Binomial(_OfTrials):
    """The number of successes among `total_count` trials.

    Draws are by Hörmann (1993), see `raxis.binomial`.

    Args:
        total_count: number of trials.
        probs: probability of success.
        logits: its log-odds.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.Binomial(10, 0.25).mean
        tensor(2.5000)
    """

    arg_constraints: ClassVar[Constraints] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        """0 to `total_count`."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().minimum(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with raxis.no_grad():
            return raxis.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Tensor) -> Tensor:
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * self.logits - n * softplus(self.logits)

    def entropy(self) -> Tensor:
        log_probs = self._log_prob(self.enumerate_support(False))
        return -(log_probs.exp() * log_probs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = int(self.total_count.max())
        if not (self.total_count == count).all():
            raise NotImplementedError(
                "Inhomogeneous total count not supported: the distributions of the batch have different supports."
            )
        values = raxis.arange(1 + count, dtype=self._chances.dtype, device=self._chances.device)
        return self._enumerated(values, expand)


class NegativeBinomial(_OfTrials):
    """The number of successes before `total_count` failures.

    Args:
        total_count: number of failures, any number above 0.
        probs: probability of success, below 1.
        logits: its log-odds.

    Raises:
        ValueError: unless exactly one of `probs` and `logits` is given.

    Example:
        >>> import raxis
        >>> raxis.distributions.NegativeBinomial(3, 0.5).mean
        tensor(3.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with raxis.no_grad():
            rate = drawn_gamma(self.total_count, self._extended_shape(sample_shape)) * self.logits.exp()
            return rate._poisson()

    def _log_prob(self, value: Tensor) -> Tensor:
        n = self.total_count
        ways = (n + value).lgamma() - (1 + value).lgamma() - n.lgamma()
        ways = raxis.where(n + value == 0, 0.0, ways)
        return n * logsigmoid(-self.logits) + value * logsigmoid(self.logits) + ways
