"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.covariance import FromCovariance
from raxis.distributions.distribution import Constraints, Shape
from raxis.layout import broadcast_shapes
from raxis.linalg import solve_triangular
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = ["MultivariateNormal"]


class MultivariateNormal(FromCovariance):
    """Normal vectors with a covariance matrix.

    Args:
        loc: mean, shape ``(..., n)``.
        covariance_matrix: shape ``(..., n, n)``, positive definite.
        precision_matrix: its inverse.
        scale_tril: its lower Cholesky factor; what the others are turned into.

    Raises:
        ValueError: unless exactly one of the three matrices is given, or if a shape does not fit.

    Example:
        >>> import raxis
        >>> normal = raxis.distributions.MultivariateNormal(raxis.zeros(2), raxis.eye(2))
        >>> normal.log_prob(raxis.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints: ClassVar[Constraints] = {
        "loc": constraints.real_vector,
        **FromCovariance.arg_constraints,
    }
    support = constraints.real_vector
    has_rsample = True
    loc: Tensor

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = self._chosen_matrix(
            covariance_matrix=covariance_matrix, scale_tril=scale_tril, precision_matrix=precision_matrix
        )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self._keep(**{"loc": loc.expand((*batch, -1)), name: matrix.expand((*batch, -1, -1))})
        super().__init__(batch, Size(loc.shape[-1:]), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return (self.scale_tril * self.scale_tril).sum(-1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        normal = raxis.randn(shape, dtype=self.loc.dtype, device=self.loc.device)
        return self.loc + (self.scale_tril @ normal.unsqueeze(-1)).squeeze(-1)

    def _log_prob(self, value: Tensor) -> Tensor:
        distance = mahalanobis(self.scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det

    @property
    def _half_log_det(self) -> Tensor:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi)) + self._half_log_det


def mahalanobis(factor: Tensor, vectors: Tensor) -> Tensor:
    """The squared lengths of ``factor**-1 @ vectors``; leading dimensions of `vectors` share a factor.

    They become columns of one right-hand side, so that no factor is repeated.
    """
    batch = broadcast_shapes(factor.shape[:-2], vectors.shape[:-1])
    vectors = vectors.expand((*batch, -1))
    shared = len(batch) - (factor.ndim - 2)
    samples = batch[:shared]
    columns = vectors.reshape((Size(samples).numel(), *vectors.shape[shared:])).movedim(0, -1)
    solved = solve_triangular(factor, columns, upper=False)
    return (solved * solved).sum(-2).movedim(-1, 0).reshape(batch)
