"""The normal distribution."""

from __future__ import annotations

import math

import raxis
from raxis.distributions.distribution import Shape
from raxis.distributions.location_scale import LocationScale
from raxis.tensor import Tensor

__all__ = ["Normal"]


class Normal(LocationScale):
    """The normal (Gaussian) distribution.

    Args:
        loc: mean.
        scale: standard deviation.

    Example:
        >>> import raxis
        >>> raxis.distributions.Normal(0.0, 1.0).log_prob(raxis.tensor(0.0))
        tensor(-0.9189)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale * self.scale

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + self.scale * raxis.randn(shape, dtype=self.loc.dtype, device=self.loc.device)

    def _log_prob(self, value: Tensor) -> Tensor:
        distance = (value - self.loc) / self.scale
        return -0.5 * distance * distance - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def _cdf(self, value: Tensor) -> Tensor:
        return 0.5 * ((self.loc - value) / self.scale / math.sqrt(2)).erfc()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()
