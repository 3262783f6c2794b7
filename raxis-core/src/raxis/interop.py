"""Memory shared with NumPy and other libraries of the host."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.autograd.grad_mode import new_in_mode
from raxis.device import Device
from raxis.dtypes import DType
from raxis.interception import active, anyone
from raxis.layout import Layout, extent, layout_of
from raxis.placement import place_of
from raxis.storage import Storage, storage_from_bytes
from raxis.tensor import Tensor, wrap


def from_numpy(array: np.ndarray) -> Tensor:
    """A CPU tensor that shares the memory of `array`: same shape, dtype and strides.

    Args:
        array: any shape; every dtype that Raxis has, ``ml_dtypes.bfloat16`` included.

    Raises:
        TypeError: if `array` is no ndarray, or there is no such dtype.
        ValueError: if a stride is negative or no multiple of the element size, or the bytes are swapped.

    Example:
        >>> import numpy as np
        >>> import raxis
        >>> array = np.zeros(2)
        >>> shared = raxis.from_numpy(array)
        >>> array[0] = 1
        >>> shared
        tensor([1., 0.], dtype=raxis.float64)
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.flags.writeable:
        _layout_for(array.dtype, array.shape, array.strides)  # errors come before the warning
        warnings.warn(_READ_ONLY, UserWarning, stacklevel=2)
    return share(array)


_READ_ONLY = (
    "The given NumPy array is not writable, so in-place operations on the tensor over it will raise ValueError. "
    "Copy the array first, or make the tensor with raxis.tensor(array)."
)


