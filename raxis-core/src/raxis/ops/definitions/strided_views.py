"""Views of any geometry, and what their base's gradient is."""

from __future__ import annotations

import functools
from typing import Any

from raxis.layout import Layout, Shape, Strides, extent, overlaps_itself
from raxis.ops.definitions.creation import ones
from raxis.ops.definitions.positions import read_strided, scatter_strided
from raxis.ops.definitions.views import Geometry
from raxis.ops.table import composed, viewed
from raxis.tensor import Tensor


def as_strided_gradient(
    grad: Tensor, input_layout: Layout, size: Shape, stride: Strides, step: int
) -> Tensor:
    """The gradient of a base, given that of a view of its storage.

    Elements seen several times through the view sum; an element that the base itself shows several times
    (an expanded base) shares its gradient equally among them.

    Args:
        grad: gradient of the view, of shape `size`.
        input_layout: geometry of the base.
        size: sizes of the view.
        stride: strides of the view.
        step: elements from the base's first element to the view's.
    """
    before = max(0, -step)
    numel = before + max(extent(input_layout.shape, input_layout.strides), step + extent(size, stride))
    memory = scatter_strided(grad, stride, before + step, numel)
    if overlaps_itself(input_layout):
        one = ones(input_layout.shape, dtype=grad.dtype, device=grad.device)
        memory = memory / scatter_strided(one, input_layout.strides, before, numel).clamp(min=1)
    return as_strided(memory, input_layout.shape, input_layout.strides, before)


@viewed(
    "_as_strided(Tensor input, int[] size, int[] stride, int step) -> Tensor",
    lower=read_strided,
    vjp={"input": as_strided_gradient},
    method=False,
    function=False,
)
def _as_strided(_: Layout, size: Shape, stride: Strides, step: int) -> Geometry:
    """Any shape and strides, `step` elements after the first element of `input`."""
    return size, stride, step


@composed("as_strided(Tensor input, int[] size, int[] stride, int? storage_offset=None) -> Tensor", out=False)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view with the given sizes and strides, at `storage_offset` elements from the start of the storage.

    Args:
        input: any shape.
        size: the sizes.
        stride: one stride per size, not negative.
        storage_offset: default: that of `input`.

    Raises:
        RuntimeError: if the view would leave the storage, or a stride is negative.

    Example:
        >>> import raxis
        >>> raxis.arange(4).as_strided((3, 2), (1, 1))
        tensor([[0, 1],
                [1, 2],
                [2, 3]])
    """
    size, stride = tuple(size), tuple(stride)
    own = input._offset
    offset = own if storage_offset is None else storage_offset
    _check_within_storage(input, size, stride, offset)
    return _as_strided(input, size, stride, offset - own)


@functools.lru_cache(maxsize=4096)
def _checked_extent(size: Shape, stride: Strides) -> int:
    """Elements from the first to one past the last, after checking the sizes and strides themselves."""
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(stride)} strides for shape {list(size)}"
        )
    if any(step < 0 for step in stride):
        raise RuntimeError(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}"
        )
    if any(length < 0 for length in size):
        raise RuntimeError(f"as_strided: sizes must not be negative, got sizes: {list(size)}")
    return extent(size, stride)


def _check_within_storage(input: Tensor, size: Shape, stride: Strides, offset: int) -> None:
    reach = _checked_extent(size, stride)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    layout = input._layout
    itemsize = layout.dtype.itemsize
    needed = (offset + reach) * itemsize
    available = layout.nbytes if layout.traced else input._storage.nbytes
    if needed > available and reach:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {itemsize} "
            f"requiring a storage size of {needed} are out of bounds for storage of size {available}"
        )
