"""Views of a part of a tensor: select, narrow, basic indexing, diagonal, unfold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.layout import Layout, Shape, Strides, layout_of, wrap_dim
from raxis.ops.definitions.positions import read_strided, scatter_strided
from raxis.ops.definitions.views import Geometry, reshaped
from raxis.ops.table import composed, lowered, viewed
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor

# ---- one dimension ---------------------------------------------------------------------------------


def cut(input: Tensor, bounds: Sequence[tuple[int, int, int]]) -> Any:
    """The traced elements start, start + step, ... (count of them), given per dimension as (start, count, step)."""
    start = tuple(bound[0] for bound in bounds)
    step = tuple(bound[2] for bound in bounds)
    stop = tuple(first + max(0, (count - 1) * by + 1) for first, count, by in bounds)
    return emit("slice", input, start=start, stop=stop, step=step)


def _bounds(layout: Layout, axis: int, start: int, count: int, step: int = 1) -> list[tuple[int, int, int]]:
    whole = [(0, size, 1) for size in layout.shape]
    whole[axis] = (start, count, step)
    return whole


@lowered(
    "_embed(Tensor input, int[] size, int[] start, int[] step) -> Tensor",
    vjp={"input": lambda grad, input_layout, start, step: _cut(grad, start, input_layout.shape, step)},
    method=False,
    function=False,
    out=False,
)
def embed(input: Tensor, size: Shape, start: Shape, step: Shape) -> Any:
    """Zeros of shape `size` with `input` at the elements start, start + step, ... of each dimension."""
    layout = input._layout
    high = tuple(
        total - first - max(0, (count - 1) * by + 1)
        for total, first, count, by in zip(size, start, layout.shape, step, strict=True)
    )
    interior = tuple(by - 1 for by in step)
    return emit("pad", input, constant(0, layout.dtype), low=start, high=high, interior=interior)


@viewed(
    "_cut(Tensor input, int[] start, int[] count, int[] step) -> Tensor",
    lower=lambda input, start, count, step: cut(input, list(zip(start, count, step, strict=True))),
    vjp={"input": lambda grad, input_layout, start, step: embed(grad, input_layout.shape, start, step)},
    method=False,
    function=False,
)
def _cut(layout: Layout, start: Shape, count: Shape, step: Shape) -> Geometry:
    """The elements start, start + step, ... of each dimension, `count` of them."""
    strides = layout.strides
    offset = sum(first * stride for first, stride in zip(start, strides, strict=True))
    return count, tuple(stride * by for stride, by in zip(strides, step, strict=True)), offset


def embed_along(grad: Tensor, layout: Layout, axis: int, start: int, step: int = 1) -> Tensor:
    """Zeros of `layout`'s shape with `grad` at start, start + step, ... along one dimension."""
    starts, steps = [0] * layout.ndim, [1] * layout.ndim
    starts[axis], steps[axis] = start, step
    return embed(grad, layout.shape, tuple(starts), tuple(steps))


def _select_place(layout: Layout, dim: int, index: int) -> tuple[int, int]:
    if layout.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = wrap_dim(dim, layout.ndim)
    size = layout.shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(layout.shape)} at dimension {axis}"
        )
    return axis, index % size


def _select_gradient(grad: Tensor, input_layout: Layout, dim: int, index: int) -> Tensor:
    axis, place = _select_place(input_layout, dim, index)
    return embed_along(grad.unsqueeze(axis), input_layout, axis, place)


def _select_lower(input: Tensor, dim: int, index: int) -> Any:
    layout = input._layout
    axis, place = _select_place(layout, dim, index)
    return reshaped(
        cut(input, _bounds(layout, axis, place, 1)), layout.shape[:axis] + layout.shape[axis + 1 :]
    )


@viewed(
    "select(Tensor input, int dim, int index) -> Tensor", lower=_select_lower, vjp={"input": _select_gradient}
)
def select(layout: Layout, dim: int, index: int) -> Geometry:
    """The slice at `index` of dimension `dim`, without that dimension.

    Raises:
        IndexError: if `dim` or `index` is out of range.

    Example:
        >>> import raxis
        >>> raxis.arange(6).view(2, 3).select(1, 2)
        tensor([2, 5])
    """
    axis, place = _select_place(layout, dim, index)
    shape, strides = layout.shape, layout.strides
    return shape[:axis] + shape[axis + 1 :], strides[:axis] + strides[axis + 1 :], place * strides[axis]


def slice_place(size: int, start: int | None, stop: int | None, step: int | None) -> tuple[int, int, int]:
    """First index, count and step of a Python slice of a dimension.

    Raises:
        ValueError: if `step` is not positive.
    """
    if step is not None and step <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    first, end, by = slice(start, stop, step).indices(size)
    return first, len(range(first, end, by)), by


def _slice_gradient(
    grad: Tensor, input_layout: Layout, dim: int, start: int | None, end: int | None, step: int
) -> Tensor:
    axis = wrap_dim(dim, input_layout.ndim)
    first, _, by = slice_place(input_layout.shape[axis], start, end, step)
    return embed_along(grad, input_layout, axis, first, by)


