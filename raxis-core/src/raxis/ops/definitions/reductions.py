"""Reductions: sum and relatives."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.layout import Layout, wrap_dims
from raxis.ops.formulas import wide
from raxis.ops.table import lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor

Dims = int | tuple[int, ...] | None


def restore_dims(reduced: Tensor, layout: Layout, dim: Dims, keepdim: bool) -> Tensor:
    """A reduced tensor viewed with size 1 in the reduced dimensions, and expanded to the operand's shape."""
    if not keepdim:
        axes = wrap_dims(dim, layout.ndim)
        reduced = reduced.reshape(kept_shape(layout.shape, axes))
    return reduced.expand(layout.shape)


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with size 1 in `axes`."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape))


def reduce(primitive: str, operand: Tensor, dim: Dims, keepdim: bool) -> Any:
    """Emit a reduction; with `keepdim` the reduced dimensions stay with size 1."""
    layout = operand._layout
    axes = wrap_dims(dim, layout.ndim)
    result = emit(primitive, operand, dims=axes) if axes else operand
    return emit("reshape", result, shape=kept_shape(layout.shape, axes)) if keepdim and axes else result


def sum_dtype(dtype: DType) -> DType:
    """The dtype integer and bool sums are made in."""
    return dtypes.int64 if dtype.category <= Category.INTEGER else dtype


@lowered(
    "sum(Tensor input, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
    vjp={"input": lambda grad, input_layout, dim, keepdim: restore_dims(grad, input_layout, dim, keepdim)},
)
def sum(input: Tensor, dim: Dims, keepdim: bool, dtype: DType | None) -> Any:  # noqa: A001  PyTorch's name
    """The sum over `dim`, or over all elements.

    Args:
        input: any shape.
        dim: dimension or dimensions to sum over; None: all.
        keepdim: keep the summed dimensions with size 1.
        dtype: cast to it before summing; default: int64 for bool and integers, else the input's.

    Raises:
        IndexError: if a dimension is out of range.

    Example:
        >>> import raxis
        >>> raxis.sum(raxis.tensor([[1, 2], [3, 4]]), dim=0)
        tensor([4, 6])
    """
    target = dtype or sum_dtype(input.dtype)
    return cast(reduce("reduce_sum", wide(cast(input, target)), dim, keepdim), target)
