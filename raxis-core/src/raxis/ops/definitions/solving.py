"""Inverses and systems of linear equations."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product_of
from typing import Any

from raxis import dtypes
from raxis.layout import broadcast_shapes
from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    require_matrices,
    require_one_dtype,
    require_square,
    require_success,
)
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.return_types import named_results
from raxis.tensor import Tensor

# ---- inverses --------------------------------------------------------------------------------------------------------


def _solved(A: Tensor, right: Tensor) -> Any:
    """While tracing: the solution of ``A X = right`` and info; batch dimensions broadcast."""
    packed, pivots, info = emit("lu", A)
    *own, size = pivots._layout.shape
    batch = broadcast_shapes(tuple(own), right._layout.shape[:-2])
    shape = (*batch, *right._layout.shape[-2:])
    order = emit("pivots_to_permutation", pivots, size=size)
    column = emit("reshape", order, shape=(*own, size, 1))
    rows = emit("gather", broadcast(right, shape), broadcast(column, shape), dim=len(shape) - 2)
    factors = broadcast(packed, (*batch, size, size))
    first = emit("triangular_solve", factors, rows, upper=False, unit=True)
    return emit("triangular_solve", factors, first, upper=True, unit=False), info


def _traced_identity(A: Tensor) -> Any:
    size = A._layout.shape[-1]
    row, column = (emit("iota", shape=(size, size), dtype=dtypes.int64, dim=dim) for dim in (0, 1))
    return cast(emit("eq", row, column), A._layout.dtype)


def _inverse_vjp(grad: Tensor, results: Any) -> Any:
    turned = adjoint(results[0])
    return -(turned @ grad @ turned)


@lowered("_inverse(Tensor A) -> (Tensor inverse, Tensor info)", vjp={"A": _inverse_vjp}, **INTERNAL)
def inverse_and_info(A: Tensor) -> Any:
    """The inverse, and 0 where there is one."""
    return _solved(A, _traced_identity(A))


def _singular(place: int) -> str:
    return (
        f"The diagonal element {place} is zero, the inversion could not be completed because the input matrix is "
        "singular."
    )


def _inverted(name: str, A: Tensor) -> Any:
    require_square(name, A)
    found, info = inverse_and_info(A)
    require_success(name, info, _singular)
    return found


@composed("inv(Tensor A) -> Tensor", namespace=LINALG, method=False)
def inv(A: Tensor) -> Any:
    """The inverses of square matrices.

    Args:
        A: (..., n, n).

    Raises:
        LinAlgError: if a matrix is singular.
        RuntimeError: if the matrices are not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.inv(raxis.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    return _inverted("linalg.inv", A)


@composed(
    "inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    namespace=LINALG,
    method=False,
)
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """`inv` without errors: `info` is 0, or says which diagonal element of U in A's LU factorization is 0.

    Args:
        A: (..., n, n).
        check_errors: raise all the same.

    Example:
        >>> import raxis
        >>> raxis.linalg.inv_ex(raxis.zeros(1, 1)).info
        tensor(1, dtype=raxis.int32)
    """
    require_square("linalg.inv_ex", A)
    found, info = inverse_and_info(A)
    if check_errors:
        require_success("linalg.inv_ex", info, _singular)
    return named_results("linalg.inv_ex", found, info)


@composed("inverse(Tensor input) -> Tensor")
def inverse(input: Tensor) -> Any:
    """As `raxis.linalg.inv`.

    Example:
        >>> import raxis
        >>> raxis.inverse(raxis.tensor([[4.0]]))
        tensor([[0.2500]])
    """
    return _inverted("linalg.inv", input)


# ---- systems of equations --------------------------------------------------------------------------------------------


def _solve_vjp(grad: Tensor, A: Tensor, results: Any, needs: Any) -> Any:
    by_right_side = solution_and_info(adjoint(A), grad)[0]
    return -(by_right_side @ adjoint(results[0])) if needs[0] else None, by_right_side


@lowered(
    "_solve(Tensor A, Tensor B) -> (Tensor result, Tensor info)", vjp={("A", "B"): _solve_vjp}, **INTERNAL
)
def solution_and_info(A: Tensor, B: Tensor) -> Any:
    """X with ``A X = B`` for matrices B, and 0 where there is one."""
    return _solved(A, B)


def _insoluble(_: int) -> str:
    return "The solver failed because the input matrix is singular."


def _solution(name: str, A: Tensor, B: Tensor, left: bool) -> tuple[Any, Any]:
    require_square(name, A)
    require_one_dtype(name, A, B)
    rows = A._layout.shape[:-1]
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B._layout.shape == rows)
    if is_vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    right = B.unsqueeze(-1) if is_vector else B
    _require_fitting(name, A, right, left)
    if not left:
        found, info = solution_and_info(A.mT, right.mT)
        return found.mT, info
    found, info = solution_and_info(A, right)
    return (found.squeeze(-1) if is_vector else found), info


