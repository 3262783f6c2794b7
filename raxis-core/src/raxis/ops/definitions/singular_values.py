"""Singular values, and what is made of them: pseudo-inverses, ranks and least squares."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import int64
from raxis.layout import broadcast_shapes
from raxis.numeric_limits import finfo
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.eigenvalues import hermitian_eigenvalues
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.matmul import adjoint
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    diagonal_of,
    has_values,
    identity_of,
    require_convergence,
    require_matrices,
    require_one_dtype,
    require_square,
)
from raxis.ops.definitions.orthogonal import qr_factors
from raxis.ops.definitions.reductions import scalar_type
from raxis.ops.definitions.triangular import solve_triangular
from raxis.ops.definitions.verdicts import are_deferred
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import cast, emit
from raxis.return_types import named_results
from raxis.tensor import Tensor

# ---- the decomposition -----------------------------------------------------------------------------------------------


def _svd_vjp(grads: Any, results: Any, full: bool) -> Any:
    """Townsend, Differentiating the singular value decomposition, 2016."""
    u, s, vh = results
    by_u, by_s, by_vh = grads
    inner = s.shape[-1]
    if full:
        u, vh = u[..., :inner], vh[..., :inner, :]
        by_u = None if by_u is None else by_u[..., :inner]
        by_vh = None if by_vh is None else by_vh[..., :inner, :]
    if by_u is None and by_vh is None:
        return (u * by_s.unsqueeze(-2)) @ vh
    middle = _middle(u, s, vh, by_u, by_vh)
    if by_s is not None:
        middle = middle + by_s.to(middle.dtype).diag_embed()
    result = u @ middle
    if by_u is not None and u.shape[-2] > inner:
        scaled = by_u / s.unsqueeze(-2)
        result = result + scaled - u @ (adjoint(u) @ scaled)
    result = result @ vh
    if by_vh is not None and vh.shape[-1] > inner:
        scaled = u @ (by_vh / s.unsqueeze(-1))
        result = result + scaled - (scaled @ adjoint(vh)) @ vh
    return result


def _middle(u: Tensor, s: Tensor, vh: Tensor, by_u: Tensor | None, by_vh: Tensor | None) -> Any:
    """What the gradients of the vectors contribute, in the bases of the vectors."""
    squares = s * s
    differences = squares.unsqueeze(-2) - squares.unsqueeze(-1) + identity_of(s)
    total: Any = 0
    if by_u is not None:
        turned = _skew(adjoint(u) @ by_u)
        total = turned / differences * s.unsqueeze(-2)
        if u.dtype.is_complex and by_vh is not None:
            total = total + (diagonal_of(turned) / (2 * s)).diag_embed()
    if by_vh is not None:
        total = total + s.unsqueeze(-1) * (_skew(vh @ adjoint(by_vh)) / differences)
    return total


def _skew(matrix: Tensor) -> Any:
    return matrix - adjoint(matrix)


@lowered(
    "_svd_factors(Tensor input, bool full) -> (Tensor U, Tensor S, Tensor Vh)",
    vjp={"input": _svd_vjp},
    **INTERNAL,
)
def svd_factors(input: Tensor, full: bool) -> Any:
    """U, S and V^H; U and V are square if `full`."""
    return emit("svd", input, full=full)


def _values_vjp(grad: Tensor, input: Tensor) -> Any:
    left, _, right = svd_factors(input, False)
    return (left * grad.unsqueeze(-2)) @ right


@lowered("_svdvals(Tensor input) -> Tensor", vjp={"input": _values_vjp}, **INTERNAL)
def _singular_values(input: Tensor) -> Any:
    """S."""
    return emit("svdvals", input)


def _require_svd(name: str, A: Tensor, driver: str | None = None) -> None:
    require_matrices(name, A)
    if driver is not None:
        raise RuntimeError(
            f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


def _checked_svd(name: str, A: Tensor, full: bool, driver: str | None = None) -> Any:
    _require_svd(name, A, driver)
    factors = svd_factors(A, full)
    require_convergence(name, factors[1])
    return factors


def _checked_values(name: str, A: Tensor, driver: str | None = None) -> Any:
    _require_svd(name, A, driver)
    values = _singular_values(A)
    require_convergence(name, values)
    return values


@composed(
    "svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
    namespace=LINALG,
    method=False,
)
def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """The singular value decomposition: ``A == U @ diag(S) @ Vh``, S descending.

    Vectors are determined up to sign (complex: a factor of magnitude 1), and gradients are defined for functions that
    do not depend on it.

    Args:
        A: (..., m, n).
        full_matrices: whether U is (..., m, m) and Vh (..., n, n); else both have min(m, n) vectors.
        driver: must be None.

    Raises:
        LinAlgError: if A is not finite or the iteration does not converge.

    Example:
        >>> import raxis
        >>> raxis.linalg.svd(raxis.tensor([[0.0, 2.0], [1.0, 0.0]])).S
        tensor([2., 1.])
    """
    return named_results("linalg.svd", *_checked_svd("linalg.svd", A, full_matrices, driver))


@composed("svdvals(Tensor A, *, str? driver=None) -> Tensor", namespace=LINALG, method=False)
def svdvals(A: Tensor, *, driver: str | None = None) -> Any:
    """The singular values, descending.

    Args:
        A: (..., m, n).
        driver: must be None.

    Raises:
        LinAlgError: if A is not finite or the iteration does not converge.

    Example:
        >>> import raxis
        >>> raxis.linalg.svdvals(raxis.tensor([[0.0, 2.0], [1.0, 0.0]]))
        tensor([2., 1.])
    """
    return _checked_values("linalg.svdvals", A, driver)


@composed("svd(Tensor input, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """As `raxis.linalg.svd`, its successor, but V instead of its conjugate transpose.

    Args:
        input: (..., m, n).
        some: whether U and V have min(m, n) columns.
        compute_uv: whether U and V are wanted; else they are zeros.

    Example:
        >>> import raxis
        >>> raxis.svd(raxis.tensor([[2.0]])).S
        tensor([2.])
    """
    if compute_uv:
        left, values, right = _checked_svd("linalg.svd", input, not some)
        return named_results("svd", left, values, adjoint(right))
    values = _checked_values("linalg.svd", input)
    rows, columns = input.shape[-2:]
    zeros = [input.new_zeros((*input.shape[:-2], size, size)) for size in (rows, columns)]
    return named_results("svd", zeros[0], values, zeros[1])


# ---- pseudo-inverses -------------------------------------------------------------------------------------------------


def _pinv_vjp(grad: Tensor, input: Tensor, results: Any) -> Any:
    """Golub & Pereyra, The differentiation of pseudo-inverses and nonlinear least squares, 1973."""
    result = results[0]
    turned, by_turned = adjoint(result), adjoint(grad)
    rows, columns = input.shape[-2:]
    if rows <= columns:
        inner = by_turned @ result
        outer = inner @ turned
        rest = by_turned - inner @ input
        return -adjoint(result @ inner) + outer - (input @ result) @ outer + (turned @ result) @ rest
    inner = result @ by_turned
    outer = turned @ inner
    rest = by_turned - input @ inner
    return -adjoint(inner @ result) + (rest @ result) @ turned + outer - (outer @ result) @ input


@lowered(
    "_pinv(Tensor input, Tensor|Scalar atol, Tensor|Scalar rtol, bool hermitian) -> (Tensor inverse, Tensor rank)",
    vjp={"input": _pinv_vjp},
    **INTERNAL,
)
def _pseudo_inverse(input: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool) -> Any:
    """The pseudo-inverse and the rank; singular values of at most ``max(atol, rtol * the greatest)`` count as 0."""
    if hermitian:
        values, vectors = emit("eigh", input)
        left, magnitudes, right = vectors, values.abs(), adjoint(vectors)
    else:
        left, values, right = emit("svd", input, full=False)
        magnitudes = values
    kept = magnitudes > _threshold(magnitudes, atol, rtol).unsqueeze(-1)
    inverses = where(kept, 1 / where(kept, values, 1.0), 0.0)
    return adjoint(right) @ (inverses.unsqueeze(-1) * adjoint(left)), kept.sum(-1)


def _threshold(magnitudes: Tensor, atol: Tensor, rtol: Tensor) -> Any:
    dtype = magnitudes._layout.dtype
    return (cast(rtol, dtype) * magnitudes.amax(-1)).maximum(cast(atol, dtype))


def _tolerances(input: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Both tolerances, with PyTorch's defaults; tensors stay tensors."""
    if rtol is None:
        default = finfo(input.dtype.to_real()).eps * max(input.shape[-2:])
        if isinstance(atol, Tensor):
            rtol = where(atol > 0, 0.0, default).to(input.dtype.to_real())
        else:
            rtol = 0.0 if atol else default
    return (0.0 if atol is None else atol), rtol


