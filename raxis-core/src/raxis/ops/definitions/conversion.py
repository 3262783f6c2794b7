"""Copies and conversions: clone, copy_, to, the dtype methods and values on the host."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from raxis.autograd.grad_mode import mode, new_in_mode
from raxis.autograd.transfer import record_transfer
from raxis.device import Device
from raxis.dtypes import DType
from raxis.frames import user_stacklevel
from raxis.interception import active, anyone
from raxis.interop import filled_with, host_array
from raxis.layout import Layout, broadcast_shapes, dense_strides_like, layout_of
from raxis.memory_format import channels_last, contiguous_format, preserve_format
from raxis.memory_format import memory_format as MemoryFormat
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast
from raxis.placement import as_device, place_of
from raxis.storage import allocate
from raxis.tensor import Tensor, wrap


@lowered(
    "_to_copy(Tensor input, dtype dtype) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad: grad},
    function=False,
    out=False,
)
def _to_copy(input: Tensor, dtype: DType) -> Any:
    """`input` in another dtype, in new memory."""
    return cast(input, dtype)


@lowered(
    "_clone(Tensor input) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad: grad},
    function=False,
    out=False,
)
def _clone(input: Tensor) -> Any:
    """A copy that keeps the order of dimensions in memory."""
    return input


@lowered("_compact(Tensor input) -> Tensor", vjp={"input": lambda grad: grad}, function=False, out=False)
def _compact(input: Tensor) -> Any:
    """A row-major copy."""
    return input


@lowered(
    "_assign(Tensor input, Tensor src) -> Tensor",
    vjp={"input": lambda grad: zeros_like(grad), "src": lambda grad: grad},
    inplace=True,
    function=False,
    out=False,
)
def _assign(input: Tensor, src: Tensor) -> Any:
    """`src` cast and broadcast to `input`; in place: written over it."""
    shape = input._layout.shape
    if broadcast_shapes(shape, src._layout.shape) != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(src._layout.shape)}: the copied "
            "tensor has more dimensions or larger ones."
        )
    return broadcast(cast(src, input.dtype), input._layout.shape)


@composed("clone(Tensor input, *, memory_format? memory_format=None) -> Tensor", out=False)
def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy of `input` in new memory; gradients flow through it.

    Args:
        input: any shape and dtype.
        memory_format: order of dimensions in memory; default: `input`'s.

    Example:
        >>> import raxis
        >>> raxis.clone(raxis.tensor([1, 2]))
        tensor([1, 2])
    """
    if memory_format is None or memory_format is preserve_format:
        return input._clone()
    if memory_format is contiguous_format:
        return input._compact()
    return _reordered(input, memory_format)


def _reordered(input: Tensor, memory_format: MemoryFormat) -> Tensor:
    """A copy of a 4-d tensor with channels innermost."""
    if memory_format is not channels_last or input._layout.ndim != 4:
        raise RuntimeError(
            f"required rank 4 tensor to use {memory_format}, but got a tensor with {input._layout.ndim} dimensions"
        )
    return input.permute(0, 2, 3, 1)._compact().permute(0, 3, 1, 2)


