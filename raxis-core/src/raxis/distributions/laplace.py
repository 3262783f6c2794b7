"""The Laplace distribution."""

from __future__ import annotations

import math
from typing import Any

import raxis
from raxis.distributions.distribution import Shape
from raxis.distributions.location_scale import LocationScale
from raxis.tensor import Tensor

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """The Laplace (double exponential) distribution.

    Args:
        loc: mean.
        scale: mean distance from `loc`.

    Example:
        >>> import raxis
        >>> raxis.distributions.Laplace(0.0, 1.0).log_prob(raxis.tensor(2.0))
        tensor(-2.6931)
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale * math.sqrt(2)

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale * self.scale

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        distance = raxis.empty(shape, **options).exponential_()
        sign = 2 * raxis.empty(shape, **options).bernoulli_() - 1
        return self.loc + self.scale * sign * distance

    def _log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def _cdf(self, value: Tensor) -> Tensor:
        distance = (value - self.loc) / self.scale
        return 0.5 - 0.5 * distance.sign() * (-distance.abs()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        centered = value - 0.5
        return self.loc - self.scale * centered.sign() * (-2 * centered.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()
