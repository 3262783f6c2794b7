"""LU factorization, what is solved with it, and determinants."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import broadcast_shapes
from raxis.numeric_limits import finfo
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.matmul import adjoint as conjugate_transpose
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    diagonal_of,
    identity_of,
    require_matrices,
    require_one_dtype,
    require_square,
    require_success,
)
from raxis.ops.definitions.sequences import arange
from raxis.ops.definitions.triangular import solve_triangular
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import emit
from raxis.return_types import named_results
from raxis.tensor import Tensor

# ---- the factorization -----------------------------------------------------------------------------------------------


def _lu_vjp(grad: Tensor, results: Any) -> Any:
    packed, pivots, _ = results
    rows, columns = packed.shape[-2:]
    inner = min(rows, columns)
    square = packed[..., :inner, :inner]
    lower, upper = conjugate_transpose(_lower(square)), conjugate_transpose(_without_zeros(square.triu()))
    by_lower, by_upper = grad[..., :inner].tril(-1), grad[..., :inner, :].triu()
    below, beside = by_lower[..., inner:, :], by_upper[..., inner:]
    left, right = lower @ by_lower[..., :inner, :], by_upper[..., :inner] @ upper
    if rows > inner:
        right = right - conjugate_transpose(packed[..., inner:, :]) @ below
    if columns > inner:
        left = left - beside @ conjugate_transpose(packed[..., inner:])
    middle = left.tril(-1) + right.triu()
    if rows > inner:
        middle = solve_triangular(lower, middle, upper=True, unitriangular=True)
        result = solve_triangular(upper, cat([middle, below], -2), upper=False, left=False)
    else:
        middle = solve_triangular(upper, middle, upper=False, left=False)
        whole = middle if columns == inner else cat([middle, beside], -1)
        result = solve_triangular(lower, whole, upper=True, unitriangular=True)
    return _rows_back(result, permutation_of(pivots, rows))


def _without_zeros(upper: Tensor) -> Any:
    """U with tiny numbers for zeros on the diagonal: the determinant of a singular matrix has a gradient, too."""
    diagonal = diagonal_of(upper)
    tiny = finfo(diagonal.dtype.to_real()).eps * (diagonal == 0).to(diagonal.dtype)
    return upper + tiny.diag_embed()


@lowered("_lu(Tensor input) -> (Tensor LU, Tensor pivots, Tensor info)", vjp={"input": _lu_vjp}, **INTERNAL)
def lu_packed(input: Tensor) -> Any:
    """Both factors in one matrix, the exchanges of rows, and 0 where U has no zero on its diagonal."""
    return emit("lu", input)


@lowered("_permutation_of(Tensor pivots, int size) -> Tensor", **INTERNAL)
def permutation_of(pivots: Tensor, size: int) -> Any:
    """Where each row of P^T A comes from."""
    return emit("pivots_to_permutation", pivots, size=size)


def _rows_of(matrix: Tensor, order: Tensor) -> Any:
    """P^T times a matrix."""
    return matrix.gather(-2, order.unsqueeze(-1).expand(matrix.shape))


def _rows_back(matrix: Tensor, order: Tensor) -> Any:
    """P times a matrix."""
    return _rows_of(matrix, order.argsort(-1))


def _lower(square: Tensor) -> Any:
    return square.tril(-1) + identity_of(square)


def _unpacked(packed: Tensor) -> tuple[Any, Any]:
    rows, columns = packed.shape[-2:]
    inner = min(rows, columns)
    lower = packed[..., :inner].tril(-1)
    ones = identity_of(packed, rows)[:, :inner]
    return lower + ones, packed[..., :inner, :].triu()


def _permutation_matrix(pivots: Tensor, rows: int, dtype: dtypes.DType) -> Any:
    order = permutation_of(pivots, rows)
    places = arange(rows, device=pivots.device)
    return (order.unsqueeze(-2) == places.unsqueeze(-1)).to(dtype)


def _require_pivot(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU; use pivot=True.")


def _zero_pivot(place: int) -> str:
    return (
        f"U[{place},{place}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
        "perform the factorization, consider calling linalg.lu(A) or linalg.lu_factor_ex(A)"
    )


@composed(
    "lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", namespace=LINALG, method=False
)
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """The LU factorization with exchanges of rows in compact form, for `lu_solve`.

    Args:
        A: (..., m, n).
        pivot: must be True.

    Returns:
        LU (L below the diagonal, U on and above it) and int32 pivots: row i was exchanged with row pivots[i], from 1.

    Raises:
        LinAlgError: if U has a zero on its diagonal.

    Example:
        >>> import raxis
        >>> raxis.linalg.lu_factor(raxis.tensor([[1.0, 2.0], [2.0, 2.0]])).LU
        tensor([[2.0000, 2.0000],
                [0.5000, 1.0000]])
    """
    require_matrices("linalg.lu_factor", A)
    _require_pivot("linalg.lu_factor", pivot)
    packed, pivots, info = lu_packed(A)
    require_success("linalg.lu_factor", info, _zero_pivot)
    return named_results("linalg.lu_factor", packed, pivots)


@composed(
    "lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
    namespace=LINALG,
    method=False,
)
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor` without errors: `info` is 0, or says which element (from 1) of U's diagonal is the first zero.

    Args: as `lu_factor`, and
        check_errors: raise all the same.

    Example:
        >>> import raxis
        >>> raxis.linalg.lu_factor_ex(raxis.zeros(1, 1)).info
        tensor(1, dtype=raxis.int32)
    """
    require_matrices("linalg.lu_factor_ex", A)
    _require_pivot("linalg.lu_factor_ex", pivot)
    packed, pivots, info = lu_packed(A)
    if check_errors:
        require_success("linalg.lu_factor_ex", info, _zero_pivot)
    return named_results("linalg.lu_factor_ex", packed, pivots, info)


