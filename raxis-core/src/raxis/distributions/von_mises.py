"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from raxis import special
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.tensor import Tensor

__all__ = ["VonMises"]


class VonMises(Distribution):
    """The von Mises distribution, a circular analogue of the normal one.

    Draws are by Best & Fisher, Efficient simulation of the von Mises distribution (1979).

    Args:
        loc: center, in radians.
        concentration: inverse spread.

    Example:
        >>> import raxis
        >>> raxis.distributions.VonMises(0.0, 1.0).variance
        tensor(0.5536)
    """

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        shape = self._broadcast_parameters(loc=loc, concentration=concentration)
        super().__init__(shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - special.i1e(self.concentration) / special.i0e(self.concentration)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        angle = self.concentration.detach().expand(shape)._standard_von_mises()
        return (angle + math.pi + self.loc.detach()) % (2 * math.pi) - math.pi

    def _log_prob(self, value: Tensor) -> Tensor:
        log_bessel = special.i0e(self.concentration).log() + self.concentration
        return self.concentration * (value - self.loc).cos() - math.log(2 * math.pi) - log_bessel
