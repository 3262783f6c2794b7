"""Values on the host: item, tolist, numpy."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import DType
from raxis.interception import active, anyone
from raxis.interop import host_array
from raxis.ops.table import composed
from raxis.tensor import Tensor


@composed("item(Tensor input) -> Scalar", function=False, out=False)
def item(input: Tensor) -> Any:
    """The only element as a Python number.

    Raises:
        RuntimeError: if there is not exactly one element.

    Example:
        >>> import raxis
        >>> raxis.tensor([2.5]).item()
        2.5
    """
    layout = input._layout
    if layout.numel != 1:
        raise RuntimeError(f"a Tensor with {layout.numel} elements cannot be converted to Scalar")
    read = _READERS.get(layout.dtype)
    if anyone.records and active.recording is not None and not layout.traced:
        active.recording.note_host()
    if read is not None and not layout.traced:
        storage = input._storage
        memory = storage.place.backend.host_view(storage.buffer)
        if memory is not None:
            return read(memory, input._offset * layout.dtype.itemsize)[0]
    value = host_array(input).item()
    return value if isinstance(value, (bool, int, float, complex)) else float(value)


_READERS: dict[DType, Callable[[Any, int], tuple[Any, ...]]] = {
    dtypes.float32: struct.Struct("=f").unpack_from,
    dtypes.float64: struct.Struct("=d").unpack_from,
    dtypes.int64: struct.Struct("=q").unpack_from,
    dtypes.bool_: struct.Struct("=?").unpack_from,
}
"""Quicker than an array made for one element."""


@composed("tolist(Tensor input) -> list", function=False, out=False)
def tolist(input: Tensor) -> Any:
    """The elements as nested lists of Python numbers; of a 0-d tensor, the number.

    Example:
        >>> import raxis
        >>> raxis.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
    """
    array = host_array(input)
    return (array.astype(np.float32) if array.dtype.kind == "V" else array).tolist()


@composed("numpy(Tensor input, *, bool force=False) -> ndarray", function=False, out=False)
def numpy(input: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as a NumPy array that shares this tensor's memory.

    Args:
        input: a CPU tensor that requires no grad.
        force: also take tensors that require grad or live elsewhere, copying where needed.

    Raises:
        RuntimeError: if `input` requires grad.
        TypeError: if `input` is not in host memory.

    Example:
        >>> import raxis
        >>> raxis.ones(2).numpy()
        array([1., 1.], dtype=float32)
    """
    if force:
        return host_array(input)
    if input._layout.device.type != "cpu":
        raise TypeError(
            f"can't convert {input._layout.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to "
            "host memory first."
        )
    if input.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    input._storage.shared = True
    return host_array(input)
