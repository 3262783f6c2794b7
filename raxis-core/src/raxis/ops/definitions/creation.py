"""Creation of tensors filled with one number, or with nothing: zeros, ones, full, empty and relatives."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import DType
from raxis.layout import layout_of
from raxis.memory_format import layout as StorageLayout
from raxis.memory_format import memory_format
from raxis.ops.definitions.factory import (
    CREATION_OPTIONS,
    check_fits,
    check_layout,
    empty_of,
    filled,
    filled_by,
    filled_like,
    like_layout,
    marked,
    number_dtype,
    prepared,
    sizes_of,
)
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import composed
from raxis.ops.trace import broadcast, constant
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor

_SIZED = f"(int... size, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"
_LIKE = f"(Tensor input, *, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor"


@composed("zeros" + _SIZED, method=False, out=False)
def zeros(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    return filled_by(sizes_of(args, size), 0, out, dtype, layout, device, requires_grad)


@composed("ones" + _SIZED, method=False, out=False)
def ones(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones; arguments as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.ones(2, dtype=raxis.int64)
        tensor([1, 1])
    """
    return filled_by(sizes_of(args, size), 1, out, dtype, layout, device, requires_grad)


@composed(
    f"full(int[] size, Scalar fill_value, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor",
    method=False,
    out=False,
)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    target = out.dtype if out is not None and dtype is None else dtype or number_dtype(fill_value)
    check_fits(fill_value, target)
    shape = sizes_of((size,)) if not isinstance(size, int) else (size,)
    return filled_by(shape, fill_value, out, target, layout, device, requires_grad)


@composed(f"empty(int... size, *, Tensor? out=None, {CREATION_OPTIONS}, memory_format? memory_format=None) -> Tensor",
          method=False, out=False)  # fmt: skip
def empty(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of undefined values; arguments as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.empty(2, 3).shape
        raxis.Size([2, 3])
    """
    check_layout(layout)
    shape = sizes_of(args, size)
    if out is not None:
        return prepared(out, shape, dtype)
    made = empty_of(layout_of(dtype or get_default_dtype(), shape, None, as_device(device)))
    if memory_format is not None:
        made = empty_of(like_layout(made, None, None, memory_format))
    return marked(made, requires_grad)


@composed(
    f"empty_strided(int[] size, int[] stride, *, {CREATION_OPTIONS}) -> Tensor", method=False, out=False
)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of undefined values with these strides (in elements).

    Raises:
        RuntimeError: if `size` and `stride` differ in length, or one is negative.

    Example:
        >>> import raxis
        >>> raxis.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    check_layout(layout)
    shape, strides = sizes_of((size,)), sizes_of((stride,))
    if len(shape) != len(strides):
        raise RuntimeError(
            f"mismatch in length of strides and shape: size {list(shape)} and stride {list(strides)} must have as "
            "many elements"
        )
    return marked(
        empty_of(layout_of(dtype or get_default_dtype(), shape, strides, as_device(device))), requires_grad
    )


@composed("empty_like" + _LIKE, method=False, out=False)
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of undefined values with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.empty_like(raxis.ones(2, 3)).shape
        raxis.Size([2, 3])
    """
    check_layout(layout)
    target = like_layout(input, dtype, device, memory_format)
    made = filled_like(input, target, 0) if input._layout.traced else empty_of(target)
    return marked(made, requires_grad)


@composed("zeros_like" + _LIKE, method=False, out=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Zeros with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.zeros_like(raxis.tensor([1, 2]))
        tensor([0, 0])
    """
    check_layout(layout)
    return marked(filled_like(input, like_layout(input, dtype, device, memory_format), 0), requires_grad)


@composed("ones_like" + _LIKE, method=False, out=False)
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Ones with `input`'s shape and, unless given, its dtype and device.

    Example:
        >>> import raxis
        >>> raxis.ones_like(raxis.tensor([3, 2]))
        tensor([1, 1])
    """
    check_layout(layout)
    return marked(filled_like(input, like_layout(input, dtype, device, memory_format), 1), requires_grad)


@composed(
    f"full_like(Tensor input, Scalar fill_value, *, {CREATION_OPTIONS}, "
    "memory_format? memory_format=None) -> Tensor",
    method=False,
    out=False,
)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """`fill_value` everywhere, with `input`'s shape and, unless given, its dtype and device.

    Raises:
        RuntimeError: if the number does not fit the dtype.

    Example:
        >>> import raxis
        >>> raxis.full_like(raxis.zeros(2), 7)
        tensor([7., 7.])
    """
    check_layout(layout)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    target = like_layout(input, dtype, device, memory_format)
    check_fits(fill_value, target.dtype)
    return marked(filled_like(input, target, fill_value), requires_grad)


_NEW = f"(Tensor input, int... size, *, {CREATION_OPTIONS}) -> Tensor"


def _new_filled(input: Tensor, size: tuple[int, ...], value: Any, options: dict[str, Any]) -> Tensor:
    """A tensor of any size with `input`'s dtype and device unless `options` name others."""
    check_layout(options.get("layout"))
    dtype = options.get("dtype") or input._layout.dtype
    device = options.get("device")
    if input._layout.traced:
        return broadcast(constant(value, dtype), size)
    made = filled(size, value, dtype, input._layout.device if device is None else as_device(device))
    return marked(made, options.get("requires_grad", False))


@composed("new_zeros" + _NEW, function=False, out=False)
def new_zeros(input: Tensor, *args: Any, size: Any = None, **options: Any) -> Tensor:
    """Zeros of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_zeros(3)
        tensor([0, 0, 0])
    """
    return _new_filled(input, sizes_of(args, size), 0, options)


@composed("new_ones" + _NEW, function=False, out=False)
def new_ones(input: Tensor, *args: Any, size: Any = None, **options: Any) -> Tensor:
    """Ones of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_ones(3)
        tensor([1, 1, 1])
    """
    return _new_filled(input, sizes_of(args, size), 1, options)


@composed(f"new_full(Tensor input, int[] size, Scalar fill_value, *, {CREATION_OPTIONS}) -> Tensor",
          function=False, out=False)  # fmt: skip
def new_full(input: Tensor, size: Any, fill_value: Any, **options: Any) -> Tensor:
    """`fill_value` in any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_full((2,), 5)
        tensor([5, 5])
    """
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    check_fits(fill_value, options.get("dtype") or input._layout.dtype)
    return _new_filled(input, sizes_of((size,)), fill_value, options)


@composed("new_empty" + _NEW, function=False, out=False)
def new_empty(input: Tensor, *args: Any, size: Any = None, **options: Any) -> Tensor:
    """Undefined values of any size with `input`'s dtype and device; options as `zeros`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).new_empty(2, 2).dtype
        raxis.int64
    """
    return empty(*args, size=size, **_inherited(input, options))


@composed(f"new_empty_strided(Tensor input, int[] size, int[] stride, *, {CREATION_OPTIONS}) -> Tensor",
          function=False, out=False)  # fmt: skip
def new_empty_strided(input: Tensor, size: Any, stride: Any, **options: Any) -> Tensor:
    """Undefined values with these strides and `input`'s dtype and device.

    Example:
        >>> import raxis
        >>> raxis.ones(1).new_empty_strided((2, 2), (1, 2)).stride()
        (1, 2)
    """
    return empty_strided(size, stride, **_inherited(input, options))


def _inherited(input: Tensor, options: dict[str, Any]) -> dict[str, Any]:
    found = dict(options)
    if found.get("dtype") is None:
        found["dtype"] = input._layout.dtype
    if found.get("device") is None:
        found["device"] = input._layout.device
    return found
