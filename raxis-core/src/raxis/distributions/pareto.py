"""The Pareto distribution and its generalization."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.constraints import Constraint
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.tensor import Tensor

__all__ = ["GeneralizedPareto", "Pareto"]


class Pareto(Distribution):
    """The Pareto (type 1) distribution.

    Args:
        scale: least value.
        alpha: exponent of the tail.

    Example:
        >>> import raxis
        >>> raxis.distributions.Pareto(1.0, 3.0).mean
        tensor(1.5000)
    """

    arg_constraints: ClassVar[Constraints] = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True
    scale: Tensor
    alpha: Tensor

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(scale=scale, alpha=alpha), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """From `scale` on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        alpha = self.alpha.clamp(min=1)  # infinite for smaller ones
        return alpha * self.scale / (alpha - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        alpha = self.alpha.clamp(min=2)  # infinite for smaller ones
        return self.scale**2 * alpha / ((alpha - 1) ** 2 * (alpha - 2))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = raxis.empty(shape, dtype=self.scale.dtype, device=self.scale.device).exponential_()
        return self.scale * (drawn / self.alpha).exp()

    def _log_prob(self, value: Tensor) -> Tensor:
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return 1 - (self.scale / value) ** self.alpha

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (1 - value) ** -self.alpha.reciprocal()

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + 1 + self.alpha.reciprocal()


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution, of excesses over a high threshold.

    Args:
        loc: least value.
        scale: spread.
        concentration: shape; 0 is the exponential distribution, and below 0 values are bounded.

    Example:
        >>> import raxis
        >>> raxis.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(loc=loc, scale=scale, concentration=concentration)
        super().__init__(shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Constraint:
        """From `loc` on; up to where the density vanishes for negative concentrations."""
        upper = raxis.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return raxis.where(k < 1, self.loc + self.scale / (1 - k), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return raxis.where(k < 0.5, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), math.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(raxis.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _survived(self, value: Tensor) -> Tensor:
        """The negative logarithm of the probability of greater values."""
        distance, k, straight = (value - self.loc) / self.scale, *self._shape()
        return raxis.where(straight, distance, (k * distance).log1p() / k)

    def _shape(self) -> tuple[Tensor, Tensor]:
        """The concentration, 1 where it is as good as 0; and where that is."""
        straight = self.concentration.abs() < raxis.finfo(self.concentration.dtype).eps
        return raxis.where(straight, 1.0, self.concentration), straight

    def _log_prob(self, value: Tensor) -> Tensor:
        return -self.scale.log() - (1 + self.concentration) * self._survived(value)

    def _cdf(self, value: Tensor) -> Tensor:
        return -(-self._survived(value)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        hazard, (k, straight) = -(-value).log1p(), self._shape()
        return self.loc + self.scale * raxis.where(straight, hazard, (k * hazard).expm1() / k)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