def _slice_lower(input: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Any:
    axis = wrap_dim(dim, input._layout.ndim)
    return cut(input, _bounds(input._layout, axis, *slice_place(input._layout.shape[axis], start, end, step)))


@viewed(
    "_slice(Tensor input, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    lower=_slice_lower,
    vjp={"input": _slice_gradient},
    method=False,
    function=False,
)
def slice_along(layout: Layout, dim: int, start: int | None, end: int | None, step: int) -> Geometry:
    """The elements start, start + step, ... below `end` of one dimension, with the meaning of Python's slices."""
    axis = wrap_dim(dim, layout.ndim)
    if layout.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    return _along(layout, axis, *slice_place(layout.shape[axis], start, end, step))


def _along(layout: Layout, axis: int, first: int, count: int, step: int = 1) -> Geometry:
    shape, strides = layout.shape, layout.strides
    return (
        (*shape[:axis], count, *shape[axis + 1 :]),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :]),
        first * strides[axis],
    )


def _narrow_place(layout: Layout, dim: int, start: int, length: int) -> tuple[int, int]:
    if layout.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, but got {length}.")
    axis = wrap_dim(dim, layout.ndim)
    size = layout.shape[axis]
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return axis, first


def _narrow_gradient(grad: Tensor, input_layout: Layout, dim: int, start: int, length: int) -> Tensor:
    return embed_along(grad, input_layout, *_narrow_place(input_layout, dim, start, length))


def _narrow_lower(input: Tensor, dim: int, start: int, length: int) -> Any:
    axis, first = _narrow_place(input._layout, dim, start, length)
    return cut(input, _bounds(input._layout, axis, first, length))


@viewed(
    "narrow(Tensor input, int dim, start start, int length) -> Tensor",
    lower=_narrow_lower,
    vjp={"input": _narrow_gradient},
)
def narrow(layout: Layout, dim: int, start: int, length: int) -> Geometry:
    """The elements `start` to ``start + length`` (exclusive) of one dimension.

    Raises:
        IndexError: if `dim` or `start` is out of range.
        RuntimeError: if the elements are not all there.

    Example:
        >>> import raxis
        >>> raxis.arange(5).narrow(0, 1, 3)
        tensor([1, 2, 3])
    """
    axis, first = _narrow_place(layout, dim, start, length)
    return _along(layout, axis, first, length)


