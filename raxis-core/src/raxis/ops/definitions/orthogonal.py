"""QR factorization, and products of Householder reflections."""

from __future__ import annotations

from typing import Any

from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import LINALG, diagonal_of, identity_of, require_matrices
from raxis.ops.definitions.triangular import solve_triangular
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import emit
from raxis.return_types import named_results
from raxis.tensor import Tensor


def _qr_vjp(grads: Any, results: Any, full: bool, input: Tensor) -> Any:
    by_q, by_r = grads
    q, r = results
    rows, columns = input.shape[-2:]
    if full and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    by_q = q.new_zeros(q.shape) if by_q is None else by_q
    by_r = r.new_zeros(r.shape) if by_r is None else by_r
    if rows >= columns:
        return _tall_vjp(q, r, by_q, by_r)
    # The columns beyond the square are Q times those of R, which therefore depend on Q.
    beyond = by_r[..., rows:]
    by_q = by_q + input[..., rows:] @ adjoint(beyond)
    square = _tall_vjp(q, r[..., :rows], by_q, by_r[..., :rows])
    return cat([square, q @ beyond], -1)


def _tall_vjp(q: Tensor, r: Tensor, by_q: Tensor, by_r: Tensor) -> Any:
    """Walter & Lehmann, Algorithmic differentiation of linear algebra functions, 2012."""
    inner = by_r @ adjoint(r) - adjoint(q) @ by_q
    upper = inner.triu(1)
    diagonal = diagonal_of(inner)
    middle = upper + adjoint(upper) + (diagonal + diagonal.conj()).diag_embed() / 2
    return solve_triangular(adjoint(r), q @ middle + by_q, upper=False, left=False)


@lowered("_qr(Tensor input, bool full) -> (Tensor Q, Tensor R)", vjp={"input": _qr_vjp}, **INTERNAL)
def qr_factors(input: Tensor, full: bool) -> Any:
    """Q and R; Q is square if `full`."""
    return emit("qr", input, full=full)


@composed("qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", namespace=LINALG, method=False)
def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R: ``Q @ R == A``.

    Args:
        A: (..., m, n).
        mode: ``'reduced'`` (Q has min(m, n) columns), ``'complete'`` (m columns), ``'r'`` (Q is empty).

    Raises:
        RuntimeError: for another mode; on backward, for ``'r'``, and for ``'complete'`` if m > n.

    Example:
        >>> import raxis
        >>> raxis.linalg.qr(raxis.tensor([[3.0], [4.0]])).R
        tensor([[-5.]])
    """
    require_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    if mode == "r":
        return named_results("linalg.qr", A.new_empty(0), _triangle_only(A))
    return named_results("linalg.qr", *qr_factors(A, mode == "complete"))


def _no_derivative(grad: Tensor) -> Any:
    raise RuntimeError(
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
        "linalg.qr(A, mode='reduced') if you are going to require gradients"
    )


@lowered("_qr_triangle(Tensor input) -> Tensor", vjp={"input": _no_derivative}, **INTERNAL)
def _triangle_only(input: Tensor) -> Any:
    """R alone."""
    return emit("qr_triangle", input)


@composed("qr(Tensor input, bool some=True) -> (Tensor Q, Tensor R)")
def qr(input: Tensor, some: bool = True) -> Any:
    """As `raxis.linalg.qr`, its successor, with mode ``'reduced'`` or (not `some`) ``'complete'``.

    Example:
        >>> import raxis
        >>> raxis.qr(raxis.tensor([[2.0]])).Q.abs()
        tensor([[1.]])
    """
    require_matrices("linalg.qr", input)
    return named_results("qr", *qr_factors(input, not some))


# ---- reflections -----------------------------------------------------------------------------------------------------


def _householder_product(name: str, A: Tensor, tau: Tensor) -> Any:
    require_matrices(name, A)
    rows, columns = A.shape[-2:]
    count = tau.shape[-1] if tau.ndim else 0
    if not count <= columns <= rows:
        raise RuntimeError(
            f"{name}: expected input.shape[-2] >= input.shape[-1] >= tau.shape[-1], but got {list(A.shape)} and "
            f"{list(tau.shape)}."
        )
    if tau.dtype is not A.dtype or list(tau.shape[:-1]) != list(A.shape[:-2]):
        raise RuntimeError(
            f"{name}: expected tau of dtype {A.dtype} and shape {[*A.shape[:-2], count]}, but got {tau.dtype} and "
            f"{list(tau.shape)}."
        )
    ones = identity_of(A, rows)[:, :columns]
    reflectors = A.tril(-1) + ones
    result = ones.expand(A.shape)
    for step in reversed(range(count)):
        vector = reflectors[..., step : step + 1]
        result = result - tau[..., step, None, None] * vector @ (adjoint(vector) @ result)
    return result.clone() if count == 0 else result


@composed("householder_product(Tensor A, Tensor tau) -> Tensor", exact=False, namespace=LINALG, method=False)
def householder_product(A: Tensor, tau: Tensor) -> Any:
    """The first n columns of the product of the reflections ``1 - tau[i] * v v^H``, where v is column i of A.

    Args:
        A: (..., m, n), m >= n; the columns below the diagonal, whose own elements count as 1.
        tau: (..., k), k <= n, of the same dtype.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.linalg.householder_product(raxis.zeros(2, 1), raxis.tensor([2.0]))
        tensor([[-1.],
                [ 0.]])
    """
    return _householder_product("linalg.householder_product", A, tau)


@composed("orgqr(Tensor input, Tensor tau) -> Tensor", exact=False)
def orgqr(input: Tensor, tau: Tensor) -> Any:
    """As `raxis.linalg.householder_product`.

    Example:
        >>> import raxis
        >>> raxis.orgqr(raxis.zeros(2, 1), raxis.tensor([0.0]))
        tensor([[1.],
                [0.]])
    """
    return _householder_product("linalg.householder_product", input, tau)
