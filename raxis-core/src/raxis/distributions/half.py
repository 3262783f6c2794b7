"""Distributions of magnitudes: half-normal and half-Cauchy."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.cauchy import Cauchy
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.normal import Normal
from raxis.distributions.utils import lazy_property
from raxis.tensor import Tensor

__all__ = ["HalfCauchy", "HalfNormal"]


class _Half(Distribution):
    """The magnitude of a variable whose distribution is symmetric around 0."""

    arg_constraints: ClassVar[Constraints] = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    scale: Tensor
    _whole: Any

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(scale=scale), validate_args=validate_args)

    @lazy_property
    def base_dist(self) -> Any:
        """The symmetric distribution."""
        return self._whole(0.0, self.scale, validate_args=False)

    @property
    def mode(self) -> Tensor:
        return raxis.zeros_like(self.scale)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).abs()

    def _log_prob(self, value: Tensor) -> Tensor:
        doubled = self.base_dist.log_prob(value) + math.log(2)
        return raxis.where(value >= 0, doubled, -math.inf)

    def _cdf(self, value: Tensor) -> Tensor:
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The distribution of ``|x|`` for normal x of mean 0.

    Args:
        scale: standard deviation of x.

    Example:
        >>> import raxis
        >>> raxis.distributions.HalfNormal(1.0).mean
        tensor(0.7979)
    """

    _whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The distribution of ``|x|`` for Cauchy variables x around 0.

    Args:
        scale: median.

    Example:
        >>> import raxis
        >>> raxis.distributions.HalfCauchy(1.0).cdf(raxis.tensor(1.0))
        tensor(0.5000)
    """

    _whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return raxis.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return raxis.full_like(self.scale, math.inf)
