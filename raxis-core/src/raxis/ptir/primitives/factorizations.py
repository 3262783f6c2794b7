"""Factorizations of matrices and solutions with triangular ones, in the last two dims; other dims are batch dims.

They mean what LAPACK's routines of the same kind do. A factorization that does not exist never raises: `info` says so
where there is one (0, or one more than the place where it broke down), else all results of that matrix are NaN.
"""

from __future__ import annotations

from raxis import dtypes
from raxis.ptir.primitives.checks import listed, require
from raxis.ptir.primitives.record import (
    COMPLEX,
    FLOAT,
    Attributes,
    Kind,
    Primitive,
    Regions,
    Results,
    Rule,
    Types,
)
from raxis.ptir.types import TensorType

_ADMITTED = (FLOAT | COMPLEX) - frozenset(dtypes.HALF)


def _matrix(name: str, operands: Types, square: bool = False) -> tuple[tuple[int, ...], int, int]:
    """Batch shape, rows and columns of the first operand."""
    operand = operands[0]
    require(operand.rank >= 2, f"{name} expected at least 2 dims, but got {operand}.")
    *batch, rows, columns = operand.shape
    require(rows == columns or not square, f"{name} expected square matrices, but got {operand}.")
    return tuple(batch), rows, columns


def _cholesky(operands: Types, _: Attributes, __: Regions) -> Results:
    batch = _matrix("cholesky", operands, square=True)[0]
    return operands[0], TensorType(dtypes.int32, batch)


def _lu(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows, columns = _matrix("lu", operands)
    pivots = TensorType(dtypes.int32, (*batch, min(rows, columns)))
    return operands[0], pivots, TensorType(dtypes.int32, batch)


def _permutation(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (pivots,) = operands
    size = attributes["size"]
    require(
        pivots.rank >= 1 and pivots.shape[-1] <= size,
        f"pivots_to_permutation expected at most {size} pivots in the last dim, but got {pivots}.",
    )
    return (TensorType(dtypes.int64, (*pivots.shape[:-1], size)),)


def _triangular_solve(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows = _matrix("triangular_solve", operands, square=True)[:2]
    right = operands[1]
    require(
        right.dtype is operands[0].dtype and right.rank >= 2 and right.shape[:-1] == (*batch, rows),
        f"triangular_solve expected operands [..., n, n] and [..., n, k] of one dtype, but got {listed(operands)}.",
    )
    return (right,)


def _qr(operands: Types, attributes: Attributes, _: Regions) -> Results:
    batch, rows, columns = _matrix("qr", operands)
    inner = rows if attributes["full"] else min(rows, columns)
    dtype = operands[0].dtype
    return TensorType(dtype, (*batch, rows, inner)), TensorType(dtype, (*batch, inner, columns))


def _qr_triangle(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows, columns = _matrix("qr_triangle", operands)
    return (TensorType(operands[0].dtype, (*batch, min(rows, columns), columns)),)


def _svd(operands: Types, attributes: Attributes, _: Regions) -> Results:
    batch, rows, columns = _matrix("svd", operands)
    inner = min(rows, columns)
    left, right = (rows, columns) if attributes["full"] else (inner, inner)
    dtype = operands[0].dtype
    return (
        TensorType(dtype, (*batch, rows, left)),
        TensorType(dtype.to_real(), (*batch, inner)),
        TensorType(dtype, (*batch, right, columns)),
    )


def _svdvals(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows, columns = _matrix("svdvals", operands)
    return (TensorType(operands[0].dtype.to_real(), (*batch, min(rows, columns))),)


def _eigvalsh(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows = _matrix("eigvalsh", operands, square=True)[:2]
    return (TensorType(operands[0].dtype.to_real(), (*batch, rows)),)


def _eigh(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows = _matrix("eigh", operands, square=True)[:2]
    return TensorType(operands[0].dtype.to_real(), (*batch, rows)), operands[0]


def _eig(operands: Types, _: Attributes, __: Regions) -> Results:
    batch, rows = _matrix("eig", operands, square=True)[:2]
    dtype = operands[0].dtype.to_complex()
    return TensorType(dtype, (*batch, rows)), TensorType(dtype, (*batch, rows, rows))


def _factorization(name: str, rule: Rule, doc: str, **attributes: Kind) -> Primitive:
    return Primitive(name, doc, rule, _ADMITTED, several_results=True, attributes=attributes)


PRIMITIVES = (
    _factorization("cholesky", _cholesky, "L and info with x = L L^H, L lower triangular. Only the lower triangle of x "
                   "is read. Info k > 0: the leading minor of order k is not positive, L is undefined."),
    _factorization("lu", _lu, "Both factors of P L U = x packed into one matrix, L below the diagonal (its own is all "
                   "ones) and U; pivots p: row i was exchanged with row p[i], counted from 1, in order; and info. The "
                   "pivot is the first of greatest |re| + |im|. Info k > 0: U[k, k], counted from 1, is the first 0."),
    Primitive("pivots_to_permutation", "Where each of `size` rows comes from after exchanges as those of lu; pivots "
              "outside [1, size] count as the nearest inside.",
              _permutation, frozenset({dtypes.int32}), attributes={"size": "int"}),
    Primitive("triangular_solve", "X with A X = B for the upper or lower triangle of A, whose other elements are not "
              "read; `unit`: nor is its diagonal, which counts as ones. Division by 0 gives infinities and NaN.",
              _triangular_solve, _ADMITTED, arity=2, attributes={"upper": "bool", "unit": "bool"}),
    _factorization("qr", _qr, "Q with orthonormal columns and upper triangular R, Q R = x, by Householder reflections; "
                   "Q has as many columns as x has rows (full), or the smaller size of x.", full="bool"),
    _factorization("svd", _svd, "U, S and V^H with U diag(S) V^H = x, S real and descending, U and V unitary (full), "
                   "or of as many columns as S has elements.", full="bool"),
    _factorization("eigh", _eigh, "Real ascending eigenvalues and unitary eigenvectors (columns) of the Hermitian "
                   "matrix whose lower triangle x has; the rest is not read."),
    Primitive("qr_triangle", "R of `qr` without `full`; Q is not made.", _qr_triangle, _ADMITTED),
    Primitive("svdvals", "S of `svd`; U and V^H are not made.", _svdvals, _ADMITTED),
    Primitive("eigvalsh", "The eigenvalues of `eigh`, without vectors.", _eigvalsh, _ADMITTED),
    _factorization("eig", _eig, "Complex eigenvalues and eigenvectors (columns) of norm 1."),
)  # fmt: skip