def _require_real_tolerances(name: str, *tolerances: Any) -> None:
    for tolerance in tolerances:
        if isinstance(tolerance, Tensor) and tolerance.dtype.is_complex:
            raise RuntimeError(
                f"{name}: tolerances must be real, but got one of type {scalar_type(tolerance.dtype)}"
            )


@composed(
    "pinv(Tensor A, any rcond=None, bool hermitian=False, *, any atol=None, any rtol=None) -> Tensor",
    exact=False,
    namespace=LINALG,
    method=False,
)
def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The pseudo-inverse (Moore-Penrose).

    Singular values of at most ``max(atol, rtol * the greatest)`` count as 0.

    Args:
        A: (..., m, n).
        rcond: older name of `rtol`.
        hermitian: whether A is Hermitian; then only its lower triangle is read.
        atol: number or tensor of batch shape; default 0.
        rtol: number or tensor; default max(m, n) times the dtype's epsilon, or 0 if `atol` is given.

    Raises:
        RuntimeError: if A has fewer than 2 dimensions, or is not square though `hermitian`.

    Example:
        >>> import raxis
        >>> raxis.linalg.pinv(raxis.tensor([[2.0], [0.0]]))
        tensor([[0.5000, 0.0000]])
    """
    return _pseudo_inverted("linalg.pinv", A, hermitian, atol, rcond if rtol is None else rtol)[0]


def _pseudo_inverted(name: str, A: Tensor, hermitian: bool, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """The pseudo-inverse and the rank."""
    require_matrices(name, A)
    if hermitian:
        require_square(name, A)
    _require_real_tolerances(name, atol, rtol)
    if A._layout.numel == 0:
        empty = A.new_empty((*A.shape[:-2], A.shape[-1], A.shape[-2])) + adjoint(A)
        return empty, A.new_zeros(A.shape[:-2], dtype=int64)
    return _pseudo_inverse(A, *_tolerances(A, atol, rtol), hermitian)


@composed("pinverse(Tensor input, number rcond=1e-15) -> Tensor", out=False)
def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
    """The pseudo-inverse, singular values of at most `rcond` times the greatest taken as 0; see `raxis.linalg.pinv`.

    Example:
        >>> import raxis
        >>> raxis.pinverse(raxis.tensor([[2.0]]))
        tensor([[0.5000]])
    """
    return _pseudo_inverted("linalg.pinv", input, False, None, rcond)[0]


# ---- rank and least squares ------------------------------------------------------------------------------------------


@composed(
    "matrix_rank(Tensor A, any tol=None, bool hermitian=False, *, any atol=None, any rtol=None) -> Tensor",
    exact=False,
    namespace=LINALG,
    method=False,
)
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Any:
    """How many singular values are greater than ``max(atol, rtol * the greatest)``.

    Args:
        A: (..., m, n).
        tol: absolute tolerance, older name of `atol`.
        hermitian: whether A is Hermitian.
        atol: number or tensor of batch shape; default 0.
        rtol: number or tensor; default max(m, n) times the dtype's epsilon, or 0 if `atol` is given.

    Returns:
        int64, of batch shape.

    Example:
        >>> import raxis
        >>> raxis.linalg.matrix_rank(raxis.ones(3, 3))
        tensor(1)
    """
    name = "linalg.matrix_rank"
    require_matrices(name, A)
    if hermitian:
        require_square(name, A)
    if tol is not None:
        atol, rtol = tol, 0.0
    _require_real_tolerances(name, atol, rtol)
    if A._layout.numel == 0:
        return A.new_zeros(A.shape[:-2], dtype=int64)
    values = hermitian_eigenvalues(A, False).abs() if hermitian else svdvals(A)
    return _rank(values, *_tolerances(A, atol, rtol))


def _rank(magnitudes: Tensor, atol: Any, rtol: Any) -> Any:
    threshold = rtol * magnitudes.amax(-1)
    threshold = threshold.maximum(atol) if isinstance(atol, Tensor) else threshold.clamp_min(atol)
    return (magnitudes > threshold.unsqueeze(-1)).sum(-1)


_DRIVERS = ("gelsy", "gels", "gelsd", "gelss")


@composed(
    "lstsq(Tensor A, Tensor B, number? rcond=None, *, str? driver=None) "
    "-> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    exact=False,
    namespace=LINALG,
    method=False,
)
def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """X that minimises ``norm(A X - B)``, of the smallest norm if there are several.

    Args:
        A: (..., m, n).
        B: (..., m, k) or (..., m), of the same dtype.
        rcond: singular values of at most `rcond` times the greatest count as 0; default max(m, n) times epsilon.
        driver: ``'gelsy'`` (default), ``'gels'``, ``'gelsd'`` or ``'gelss'``, LAPACK's routines; it decides which
            further results there are.

    Returns:
        The solution; the squared norms of the columns of ``A X - B`` if m > n and all ranks are n (not with
        ``'gelsy'``); the rank (not with ``'gels'``); the singular values (``'gelsd'`` and ``'gelss'``). What there is
        not is empty.

    Raises:
        RuntimeError: if shapes do not fit, dtypes differ or there is no such driver.

    Example:
        >>> import raxis
        >>> raxis.linalg.lstsq(raxis.ones(2, 1), raxis.tensor([[1.0], [3.0]])).solution.round(decimals=2)
        tensor([[2.]])
    """
    name = "linalg.lstsq"
    driver = "gelsy" if driver is None else driver
    right, is_vector = _right_side(name, A, B, driver)
    solution, rank = _least_squares(name, A, right, rcond)
    residuals = _residuals(A, right, solution, rank, driver)
    wants_values = driver in ("gelsd", "gelss")
    return named_results(
        name,
        solution.squeeze(-1) if is_vector else solution,
        residuals,
        rank.new_empty(0) if driver == "gels" else rank,
        _singular_values(A.detach()) if wants_values else A.new_empty(0, dtype=A.dtype.to_real()),
    )


def _full_rank_vjp(grads: Any, A: Tensor, B: Tensor, results: Any, needs: Any) -> Any:
    """Golub & Pereyra, The differentiation of pseudo-inverses and nonlinear least squares, 1973.

    The triangle is only looked at: it has no gradient.
    """
    grad, solution = grads[0], results[0]
    basis, triangle = qr_factors(A, False)
    inner = solve_triangular(adjoint(triangle), grad, upper=False)
    by_right_side = basis @ inner
    if not needs[0]:
        return None, by_right_side
    outer = solve_triangular(triangle, inner, upper=True)
    return (B - A @ solution) @ adjoint(outer) - by_right_side @ adjoint(solution), by_right_side


@lowered(
    "_full_rank_solution(Tensor A, Tensor B) -> (Tensor solution, Tensor triangle)",
    vjp={("A", "B"): _full_rank_vjp},
    **INTERNAL,
)
def _full_rank_solution(A: Tensor, B: Tensor) -> Any:
    """The least squares' solution for A of full rank, not wide, and the triangle of its QR factorization."""
    columns = A._layout.shape[-1]
    whole = emit("qr_triangle", cat([A, B], -1))
    triangle, turned = whole[..., :columns, :columns], whole[..., :columns, columns:]
    return emit("triangular_solve", triangle, turned, upper=True, unit=False), triangle


