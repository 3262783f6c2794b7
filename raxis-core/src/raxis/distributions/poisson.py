"""The Poisson distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.tensor import Tensor

__all__ = ["Poisson"]


class Poisson(Distribution):
    """The number of events that happen independently at a rate.

    Draws are by Hörmann (1993), see `raxis.poisson`.

    Args:
        rate: mean.

    Example:
        >>> import raxis
        >>> raxis.distributions.Poisson(2.0).log_prob(raxis.tensor(0.0))
        tensor(-2.)
    """

    arg_constraints: ClassVar[Constraints] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(rate=rate), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self.rate.detach().expand(self._extended_shape(sample_shape))._poisson()

    def _log_prob(self, value: Tensor) -> Tensor:
        return value.xlogy(self.rate) - self.rate - (value + 1).lgamma()
