"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    diagonal_of,
    identity_of,
    require_convergence,
    require_square,
)
from raxis.ops.definitions.solving import solution_and_info
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import emit
from raxis.return_types import named_results
from raxis.tensor import Tensor


def _eigh_vjp(grads: Any, results: Any) -> Any:
    values, vectors = results
    by_values, by_vectors = grads
    if by_vectors is None:
        return (vectors * by_values.unsqueeze(-2)) @ adjoint(vectors)
    differences = values.unsqueeze(-2) - values.unsqueeze(-1) + identity_of(values)
    inner = adjoint(vectors) @ by_vectors
    inner = (inner - adjoint(inner)) / (2 * differences)
    inner = inner - diagonal_of(inner).diag_embed()
    if by_values is not None:
        inner = inner + by_values.to(inner.dtype).diag_embed()
    return vectors @ inner @ adjoint(vectors)


@lowered(
    "_eigh(Tensor input, bool upper) -> (Tensor eigenvalues, Tensor eigenvectors)",
    vjp={"input": _eigh_vjp},
    **INTERNAL,
)
def eigh_pairs(input: Tensor, upper: bool) -> Any:
    """Ascending eigenvalues and eigenvectors of a Hermitian matrix, one triangle of which is read."""
    return emit("eigh", adjoint(input) if upper else input)


def _eigenvalues_vjp(grad: Tensor, input: Tensor, upper: bool) -> Any:
    vectors = eigh_pairs(input, upper)[1]
    return (vectors * grad.unsqueeze(-2)) @ adjoint(vectors)


@lowered("_eigvalsh(Tensor input, bool upper) -> Tensor", vjp={"input": _eigenvalues_vjp}, **INTERNAL)
def hermitian_eigenvalues(input: Tensor, upper: bool) -> Any:
    """Ascending eigenvalues of a Hermitian matrix, one triangle of which is read."""
    return emit("eigvalsh", adjoint(input) if upper else input)


def _reads_upper(name: str, A: Tensor, UPLO: str) -> bool:
    require_square(name, A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"{name}: Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return UPLO.upper() == "U"


@composed(
    "eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    namespace=LINALG,
    method=False,
)
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The real eigenvalues, ascending, and the orthonormal eigenvectors (columns) of Hermitian matrices.

    Vectors are determined up to sign (complex: a factor of magnitude 1), and gradients are defined for functions that
    do not depend on it, of distinct eigenvalues.

    Args:
        A: (..., n, n), Hermitian or symmetric.
        UPLO: the triangle that is read, ``'L'`` or ``'U'``.

    Raises:
        LinAlgError: if A is not finite or the iteration does not converge.
        RuntimeError: if A is not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.eigh(raxis.tensor([[3.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 3.])
    """
    pairs = eigh_pairs(A, _reads_upper("linalg.eigh", A, UPLO))
    require_convergence("linalg.eigh", pairs[0])
    return named_results("linalg.eigh", *pairs)


@composed("eigvalsh(Tensor A, str UPLO='L') -> Tensor", namespace=LINALG, method=False)
def eigvalsh(A: Tensor, UPLO: str = "L") -> Any:
    """The real eigenvalues of Hermitian matrices, ascending.

    Args: as `eigh`.

    Raises: as `eigh`.

    Example:
        >>> import raxis
        >>> raxis.linalg.eigvalsh(raxis.tensor([[3.0, 0.0], [0.0, 1.0]]))
        tensor([1., 3.])
    """
    values = hermitian_eigenvalues(A, _reads_upper("linalg.eigvalsh", A, UPLO))
    require_convergence("linalg.eigvalsh", values)
    return values


def _eig_vjp(grads: Any, results: Any) -> Any:
    """Boeddeker et al., On the computation of complex-valued gradients, 2019, section 4.2."""
    values, vectors = results
    by_values, by_vectors = grads
    turned = adjoint(vectors)
    if by_vectors is None:
        inner = by_values.unsqueeze(-1) * turned
        return solution_and_info(turned, inner)[0]
    inner = turned @ by_vectors
    lengths = diagonal_of(inner).real.to(inner.dtype)
    inner = inner - turned @ (vectors * lengths.unsqueeze(-2))
    differences = values.unsqueeze(-2).conj() - values.unsqueeze(-1).conj() + identity_of(values)
    inner = inner / differences
    inner = inner - diagonal_of(inner).diag_embed()
    if by_values is not None:
        inner = inner + by_values.diag_embed()
    return solution_and_info(turned, inner @ turned)[0]


@lowered(
    "_eig(Tensor input) -> (Tensor eigenvalues, Tensor eigenvectors)", vjp={"input": _eig_vjp}, **INTERNAL
)
def _eig_pairs(input: Tensor) -> Any:
    """Complex eigenvalues and eigenvectors."""
    return emit("eig", input)


def _checked_eig(name: str, A: Tensor) -> Any:
    require_square(name, A)
    pairs = _eig_pairs(A)
    require_convergence(name, pairs[0])
    return pairs


@composed(
    "eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)", exact=False, namespace=LINALG, method=False
)
def eig(A: Tensor) -> Any:
    """The complex eigenvalues, in no order, and the eigenvectors (columns) of norm 1.

    Args:
        A: (..., n, n).

    Raises:
        LinAlgError: if A is not finite or the iteration does not converge.
        RuntimeError: if A is not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.eig(raxis.tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
        tensor([0.+1.j, 0.-1.j])
    """
    return named_results("linalg.eig", *_checked_eig("linalg.eig", A))


@composed("eigvals(Tensor A) -> Tensor", exact=False, namespace=LINALG, method=False)
def eigvals(A: Tensor) -> Any:
    """The complex eigenvalues, in no order.

    Args:
        A: (..., n, n).

    Raises: as `eig`.

    Example:
        >>> import raxis
        >>> raxis.linalg.eigvals(raxis.tensor([[0.0, -1.0], [1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    return _checked_eig("linalg.eigvals", A)[0]
