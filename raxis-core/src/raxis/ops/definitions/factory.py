"""What creation functions share: sizes, layouts, filling."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from raxis.autograd.grad_mode import new_in_mode
from raxis.device import Device
from raxis.dtypes import Category, DType, scalar_category
from raxis.layout import (
    LARGEST,
    Layout,
    Shape,
    Strides,
    contiguous_strides,
    dense_strides_like,
    extent,
    layout_of,
)
from raxis.memory_format import channels_last, contiguous_format, memory_format
from raxis.ops.call import repeated
from raxis.ops.promotion import default_dtype_of
from raxis.ops.table import OPS, lowered
from raxis.ops.trace import broadcast, cast, constant
from raxis.placement import DeviceLike, as_device, place_of
from raxis.size import Size
from raxis.storage import allocate
from raxis.tensor import Tensor, wrap

CREATION_OPTIONS = (
    "dtype? dtype=None, layout? layout=None, device? device=None, "
    "bool pin_memory=False, bool requires_grad=False"
)
"""Schema text of the options every creation function ends with."""

_finfo: Any = ml_dtypes.finfo


@lowered(
    "_filled(int[] size, Scalar value, *, dtype dtype, device device) -> Tensor",
    method=False,
    function=False,
    out=False,
)
def _filled(size: Shape, value: Tensor, dtype: DType, device: Device) -> Any:
    """A new tensor filled with one number."""
    return broadcast(cast(value, dtype), size)


def _is_size(value: Any) -> bool:
    """Whether a lone argument is one size: an integer, also in an array or tensor without dimensions."""
    return isinstance(value, (int, np.integer)) or getattr(value, "ndim", None) == 0


_SEQUENCES = frozenset({tuple, list, Size})


def _are_sizes(values: Iterable[Any]) -> bool:
    """Whether all values are ints of [0, 2**63)."""
    for value in values:  # noqa: SIM110  a generator would take longer than what it does
        if type(value) is not int or not 0 <= value <= LARGEST:
            return False
    return True


def sizes_of(args: tuple[Any, ...], size: Any = None) -> Shape:
    """Sizes given as separate ints, or as one sequence.

    Raises:
        TypeError: if they are no ints.
        RuntimeError: if one is negative.
    """
    plain = args[0] if size is None and len(args) == 1 and type(args[0]) in _SEQUENCES else args
    if size is None and args and _are_sizes(plain):
        return tuple(plain)
    if not args and size is None:
        raise TypeError("missing 1 required positional argument: 'size'")
    given = args if size is None else size
    if len(args) == 1 and not _is_size(args[0]):
        given = args[0]
    try:
        sizes = tuple([operator.index(item) for item in given])
    except TypeError:
        raise TypeError(f"size must be integers, or one sequence of integers, but got {given!r}.") from None
    if sizes and max(sizes) > LARGEST:
        raise TypeError(
            f"size {max(sizes)} does not fit 64 bits (Overflow when unpacking long): {list(sizes)}"
        )
    if sizes and min(sizes) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    return sizes


def empty_of(layout: Layout) -> Tensor:
    """An uninitialised tensor of this layout."""
    return new_in_mode(wrap(allocate(_nbytes(layout), place_of(layout.device)), 0, layout))


def _nbytes(layout: Layout) -> int:
    places = layout.numel if layout.is_contiguous else extent(layout.shape, layout.strides)
    return places * layout.dtype.itemsize


def uninitialised(layout: Layout) -> Callable[[], Tensor]:
    """`empty_of` for any number of tensors."""
    place, nbytes = place_of(layout.device), _nbytes(layout)
    buffer, storage = place.backend.allocator(nbytes, place.index), place.storage
    return lambda: new_in_mode(wrap(storage.over(buffer(), nbytes, place), 0, layout))


def filled(size: Shape, value: Any, dtype: DType, device: Device) -> Tensor:
    """A new contiguous tensor with every element `value`."""
    return _filled(size, value, dtype=dtype, device=device)


def like_layout(
    input: Tensor, dtype: DType | None, device: DeviceLike | None, order: memory_format | None
) -> Layout:
    """The layout of a dense tensor with `input`'s shape and, unless `order` says otherwise, order of dimensions."""
    own = input._layout
    target = own.device if device is None else as_device(device)
    return layout_of(dtype or own.dtype, own.shape, _like_strides(own, order), target)


def reordered(layout: Layout, order: memory_format) -> Layout:
    """A dense layout of the same elements with their dimensions in another order."""
    return layout_of(layout.dtype, layout.shape, _like_strides(layout, order), layout.device)


def _like_strides(own: Layout, order: memory_format | None) -> Strides:
    if order is contiguous_format:
        return contiguous_strides(own.shape)
    if order is channels_last:
        batch, channels, height, width = own.shape
        moved = contiguous_strides((batch, height, width, channels))
        return (moved[0], moved[3], moved[1], moved[2])
    return dense_strides_like(own.shape, [own])


def filling(input: Tensor | None, layout: Layout, value: Any) -> Callable[[], Tensor]:
    """What makes tensors of `layout` filled with `value`: traced ones if `input` is being traced."""
    if input is not None and input._layout.traced:
        return partial(constant, value, layout.dtype, layout.shape)
    if layout.is_contiguous:
        return repeated(OPS["_filled"], layout.shape, value, layout.dtype, layout.device)
    return lambda: empty_of(layout).fill_(value)


def number_dtype(value: Any) -> DType:
    """The dtype `full` gives a Python number: bool, int64, or the default float or complex dtype."""
    return default_dtype_of(scalar_category(value.__class__))


def check_fits(value: Any, dtype: DType) -> None:
    """Raise RuntimeError if a number is beyond `dtype`'s range; an unsigned dtype takes negative ones modulo."""
    if not fits(value, dtype):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


def fits(value: Any, dtype: DType) -> bool:
    """Whether a number lies in `dtype`'s range (rounding is no matter)."""
    if dtype.category is Category.BOOL or dtype.is_complex:
        return True
    if isinstance(value, complex):
        return value.imag == 0 and fits(value.real, dtype)
    lowest, highest = _limits(dtype)
    if dtype.category is Category.INTEGER:
        return bool(math.isfinite(value) and lowest <= value <= highest)
    return not math.isfinite(value) or abs(value) <= highest


@functools.cache
def _limits(dtype: DType) -> tuple[float, float]:
    """The least and the greatest number for `fits`."""
    if dtype.category is Category.INTEGER:
        limits = np.iinfo(dtype.numpy)
        return (int(limits.min) if dtype.is_signed else -int(limits.max)), int(limits.max)
    highest = float(_finfo(dtype.numpy).max)
    return -highest, highest