def _require_fitting(name: str, A: Tensor, right: Tensor, left: bool) -> None:
    require_matrices(name, right, letters="B")
    if right.shape[-2 if left else -1] != A.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({A.shape[-2]}x{A.shape[-1]} and {right.shape[-2]}x{right.shape[-1]})"
        )


@composed("solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", namespace=LINALG, method=False)
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Any:
    """The solution of ``A X = B`` (or ``X A = B``, not `left`).

    Args:
        A: (..., n, n).
        B: (..., n, k), (..., k, n) if not `left`, or vectors (n,) or (..., n) of A's batch; of the same dtype.
        left: whether A is on the left.

    Raises:
        LinAlgError: if a matrix is singular.
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.linalg.solve(raxis.tensor([[2.0, 0.0], [0.0, 4.0]]), raxis.ones(2))
        tensor([0.5000, 0.2500])
    """
    found, info = _solution("linalg.solve", A, B, left)
    require_success("linalg.solve", info, _insoluble)
    return found


@composed(
    "solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
    namespace=LINALG,
    method=False,
)
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve` without errors: `info` is 0, or says which diagonal element of U in A's LU factorization is 0.

    Args: as `solve`, and
        check_errors: raise all the same.

    Example:
        >>> import raxis
        >>> raxis.linalg.solve_ex(raxis.zeros(1, 1), raxis.ones(1)).info
        tensor(1, dtype=raxis.int32)
    """
    found, info = _solution("linalg.solve_ex", A, B, left)
    if check_errors:
        require_success("linalg.solve_ex", info, _insoluble)
    return named_results("linalg.solve_ex", found, info)


# ---- tensors as matrices ---------------------------------------------------------------------------------------------


@composed("tensorinv(Tensor A, int ind=2) -> Tensor", exact=False, namespace=LINALG, method=False)
def tensorinv(A: Tensor, ind: int = 2) -> Any:
    """The inverse of the map that `tensordot` with A over its last ``A.ndim - ind`` dimensions is.

    Args:
        A: the product of its first `ind` sizes equals that of the others.
        ind: how many dimensions are rows, positive.

    Raises:
        LinAlgError: if there is no inverse.
        RuntimeError: if `ind` is not positive or the sizes do not fit.

    Example:
        >>> import raxis
        >>> raxis.linalg.tensorinv(raxis.eye(6).reshape(2, 3, 6)).shape
        raxis.Size([6, 2, 3])
    """
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, second = A.shape[:ind], A.shape[ind:]
    if product_of(first) != product_of(second):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{product_of(second)} != {product_of(first)}"
        )
    return _inverted("linalg.inv", A.reshape(product_of(first), product_of(second))).reshape(*second, *first)


@composed(
    "tensorsolve(Tensor A, Tensor B, int[]? dims=None) -> Tensor", exact=False, namespace=LINALG, method=False
)
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Any:
    """X with ``tensordot(A, X, X.ndim) == B``.

    Args:
        A: of B's dimensions and those of X, whose sizes have the same product.
        B: any shape.
        dims: dimensions of A that are moved to its end first.

    Raises:
        LinAlgError: if there is no unique solution.
        RuntimeError: if the sizes do not fit.

    Example:
        >>> import raxis
        >>> raxis.linalg.tensorsolve(raxis.eye(6).reshape(2, 3, 6), raxis.ones(2, 3)).shape
        raxis.Size([6])
    """
    moved = A if dims is None else A.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    shape = moved.shape[B.ndim :]
    size = product_of(shape)
    if size != product_of(moved.shape[: B.ndim]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {size} != {product_of(moved.shape[: B.ndim])}"
        )
    found, info = _solution("linalg.solve", moved.reshape(size, size), B.flatten(), True)
    require_success("linalg.solve", info, _insoluble)
    return found.reshape(shape)
