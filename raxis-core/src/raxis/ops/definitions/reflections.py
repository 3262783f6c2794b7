"""QR factors as reflections, and products with them: geqrf, ormqr."""

from __future__ import annotations

from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.joining import cat, stack
from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import identity_of, require_matrices
from raxis.ops.definitions.orthogonal import qr_factors
from raxis.ops.table import composed
from raxis.return_types import named_results
from raxis.tensor import Tensor


@composed("geqrf(Tensor input) -> (Tensor a, Tensor tau)", exact=False)
def geqrf(input: Tensor) -> Any:
    """The QR factorization, Q as reflections: `a` has R in its upper triangle and the vectors below, see `orgqr`.

    Args:
        input: (..., m, n).

    Raises:
        RuntimeError: if `input` is no batch of matrices of a floating point or complex dtype.

    Source: Ballard et al., Reconstructing Householder vectors from tall-skinny QR (2015).

    Example:
        >>> import raxis
        >>> raxis.geqrf(raxis.tensor([[3.0], [4.0]])).a
        tensor([[-5.0000],
                [ 0.5000]])
    """
    require_matrices("geqrf", input)
    Q, R = qr_factors(input.detach(), False)
    count = Q.shape[-1]
    rest = Q - identity_of(Q, Q.shape[-2])[:, :count]
    vectors, scales = [], []
    for step in range(count):
        pivot = rest[..., step : step + 1, step : step + 1]
        vector = where(pivot == 0, 0, rest[..., step:, step : step + 1] / where(pivot == 0, 1, pivot))
        vectors.append(_below(vector[..., 1:, :], step + 1))
        scales.append(-pivot[..., 0, 0])
        row = rest[..., step : step + 1, :]
        rest = rest - cat([row.new_zeros((*row.shape[:-2], step, 1)), vector], -2) @ row
    columns = cat(vectors, -1) if count else Q
    lower = cat([columns, R.new_zeros((*R.shape[:-2], Q.shape[-2], R.shape[-1] - count))], -1)
    missing = R.new_zeros((*R.shape[:-2], Q.shape[-2] - R.shape[-2], R.shape[-1]))
    tau = stack(scales, -1) if count else Q.new_zeros((*Q.shape[:-2], 0))
    return named_results("geqrf", cat([R, missing], -2) + lower, tau)


def _below(vector: Tensor, zeros: int) -> Any:
    return cat([vector.new_zeros((*vector.shape[:-2], zeros, 1)), vector], -2)


@composed("ormqr(Tensor input, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> Tensor")
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Any:
    """The product of `other` and the square Q of `geqrf`'s reflections.

    Args:
        input: (..., m, k), the vectors below the diagonal.
        tau: (..., k) at most.
        other: (..., m, n), or (..., n, m) if not `left`.
        left: ``Q @ other``; else ``other @ Q``.
        transpose: with Q's adjoint.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.ormqr(raxis.zeros(2, 1), raxis.tensor([2.0]), raxis.eye(2))
        tensor([[-1.,  0.],
                [ 0.,  1.]])
    """
    _check(input, tau, other, left)
    if not left:
        return adjoint(_apply(input, tau, adjoint(other), not transpose))
    return _apply(input, tau, other, transpose)


def _check(input: Tensor, tau: Tensor, other: Tensor, left: bool) -> None:
    require_matrices("ormqr", input)
    require_matrices("ormqr", other)
    rows, columns = input.shape[-2:]
    fits = (
        tau.ndim == input.ndim - 1
        and tau.shape[-1] <= min(rows, columns)
        and other.shape[-2 if left else -1] == rows
    )
    if (
        not fits
        or list(tau.shape[:-1]) != list(input.shape[:-2])
        or list(other.shape[:-2]) != list(input.shape[:-2])
    ):
        raise RuntimeError(
            f"torch.ormqr: expected tau of shape (..., k <= {min(rows, columns)}) and other with {rows} "
            f"{'rows' if left else 'columns'}, but got {list(tau.shape)} and {list(other.shape)} for input of shape "
            f"{list(input.shape)}."
        )
    if not input.dtype is tau.dtype is other.dtype:
        raise RuntimeError(
            f"torch.ormqr: expected input, tau and other to have the same dtype, but got {input.dtype}, {tau.dtype} "
            f"and {other.dtype}."
        )


def _apply(input: Tensor, tau: Tensor, other: Tensor, adjoined: bool) -> Any:
    """The reflections one after another: Q is the first times the second times ..."""
    rows, count = input.shape[-2], tau.shape[-1]
    reflectors = input[..., :count].tril(-1) + identity_of(input, rows)[:, :count]
    steps = range(count)
    for step in steps if adjoined else reversed(steps):
        vector = reflectors[..., step : step + 1]
        scale = tau[..., step, None, None]
        other = other - (scale.conj() if adjoined else scale) * vector @ (adjoint(vector) @ other)
    return other
