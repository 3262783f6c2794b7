"""The Wishart distribution of positive definite matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.covariance import FromCovariance
from raxis.distributions.distribution import Constraints, Shape
from raxis.distributions.gamma import drawn_gamma
from raxis.distributions.utils import fails, visible
from raxis.layout import broadcast_shapes
from raxis.linalg import cholesky
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["Wishart"]


class Wishart(FromCovariance):
    """The distribution of sums of `df` outer products of normal vectors.

    Draws are by Bartlett's decomposition (Smith & Hocking, Algorithm AS 53, 1972).

    Args:
        df: degrees of freedom, above the matrix's size less 1.
        covariance_matrix: covariance of the vectors, shape ``(..., n, n)``.
        precision_matrix: its inverse.
        scale_tril: its lower Cholesky factor.

    Raises:
        ValueError: unless exactly one of the matrices is given, or if `df` is too small.

    Example:
        >>> import raxis
        >>> raxis.distributions.Wishart(raxis.tensor(3.0), raxis.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    arg_constraints: ClassVar[Constraints] = {
        **FromCovariance.arg_constraints,
        "df": constraints.greater_than(0),
    }
    support = constraints.positive_definite
    has_rsample = True
    df: Tensor

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = self._chosen_matrix(
            covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix
        )
        df = raxis.as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        if fails(df > matrix.shape[-1] - 1):
            raise ValueError(
                f"Value of df={visible(df)} expected to be greater than ndim - 1 = {matrix.shape[-1] - 1}."
            )
        self._keep(**{name: matrix.expand((*batch, -1, -1)), "df": df.expand(batch)})
        super().__init__(batch, Size(matrix.shape[-2:]), validate_args=validate_args)

    @property
    def _size(self) -> int:
        return int(self._event_shape[-1])

    def _per_row(self) -> Tensor:
        """``df - i`` for every row i, along a new last dimension."""
        return self.df.unsqueeze(-1) - raxis.arange(self._size, dtype=self.df.dtype, device=self.df.device)

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._size - 1
        factor = raxis.where(factor > 0, factor, math.nan)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        return self.df[..., None, None] * (covariance**2 + diagonal[..., None] * diagonal[..., None, :])

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = raxis.randn(shape, dtype=self.df.dtype, device=self.df.device)
        chi_squared = 2 * drawn_gamma(0.5 * self._per_row(), Size(shape[:-1]))
        factor = self.scale_tril @ (normal.tril(-1) + raxis.diag_embed(chi_squared.sqrt()))
        return factor @ factor.mT

    def _log_det_scale(self) -> Tensor:
        return 2 * self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _log_normalizer(self) -> Tensor:
        half = 0.5 * self.df
        scale = self._size * math.log(2) + self._log_det_scale()
        return half * scale + raxis.mvlgamma(half, self._size)

    def _log_prob(self, value: Tensor) -> Tensor:
        log_det = 2 * cholesky(value).diagonal(dim1=-2, dim2=-1).log().sum(-1)
        trace = (self.precision_matrix * value).sum((-2, -1))
        return 0.5 * (self.df - self._size - 1) * log_det - 0.5 * trace - self._log_normalizer()

    def _mean_log_det(self) -> Tensor:
        """The mean of the logarithm of a variable's determinant."""
        scale = self._size * math.log(2) + self._log_det_scale()
        return (0.5 * self._per_row()).digamma().sum(-1) + scale

    def entropy(self) -> Tensor:
        weight = 0.5 * (self.df - self._size - 1)
        return self._log_normalizer() - weight * self._mean_log_det() + 0.5 * self.df * self._size
