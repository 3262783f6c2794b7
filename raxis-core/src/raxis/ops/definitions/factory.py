"""What all creation functions share: sizes, placement, ``out=`` and requires_grad."""

from __future__ import annotations

import math
import operator
from typing import Any

import ml_dtypes
import numpy as np

from raxis.device import Device
from raxis.dtypes import Category, DType, scalar_category
from raxis.layout import Layout, Shape, Strides, contiguous_strides, dense_strides_like, extent, layout_of
from raxis.memory_format import channels_last, contiguous_format, memory_format, strided
from raxis.memory_format import layout as StorageLayout
from raxis.ops.destination import fit_output
from raxis.ops.promotion import default_dtype_of, get_default_dtype
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, cast, constant
from raxis.placement import DeviceLike, as_device, place_of
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


def sizes_of(args: tuple[Any, ...], size: Any = None) -> Shape:
    """Sizes given as separate ints, or as one sequence.

    Raises:
        TypeError: if they are no ints.
        RuntimeError: if one is negative.
    """
    if not args and size is None:
        raise TypeError("missing 1 required positional argument: 'size'")
    given = args if size is None else size
    if len(args) == 1 and not _is_size(args[0]):
        given = args[0]
    try:
        sizes = tuple([operator.index(item) for item in given])
    except TypeError:
        raise TypeError(f"size must be integers, or one sequence of integers, but got {given!r}.") from None
    if sizes and min(sizes) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    return sizes


def check_layout(layout: StorageLayout | None) -> None:
    """Raise RuntimeError for layouts other than strided."""
    if layout is not None and layout is not strided:
        raise RuntimeError(f"only layout=raxis.strided is supported, but got {layout}.")


def marked(tensor: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, requiring grad if asked."""
    if not isinstance(requires_grad, bool):
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def empty_of(layout: Layout) -> Tensor:
    """An uninitialised tensor of this layout."""
    places = layout.numel if layout.is_contiguous else extent(layout.shape, layout.strides)
    return wrap(allocate(places * layout.dtype.itemsize, place_of(layout.device)), 0, layout)


def filled(size: Shape, value: Any, dtype: DType, device: Device) -> Tensor:
    """A new contiguous tensor with every element `value`."""
    return _filled(size, value, dtype=dtype, device=device)


def filled_by(
    size: Shape,
    value: Any,
    out: Tensor | None,
    dtype: DType | None,
    layout: StorageLayout | None,
    device: DeviceLike | None,
    requires_grad: bool,
) -> Tensor:
    """The common body of zeros, ones and full."""
    check_layout(layout)
    if out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"argument 'out' must be Tensor, not {type(out).__name__}")
        return prepared(out, size, dtype).fill_(value)
    made = filled(size, value, dtype or get_default_dtype(), as_device(device))
    return marked(made, requires_grad)


def prepared(out: Tensor, size: Shape, dtype: DType | None) -> Tensor:
    """``out`` of a creation function, resized to `size`.

    Raises:
        RuntimeError: if `dtype` is given and is not `out`'s.
    """
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {dtype} does not match dtype of out parameter ({out.dtype})")
    fit_output(out, layout_of(out.dtype, size, None, out.device))
    return out


def like_layout(
    input: Tensor, dtype: DType | None, device: DeviceLike | None, order: memory_format | None
) -> Layout:
    """The layout of a dense tensor with `input`'s shape and, unless `order` says otherwise, order of dimensions."""
    own = input._layout
    target = own.device if device is None else as_device(device)
    return layout_of(dtype or own.dtype, own.shape, _like_strides(own, order), target)


def _like_strides(own: Layout, order: memory_format | None) -> Strides:
    if order is contiguous_format:
        return contiguous_strides(own.shape)
    if order is channels_last:
        batch, channels, height, width = own.shape
        moved = contiguous_strides((batch, height, width, channels))
        return (moved[0], moved[3], moved[1], moved[2])
    return dense_strides_like(own.shape, [own])


def filled_like(input: Tensor, layout: Layout, value: Any) -> Tensor:
    """A tensor of `layout` filled with `value`; recorded when `input` is being traced."""
    if input._layout.traced:
        return constant(value, layout.dtype, layout.shape)
    if layout.is_contiguous:
        return filled(layout.shape, value, layout.dtype, layout.device)
    return empty_of(layout).fill_(value)


def number_dtype(value: Any) -> DType:
    """The dtype `full` gives a Python number: bool, int64, or the default float or complex dtype."""
    return default_dtype_of(scalar_category(type(value)))


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
    if dtype.category is Category.INTEGER:
        limits = np.iinfo(dtype.numpy)
        lowest = limits.min if dtype.is_signed else -limits.max
        return bool(math.isfinite(value) and lowest <= value <= limits.max)
    return not math.isfinite(value) or abs(value) <= float(_finfo(dtype.numpy).max)
