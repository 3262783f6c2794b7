"""Views that cut a tensor into several: split, chunk, unbind and relatives."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from raxis.layout import Layout, Shape, wrap_dim
from raxis.ops.definitions.creation import zeros
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.slicing import cut, embed_along, narrow, slice_along
from raxis.ops.definitions.views import Geometry, reshaped
from raxis.ops.table import composed, viewed
from raxis.tensor import Tensor

Sizes = int | Sequence[int]


def _joined(
    grads: Sequence[Tensor | None], input_layout: Layout, split_sizes: Shape, dim: int
) -> Tensor | None:
    """The gradients of all pieces put together, zeros where none arrived."""
    axis = wrap_dim(dim, input_layout.ndim)
    present = [(position, grad) for position, grad in enumerate(grads) if grad is not None]
    if len(present) == 1:
        position, grad = present[0]
        return embed_along(grad, input_layout, axis, sum(split_sizes[:position]))
    shape = input_layout.shape
    pieces = [
        grad if grad is not None
        else zeros((*shape[:axis], size, *shape[axis + 1 :]), dtype=input_layout.dtype, device=input_layout.device)
        for grad, size in zip(grads, split_sizes, strict=True)
    ]  # fmt: skip
    return cat(pieces, axis)


def _starts(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:position]) for position in range(len(sizes))]


def _check_sizes(layout: Layout, sizes: Shape, dim: int) -> int:
    if layout.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = wrap_dim(dim, layout.ndim)
    if any(size < 0 for size in sizes):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    if sum(sizes) != layout.shape[axis]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {layout.shape[axis]} (input tensor's size at "
            f"dimension {axis}), but got split_sizes={list(sizes)}"
        )
    return axis


def _split_lower(input: Tensor, split_sizes: Shape, dim: int) -> Any:
    layout = input._layout
    axis = _check_sizes(layout, split_sizes, dim)
    whole = [(0, size, 1) for size in layout.shape]
    return tuple(
        cut(input, [*whole[:axis], (start, size, 1), *whole[axis + 1 :]])
        for start, size in zip(_starts(split_sizes), split_sizes, strict=True)
    )


@viewed(
    "split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor",
    lower=_split_lower,
    vjp={"input": _joined},
)
def split_with_sizes(layout: Layout, split_sizes: Shape, dim: int) -> list[Geometry]:
    """Views of consecutive parts of one dimension, of the given sizes.

    Raises:
        RuntimeError: if the sizes do not sum to the dimension's size.
    """
    axis = _check_sizes(layout, split_sizes, dim)
    shape, strides = layout.shape, layout.strides
    return [
        ((*shape[:axis], size, *shape[axis + 1 :]), strides, start * strides[axis])
        for start, size in zip(_starts(split_sizes), split_sizes, strict=True)
    ]


@functools.lru_cache(maxsize=4096)
def _equal_sizes(shape: Shape, split_size: int, dim: int) -> Shape:
    """Sizes of `split_size`, the last one smaller."""
    if not shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    size = shape[wrap_dim(dim, len(shape))]
    if split_size == 0:
        if size:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
            )
        return (0,)
    count = max((size + split_size - 1) // split_size, 1)
    return (*(split_size,) * (count - 1), size - split_size * (count - 1))


@composed("split(Tensor tensor, int[] split_size_or_sections, int dim=0) -> Tensor", out=False)
def split(
    tensor: Tensor,
    split_size_or_sections: Sizes | None = None,
    dim: int = 0,
    *,
    split_size: Sizes | None = None,
) -> tuple[Tensor, ...]:
    """Views of consecutive parts of one dimension.

    Args:
        tensor: at least one dimension.
        split_size_or_sections: the size of every part (the last may be smaller), or a list of sizes.
        dim: the dimension to split.

    Raises:
        RuntimeError: if the sizes are negative or do not sum to the dimension's size.

    Example:
        >>> import raxis
        >>> raxis.split(raxis.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    sizes = split_size if split_size_or_sections is None else split_size_or_sections
    if isinstance(sizes, int):
        sizes = _equal_sizes(tensor._layout.shape, sizes, dim)
    if sizes is None:
        raise TypeError("split() missing 1 required positional argument: 'split_size_or_sections'")
    return split_with_sizes(tensor, tuple(sizes), dim)


@composed("unsafe_split(Tensor tensor, int split_size, int dim=0) -> Tensor", out=False)
def unsafe_split(tensor: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`split` whose results may be written in place under the tape."""
    return unsafe_split_with_sizes(tensor, _equal_sizes(tensor._layout.shape, split_size, dim), dim)


@composed("unsafe_split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor", out=False)
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes` whose results may be written in place under the tape."""
    sizes = tuple(split_sizes)
    _check_sizes(input._layout, sizes, dim)
    return tuple(narrow(input, dim, start, size) for start, size in zip(_starts(sizes), sizes, strict=True))


@functools.lru_cache(maxsize=4096)
def _chunk_sizes(shape: Shape, chunks: int, dim: int) -> Shape:
    if not shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = -(-shape[wrap_dim(dim, len(shape))] // chunks)
    return (0,) * chunks if size == 0 else _equal_sizes(shape, size, dim)


@composed("chunk(Tensor input, int chunks, int dim=0) -> Tensor", out=False)
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of consecutive parts of equal size (the last may be smaller) of one dimension.

    Raises:
        RuntimeError: if `chunks` is not positive.

    Example:
        >>> import raxis
        >>> raxis.chunk(raxis.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return split_with_sizes(input, _chunk_sizes(input._layout.shape, chunks, dim), dim)


@composed("unsafe_chunk(Tensor input, int chunks, int dim=0) -> Tensor", out=False)
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """`chunk` whose results may be written in place under the tape."""
    return unsafe_split_with_sizes(input, _chunk_sizes(input._layout.shape, chunks, dim), dim)


def _unbind_axis(layout: Layout, dim: int) -> int:
    if layout.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, layout.ndim)


def _unbind_lower(input: Tensor, dim: int) -> Any:
    layout = input._layout
    axis = _unbind_axis(layout, dim)
    shape = layout.shape[:axis] + layout.shape[axis + 1 :]
    pieces = _split_lower(input, (1,) * layout.shape[axis], axis)
    return tuple(reshaped(piece, shape) for piece in pieces)


def _unbind_gradient(grads: Sequence[Tensor | None], input_layout: Layout, dim: int) -> Tensor | None:
    axis = _unbind_axis(input_layout, dim)
    raised = [None if grad is None else grad.unsqueeze(axis) for grad in grads]
    return _joined(raised, input_layout, (1,) * len(grads), axis)


@viewed("unbind(Tensor input, int dim=0) -> Tensor", lower=_unbind_lower, vjp={"input": _unbind_gradient})
def unbind(layout: Layout, dim: int) -> list[Geometry]:
    """The slices of one dimension, without it.

    Raises:
        IndexError: if `dim` is out of range or `input` is 0-d.

    Example:
        >>> import raxis
        >>> raxis.arange(4).view(2, 2).unbind()
        (tensor([0, 1]), tensor([2, 3]))
    """
    axis = _unbind_axis(layout, dim)
    shape = layout.shape[:axis] + layout.shape[axis + 1 :]
    strides = layout.strides[:axis] + layout.strides[axis + 1 :]
    return [(shape, strides, index * layout.strides[axis]) for index in range(layout.shape[axis])]


def _section_bounds(size: int, sections: int) -> list[int]:
    """Start of each of `sections` parts, the first ones one larger where it does not divide."""
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    small, larger = divmod(size, sections)
    return [position * small + min(position, larger) for position in range(1, sections)]


@composed("tensor_split(Tensor input, int[] indices_or_sections, int dim=0) -> Tensor", out=False)
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, sections: Any = None, indices: Any = None
) -> tuple[Tensor, ...]:
    """Views of consecutive parts of one dimension: a number of nearly equal parts, or cut at given indices.

    Args:
        input: at least one dimension.
        indices_or_sections: number of parts, or the indices to cut at (also as an integer tensor).
        dim: the dimension to split.

    Raises:
        RuntimeError: if the number of parts is not positive, or `input` is 0-d.

    Example:
        >>> import raxis
        >>> raxis.tensor_split(raxis.arange(5), (1, 3))
        (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """
    given = next(item for item in (indices_or_sections, sections, indices) if item is not None)
    layout = input._layout
    if layout.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    axis = wrap_dim(dim, layout.ndim)
    if isinstance(given, Tensor):
        given = given.tolist()
    size = layout.shape[axis]
    cuts = _section_bounds(size, given) if isinstance(given, int) else list(given)
    bounds: list[Any] = [0, *cuts, size]
    return tuple(slice_along(input, axis, start, end) for start, end in pairwise(bounds))


def _split_evenly(name: str, input: Tensor, given: Any, axis: int) -> tuple[Tensor, ...]:
    size = input._layout.shape[axis]
    if isinstance(given, int) and (given <= 0 or size % given):
        raise RuntimeError(
            f"raxis.{name} attempted to split along dimension {axis}, but the size of the dimension {size} is not "
            f"divisible by the split_size {given}!"
        )
    return tensor_split(input, given, axis)


def _require_ndim(name: str, input: Tensor, ndim: int) -> None:
    if input._layout.ndim < ndim:
        plural = "s" if ndim > 1 else ""
        raise RuntimeError(
            f"raxis.{name} requires a tensor with at least {ndim} dimension{plural}, but got a tensor with "
            f"{input._layout.ndim} dimensions!"
        )


@composed("hsplit(Tensor input, int[] indices_or_sections) -> Tensor", out=False)
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the second dimension (the only one of 1-D tensors); a number must divide its size."""
    _require_ndim("hsplit", input, 1)
    return _split_evenly("hsplit", input, indices_or_sections, min(1, input._layout.ndim - 1))


@composed("vsplit(Tensor input, int[] indices_or_sections) -> Tensor", out=False)
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the first dimension of at least two; a number must divide its size."""
    _require_ndim("vsplit", input, 2)
    return _split_evenly("vsplit", input, indices_or_sections, 0)


@composed("dsplit(Tensor input, int[] indices_or_sections) -> Tensor", out=False)
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """`tensor_split` of the third dimension of at least three; a number must divide its size."""
    _require_ndim("dsplit", input, 3)
    return _split_evenly("dsplit", input, indices_or_sections, 2)