@composed("narrow_copy(Tensor input, int dim, int start, int length) -> Tensor")
def narrow_copy(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`narrow`, in new memory."""
    return narrow(input, dim, start, length).clone()


# ---- several dimensions at once --------------------------------------------------------------------

IndexKey = tuple[Any, ...]
"""A basic index in hashable form: ints, ``(start, stop, step)`` triples, None and Ellipsis."""


WHOLE = (None, None, None)
"""The slice ``:``."""


def _complete(key: IndexKey, ndim: int) -> IndexKey:
    """`key` with its Ellipsis, or what is missing at the end, written out as whole slices."""
    elided = key.count(Ellipsis)
    consumed = len(key) - key.count(None) - elided
    if consumed == ndim and not elided:
        return key
    if consumed > ndim:
        if ndim == 0:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {ndim}, got {consumed}")
    missing = (WHOLE,) * (ndim - consumed)
    parts: list[Any] = []
    for item in key:
        if item is Ellipsis:
            parts.extend(missing)
            missing = ()
        else:
            parts.append(item)
    return (*parts, *missing)


def _places(layout: Layout, key: IndexKey) -> tuple[list[tuple[int, int, int]], list[tuple[int | None, int]]]:
    """Per dimension (first, count, step), and the dimensions of the result.

    Those are (input dimension, or None for a new one; the input dimension that comes next).
    """
    bounds: list[tuple[int, int, int]] = []
    results: list[tuple[int | None, int]] = []
    for item in _complete(key, layout.ndim):
        axis = len(bounds)
        if item is None:
            results.append((None, axis))
            continue
        size = layout.shape[axis]
        if isinstance(item, tuple):
            results.append((axis, axis))
            bounds.append(slice_place(size, *item))
        else:
            bounds.append((_checked_place(item, axis, size), 1, 1))
    return bounds, results


def _checked_place(index: int, axis: int, size: int) -> int:
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {axis} with size {size}")
    return index % size


def _basic_gradient(grad: Tensor, input_layout: Layout, index: IndexKey) -> Tensor:
    bounds, _ = _places(input_layout, index)
    counts = tuple(count for _, count, _ in bounds)
    starts = tuple(first for first, _, _ in bounds)
    return embed(grad.reshape(counts), input_layout.shape, starts, tuple(step for _, _, step in bounds))


def _basic_lower(input: Tensor, index: IndexKey) -> Any:
    bounds, results = _places(input._layout, index)
    shape = tuple(1 if axis is None else bounds[axis][1] for axis, _ in results)
    return reshaped(cut(input, bounds), shape)


@viewed(
    "_basic_index(Tensor input, index index) -> Tensor",
    lower=_basic_lower,
    vjp={"input": _basic_gradient},
    method=False,
    function=False,
)
def basic_index(layout: Layout, index: IndexKey) -> Geometry:
    """``input[index]`` for ints, slices, None and Ellipsis, as one view."""
    shape: list[int] = []
    strides: list[int] = []
    offset = axis = 0
    for item in _complete(index, layout.ndim):
        if item is None:
            shape.append(1)
            strides.append(_new_stride(layout, axis))
            continue
        size, stride = layout.shape[axis], layout.strides[axis]
        if isinstance(item, tuple):
            first, count, by = (0, size, 1) if item == WHOLE else slice_place(size, *item)
            shape.append(count)
            strides.append(stride * by)
        else:
            first = _checked_place(item, axis, size)
        offset += first * stride
        axis += 1
    return tuple(shape), tuple(strides), offset


def _new_stride(layout: Layout, axis: int) -> int:
    """The stride of a dimension of size 1 put in front of `axis`."""
    return layout.shape[axis] * layout.strides[axis] if axis < layout.ndim else 1


# ---- diagonals and windows -------------------------------------------------------------------------


def _row_major(layout: Layout) -> Layout:
    return layout_of(layout.dtype, layout.shape, None, layout.device)


def _read(input: Tensor, geometry: Geometry) -> Any:
    return read_strided(input, *geometry)


def _scattered(grad: Tensor, layout: Layout, geometry: Geometry) -> Tensor:
    """The gradient of a view of a row-major tensor: zeros with `grad` added where the view looks."""
    _, strides, offset = geometry
    return scatter_strided(grad, strides, offset, layout.numel).reshape(layout.shape)


def diagonal_geometry(layout: Layout, offset: int, dim1: int, dim2: int) -> Geometry:
    """The diagonal of two dimensions as the last one, `offset` above (or, if negative, below) the main one."""
    first, second = wrap_dim(dim1, layout.ndim), wrap_dim(dim2, layout.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape, strides = layout.shape, layout.strides
    count = min(shape[first] + min(offset, 0), shape[second] - max(offset, 0))
    step = offset * strides[second] if offset >= 0 else -offset * strides[first]
    rest = [axis for axis in range(layout.ndim) if axis not in (first, second)]
    return (
        (*(shape[axis] for axis in rest), max(count, 0)),
        (*(strides[axis] for axis in rest), strides[first] + strides[second]),
        step if count > 0 else 0,
    )


@viewed(
    "diagonal(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    lower=lambda input, offset, dim1, dim2: _read(
        input, diagonal_geometry(_row_major(input._layout), offset, dim1, dim2)),
    vjp={"input": lambda grad, input_layout, offset, dim1, dim2: _scattered(
        grad, input_layout, diagonal_geometry(_row_major(input_layout), offset, dim1, dim2))},
)  # fmt: skip
def diagonal(layout: Layout, offset: int, dim1: int, dim2: int) -> Geometry:
    """The diagonal of dimensions `dim1` and `dim2` as the last dimension.

    Args:
        input: at least two dimensions.
        offset: 0 for the main diagonal, positive above it, negative below.
        dim1: first dimension.
        dim2: second dimension.

    Raises:
        RuntimeError: if the dimensions are the same.
        IndexError: if one is out of range.

    Example:
        >>> import raxis
        >>> raxis.arange(9).view(3, 3).diagonal()
        tensor([0, 4, 8])
    """
    return diagonal_geometry(layout, offset, dim1, dim2)


def _windows(layout: Layout, dimension: int, size: int, step: int) -> Geometry:
    axis = wrap_dim(dimension, layout.ndim)
    shape: Shape = layout.shape or (1,)
    strides: Strides = layout.strides or (1,)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > shape[axis]:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {shape[axis]} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if not layout.ndim:
        return (size,), (1,), 0
    count = (shape[axis] - size) // step + 1
    return (
        (*shape[:axis], count, *shape[axis + 1 :], size),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis]),
        0,
    )


@viewed(
    "unfold(Tensor input, int dimension, int size, int step) -> Tensor",
    lower=lambda input, dimension, size, step: _read(input, _windows(_row_major(input._layout), dimension, size, step)),
    vjp={"input": lambda grad, input_layout, dimension, size, step: _scattered(
        grad, input_layout, _windows(_row_major(input_layout), dimension, size, step))},
    function=False,
)  # fmt: skip
def unfold(layout: Layout, dimension: int, size: int, step: int) -> Geometry:
    """All windows of `size` elements, `step` apart, of one dimension; a window's elements are the last dimension.

    Raises:
        RuntimeError: if the dimension is smaller than `size`, or `step` is not positive.

    Example:
        >>> import raxis
        >>> raxis.arange(4).unfold(0, 2, 1)
        tensor([[0, 1],
                [1, 2],
                [2, 3]])
    """
    return _windows(layout, dimension, size, step)
