"""Triangular systems of equations, and Cholesky's factorization."""

from __future__ import annotations

from typing import Any

from raxis.layout import broadcast_shapes
from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    identity_of,
    require_matrices,
    require_one_dtype,
    require_square,
    require_success,
)
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import broadcast, emit
from raxis.return_types import named_results
from raxis.tensor import Tensor

# ---- triangular systems ----------------------------------------------------------------------------------------------


def _triangle(matrix: Tensor, upper: bool, unitriangular: bool) -> Any:
    return matrix.triu(int(unitriangular)) if upper else matrix.tril(-int(unitriangular))


def _solve_triangular_vjp(
    grad: Tensor, A: Tensor, result: Tensor, upper: bool, left: bool, unitriangular: bool, needs: Any
) -> Any:
    flipped = {"upper": not upper, "left": left, "unitriangular": unitriangular}
    by_right_side = solve_triangular(adjoint(A), grad, **flipped)
    if not needs[0]:
        return None, by_right_side
    product = by_right_side @ adjoint(result) if left else adjoint(result) @ by_right_side
    return -_triangle(product, upper, unitriangular), by_right_side


@lowered(
    "solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
    namespace=LINALG,
    method=False,
    vjp={("A", "B"): _solve_triangular_vjp},
)
def solve_triangular(A: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Any:
    """The solution of ``A X = B`` (or ``X A = B``, not `left`) with triangular matrices A.

    Args:
        A: (..., n, n); the other triangle is not read.
        B: (..., n, k), or (..., k, n) if not `left`, of the same dtype; batch dimensions broadcast.
        upper: whether A is upper triangular.
        left: whether A is on the left.
        unitriangular: whether the diagonal counts as ones and is not read.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ. Division by 0 is no error.

    Example:
        >>> import raxis
        >>> raxis.linalg.solve_triangular(raxis.tensor([[2.0, 0.0], [1.0, 1.0]]), raxis.ones(2, 1), upper=False)
        tensor([[0.5000],
                [0.5000]])
    """
    name = "linalg.solve_triangular"
    require_matrices(name, A, B)
    require_square(name, A)
    require_one_dtype(name, A, B)
    size, own = A.shape[-1], B._layout.shape
    if own[-2 if left else -1] != size:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({A.shape[-2]}x{size} and "
            f"{own[-2]}x{own[-1]})"
        )
    batch = broadcast_shapes(A._layout.shape[:-2], own[:-2])
    factor, right = broadcast(A, (*batch, size, size)), broadcast(B, (*batch, *own[-2:]))
    if left:
        return emit("triangular_solve", factor, right, upper=upper, unit=unitriangular)
    turned = emit("triangular_solve", _turned(factor), _turned(right), upper=not upper, unit=unitriangular)
    return _turned(turned)


def _turned(matrix: Tensor) -> Any:
    rank = matrix.ndim
    return emit("transpose", matrix, permutation=(*range(rank - 2), rank - 1, rank - 2))


@composed(
    "triangular_solve(Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) "
    "-> (Tensor solution, Tensor cloned_coefficient)"
)
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of ``A X = input`` with triangular A, and a copy of A; see `raxis.linalg.solve_triangular`.

    Args:
        input: (..., n, k).
        A: (..., n, n), of the same dtype.
        upper: whether A is upper triangular.
        transpose: solve with A transposed.
        unitriangular: whether the diagonal counts as ones.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.triangular_solve(raxis.ones(1, 1), raxis.tensor([[4.0]])).solution
        tensor([[0.2500]])
    """
    require_matrices("triangular_solve", input, A, letters="bA")
    factor = A.mT if transpose else A
    solution = solve_triangular(factor, input, upper=upper != transpose, unitriangular=unitriangular)
    batch = solution.shape[:-2]
    return named_results("triangular_solve", solution, A.expand(*batch, *A.shape[-2:]).clone())


# ---- Cholesky --------------------------------------------------------------------------------------------------------


def _cholesky_vjp(grad: Tensor, results: Any, upper: bool) -> Any:
    factor, grad = (adjoint(results[0]), adjoint(grad)) if upper else (results[0], grad)
    inner = (adjoint(factor) @ grad).tril()
    inner = 0.5 * (inner + adjoint(inner.tril(-1)))
    inner = solve_triangular(adjoint(factor), inner, upper=True)
    return solve_triangular(factor, inner, upper=False, left=False)


@lowered(
    "_cholesky(Tensor input, bool upper) -> (Tensor L, Tensor info)", vjp={"input": _cholesky_vjp}, **INTERNAL
)
def cholesky_factor(input: Tensor, upper: bool) -> Any:
    """Triangular L with ``L @ L.mH == input`` (`upper`: ``L.mH @ L``), and 0 where it succeeded.

    Only the triangle of `input` that L occupies is read.
    """
    if not upper:
        return emit("cholesky", input)
    factor, info = emit("cholesky", adjoint(input))
    return adjoint(factor), info


def _indefinite(order: int) -> str:
    return (
        "The factorization could not be completed because the input is not positive-definite (the leading minor of "
        f"order {order} is not positive-definite)."
    )


def _checked_cholesky(name: str, input: Tensor, upper: bool) -> Any:
    require_square(name, input)
    factor, info = cholesky_factor(input, upper)
    require_success(name, info, _indefinite)
    return factor


@composed("cholesky(Tensor A, *, bool upper=False) -> Tensor", namespace=LINALG, method=False)
def linalg_cholesky(A: Tensor, *, upper: bool = False) -> Any:
    """Lower triangular L with ``L @ L.mH == A`` (or upper triangular, ``U.mH @ U == A``), for positive-definite A.

    Args:
        A: (..., n, n), Hermitian; only the triangle of the result's form is read.
        upper: whether the result is upper triangular.

    Raises:
        LinAlgError: if A is not positive-definite.
        RuntimeError: if A is not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.cholesky(raxis.tensor([[4.0, 2.0], [2.0, 2.0]]))
        tensor([[2., 0.],
                [1., 1.]])
    """
    return _checked_cholesky("linalg.cholesky", A, upper)


@composed(
    "cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    namespace=LINALG,
    method=False,
)
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky` without errors: `info` is 0 where it succeeded, else the order of the minor that is not positive.

    Args: as `cholesky`, and
        check_errors: raise all the same.

    Example:
        >>> import raxis
        >>> raxis.linalg.cholesky_ex(raxis.tensor([[-1.0]])).info
        tensor(1, dtype=raxis.int32)
    """
    require_square("linalg.cholesky_ex", A)
    factor, info = cholesky_factor(A, upper)
    if check_errors:
        require_success("linalg.cholesky_ex", info, _indefinite)
    return named_results("linalg.cholesky_ex", factor, info)


@composed("cholesky(Tensor input, bool upper=False) -> Tensor", exact=False)
def cholesky(input: Tensor, upper: bool = False) -> Any:
    """As `raxis.linalg.cholesky`, its successor.

    Example:
        >>> import raxis
        >>> raxis.cholesky(raxis.tensor([[4.0]]))
        tensor([[2.]])
    """
    return _checked_cholesky("cholesky", input, upper)


def _solve_by_factor_vjp(grad: Tensor, L: Tensor, result: Tensor, upper: bool, needs: Any) -> Any:
    by_right_side = _solved_by_factor(grad, L, upper)
    if not needs[1]:
        return by_right_side, None
    product = by_right_side @ adjoint(result)
    symmetric = product + adjoint(product)
    return by_right_side, -(L @ symmetric if upper else symmetric @ L)


@lowered(
    "_cholesky_solve(Tensor input, Tensor L, bool upper) -> Tensor",
    vjp={("input", "L"): _solve_by_factor_vjp},
    **INTERNAL,
)
def _solved_by_factor(input: Tensor, L: Tensor, upper: bool) -> Any:
    """X with ``L @ L.mH @ X == input`` (`upper`: ``L.mH @ L``); the other triangle of L is not read."""
    first = solve_triangular(adjoint(L) if upper else L, input, upper=False)
    return solve_triangular(L if upper else adjoint(L), first, upper=True)


@composed("cholesky_solve(Tensor input, Tensor L, bool upper=False) -> Tensor", exact=False)
def cholesky_solve(input: Tensor, L: Tensor, upper: bool = False) -> Any:
    """The solution of ``A X = input`` for the matrix A whose Cholesky factor is `L`.

    Args:
        input: (..., n, k).
        L: (..., n, n), as `cholesky` gives it.
        upper: whether `L` is the upper triangular factor.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.cholesky_solve(raxis.ones(1, 1), raxis.tensor([[2.0]]))
        tensor([[0.2500]])
    """
    for letter, operand in (("b", input), ("u", L)):
        if operand.ndim < 2:
            raise RuntimeError(
                f"{letter} should have at least 2 dimensions, but has {operand.ndim} dimensions instead"
            )
    require_square("cholesky_solve", L)
    return _solved_by_factor(input, L, upper)


@composed("cholesky_inverse(Tensor L, bool upper=False) -> Tensor", exact=False)
def cholesky_inverse(L: Tensor, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is `L`.

    Args:
        L: (..., n, n), as `cholesky` gives it.
        upper: whether `L` is the upper triangular factor.

    Raises:
        RuntimeError: if `L` is not square.

    Example:
        >>> import raxis
        >>> raxis.cholesky_inverse(raxis.tensor([[2.0]]))
        tensor([[0.2500]])
    """
    require_square("cholesky_inverse", L)
    return _solved_by_factor(identity_of(L).expand(L.shape), L, upper)