@functools.lru_cache(maxsize=1024)
def _layout_for(dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...]) -> Layout:
    """The layout of a tensor over an array with these properties."""
    if not dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders "
            "is currently not supported."
        )
    for stride in strides:
        if stride < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are "
                "not currently supported. (You can probably work around this by making a copy of your array with "
                "array.copy().)"
            )
        if stride % dtype.itemsize:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to "
                "reallocate the memory."
            )
    found = dtypes.from_numpy_dtype(dtype)
    return layout_of(found, shape, tuple(stride // dtype.itemsize for stride in strides), Device("cpu"))


def share(array: np.ndarray) -> Tensor:
    """A CPU tensor over the memory of an array with native byte order and non-negative strides."""
    layout = _layout_for(array.dtype, array.shape, array.strides)
    place = place_of(layout.device)
    memory = _bytes_of(array, layout)
    buffer = place.backend.wrap_host(memory)
    if buffer is None:
        return filled_with(memory, layout)
    storage = Storage.over(buffer, memory.size, place)
    storage.shared = True
    if not array.flags.writeable:
        storage.read_only = True
    return new_in_mode(wrap(storage, 0, layout))


def _bytes_of(array: np.ndarray, layout: Layout) -> np.ndarray:
    """The memory of `array`'s elements, and of what lies between, as one-dimensional uint8."""
    if layout.is_contiguous:
        return array.reshape(-1).view(np.uint8)
    count = extent(layout.shape, layout.strides)
    places = np.lib.stride_tricks.as_strided(
        array, (count,), (array.itemsize,), writeable=array.flags.writeable
    )
    return places.view(np.uint8)


def to_device_memory(array: np.ndarray, dtype: DType, layout: Layout) -> Tensor:
    """A tensor of a contiguous `layout` on any device with a copy of `array`'s elements, cast to `dtype`."""
    source = np.ascontiguousarray(array, dtype=dtype.numpy).reshape(-1).view(np.uint8)
    return filled_with(source, layout)


def filled_with(source: np.ndarray, layout: Layout) -> Tensor:
    """A tensor in memory of its own, on the layout's device, with the bytes `source`."""
    return new_in_mode(wrap(storage_from_bytes(source, place_of(layout.device)), 0, layout))


_KEPT = 1 << 12
"""Bytes up to which memory that NumPy made is kept rather than copied."""


def adopt(array: np.ndarray, layout: Layout) -> Tensor:
    """A tensor of a contiguous `layout` and on its device with the elements of an array that nobody else uses."""
    source = array.reshape(-1).view(np.uint8)
    if source.size <= _KEPT and not (anyone.records and active.recording is not None):
        place = place_of(layout.device)
        buffer = place.backend.wrap_host(source)
        if buffer is not None:
            return new_in_mode(wrap(place.storage.over(buffer, source.size, place), 0, layout))
    return filled_with(source, layout)


def host_view(tensor: Tensor) -> np.ndarray | None:
    """The elements as an array over the tensor's own memory; None when the host cannot see it."""
    if anyone.records and active.recording is not None:
        active.recording.note_host()
    layout, storage = tensor._layout, tensor._storage
    memory = storage.place.backend.host_view(storage.buffer)
    if memory is None:
        return None
    if not layout.numel:
        return np.empty(layout.shape, layout.dtype.numpy)
    dtype, item, strides = _geometry_of(layout)
    return np.ndarray(layout.shape, dtype, memory, tensor._offset * item, strides)


@functools.lru_cache(maxsize=1024)
def _geometry_of(layout: Layout) -> tuple[np.dtype, int, tuple[int, ...]]:
    """dtype, bytes of an element, and strides in bytes of an array with this layout."""
    item = layout.dtype.itemsize
    return layout.dtype.numpy, item, tuple(stride * item for stride in layout.strides)


def host_array(tensor: Tensor) -> np.ndarray:
    """The elements as an array, over the tensor's own memory where that is possible, else a copy.

    Raises:
        NotImplementedError: for meta tensors, which have no data.
        RuntimeError: for tensors of a program being traced.
    """
    if tensor._layout.traced:
        raise RuntimeError(
            "the values of a tensor were asked for while a program is being traced; there are none before it runs."
        )
    shared = host_view(tensor) if tensor._layout.device.type != "meta" else None
    return _fetch(tensor) if shared is None else shared


def _fetch(tensor: Tensor) -> np.ndarray:
    dense = tensor.detach().contiguous()
    layout, storage = dense._layout, dense._storage
    target = np.empty(layout.numel * layout.dtype.itemsize, np.uint8)
    storage.place.backend.copy_to_host(storage.buffer, dense._offset * layout.dtype.itemsize, target)
    return target.view(layout.dtype.numpy).reshape(layout.shape)


def frombuffer(
    buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A one-dimensional CPU tensor over the memory of an object with the buffer protocol.

    Args:
        buffer: bytes, bytearray, array.array, ...; read-only ones warn.
        dtype: how to read the bytes.
        count: elements to read; -1: all that are left.
        offset: bytes to skip at the start.

    Raises:
        ValueError: if there are no such bytes, or they are no whole number of elements.

    Example:
        >>> import raxis
        >>> raxis.frombuffer(bytearray([1, 2, 3]), dtype=raxis.uint8, offset=1)
        tensor([2, 3], dtype=raxis.uint8)
    """
    chosen = dtypes.as_dtype(dtype)
    try:
        nbytes = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError(
            f"object does not implement Python buffer protocol: it is a {type(buffer).__name__}."
        ) from None
    if count == 0 or nbytes == 0:
        raise ValueError(f"both buffer length ({nbytes}) and count ({count}) must not be 0")
    tensor = from_numpy(np.frombuffer(buffer, dtype=chosen.numpy, count=count, offset=offset))
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def from_dlpack(source: Any) -> Tensor:
    """A CPU tensor over the memory of any object with ``__dlpack__``.

    Raises:
        RuntimeError: if it has no such method.
        BufferError: if its memory is not host memory.

    Example:
        >>> import numpy as np
        >>> import raxis
        >>> raxis.from_dlpack(np.ones(2, dtype=np.float32))
        tensor([1., 1.])
    """
    if not hasattr(source, "__dlpack__"):
        raise RuntimeError(
            f"from_dlpack expects an object with __dlpack__ and __dlpack_device__, but got {type(source).__name__}."
        )
    return share(np.from_dlpack(source))
