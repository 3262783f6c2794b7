"""The Gumbel distribution."""

from __future__ import annotations

import math

import raxis
from raxis.distributions.distribution import Shape
from raxis.distributions.location_scale import LocationScale
from raxis.tensor import Tensor

__all__ = ["Gumbel"]

EULER_GAMMA = 0.57721566490153286060


class Gumbel(LocationScale):
    """The Gumbel distribution, of the greatest of many values.

    Args:
        loc: mode.
        scale: spread.

    Example:
        >>> import raxis
        >>> raxis.distributions.Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER_GAMMA

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = raxis.empty(shape, dtype=self.loc.dtype, device=self.loc.device).exponential_()
        tiny = raxis.finfo(self.loc.dtype).tiny
        return self.loc - self.scale * drawn.clamp(min=tiny).log()

    def _log_prob(self, value: Tensor) -> Tensor:
        distance = (self.loc - value) / self.scale
        return distance - distance.exp() - self.scale.log()

    def _cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - value) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER_GAMMA)
