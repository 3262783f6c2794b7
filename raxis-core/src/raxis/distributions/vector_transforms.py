"""Transforms of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import raxis
from raxis.distributions import constraints
from raxis.distributions.transform import Transform
from raxis.nn.functional import logsigmoid, pad, softplus
from raxis.size import Size
from raxis.tensor import Tensor

__all__ = [
    "CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "SoftmaxTransform",
    "StickBreakingTransform",
]  # fmt: skip


def _at_least(shape: Sequence[int], count: int) -> Size:
    if len(shape) < count:
        raise ValueError("Too few dimensions on input")
    return Size(shape)


class SoftmaxTransform(Transform):
    """The normalised exponential; not one to one, its inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> Size:
        return _at_least(shape, 1)

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Vectors of n numbers to n + 1 probabilities: each breaks a part off what the ones before it left.

    Source: Stan Reference Manual, Unit simplex inverse transform.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        broken = (x - _log_rest(x)).sigmoid()
        left = (1 - broken).cumprod(-1)
        return pad(broken, (0, 1), value=1) * pad(left, (1, 0), value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        left = (1 - parts.cumsum(-1)).clamp(min=raxis.finfo(y.dtype).tiny)
        return parts.log() - left.log() + _log_rest(parts)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - _log_rest(x)
        return (logsigmoid(x) - x + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        _at_least(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        _at_least(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


def _log_rest(x: Tensor) -> Tensor:
    """The logarithm of how many further parts the stick is broken into: 0 is mapped to equal parts."""
    return raxis.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()


class LowerCholeskyTransform(Transform):
    """Square matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + raxis.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + raxis.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """Square matrices to positive definite ones, by way of their Cholesky factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(raxis.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Vectors of ``n * (n - 1) / 2`` numbers to Cholesky factors of correlation matrices of size n.

    Source: Stan Reference Manual, Cholesky factors of correlation matrices.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = raxis.finfo(x.dtype).eps
        partial = _below_diagonal(x.tanh().clamp(eps - 1, 1 - eps), _size_of(x.shape[-1]))
        left = (1 - partial * partial).sqrt().cumprod(-1)
        identity = raxis.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        return (partial + identity) * pad(left[..., :-1], (1, 0), value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(1 - (y * y).cumsum(-1)[..., :-1], (1, 0), value=1)
        rows, columns = _indices(y, -1)
        return (y[..., rows, columns] / left[..., rows, columns].sqrt()).atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = 1 - (y * y).cumsum(-1)
        rows, columns = _indices(y, -2)
        breaking = 0.5 * left[..., rows, columns].log().sum(-1)
        return breaking - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> Size:
        _at_least(shape, 1)
        size = _size_of(shape[-1])
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Sequence[int]) -> Size:
        _at_least(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


def _size_of(count: int) -> int:
    """The size of the matrix that has so many elements below its diagonal."""
    size = round(math.sqrt(0.25 + 2 * count) + 0.5)
    if size * (size - 1) // 2 != count:
        raise ValueError("Input is not a flattened lower-diagonal number")
    return size


def _indices(matrix: Tensor, offset: int) -> Any:
    """Rows and columns of the elements on and below a diagonal, row by row."""
    return raxis.tril_indices(matrix.shape[-2], matrix.shape[-1], offset, device=matrix.device)


def _below_diagonal(vector: Tensor, size: int) -> Tensor:
    matrix = vector.new_zeros((*vector.shape[:-1], size, size))
    rows, columns = _indices(matrix, -1)
    matrix[..., rows, columns] = vector
    return matrix
