"""The Cauchy distribution."""

from __future__ import annotations

import math

import raxis
from raxis.distributions.distribution import Shape
from raxis.distributions.location_scale import LocationScale
from raxis.tensor import Tensor

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """The Cauchy (Lorentz) distribution, which has no mean.

    Args:
        loc: median.
        scale: half width at half maximum.

    Example:
        >>> import raxis
        >>> raxis.distributions.Cauchy(0.0, 1.0).cdf(raxis.tensor(1.0))
        tensor(0.7500)
    """

    @property
    def mean(self) -> Tensor:
        return raxis.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return raxis.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = raxis.empty(shape, dtype=self.loc.dtype, device=self.loc.device).cauchy_()
        return self.loc + drawn * self.scale

    def _log_prob(self, value: Tensor) -> Tensor:
        distance = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (distance * distance).log1p()

    def _cdf(self, value: Tensor) -> Tensor:
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