@composed(
    "contiguous(Tensor input, *, memory_format? memory_format=None) -> Tensor", function=False, out=False
)
def contiguous(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """`input` itself if its elements lie in row-major order, else such a copy.

    Example:
        >>> import raxis
        >>> raxis.ones(2, 3).t().contiguous().stride()
        (2, 1)
    """
    if memory_format is None or memory_format is contiguous_format:
        return input if input._layout.is_contiguous else input._compact()
    return input if input.is_contiguous(memory_format=memory_format) else _reordered(input, memory_format)


@composed("copy_(Tensor input, Tensor src, bool non_blocking=False) -> Tensor", function=False, out=False)
def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Write the elements of `src`, broadcast, cast and moved to this device, over `input`.

    Args:
        input: written to.
        src: its shape must broadcast to `input`'s; any dtype, any device.
        non_blocking: accepted; a copy within one device never waits, one through the host always does.

    Raises:
        RuntimeError: if the shapes do not broadcast, or `input` cannot be written in place.
        NotImplementedError: if `src` is a meta tensor and `input` is not.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 2).copy_(raxis.tensor([1, 2]))
        tensor([[1., 2.],
                [1., 2.]])
    """
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'src' (position 1) must be Tensor, not {type(src).__name__}")
    if src is input:
        return input
    if src._layout.dtype.is_complex and not input._layout.dtype.is_complex:
        warnings.warn(
            "Casting complex values to real discards the imaginary part",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    if src._layout.device is not input._layout.device:
        src = moved(src, input._layout.device)
    return input._assign_(src)


def moved(tensor: Tensor, device: Device) -> Tensor:
    """`tensor` on another device; gradients flow back to this one."""
    own = tensor._layout.device
    if own.depth or device.depth:
        return (own if own.depth > device.depth else device).moved(tensor, device)
    if device.type == "meta":
        result = new_in_mode(wrap(allocate(0, place_of(device)), 0, _on(tensor, device)))
    else:
        if anyone.records and active.recording is not None and own.type != "meta":
            active.recording.note_transfer(own, device)
        result = _transfer(tensor, device)
    if tensor._edge is not None and mode.enabled:
        record_transfer(tensor, result)
    return result


def _on(tensor: Tensor, device: Device) -> Layout:
    layout = tensor._layout
    strides = dense_strides_like(layout.shape, [layout])
    return layout_of(layout.dtype, layout.shape, strides, device)


def _transfer(tensor: Tensor, device: Device) -> Tensor:
    """Through host memory: the only way every pair of backends has."""
    array = host_array(tensor)
    layout = _on(tensor, device)
    order = sorted(range(layout.ndim), key=lambda axis: (-layout.strides[axis], axis))
    return filled_with(np.ascontiguousarray(array.transpose(order)).reshape(-1).view(np.uint8), layout)


@composed("to(Tensor input, *args, **kwargs) -> Tensor", function=False, out=False)
def to(
    input: Tensor,
    *args: Any,
    dtype: DType | None = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """`input` with another dtype or device; itself if it has both already and `copy` is false.

    Called as ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(other)``, which takes both of `other`.

    Raises:
        TypeError: for other arguments.
        RuntimeError: if the device is unknown.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).to(raxis.float64)
        tensor([1., 2.], dtype=raxis.float64)
    """
    if len(args) == 1 and type(args[0]) is DType:
        dtype = args[0]
    elif args:
        dtype, device, non_blocking, copy = _to_arguments(args, dtype, device, non_blocking, copy)
    layout = input._layout
    result = input
    if device is not None:
        target = as_device(device)
        if target is not layout.device:
            result = moved(result, target)
    if dtype is not None and dtype is not layout.dtype:
        if layout.dtype.is_complex and not dtype.is_complex:
            warnings.warn(
                "Casting complex values to real discards the imaginary part",
                UserWarning,
                stacklevel=user_stacklevel(),
            )
        result = result._to_copy(dtype)
    if memory_format is not None and memory_format is not preserve_format:
        result = contiguous(result, memory_format=memory_format)
    return input._clone() if copy and result is input else result


def _to_arguments(
    args: tuple[Any, ...], dtype: DType | None, device: Any, non_blocking: bool, copy: bool
) -> tuple[DType | None, Any, bool, bool]:
    first, rest = args[0], list(args[1:])
    if isinstance(first, Tensor):
        dtype, device = first._layout.dtype, first._layout.device
    elif isinstance(first, DType):
        dtype = first
    elif (
        first is None
        or isinstance(first, (str, Device))
        or (isinstance(first, int) and not isinstance(first, bool))
    ):
        device = first if first is not None else device
        if rest and (rest[0] is None or isinstance(rest[0], DType)):
            dtype = rest.pop(0)
    else:
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({type(first).__name__}), but expected a dtype, "
            "a device, a device and a dtype, or a Tensor."
        )
    flags = [non_blocking, copy]
    if len(rest) > 2 or not all(isinstance(flag, bool) for flag in rest):
        raise TypeError(
            f"to() takes two flags, non_blocking and copy, after dtype and device, but got {rest}."
        )
    flags[: len(rest)] = rest
    return dtype, device, flags[0], flags[1]
