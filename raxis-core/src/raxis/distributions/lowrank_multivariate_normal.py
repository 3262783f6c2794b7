"""The multivariate normal distribution whose covariance is of low rank but for its diagonal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.distribution import Constraints, Distribution, Shape
from raxis.distributions.multivariate_normal import mahalanobis
from raxis.distributions.utils import lazy_property
from raxis.layout import broadcast_shapes
from raxis.linalg import cholesky
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``.

    Densities are computed with matrices of the rank's size only (Woodbury's identity).

    Args:
        loc: mean, shape ``(..., n)``.
        cov_factor: shape ``(..., n, rank)``.
        cov_diag: shape ``(..., n)``, positive.

    Raises:
        ValueError: if a shape does not fit.

    Example:
        >>> import raxis
        >>> normal = raxis.distributions.LowRankMultivariateNormal(
        ...     raxis.zeros(2), raxis.ones(2, 1), raxis.ones(2)
        ... )
        >>> normal.variance
        tensor([2., 2.])
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor
    cov_factor: Tensor
    cov_diag: Tensor

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        _check_shapes(loc, cov_factor, cov_diag)
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self._keep(
            loc=loc.expand((*batch, -1)),
            cov_factor=cov_factor.expand((*batch, -1, -1)),
            cov_diag=cov_diag.expand((*batch, -1)),
        )
        super().__init__(batch, Size(loc.shape[-1:]), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return (self.cov_factor * self.cov_factor).sum(-1) + self.cov_diag

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + raxis.diag_embed(self.cov_diag)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        return cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return raxis.cholesky_inverse(self.scale_tril)

    @lazy_property
    def _capacitance(self) -> Tensor:
        """The Cholesky factor of ``1 + cov_factor.mT @ diag(cov_diag)**-1 @ cov_factor``."""
        factor = self.cov_factor
        inner = factor.mT @ (factor / self.cov_diag.unsqueeze(-1))
        return cholesky(inner + raxis.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        options: dict[str, Any] = {"dtype": self.loc.dtype, "device": self.loc.device}
        common = raxis.randn((*shape[:-1], self.cov_factor.shape[-1], 1), **options)
        own = raxis.randn(shape, **options)
        return self.loc + (self.cov_factor @ common).squeeze(-1) + self.cov_diag.sqrt() * own

    def _log_prob(self, value: Tensor) -> Tensor:
        difference = value - self.loc
        scaled = difference / self.cov_diag
        inner = (self.cov_factor.mT @ scaled.unsqueeze(-1)).squeeze(-1)
        distance = (difference * scaled).sum(-1) - mahalanobis(self._capacitance, inner)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det

    @property
    def _half_log_det(self) -> Tensor:
        return self._capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1) + 0.5 * self.cov_diag.log().sum(-1)

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det


def _check_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.ndim < 1:
        raise ValueError("loc must be at least one-dimensional.")
    size = loc.shape[-1]
    if cov_factor.ndim < 2 or cov_factor.shape[-2] != size:
        raise ValueError(
            f"cov_factor must be a batch of matrices with shape {size} x m, but got {tuple(cov_factor.shape)}"
        )
    if cov_diag.ndim < 1 or cov_diag.shape[-1] != size:
        raise ValueError(
            f"cov_diag must be a batch of vectors with shape {size}, but got {tuple(cov_diag.shape)}"
        )
