"""A tensor with one of its views replaced: select_scatter, slice_scatter and relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis import dtypes
from raxis.layout import Layout, Shape, layout_of, wrap_dim
from raxis.ops.definitions.positions import strided_positions
from raxis.ops.definitions.slicing import diagonal, diagonal_geometry, embed, select, slice_along, slice_place
from raxis.ops.definitions.views import alias
from raxis.ops.table import composed, lowered
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


def _region(grad: Tensor, src_layout: Layout, start: Shape, step: Shape) -> Tensor:
    for axis, (first, count, by) in enumerate(zip(start, src_layout.shape, step, strict=True)):
        grad = slice_along(grad, axis, first, first + max(0, (count - 1) * by + 1), by)
    return grad


@lowered(
    "_replace_region(Tensor input, Tensor src, int[] start, int[] step) -> Tensor",
    vjp={
        "input": lambda grad, src_layout, start, step: _replace_region(
            grad, grad.new_zeros(src_layout.shape), start, step),
        "src": _region,
    },
    method=False,
    function=False,
    out=False,
)  # fmt: skip
def _replace_region(input: Tensor, src: Tensor, start: Shape, step: Shape) -> Any:
    """`input` with `src` at the elements start, start + step, ... of each dimension."""
    size = input._layout.shape
    inside = embed(constant(True, dtypes.bool_, src._layout.shape), size, start, step)
    return emit("select", inside, embed(src, size, start, step), input)


def _along(input: Tensor, src: Tensor, axis: int, first: int, step: int) -> Tensor:
    starts, steps = [0] * input._layout.ndim, [1] * input._layout.ndim
    starts[axis], steps[axis] = first, step
    return _replace_region(input, src.to(input.dtype), tuple(starts), tuple(steps))


def _require_shape(src: Tensor, expected: Sequence[int]) -> None:
    if src._layout.shape != tuple(expected):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._layout.shape)}, slice size = {list(expected)}"
        )


@composed("select_scatter(Tensor input, Tensor src, int dim, int index) -> Tensor")
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """`input` with its slice at `index` of dimension `dim` replaced by `src`.

    Raises:
        RuntimeError: if `src` has not the slice's shape.
        IndexError: if `dim` or `index` is out of range.
    """
    _require_shape(src, select(input, dim, index)._layout.shape)
    axis = wrap_dim(dim, input._layout.ndim)
    return _along(input, src.unsqueeze(axis), axis, index % input._layout.shape[axis], 1)


@composed(
    "slice_scatter(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor"
)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """`input` with the elements start, start + step, ... below `end` of dimension `dim` replaced by `src`.

    Raises:
        RuntimeError: if `src` has not the slice's shape.
        ValueError: if `step` is not positive.
    """
    _require_shape(src, slice_along(input, dim, start, end, step)._layout.shape)
    axis = wrap_dim(dim, input._layout.ndim)
    first, _, by = slice_place(input._layout.shape[axis], start, end, step)
    return _along(input, src, axis, first, by)


@lowered(
    "_replace_strided(Tensor input, Tensor src, int[] stride, int offset) -> Tensor",
    vjp={
        "input": lambda grad, src_layout, stride, offset: _replace_strided(
            grad, grad.new_zeros(src_layout.shape), stride, offset),
        "src": lambda grad, src_layout, stride, offset: _strided(grad, src_layout.shape, stride, offset),
    },
    method=False,
    function=False,
    out=False,
)  # fmt: skip
def _replace_strided(input: Tensor, src: Tensor, stride: Shape, offset: int) -> Any:
    """`input` with `src` at the positions a strided view of the row-major tensor would have."""
    count = src._layout.numel
    positions = emit("reshape", strided_positions(src._layout.shape, stride, offset), shape=(count,))
    flat = emit("reshape", input, shape=(input._layout.numel,))
    written = emit("put", flat, positions, emit("reshape", src, shape=(count,)), dim=0, reduce="set")
    return emit("reshape", written, shape=input._layout.shape)


def _strided(grad: Tensor, size: Shape, stride: Shape, offset: int) -> Tensor:
    whole = grad.contiguous()
    return whole.as_strided(size, stride, whole._offset + offset)


@composed("diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor")
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """`input` with the given diagonal replaced by `src`.

    Raises:
        RuntimeError: if `src` has not the diagonal's shape.
    """
    _require_shape(src, diagonal(input, offset, dim1, dim2)._layout.shape)
    layout = input._layout
    row_major = layout_of(layout.dtype, layout.shape, None, layout.device)
    _, strides, step = diagonal_geometry(row_major, offset, dim1, dim2)
    return _replace_strided(input, src.to(input.dtype), strides, step)


@composed(
    "as_strided_scatter(Tensor input, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor"
)
def as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """A copy of `input` with the view of these sizes and strides replaced by `src`.

    Raises:
        RuntimeError: if the view leaves the storage, or `src` has not its shape.
    """
    view = alias(input).as_strided(size, stride, storage_offset)
    _require_shape(src, view._layout.shape)
    offset = view._offset - input._offset
    if not input._layout.is_contiguous:  # the view is one of the memory, not of the row-major elements
        copy = input.new_empty_strided(input.shape, input._layout.strides).copy_(input)
        copy.as_strided(size, stride, offset).copy_(src)
        return copy
    return _replace_strided(input, src.to(input.dtype), tuple(stride), offset)


@composed(
    "fill_diagonal_(Tensor input, Scalar fill_value, bool wrap=False) -> Tensor", function=False, out=False
)
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number along the main diagonal, in place.

    Args:
        input: at least two dimensions; more than two must all be of one size.
        fill_value: a number.
        wrap: in tall matrices, start the diagonal anew below its end.

    Raises:
        RuntimeError: if the dimensions do not allow it.
    """
    layout = input._layout
    if layout.ndim < 2:
        raise RuntimeError(f"dimensions must larger than 1, but got shape {list(layout.shape)}")
    if layout.ndim > 2 and len(set(layout.shape)) > 1:
        raise RuntimeError(
            f"all dimensions of input must be of equal length, but got shape {list(layout.shape)}"
        )
    rows, columns = layout.shape[:2]
    starts = range(0, rows, columns + 1) if wrap and layout.ndim == 2 else (0,)
    for start in starts:
        count = min(columns, rows - start)
        place = input._offset + start * layout.strides[0]
        input.as_strided((count,), (sum(layout.strides),), place).fill_(fill_value)
    return input
