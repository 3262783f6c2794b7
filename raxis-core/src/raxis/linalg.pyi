"""Generated from the op table by ``python -m raxis.ops.stubs --write``; do not edit."""

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.memory_format import memory_format as MemoryFormat
from raxis.placement import DeviceLike
from raxis.random import Generator
from raxis.tensor import Tensor

from raxis.errors import LinAlgError as LinAlgError

class _cholesky_ex_result(NamedTuple):
    L: Tensor
    info: Tensor

class _eig_result(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class _eigh_result(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor

class _inv_ex_result(NamedTuple):
    inverse: Tensor
    info: Tensor

class _lstsq_result(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

class _lu_result(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor

class _lu_factor_result(NamedTuple):
    LU: Tensor
    pivots: Tensor

class _lu_factor_ex_result(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor

class _qr_result(NamedTuple):
    Q: Tensor
    R: Tensor

class _slogdet_result(NamedTuple):
    sign: Tensor
    logabsdet: Tensor

class _solve_ex_result(NamedTuple):
    result: Tensor
    info: Tensor

class _svd_result(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor

def cholesky(A: Tensor, *, upper: builtins.bool = ..., out: Any = ...) -> Tensor:
    """Lower triangular L with ``L @ L.mH == A`` (or upper triangular, ``U.mH @ U == A``), for positive-definite A."""

def cholesky_ex(A: Tensor, *, upper: builtins.bool = ..., check_errors: builtins.bool = ..., out: Any = ...) -> _cholesky_ex_result:
    """`cholesky` without errors: `info` is 0 where it succeeded, else the order of the minor that is not positive."""

def cond(A: Tensor, p: Any = ..., *, out: Any = ...) -> Tensor:
    """The condition numbers of matrices: the norm times the norm of the inverse; infinite for singular ones."""

def cross(input: Tensor, other: Tensor, *, dim: builtins.int = ..., out: Any = ...) -> Tensor:
    """The cross product of vectors of size 3 along `dim`."""

def det(A: Tensor, *, out: Any = ...) -> Tensor:
    """The determinants of square matrices."""

def diagonal(A: Tensor, *, offset: builtins.int = ..., dim1: builtins.int = ..., dim2: builtins.int = ...) -> Tensor:
    """As `raxis.diagonal`, by default of the last two dimensions."""

def eig(A: Tensor, *, out: Any = ...) -> _eig_result:
    """The complex eigenvalues, in no order, and the eigenvectors (columns) of norm 1."""

def eigh(A: Tensor, UPLO: builtins.str = ..., *, out: Any = ...) -> _eigh_result:
    """The real eigenvalues, ascending, and the orthonormal eigenvectors (columns) of Hermitian matrices."""

def eigvals(A: Tensor, *, out: Any = ...) -> Tensor:
    """The complex eigenvalues, in no order."""

def eigvalsh(A: Tensor, UPLO: builtins.str = ..., *, out: Any = ...) -> Tensor:
    """The real eigenvalues of Hermitian matrices, ascending."""

def householder_product(A: Tensor, tau: Tensor, *, out: Any = ...) -> Tensor:
    """The first n columns of the product of the reflections ``1 - tau[i] * v v^H``, where v is column i of A."""

def inv(A: Tensor, *, out: Any = ...) -> Tensor:
    """The inverses of square matrices."""

def inv_ex(A: Tensor, *, check_errors: builtins.bool = ..., out: Any = ...) -> _inv_ex_result:
    """`inv` without errors: `info` is 0, or says which diagonal element of U in A's LU factorization is 0."""

def lstsq(A: Tensor, B: Tensor, rcond: Any = ..., *, driver: builtins.str | None = ..., out: Any = ...) -> _lstsq_result:
    """X that minimises ``norm(A X - B)``, of the smallest norm if there are several."""

def lu(A: Tensor, *, pivot: builtins.bool = ..., out: Any = ...) -> _lu_result:
    """A permutation P, a lower triangular L with ones on its diagonal, and an upper triangular U: ``P @ L @ U == A``."""

def lu_factor(A: Tensor, *, pivot: builtins.bool = ..., out: Any = ...) -> _lu_factor_result:
    """The LU factorization with exchanges of rows in compact form, for `lu_solve`."""

def lu_factor_ex(A: Tensor, *, pivot: builtins.bool = ..., check_errors: builtins.bool = ..., out: Any = ...) -> _lu_factor_ex_result:
    """`lu_factor` without errors: `info` is 0, or says which element (from 1) of U's diagonal is the first zero."""

def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: builtins.bool = ..., adjoint: builtins.bool = ..., out: Any = ...) -> Tensor:
    """The solution of ``A X = B`` (``X A = B``, not `left`), given A's factors by `lu_factor`."""

def matmul(input: Tensor, other: Tensor, *, out: Any = ...) -> Tensor:
    """Another name of `raxis.matmul`."""

def matrix_exp(A: Tensor) -> Tensor:
    """As `raxis.matrix_exp`."""

def matrix_norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """The norm of matrices in the two dimensions `dim`."""

def matrix_power(A: Tensor, n: builtins.int, *, out: Any = ...) -> Tensor:
    """As `raxis.matrix_power`."""

def matrix_rank(A: Tensor, tol: Any = ..., hermitian: builtins.bool = ..., *, atol: Any = ..., rtol: Any = ..., out: Any = ...) -> Tensor:
    """How many singular values are greater than ``max(atol, rtol * the greatest)``."""

def multi_dot(tensors: Sequence[Tensor], *, out: Any = ...) -> Tensor:
    """The product of several matrices, multiplied in the cheapest order."""

def norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """A vector norm or a matrix norm, by the number of dimensions in `dim`."""

def pinv(A: Tensor, rcond: Any = ..., hermitian: builtins.bool = ..., *, atol: Any = ..., rtol: Any = ..., out: Any = ...) -> Tensor:
    """The pseudo-inverse (Moore-Penrose)."""

def qr(A: Tensor, mode: builtins.str = ..., *, out: Any = ...) -> _qr_result:
    """Q with orthonormal columns and upper triangular R: ``Q @ R == A``."""

def slogdet(A: Tensor, *, out: Any = ...) -> _slogdet_result:
    """The determinants' signs (of magnitude 1 for complex A, 0 for singular A) and logarithms of their magnitudes."""

def solve(A: Tensor, B: Tensor, *, left: builtins.bool = ..., out: Any = ...) -> Tensor:
    """The solution of ``A X = B`` (or ``X A = B``, not `left`)."""

def solve_ex(A: Tensor, B: Tensor, *, left: builtins.bool = ..., check_errors: builtins.bool = ..., out: Any = ...) -> _solve_ex_result:
    """`solve` without errors: `info` is 0, or says which diagonal element of U in A's LU factorization is 0."""

def solve_triangular(A: Tensor, B: Tensor, *, upper: builtins.bool, left: builtins.bool = ..., unitriangular: builtins.bool = ..., out: Any = ...) -> Tensor:
    """The solution of ``A X = B`` (or ``X A = B``, not `left`) with triangular matrices A."""

def svd(A: Tensor, full_matrices: builtins.bool = ..., *, driver: builtins.str | None = ..., out: Any = ...) -> _svd_result:
    """The singular value decomposition: ``A == U @ diag(S) @ Vh``, S descending."""

def svdvals(A: Tensor, *, driver: builtins.str | None = ..., out: Any = ...) -> Tensor:
    """The singular values, descending."""

def tensorinv(A: Tensor, ind: builtins.int = ..., *, out: Any = ...) -> Tensor:
    """The inverse of the map that `tensordot` with A over its last ``A.ndim - ind`` dimensions is."""

def tensorsolve(A: Tensor, B: Tensor, dims: builtins.int | Sequence[builtins.int] | None = ..., *, out: Any = ...) -> Tensor:
    """X with ``tensordot(A, X, X.ndim) == B``."""

def vander(x: Tensor, *, N: builtins.int | None = ...) -> Tensor:
    """Vandermonde's matrices: column j is ``x ** j``."""

def vecdot(x: Tensor, y: Tensor, *, dim: builtins.int = ..., out: Any = ...) -> Tensor:
    """The dot products of vectors along `dim`, the first conjugated."""

def vector_norm(input: Tensor, ord: Any = ..., dim: builtins.int | Sequence[builtins.int] | None = ..., keepdim: builtins.bool = ..., *, dtype: DType | None = ..., out: Any = ...) -> Tensor:
    """``sum(abs(input) ** ord) ** (1 / ord)`` over `dim`, or over all elements."""
