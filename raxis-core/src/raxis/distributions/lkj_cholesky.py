"""The LKJ distribution of correlation matrices, as Cholesky factors."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.beta import Beta
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices whose density is their determinant to a power.

    Source: Lewandowski, Kurowicka & Joe, Generating random correlation matrices based on vines and extended onion
    method (2009).

    Args:
        dim: size of the matrices, at least 2.
        concentration: eta; 1 is uniform over correlation matrices.

    Raises:
        ValueError: if `dim` is less than 2.

    Example:
        >>> import raxis
        >>> raxis.distributions.LKJCholesky(3, 0.5).sample().shape
        raxis.Size([3, 3])
    """

    arg_constraints: ClassVar[Constraints] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    concentration: Tensor

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        shape = self._broadcast_parameters(concentration=concentration)
        super().__init__(shape, Size((dim, dim)), validate_args=validate_args)

    def _radii(self) -> Beta:
        """Of the squared length of each row but for its diagonal, the first row's aside."""
        rows = raxis.arange(self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        other = self.concentration.unsqueeze(-1) + 0.5 * (self.dim - 2 - rows)
        return Beta(0.5 * (rows + 1), other, validate_args=False)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Row by row: a direction uniform on the sphere and a length (the onion method)."""
        with raxis.no_grad():
            squared = self._radii().sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = raxis.randn(shape, dtype=squared.dtype, device=squared.device).tril(-1)[..., 1:, :]
            direction = normal / normal.norm(dim=-1, keepdim=True)
            below = raxis.nn.functional.pad(squared.sqrt() * direction, (0, 0, 1, 0))
            rest = (1 - (below * below).sum(-1)).clamp(min=raxis.finfo(below.dtype).tiny)
            return below + raxis.diag_embed(rest.sqrt())

    def _log_prob(self, value: Tensor) -> Tensor:
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = raxis.arange(2, self.dim + 1, dtype=value.dtype, device=value.device)
        exponents = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        return (exponents * diagonal.log()).sum(-1) - self._log_normalizer()

    def _log_normalizer(self) -> Tensor:
        """Page 1999 of the source."""
        others = self.dim - 1
        alpha = self.concentration + 0.5 * others
        numerator = raxis.mvlgamma(alpha - 0.5, others)
        return numerator - alpha.lgamma() * others + 0.5 * others * math.log(math.pi)
