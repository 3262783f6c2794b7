"""The Weibull distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.gumbel import EULER_GAMMA
from raxis.tensor import Tensor

__all__ = ["Weibull"]


class Weibull(Distribution):
    """The Weibull distribution of times to failure.

    Args:
        scale: characteristic life.
        concentration: shape; 1 is the exponential distribution.

    Example:
        >>> import raxis
        >>> raxis.distributions.Weibull(2.0, 1.0).mean
        tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(scale=scale, concentration=concentration)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * (1 + self.concentration.reciprocal()).lgamma().exp()

    @property
    def mode(self) -> Tensor:
        inner = 1 - self.concentration.reciprocal()
        peak = self.scale * inner.clamp(min=0) ** self.concentration.reciprocal()
        return raxis.where(self.concentration > 1, peak, 0.0)

    @property
    def variance(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        return self.scale**2 * ((1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp())

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = raxis.empty(shape, dtype=self.scale.dtype, device=self.scale.device).exponential_()
        positive = drawn.clamp(min=raxis.finfo(drawn.dtype).tiny)
        return self.scale * positive ** self.concentration.reciprocal()

    def _log_prob(self, value: Tensor) -> Tensor:
        ratio = value / self.scale
        k = self.concentration
        return k.log() - self.scale.log() + (k - 1) * ratio.log() - ratio**k

    def _cdf(self, value: Tensor) -> Tensor:
        return -(-((value / self.scale) ** self.concentration)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p()) ** self.concentration.reciprocal()

    def entropy(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        return EULER_GAMMA * (1 - inverse) + (self.scale * inverse).log() + 1
