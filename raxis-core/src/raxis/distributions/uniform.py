"""The continuous uniform distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.utils import fails
from raxis.tensor import Tensor

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution on ``[low, high)``.

    Args:
        low: lower end.
        high: upper end, above `low`.

    Raises:
        ValueError: if `low` is not below `high`.

    Example:
        >>> import raxis
        >>> raxis.distributions.Uniform(0.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(low=low, high=high), validate_args=validate_args)
        if self._validate_args and fails(self.low < self.high):
            raise ValueError(f"Uniform is not defined when low >= high, but got {self!r}.")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """From `low` to `high`."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return self.high * raxis.nan

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = raxis.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def _log_prob(self, value: Tensor) -> Tensor:
        inside = ((self.low <= value) & (value < self.high)).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def _cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return self.low + value * (self.high - self.low)

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()
