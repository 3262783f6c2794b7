"""Creation of tensors filled with one number, or with nothing: zeros, ones, full, empty and relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.device import Device
from raxis.dtypes import DType
from raxis.layout import Layout, Shape, contiguous_strides, layout_of
from raxis.memory_format import memory_format
from raxis.ops.definitions.factory import (
    CREATION_OPTIONS,
    check_fits,
    filling,
    like_layout,
    number_dtype,
    reordered,
    sizes_of,
    uninitialised,
)
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import created
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor

_SIZED = f"(int... size, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"
_LIKE = f"(Tensor input, *, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor"


def _row_major(size: Shape, dtype: DType | None, device: DeviceLike | None) -> Layout:
    return layout_of(dtype or get_default_dtype(), size, None, as_device(device))


@created("zeros" + _SIZED, method=False)
def zeros(
    *args: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A tensor of zeros.

    Args:
        size: ints, or one sequence of ints.
        out: tensor to resize and fill instead.
        dtype: default: `get_default_dtype`.
        layout: only ``raxis.strided``.
        device: default: `get_default_device`.
        pin_memory: accepted; host memory is never pinned.
        requires_grad: record operations on the result.

    Raises:
        RuntimeError: if a size is negative.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    return filling(None, _row_major(sizes_of(args, size), dtype, device), 0)


@created("ones" + _SIZED, method=False)
def ones(
    *args: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A tensor of ones; arguments as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.ones(2, dtype=raxis.int64)
        tensor([1, 1])
    """
    return filling(None, _row_major(sizes_of(args, size), dtype, device), 1)


@created(
    f"full(int[] size, Scalar fill_value, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor", method=False
)
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A tensor with every element `fill_value`.

    Args:
        size: sequence of ints.
        fill_value: number or 0-d tensor; without `dtype` its type decides (bool, int64, default float or complex).

    Raises:
        RuntimeError: if a size is negative, or the number does not fit `dtype`.

    Example:
        >>> import raxis
        >>> raxis.full((2,), 1.5)
        tensor([1.5000, 1.5000])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    target = dtype or number_dtype(fill_value)
    check_fits(fill_value, target)
    return filling(None, _row_major(sizes_of((size,)), target, device), fill_value)


@created(
    f"empty(int... size, *, Tensor? out=None, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor",
    method=False,
)
def empty(
    *args: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[[], Tensor]:
    """A tensor of undefined values; arguments as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.empty(2, 3).shape
        raxis.Size([2, 3])
    """
    target = _row_major(sizes_of(args, size), dtype, device)
    if memory_format is not None:
        target = reordered(target, memory_format)
    return uninitialised(target)


@created(f"empty_strided(int[] size, int[] stride, *, {CREATION_OPTIONS}) -> Tensor", method=False)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A tensor of undefined values with these strides (in elements).

    Raises:
        RuntimeError: if `size` and `stride` differ in length, or one is negative.

    Example:
        >>> import raxis
        >>> raxis.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    return _strided(size, stride, dtype or get_default_dtype(), as_device(device))


def _strided(size: Any, stride: Any, dtype: DType, device: Device) -> Callable[[], Tensor]:
    shape, strides = sizes_of((size,)), sizes_of((stride,))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"mismatch in length of strides and shape: size {list(shape)} and stride {list(strides)} must have as "
            "many elements"
        )
    return uninitialised(layout_of(dtype, shape, strides, device))


@created(f"empty_permuted(int[] size, int[] physical_layout, *, {CREATION_OPTIONS}) -> Tensor", method=False)
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A dense tensor of undefined values, whose dimensions lie in memory in this order, the outermost first.

    Raises:
        RuntimeError: if `physical_layout` is no order of the dimensions of `size`.

    Example:
        >>> import raxis
        >>> raxis.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """
    shape, order = sizes_of((size,)), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError(
            f"Number of dimensions in size does not match the length of the physical_layout: {len(shape)} is not "
            f"{len(order)}"
        )
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(
            f"physical_layout must name each of {len(shape)} dimensions once, but got {list(order)}"
        )
    dense = contiguous_strides(tuple([shape[axis] for axis in order]))
    strides = dict(zip(order, dense, strict=True))
    return _strided(
        shape, [strides[axis] for axis in range(len(shape))], dtype or get_default_dtype(), as_device(device)
    )


@created("empty_like" + _LIKE, method=False)
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[[], Tensor]:
    """A tensor of undefined values with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.empty_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    target = like_layout(input, dtype, device, memory_format)
    return filling(input, target, 0) if input._layout.traced else uninitialised(target)


