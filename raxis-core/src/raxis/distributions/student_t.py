"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.gamma import drawn_gamma
from raxis.tensor import Tensor

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution.

    Args:
        df: degrees of freedom.
        loc: center.
        scale: spread.

    Example:
        >>> import raxis
        >>> raxis.distributions.StudentT(4.0).variance
        tensor(2.)
    """

    arg_constraints: ClassVar[Constraints] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(df=df, loc=loc, scale=scale), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return raxis.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale**2 * self.df / (self.df - 2)
        return raxis.where(self.df > 2, finite, raxis.where(self.df > 1, math.inf, math.nan).to(finite.dtype))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = raxis.randn(shape, dtype=self.df.dtype, device=self.df.device)
        chi_squared = 2 * drawn_gamma(0.5 * self.df, shape)
        return self.loc + self.scale * normal * (self.df / chi_squared).sqrt()

    def _log_prob(self, value: Tensor) -> Tensor:
        distance, half = (value - self.loc) / self.scale, 0.5 * self.df
        tail = (half + 0.5) * (distance * distance / self.df).log1p()
        return (
            (half + 0.5).lgamma() - half.lgamma() - tail - self.scale.log() - 0.5 * (math.pi * self.df).log()
        )

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        log_beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        spread = (half + 0.5) * ((half + 0.5).digamma() - half.digamma())
        return self.scale.log() + spread + 0.5 * self.df.log() + log_beta
