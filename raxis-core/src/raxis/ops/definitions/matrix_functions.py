"""Powers, exponentials and condition numbers of matrices; Vandermonde's matrices."""

from __future__ import annotations

import math
from typing import Any

from raxis.dtypes import HALF
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.matrix_checks import (
    LINALG,
    has_values,
    identity_of,
    require_factorable_dtype,
    require_matrices,
    require_square,
)
from raxis.ops.definitions.norms import matrix_norm
from raxis.ops.definitions.singular_values import svdvals
from raxis.ops.definitions.solving import inv, inverse_and_info
from raxis.ops.table import composed
from raxis.tensor import Tensor

# ---- powers ----------------------------------------------------------------------------------------------------------


def _power(input: Tensor, n: int) -> Any:
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            "linalg.matrix_power: A must be batches of square matrices, but its shape is "
            f"{list(input._layout.shape)}"
        )
    power = None
    square = inv(input) if n < 0 else input
    n = abs(n)
    while n:
        if n % 2:
            power = square if power is None else power @ square
        n //= 2
        if n:
            square = square @ square
    return identity_of(input).expand(input.shape).clone() if power is None else power


def _is_product(n: int) -> bool:
    return n not in (0, 1)


@composed("matrix_power(Tensor input, int n) -> Tensor", exact=_is_product)
def matrix_power(input: Tensor, n: int) -> Any:
    """The `n`-th power of square matrices, by repeated squaring.

    Args:
        input: (..., m, m).
        n: any integer; a negative one is the power of the inverse.

    Raises:
        RuntimeError: if the matrices are not square.
        LinAlgError: if `n` is negative and a matrix is singular.

    Example:
        >>> import raxis
        >>> raxis.matrix_power(raxis.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
        tensor([[1., 3.],
                [0., 1.]])
    """
    return _power(input, n)


@composed("matrix_power(Tensor A, int n) -> Tensor", exact=_is_product, namespace=LINALG, method=False)
def linalg_matrix_power(A: Tensor, n: int) -> Any:
    """As `raxis.matrix_power`.

    Example:
        >>> import raxis
        >>> raxis.linalg.matrix_power(raxis.tensor([[2.0]]), -1)
        tensor([[0.5000]])
    """
    return _power(A, n)


# ---- the exponential -------------------------------------------------------------------------------------------------

_DEGREE = 14
"""Of Taylor's polynomial: the next term is below float64's precision for norms of at most a half."""


@composed("matrix_exp(Tensor input) -> Tensor", out=False)
def matrix_exp(input: Tensor) -> Any:
    """The exponential of square matrices, by Taylor's polynomial with scaling and squaring.

    Args:
        input: (..., n, n).

    Raises:
        RuntimeError: if the matrices are not square.

    Example:
        >>> import raxis
        >>> raxis.matrix_exp(raxis.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    _require_exponent(input)
    if input.dtype in HALF:
        return matrix_exp(input.float()).to(input.dtype)
    squarings = _squarings(input)
    scaled = input * 2.0**-squarings
    ones = identity_of(input)
    result = ones + scaled / _DEGREE
    for divisor in range(_DEGREE - 1, 0, -1):
        result = ones + scaled @ result / divisor
    for _ in range(squarings):
        result = result @ result
    return result.expand(input.shape)


def _require_exponent(input: Tensor) -> None:
    name = "linalg.matrix_exp"
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        require_square(name, input)
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        require_factorable_dtype(name, input)


def _squarings(input: Tensor) -> int:
    """How often the greatest matrix must be halved until its norm is at most a half."""
    if not has_values(input) or input._layout.numel == 0:
        return 0
    norm = input.device.all_examples(input.detach().abs().sum(-2)).amax().item()
    if not math.isfinite(norm) or norm <= 0.5:
        return 0
    return math.ceil(math.log2(norm)) + 1


@composed("matrix_exp(Tensor A) -> Tensor", namespace=LINALG, method=False, out=False)
def linalg_matrix_exp(A: Tensor) -> Any:
    """As `raxis.matrix_exp`.

    Example:
        >>> import raxis
        >>> raxis.linalg.matrix_exp(raxis.zeros(1, 1))
        tensor([[1.]])
    """
    return matrix_exp(A)


# ---- condition numbers -----------------------------------------------------------------------------------------------


@composed("cond(Tensor A, any p=None) -> Tensor", exact=False, namespace=LINALG, method=False)
def cond(A: Tensor, p: Any = None) -> Any:
    """The condition numbers of matrices: the norm times the norm of the inverse; infinite for singular ones.

    Args:
        A: (..., m, n); square unless `p` is None, 2 or -2.
        p: order of the norm, as for `matrix_norm`; None is 2.

    Raises:
        RuntimeError: if A is not square where it must be, or there is no such norm.

    Example:
        >>> import raxis
        >>> raxis.linalg.cond(raxis.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor(2.)
    """
    name = "linalg.cond"
    require_matrices(name, A)
    if p is None or p in (2, -2):
        values = svdvals(A)
        if A._layout.numel == 0:
            return A.new_zeros(A.shape[:-2], dtype=A.dtype.to_real())
        greatest, smallest = values[..., 0], values[..., -1]
        return smallest / greatest if p == -2 else greatest / smallest
    require_square(name, A)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond: got an invalid norm type: {p}")
    if A._layout.numel == 0:
        return A.new_zeros(A.shape[:-2], dtype=A.dtype.to_real())
    inverse, info = inverse_and_info(A)
    singular = (info != 0)[..., None, None]
    inverse = inverse.masked_fill(singular, math.inf)
    if p == "nuc":
        return _nuclear_condition(A, inverse, info)
    return matrix_norm(A, p) * matrix_norm(inverse, p)


def _nuclear_condition(A: Tensor, inverse: Tensor, info: Tensor) -> Any:
    """Infinite matrices have no singular values."""
    singular = info != 0
    finite = inverse.masked_fill(singular[..., None, None], 0)
    product = matrix_norm(A, "nuc") * matrix_norm(finite, "nuc")
    return product.masked_fill(singular, math.inf)


# ---- structured matrices ---------------------------------------------------------------------------------------------


@composed("vander(Tensor x, *, int? N=None) -> Tensor", namespace=LINALG, method=False, out=False)
def linalg_vander(x: Tensor, *, N: int | None = None) -> Any:
    """Vandermonde's matrices: column j is ``x ** j``.

    Args:
        x: (..., n), at least one element; bool counts as integers.
        N: the number of columns, at least 2; default n.

    Raises:
        RuntimeError: if there are less than 2 columns.

    Example:
        >>> import raxis
        >>> raxis.linalg.vander(raxis.tensor([2, 3]), N=3)
        tensor([[1, 2, 4],
                [1, 3, 9]])
    """
    x = x if x.ndim else x.unsqueeze(0)
    columns = x.shape[-1] if N is None else N
    if columns <= 1:
        raise RuntimeError(f"N must be greater than 1, but got {columns}.")
    powers = x.unsqueeze(-1).expand(*x.shape, columns - 1).cumprod(-1)
    return cat([powers.new_ones((*x.shape, 1)), powers], -1)


@composed(
    "diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    namespace=LINALG,
    method=False,
    out=False,
)
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """As `raxis.diagonal`, by default of the last two dimensions.

    Example:
        >>> import raxis
        >>> raxis.linalg.diagonal(raxis.ones(3, 2, 2)).shape
        raxis.Size([3, 2])
    """
    return A.diagonal(offset, dim1, dim2)
