"""Randomised factorizations of matrices of low rank.

Source: Halko, Martinsson, Tropp, Finding structure with randomness (2009), algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from typing import Any

from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.orthogonal import qr_factors
from raxis.ops.definitions.random_creation import randn
from raxis.ops.definitions.singular_values import linalg_svd
from raxis.ops.table import Effect, composed
from raxis.tensor import Tensor

_OPTIONS: dict[str, Any] = {"method": False, "out": False, "effect": Effect.RANDOM}


def _range_of(A: Tensor, count: int, niter: int) -> Tensor:
    """`count` orthonormal columns that span most of what A maps to."""
    start = randn(A.shape[-1], count, dtype=A.dtype, device=A.device)
    basis = _orthonormal(A @ start)
    for _ in range(niter):
        basis = _orthonormal(A @ _orthonormal(adjoint(A) @ basis))
    return basis


def _orthonormal(A: Tensor) -> Tensor:
    factor: Tensor = qr_factors(A, False)[0]
    return factor


def _low_rank(A: Tensor, count: int, niter: int) -> tuple[Tensor, Tensor, Tensor]:
    if A.shape[-2] < A.shape[-1]:
        U, S, V = _low_rank(adjoint(A), count, niter)
        return V, S, U
    basis = _range_of(A, count, niter)
    U, S, Vh = linalg_svd(adjoint(basis) @ A, False)
    return basis @ U, S, adjoint(Vh)


@composed("svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> Tensor...", **_OPTIONS)
def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None) -> Any:
    """The greatest singular values of a matrix, and their vectors, by a random projection.

    Args:
        A: (..., m, n).
        q: how many, a little more than the rank of A.
        niter: iterations that sharpen the projection.
        M: subtracted from A first.

    Returns:
        U (..., m, q), S (..., q), V (..., n, q), so that ``U @ diag(S) @ V.mH`` is nearly A.

    Raises:
        ValueError: if `q` is not in [0, min(m, n)] or `niter` is negative.

    Example:
        >>> import raxis
        >>> raxis.svd_lowrank(raxis.tensor([[3.0, 0.0], [0.0, 0.0]]), q=1)[1]
        tensor([3.])
    """
    count, rounds = 6 if q is None else q, 2 if niter is None else niter
    _check(A, count, rounds)
    return _low_rank(A if M is None else A - M, count, rounds)


@composed("pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> Tensor...", **_OPTIONS)
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """Principal components: `svd_lowrank` of A less the mean of its rows.

    Args:
        A: (..., m, n), m observations of n variables.
        q: number of components; default: 6, or less if A is smaller.
        center: False does not subtract the mean.
        niter: iterations that sharpen the projection.

    Returns:
        U, S, V; the columns of V are the principal directions.

    Raises:
        ValueError: if `q` is not in [0, min(m, n)] or `niter` is negative.

    Example:
        >>> import raxis
        >>> raxis.pca_lowrank(raxis.tensor([[1.0, 0.0], [-1.0, 0.0]]), q=1)[1]
        tensor([1.4142])
    """
    count = min(6, *A.shape[-2:]) if q is None else q
    _check(A, count, niter)
    return _low_rank(A - A.mean(-2, True) if center else A, count, niter)


def _check(A: Tensor, count: int, niter: int) -> None:
    rows, columns = A.shape[-2:]
    if not 0 <= count <= min(rows, columns):
        raise ValueError(
            f"q(={count}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
