"""The exponential distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.tensor import Tensor

__all__ = ["Exponential"]


class Exponential(Distribution):
    """The exponential distribution: waiting times of events that happen at a constant rate.

    Args:
        rate: events per unit of time.

    Example:
        >>> import raxis
        >>> raxis.distributions.Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(rate=rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return raxis.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate**-2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return raxis.empty(shape, dtype=self.rate.dtype, device=self.rate.device).exponential_() / self.rate

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Tensor) -> Tensor:
        return -(-self.rate * value).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()