def _least_squares(name: str, A: Tensor, right: Tensor, rcond: float | None) -> tuple[Any, Any]:
    """The solution and the rank: by QR if no column depends on others, else by the pseudo-inverse.

    A program that is recorded must serve both: it has the pseudo-inverse.
    """
    rows, columns = A._layout.shape[-2:]
    if rows >= columns and A._layout.numel and has_values(A) and not are_deferred():
        batch = broadcast_shapes(A._layout.shape[:-2], right._layout.shape[:-2])
        operands = [x.expand(*batch, *x.shape[-2:]) for x in (A, right)]
        solution, triangle = _full_rank_solution(*operands)
        if _is_regular(triangle.detach(), _tolerances(A, None, rcond)[1]):
            return solution, A.new_full(A.shape[:-2], columns, dtype=int64)
    inverse, rank = _pseudo_inverted(name, A, False, None, rcond)
    return inverse @ right, rank


def _is_regular(triangle: Tensor, rtol: float) -> bool:
    """Whether all singular values are certainly greater than `rtol` times the greatest.

    Frobenius's norms of a matrix and its inverse bound the greatest and the reciprocal of the smallest one.
    """
    inverse = solve_triangular(triangle, identity_of(triangle), upper=True)
    square = triangle.abs().square().sum((-2, -1)) * inverse.abs().square().sum((-2, -1))
    worst = triangle.device.all_examples(square).amax().item()
    return bool(worst * rtol * rtol < 1)


def _residuals(A: Tensor, right: Tensor, solution: Tensor, rank: Tensor, driver: str) -> Any:
    rows, columns = A.shape[-2:]
    full = rows > columns and driver != "gelsy"
    if full and driver != "gels" and has_values(rank):
        full = bool((rank == columns).all())
    if not full:
        return A.new_empty(0, dtype=A.dtype.to_real())
    return (A @ solution - right).abs().square().sum(-2)


def _right_side(name: str, A: Tensor, B: Tensor, driver: str) -> tuple[Any, bool]:
    """B as matrices, and whether it was vectors."""
    require_matrices(name, A)
    require_one_dtype(name, A, B)
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of {', '.join(_DRIVERS)}, but got {driver!r}."
        )
    is_vector = A.ndim - 1 == B.ndim and B._layout.shape == A._layout.shape[:-1]
    right = B.unsqueeze(-1) if is_vector else B
    if right.ndim < 2 or right.shape[-2] != A.shape[-2]:
        raise RuntimeError(
            f"{name}: input.size(-2) should match other.size(-2), but got shapes {list(A.shape)} and {list(B.shape)}."
        )
    return right, is_vector
