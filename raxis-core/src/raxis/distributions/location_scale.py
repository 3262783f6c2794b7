"""Distributions of a fixed form, moved and stretched."""

from __future__ import annotations

from typing import Any, ClassVar

from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution
from raxis.tensor import Tensor

__all__: list[str] = []


class LocationScale(Distribution):
    """Numbers moved by `loc`, which is the mode, and stretched by `scale`."""

    arg_constraints: ClassVar[Constraints] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._broadcast_parameters(loc=loc, scale=scale), validate_args=validate_args)

    @property
    def mode(self) -> Tensor:
        return self.loc
