"""Distributions given by a covariance: the matrix, its inverse or its lower Cholesky factor."""

from __future__ import annotations

from typing import Any, ClassVar

import raxis
from raxis.distributions import constraints
from raxis.distributions.choices import one_of
from raxis.distributions.distribution import Constraints, Distribution
from raxis.distributions.utils import lazy_property
from raxis.linalg import cholesky, solve_triangular
from raxis.tensor import Tensor

__all__: list[str] = []


class FromCovariance(Distribution):
    """One of three matrices is a parameter; the others are computed from it when asked for."""

    arg_constraints: ClassVar[Constraints] = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    @staticmethod
    def _chosen_matrix(**matrices: Tensor | None) -> tuple[str, Any]:
        """The name and the value of the matrix that is given.

        Raises:
            ValueError: unless there is exactly one, of two dimensions or more.
        """
        name, matrix = one_of(**matrices)
        if matrix.ndim < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        return name, matrix

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower Cholesky factor of the covariance."""
        if "covariance_matrix" in self._given:
            return cholesky(self.covariance_matrix)
        return inverse_factor(self.precision_matrix)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return raxis.cholesky_inverse(self.scale_tril)


def inverse_factor(matrix: Tensor) -> Tensor:
    """The lower Cholesky factor of the inverse: that of the matrix read backwards, inverted."""
    backwards = cholesky(matrix.flip(-2, -1)).flip(-2, -1).mT
    identity = raxis.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return solve_triangular(backwards, identity, upper=False)