@created("zeros_like" + _LIKE, method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[[], Tensor]:
    """Zeros with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.zeros_like(raxis.tensor([1, 2]))
        tensor([0, 0])
    """
    return filling(input, like_layout(input, dtype, device, memory_format), 0)


@created("ones_like" + _LIKE, method=False)
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[[], Tensor]:
    """Ones with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.ones_like(raxis.tensor([3, 2]))
        tensor([1, 1])
    """
    return filling(input, like_layout(input, dtype, device, memory_format), 1)


@created(
    f"full_like(Tensor input, Scalar fill_value, *, {CREATION_OPTIONS}, "
    "memory_format? memory_format=None) -> Tensor",
    method=False,
)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
    memory_format: memory_format | None = None,
) -> Callable[[], Tensor]:
    """`fill_value` everywhere, with `input`'s shape and, unless given, its dtype and device.

    Raises:
        RuntimeError: if the number does not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.full_like(raxis.zeros(2), 7)
        tensor([7., 7.])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    target = like_layout(input, dtype, device, memory_format)
    check_fits(fill_value, target.dtype)
    return filling(input, target, fill_value)


_NEW = f"(Tensor input, int... size, *, {CREATION_OPTIONS}) -> Tensor"


def _own(input: Tensor, size: Shape, dtype: DType | None, device: DeviceLike | None) -> Layout:
    """A row-major layout with `input`'s dtype and device unless others are named."""
    own = input._layout
    return layout_of(dtype or own.dtype, size, None, own.device if device is None else as_device(device))


@created("new_zeros" + _NEW, function=False)
def new_zeros(
    input: Tensor, *args: Any, size: Any = None, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Zeros of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
    """
    return filling(input, _own(input, sizes_of(args, size), dtype, device), 0)


@created("new_ones" + _NEW, function=False)
def new_ones(
    input: Tensor, *args: Any, size: Any = None, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Ones of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_ones(3)
        tensor([1, 1, 1])
    """
    return filling(input, _own(input, sizes_of(args, size), dtype, device), 1)


@created(
    f"new_full(Tensor input, int[] size, Scalar fill_value, *, {CREATION_OPTIONS}) -> Tensor", function=False
)
def new_full(
    input: Tensor, size: Any, fill_value: Any, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """`fill_value` in any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_full((2,), 5)
        tensor([5, 5])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    target = _own(input, sizes_of((size,)), dtype, device)
    check_fits(fill_value, target.dtype)
    return filling(input, target, fill_value)


@created("new_empty" + _NEW, function=False)
def new_empty(
    input: Tensor, *args: Any, size: Any = None, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Undefined values of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_empty(2, 2).dtype
        raxis.int64
    """
    return uninitialised(_own(input, sizes_of(args, size), dtype, device))


@created(
    f"new_empty_strided(Tensor input, int[] size, int[] stride, *, {CREATION_OPTIONS}) -> Tensor",
    function=False,
)
def new_empty_strided(
    input: Tensor, size: Any, stride: Any, *, dtype: DType | None = None, device: DeviceLike | None = None
) -> Callable[[], Tensor]:
    """Undefined values with these strides and `input`'s dtype and device.

    Example:
        >>> import raxis
        >>> raxis.ones(1).new_empty_strided((2, 2), (1, 2)).stride()
        (1, 2)
    """
    own = input._layout
    return _strided(size, stride, dtype or own.dtype, own.device if device is None else as_device(device))