@composed(
    "lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", namespace=LINALG, method=False
)
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation P, a lower triangular L with ones on its diagonal, and an upper triangular U: ``P @ L @ U == A``.

    Args:
        A: (..., m, n).
        pivot: must be True.

    Example:
        >>> import raxis
        >>> raxis.linalg.lu(raxis.tensor([[1.0, 2.0], [2.0, 2.0]])).U
        tensor([[2., 2.],
                [0., 1.]])
    """
    require_matrices("linalg.lu", A)
    _require_pivot("linalg.lu", pivot)
    packed, pivots, _ = lu_packed(A)
    matrix = _permutation_matrix(pivots, A.shape[-2], A.dtype)
    return named_results("linalg.lu", matrix, *_unpacked(packed))


@composed("lu(Tensor input, bool pivot=True, bool get_infos=False) -> Tensor[]")
def lu_with_infos(input: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU and pivots as `raxis.linalg.lu_factor`, its successor, and also info (as a third result) if asked.

    Args:
        input: (..., m, n).
        pivot: must be True.
        get_infos: return info instead of raising.

    Raises:
        LinAlgError: if U has a zero on its diagonal, unless `get_infos`.

    Example:
        >>> import raxis
        >>> raxis.lu(raxis.tensor([[2.0]]))[0]
        tensor([[2.]])
    """
    require_matrices("lu", input)
    _require_pivot("lu", pivot)
    packed, pivots, info = lu_packed(input)
    if get_infos:
        return packed, pivots, info
    require_success("lu", info, _zero_pivot)
    return packed, pivots


@composed(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    method=False,
)
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """P, L and U from what `raxis.linalg.lu_factor` gives; empty tensors for what is not unpacked.

    Args:
        LU_data: (..., m, n).
        LU_pivots: (..., min(m, n)), int32.
        unpack_data: whether L and U are wanted.
        unpack_pivots: whether P is wanted.

    Raises:
        RuntimeError: if the pivots are not int32 or their shape does not fit.

    Example:
        >>> import raxis
        >>> raxis.lu_unpack(*raxis.linalg.lu_factor(raxis.tensor([[2.0]]))).U
        tensor([[2.]])
    """
    if LU_data.ndim < 2:
        raise RuntimeError("lu_unpack: The input tensor LU_data must have at least 2 dimensions.")
    rows, inner = LU_data.shape[-2], min(LU_data.shape[-2:])
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"lu_unpack: LU_pivots is expected to be a tensor of dtype int32, but got {LU_pivots.dtype}."
        )
    if unpack_pivots and list(LU_pivots.shape) != [*LU_data.shape[:-2], inner]:
        raise RuntimeError(
            f"lu_unpack: expected LU_pivots of shape {[*LU_data.shape[:-2], inner]}, but got {list(LU_pivots.shape)}."
        )
    nothing = LU_data.new_empty(0)
    matrix = _permutation_matrix(LU_pivots, rows, LU_data.dtype) if unpack_pivots else nothing
    factors = _unpacked(LU_data) if unpack_data else (nothing, nothing)
    return named_results("lu_unpack", matrix, *factors)


# ---- solving with the factors ----------------------------------------------------------------------------------------


@composed(
    "lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    namespace=LINALG,
    method=False,
)
def linalg_lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Any:
    """The solution of ``A X = B`` (``X A = B``, not `left`), given A's factors by `lu_factor`.

    Args:
        LU: (..., n, n).
        pivots: (..., n), int32.
        B: (..., n, k), or (..., k, n) if not `left`; batch dimensions broadcast.
        left: whether A is on the left.
        adjoint: solve with A's conjugate transpose.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.linalg.lu_solve(*raxis.linalg.lu_factor(raxis.tensor([[4.0]])), raxis.ones(1, 1))
        tensor([[0.2500]])
    """
    _require_factors("linalg.lu_solve", LU, pivots, B, left)
    if not left:
        return conjugate_transpose(_lu_solved(LU, pivots, conjugate_transpose(B), not adjoint))
    return _lu_solved(LU, pivots, B, adjoint)


