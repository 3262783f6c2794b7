"""The Kumaraswamy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.gumbel import EULER_GAMMA
from raxis.distributions.utils import clamp_probs
from raxis.tensor import Tensor

__all__ = ["Kumaraswamy"]


class Kumaraswamy(Distribution):
    """A distribution on [0, 1] like the beta one, with a distribution function in closed form.

    Args:
        concentration1: exponent a in ``1 - (1 - x ** a) ** b``.
        concentration0: exponent b.

    Example:
        >>> import raxis
        >>> raxis.distributions.Kumaraswamy(1.0, 1.0).mean
        tensor(0.5000)
    """

    arg_constraints: ClassVar[Constraints] = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(concentration1=concentration1, concentration0=concentration0)
        super().__init__(shape, validate_args=validate_args)

    def _moment(self, order: int) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return b * ((1 + order / a).lgamma() + b.lgamma() - (1 + b + order / a).lgamma()).exp()

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        peak = ((1 - a) / (1 - a * b)) ** (1 / a)
        return raxis.where((a < 1) | (b < 1), math.nan, peak)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean**2

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        a = self.concentration1
        return clamp_probs(self.icdf(raxis.rand(shape, dtype=a.dtype, device=a.device)))

    def _log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return a.log() + b.log() + (a - 1).xlogy(value) + (b - 1) * (-(value**a)).log1p()

    def _cdf(self, value: Tensor) -> Tensor:
        return -(self.concentration0 * (-(value**self.concentration1)).log1p()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        survived = (-value).log1p() / self.concentration0
        return (-survived.expm1()) ** (1 / self.concentration1)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + EULER_GAMMA
        return 1 - 1 / b + (1 - 1 / a) * harmonic - a.log() - b.log()
