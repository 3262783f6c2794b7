"""Norms of vectors and matrices."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import inf
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType, can_cast
from raxis.layout import Layout, wrap_dims
from raxis.ops.definitions.reductions import Dims, constant_like, reduce, restore_dims, scalar_type
from raxis.ops.definitions.singular_values import svdvals
from raxis.ops.formulas import wide, wide_dtype
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

LINALG = "raxis.linalg"
Order = int | float | str | None


def vector_norm_vjp(grad: Tensor, input: Tensor, result: Tensor, ord: float, dim: Dims, keepdim: bool) -> Any:
    """The gradient of `vector_norm`; that of a norm of 0 is 0."""
    layout = input._layout
    norm = restore_dims(result, layout, dim, keepdim)
    grad = restore_dims(grad, layout, dim, keepdim)
    if ord == 0:
        return grad * 0
    if ord == 1:
        return input.sgn() * grad
    if ord == 2:
        return input * (grad / norm).masked_fill(norm == 0, 0)
    if abs(ord) == inf:
        attains = (input.abs() == norm) | (norm != norm)  # noqa: PLR0124  NaN
        return input.sgn() * attains * (grad / attains.sum(dim, True))
    magnitude = input.abs()
    power = magnitude.pow(ord - 1)
    scale = grad * norm.pow(1 - ord)
    if ord < 2:
        power = power.masked_fill(magnitude == 0, 0)
    return input.sgn() * power * scale.masked_fill(norm == 0, 0)


@lowered(
    "vector_norm(Tensor input, number ord=2, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    namespace=LINALG,
    method=False,
    vjp={"input": vector_norm_vjp},
)
def vector_norm(input: Tensor, ord: float, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:
    """``sum(abs(input) ** ord) ** (1 / ord)`` over `dim`, or over all elements.

    `ord` 0 counts nonzero elements, infinity takes the greatest and minus infinity the smallest magnitude.

    Args:
        input: any shape, floating point or complex; the norm is real.
        ord: any real number.
        dim: dimension or dimensions; None: all.
        keepdim: keep these dimensions with size 1.
        dtype: cast to it first.

    Raises:
        RuntimeError: if the dtype is neither floating point nor complex, or there are no elements and `ord` is
            infinite or negative.

    Example:
        >>> import raxis
        >>> raxis.linalg.vector_norm(raxis.tensor([3.0, 4.0]))
        tensor(5.)
    """
    _check_order(ord)
    target = _norm_dtype(input, dtype)
    if ord < 0 or ord == inf:
        _require_elements(ord, input._layout, dim)
    operand = wide(cast(input, target))
    magnitude = emit("abs", operand)
    return cast(_norm(magnitude, ord, dim, keepdim), target.to_real())


@lowered("_norm_of_all(Tensor[] tensors, number ord) -> Tensor", function=False, method=False, out=False)
def norm_of_all(tensors: Sequence[Tensor], ord: float) -> Any:
    """The norm of all tensors together, as if they were one vector; 0-d, in the widest of their dtypes."""
    parts = [_norm(emit("abs", wide(tensor)), ord, None, False) for tensor in tensors if tensor.numel()]
    target = functools.reduce(dtypes.promote_types, [tensor.dtype.to_real() for tensor in tensors])
    if not parts:
        return constant(0, target)
    total, *others = [cast(part, wide_dtype(target)) for part in parts]
    if not others:
        return cast(total, target)
    ones = [emit("reshape", part, shape=(1,)) for part in (total, *others)]
    return cast(_norm(emit("concatenate", *ones, dim=0), ord, None, False), target)


def _check_order(ord: Any) -> None:
    if isinstance(ord, str) or ord is None:
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}"
        )


def _norm_dtype(input: Tensor, dtype: DType | None) -> DType:
    if input.dtype.category < Category.FLOAT:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {scalar_type(input.dtype)}"
        )
    if dtype is None:
        return input.dtype
    if dtype.category is not input.dtype.category:
        expected = "complex" if input.dtype.is_complex else "real"
        raise RuntimeError(
            f"linalg.vector_norm: dtype should be {expected} for {expected} inputs, but got {scalar_type(dtype)}"
        )
    if dtypes.promote_types(input.dtype, dtype) is not dtype or not can_cast(input.dtype, dtype):
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({scalar_type(input.dtype)}) should be convertible without "
            f"narrowing to the specified dtype ({scalar_type(dtype)})"
        )
    return dtype


def _require_elements(ord: float, layout: Layout, dim: Dims) -> None:
    if dim is None or dim == ():
        if layout.numel == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not "
                "have an identity"
            )
        return
    for axis in wrap_dims(dim, layout.ndim):
        if layout.shape[axis] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on the dimension {axis} because this dimension is "
                "empty and the operation does not have an identity"
            )


def _norm(magnitude: Tensor, ord: float, dim: Dims, keepdim: bool) -> Any:
    if abs(ord) == inf:
        return reduce("reduce_max" if ord > 0 else "reduce_min", magnitude, dim, keepdim)
    if ord == 0:
        nonzero = cast(emit("ne", magnitude, constant_like(magnitude, 0)), magnitude._layout.dtype)
        return reduce("reduce_sum", nonzero, dim, keepdim)
    if ord == 1:
        return reduce("reduce_sum", magnitude, dim, keepdim)
    if ord == 2:
        return emit("sqrt", reduce("reduce_sum", emit("mul", magnitude, magnitude), dim, keepdim))
    total = reduce("reduce_sum", emit("pow", magnitude, constant_like(magnitude, ord)), dim, keepdim)
    return emit("pow", total, constant_like(total, 1 / ord))


# ---- matrices --------------------------------------------------------------------------------------------------------


@composed(
    "matrix_norm(Tensor input, any ord='fro', int[2] dim=(-2,-1), bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    namespace=LINALG,
    method=False,
)
def matrix_norm(
    input: Tensor,
    ord: Order = "fro",
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    """The norm of matrices in the two dimensions `dim`.

    ``'fro'`` is the root of the sum of squares, 1 and infinity (-1, minus infinity) are the greatest (smallest)
    sum of magnitudes of a column or row. ``'nuc'`` is the sum of the singular values, 2 (-2) the greatest (smallest).

    Args:
        input: at least 2-D, floating point or complex; the norm is real.
        ord: ``'fro'``, ``'nuc'``, 1, -1, 2, -2, infinity or minus infinity.
        dim: the dimensions of rows and columns.
        keepdim: keep these dimensions with size 1.
        dtype: cast to it first.

    Raises:
        RuntimeError: if `input` has fewer than 2 dimensions or `dim` does not name two of them.
        LinAlgError: if singular values are asked for and the matrix is not finite.

    Example:
        >>> import raxis
        >>> raxis.linalg.matrix_norm(raxis.tensor([[1.0, -2.0], [3.0, 4.0]]), ord=1)
        tensor(6.)
    """
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    axes = [axis % input.ndim if -input.ndim <= axis < input.ndim else axis for axis in dim]
    if axes[0] == axes[1]:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(input, 2, tuple(dim), keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        norm = _singular_value_norm(input, ord, axes, dtype)
        return norm.unsqueeze(min(axes)).unsqueeze(max(axes)) if keepdim else norm
    if isinstance(ord, str) or ord is None or abs(ord) not in (1, inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, other = axes if abs(ord) == 1 else reversed(axes)
    sums = vector_norm(input, 1, (summed,), True, dtype=dtype)
    if sums.shape[other] == 0 and ord > 0:
        norm = sums.sum((other,), True)  # of no sums, none of which is negative, the greatest is 0
    else:
        norm = sums.amax((other,), True) if ord > 0 else sums.amin((other,), True)
    return norm if keepdim else norm.squeeze(tuple(axes))


def _singular_value_norm(input: Tensor, ord: Order, axes: Sequence[int], dtype: DType | None) -> Any:
    matrices = input.to(_norm_dtype(input, dtype)).movedim(tuple(axes), (-2, -1))
    values = svdvals(matrices)
    if ord == "nuc":
        return values.sum(-1)
    if values.shape[-1] == 0 and ord == 2:
        return values.sum(-1)  # of no singular values the greatest is 0
    return values.amax(-1) if ord == 2 else values.amin(-1)


@composed(
    "norm(Tensor input, any ord=None, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    namespace=LINALG,
    method=False,
)
def linalg_norm(
    input: Tensor,
    ord: Order = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    """A vector norm or a matrix norm, by the number of dimensions in `dim`.

    Without `ord` it is the 2-norm of all elements over `dim`; with `ord` and without `dim`, `input` must be 1-D
    (vector norm) or 2-D (matrix norm).

    Args:
        input: floating point or complex; the norm is real.
        ord: see `vector_norm` and `matrix_norm`.
        dim: one dimension or two.
        keepdim: keep these dimensions with size 1.
        dtype: cast to it first.

    Raises:
        RuntimeError: if `ord` is given without `dim` for an input that is neither 1-D nor 2-D.

    Example:
        >>> import raxis
        >>> raxis.linalg.norm(raxis.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
    """
    if ord is None:
        return vector_norm(input, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if input.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. "
                f"Got {input.ndim}D."
            )
        dim = tuple(range(input.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if isinstance(ord, str) and len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dims))}")
    if len(dims) == 2:
        return matrix_norm(input, ord, dims, keepdim, dtype=dtype)
    return vector_norm(input, ord, dims, keepdim, dtype=dtype)


@composed(
    "norm(Tensor input, any p='fro', int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor"
)
def norm(
    input: Tensor,
    p: Order = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Any:
    """The `p`-norm of the elements over `dim`, or of all; `raxis.linalg.norm` is its successor.

    Args:
        input: floating point or complex; the norm is real.
        p: a number (see `raxis.linalg.vector_norm`), ``'fro'`` (2) or ``'nuc'``.
        dim: dimension or dimensions; None: all.
        keepdim: keep these dimensions with size 1.
        dtype: cast to it first.

    Example:
        >>> import raxis
        >>> raxis.norm(raxis.tensor([3.0, -4.0]), p=1)
        tensor(7.)
    """
    if p == "nuc":
        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"linalg.matrix_norm: Order {p} not supported.")
    return vector_norm(input, 2 if p in (None, "fro") else p, dim, keepdim, dtype=dtype)


@composed("dist(Tensor input, Tensor other, number p=2) -> Tensor")
def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    """The `p`-norm of ``input - other``, over all elements.

    Args:
        input: floating point or complex.
        other: its shape must broadcast with `input`'s.
        p: see `raxis.linalg.vector_norm`.

    Example:
        >>> import raxis
        >>> raxis.dist(raxis.tensor([1.0, 2.0]), raxis.tensor([4.0, 6.0]))
        tensor(5.)
    """
    return vector_norm(input - other, p)


@composed("renorm(Tensor input, number p, int dim, number maxnorm) -> Tensor", inplace=True)
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Any:
    """The slices of `input` along `dim`, those whose `p`-norm exceeds `maxnorm` scaled down to it.

    Args:
        input: at least 2-D, floating point or complex.
        p: order of the norm, positive.
        dim: the dimension whose indices name the slices.
        maxnorm: greatest norm kept, not negative.

    Raises:
        RuntimeError: if an argument is out of its range.

    Example:
        >>> import raxis
        >>> raxis.renorm(raxis.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
        tensor([[0.6000, 0.8000],
                [0.3000, 0.4000]])
    """
    if p <= 0:
        raise RuntimeError("renorm: non-positive norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    kept = dim % input.ndim
    axes = tuple(axis for axis in range(input.ndim) if axis != kept)
    norms = vector_norm(input, p, axes, True)
    scale = (maxnorm / (norms + 1e-7)).where(norms > maxnorm, 1.0)
    return input * scale.to(input.dtype)