def _require_factors(name: str, LU: Tensor, pivots: Tensor, B: Tensor, left: bool = True) -> None:
    require_square(name, LU, "LU")
    require_matrices(name, B, letters="B")
    require_one_dtype(name, LU, B)
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}: Expected pivots of dtype int32, but got {pivots.dtype}.")
    if list(pivots.shape) != list(LU.shape[:-1]):
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix: expected shape "
            f"{list(LU.shape[:-1])}, but got {list(pivots.shape)}."
        )
    if B.shape[-2 if left else -1] != LU.shape[-1]:
        raise RuntimeError(f"{name}: Incompatible shapes of LU and B: {list(LU.shape)} and {list(B.shape)}.")


def _lu_solved(packed: Tensor, pivots: Tensor, right: Tensor, transposed: bool) -> Any:
    batch = broadcast_shapes(packed._layout.shape[:-2], right._layout.shape[:-2])
    order = permutation_of(pivots, packed.shape[-1]).expand(*batch, packed.shape[-1])
    right = right.expand(*batch, *right.shape[-2:])
    if not transposed:
        first = solve_triangular(packed, _rows_of(right, order), upper=False, unitriangular=True)
        return solve_triangular(packed, first, upper=True)
    turned = conjugate_transpose(packed)
    first = solve_triangular(turned, right, upper=False)
    return _rows_back(solve_triangular(turned, first, upper=True, unitriangular=True), order)


@composed("lu_solve(Tensor input, Tensor LU_data, Tensor LU_pivots) -> Tensor")
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """The solution of ``A X = input``, given A's factors; `raxis.linalg.lu_solve` is its successor.

    Args:
        input: (..., n, k).
        LU_data: (..., n, n).
        LU_pivots: (..., n), int32.

    Raises:
        RuntimeError: if shapes do not fit or dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.lu_solve(raxis.ones(1, 1), *raxis.linalg.lu_factor(raxis.tensor([[4.0]])))
        tensor([[0.2500]])
    """
    _require_factors("lu_solve", LU_data, LU_pivots, input)
    return _lu_solved(LU_data, LU_pivots, input, False)


# ---- determinants ----------------------------------------------------------------------------------------------------


def _sign_and_diagonal(name: str, matrix: Tensor) -> tuple[Any, Any]:
    """The sign of the permutation (1 or -1, in the matrix's dtype) and U's diagonal."""
    require_square(name, matrix)
    packed, pivots, _ = lu_packed(matrix)
    places = arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    exchanges = (pivots != places).sum(-1)
    return (1 - 2 * (exchanges % 2)).to(matrix.dtype), diagonal_of(packed)


def _determinant(name: str, matrix: Tensor) -> Any:
    sign, diagonal = _sign_and_diagonal(name, matrix)
    return sign * diagonal.prod(-1)


def _logarithm(name: str, matrix: Tensor) -> tuple[Any, Any]:
    sign, diagonal = _sign_and_diagonal(name, matrix)
    return sign * diagonal.sgn().prod(-1), diagonal.abs().log().sum(-1)


@composed("det(Tensor A) -> Tensor", namespace=LINALG, method=False)
def linalg_det(A: Tensor) -> Any:
    """The determinants of square matrices.

    Args:
        A: (..., n, n).

    Raises:
        RuntimeError: if the matrices are not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.det(raxis.tensor([[1.0, 2.0], [0.0, 3.0]]))
        tensor(3.)
    """
    return _determinant("linalg.det", A)


@composed("det(Tensor input) -> Tensor", out=False)
def det(input: Tensor) -> Any:
    """As `raxis.linalg.det`.

    Example:
        >>> import raxis
        >>> raxis.det(raxis.tensor([[2.0]]))
        tensor(2.)
    """
    return _determinant("linalg.det", input)


@composed("slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", namespace=LINALG, method=False)
def linalg_slogdet(A: Tensor) -> Any:
    """The determinants' signs (of magnitude 1 for complex A, 0 for singular A) and logarithms of their magnitudes.

    Args:
        A: (..., n, n).

    Raises:
        RuntimeError: if the matrices are not square.

    Example:
        >>> import raxis
        >>> raxis.linalg.slogdet(raxis.tensor([[-1.0]])).logabsdet
        tensor(0.)
    """
    return named_results("linalg.slogdet", *_logarithm("linalg.slogdet", A))


@composed("slogdet(Tensor input) -> (Tensor sign, Tensor logabsdet)")
def slogdet(input: Tensor) -> Any:
    """As `raxis.linalg.slogdet`.

    Example:
        >>> import raxis
        >>> raxis.slogdet(raxis.tensor([[-1.0]])).sign
        tensor(-1.)
    """
    return named_results("slogdet", *_logarithm("linalg.slogdet", input))


@composed("logdet(Tensor input) -> Tensor", out=False)
def logdet(input: Tensor) -> Any:
    """The logarithms of the determinants: NaN for negative ones, -inf for 0.

    Args:
        input: (..., n, n).

    Raises:
        RuntimeError: if the matrices are not square.

    Example:
        >>> import raxis
        >>> raxis.logdet(raxis.tensor([[1.0]]))
        tensor(0.)
    """
    sign, logarithm = _logarithm("logdet", input)
    if input.dtype.is_complex:
        return sign.log() + logarithm
    return logarithm.masked_fill(sign == -1, float("nan"))
