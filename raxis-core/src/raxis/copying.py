"""Copying and pickling tensors: storages that were shared stay shared."""

from __future__ import annotations

from typing import Any

import numpy as np

from raxis.device import Device
from raxis.dtypes import DType
from raxis.interception import active, anyone
from raxis.layout import extent, layout_of
from raxis.ops.definitions.memory import bytes_of
from raxis.placement import as_device, place_of
from raxis.storage import Place, Storage, allocate, storage_from_bytes
from raxis.tensor import Tensor, View, wrap


def deep_copy(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """``copy.deepcopy(tensor)``: a leaf over a copy of the whole storage, gradient included.

    Raises:
        RuntimeError: if the tensor is no leaf.
    """
    found = memo.get(id(tensor))
    if found is not None:
        return found
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            f"This one was computed by {tensor.grad_fn}; copy it with detach().clone()."
        )
    copied = wrap(_copied_storage(tensor._storage, memo), tensor._offset, tensor._layout)
    copied = _dressed(type(tensor), copied, tensor.requires_grad, _attributes(tensor))
    memo[id(tensor)] = copied
    if tensor._grad is not None:
        copied._grad = deep_copy(tensor._grad, memo)
    return copied


def _copied_storage(storage: Storage, memo: dict[int, Any]) -> Storage:
    copied = memo.get(id(storage))
    if copied is None:
        copied = memo[id(storage)] = bytes_of(storage).clone()._storage
    return copied


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """How pickle writes a tensor: its storage (once for all its views), then the view."""
    layout = tensor._layout
    storage = None if layout.device.type == "meta" else tensor._storage
    view = (tensor._offset, layout.dtype, layout.shape, layout.strides)
    return _rebuild_tensor, (type(tensor), storage, *view, tensor.requires_grad, _attributes(tensor))


def _attributes(tensor: Tensor) -> dict[str, Any]:
    """What the user hung on the tensor."""
    return {name: value for name, value in vars(tensor).items() if not name.startswith("_")}


def _rebuild_tensor(
    cls: type[Tensor],
    storage: Storage | None,
    offset: int,
    dtype: DType,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Tensor:
    return _dressed(cls, view_storage(storage, offset, dtype, shape, strides), requires_grad, attributes)


def view_storage(
    storage: Storage | None, offset: int, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Tensor:
    """A tensor over a storage; None: a meta tensor.

    Raises:
        ValueError: if it would reach beyond the storage.
    """
    if len(shape) != len(strides) or min((0, offset, *shape, *strides)) < 0:
        raise ValueError(f"a tensor of shape {shape}, strides {strides} and offset {offset} cannot be.")
    if storage is None:
        place = place_of(Device("meta"))
        return wrap(allocate(0, place), offset, layout_of(dtype, shape, strides, place.device))
    needed = (offset + extent(shape, strides)) * dtype.itemsize if 0 not in shape else 0
    if needed > storage.nbytes:
        raise ValueError(
            f"a tensor of shape {shape}, strides {strides} and offset {offset} needs {needed} bytes, but its storage "
            f"has {storage.nbytes}."
        )
    return wrap(storage, offset, layout_of(dtype, shape, strides, storage.place.device))


def _dressed(cls: type[Tensor], tensor: Tensor, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    if cls not in (Tensor, View):
        tensor = sharing(cls, tensor)
    tensor.__dict__.update(attributes)
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def sharing(cls: type[Tensor], tensor: Tensor) -> Tensor:
    """A tensor of another class over the same memory, off the tape."""
    made = object.__new__(cls)
    made._storage, made._offset, made._layout = tensor._storage, tensor._offset, tensor._layout
    return made


def storage_bytes(storage: Storage) -> np.ndarray:
    """The bytes of a storage in host memory, shared where the host sees them."""
    if anyone.records and active.recording is not None:
        active.recording.note_host()
    memory = storage.place.backend.host_view(storage.buffer)
    if memory is not None:
        return memory[: storage.nbytes]
    copied = np.empty(storage.nbytes, np.uint8)
    storage.place.backend.copy_to_host(storage.buffer, 0, copied)
    return copied


def saved_place(device: Device | str, what: str, remedy: str) -> Place:
    """Where tensors that were saved on `device` live here.

    Raises:
        RuntimeError: if the device cannot be used; `what` begins the sentence, `remedy` says what to do.
    """
    try:
        return place_of(as_device(device))
    except RuntimeError as error:
        raise RuntimeError(
            f"{what} on device {str(device)!r}, which cannot be used here: {error} {remedy}"
        ) from error


def reduce_storage(storage: Storage) -> tuple[Any, ...]:
    """How pickle writes a storage."""
    return _rebuild_storage, (storage_bytes(storage).tobytes(), storage.place.device)


def _rebuild_storage(data: bytes, device: Device) -> Storage:
    remedy = (
        "Pickles are loaded to the device they were made on: pickle tensor.cpu(), or use raxis.save and "
        "raxis.load(file, map_location='cpu')."
    )
    return storage_from_bytes(
        np.frombuffer(data, np.uint8), saved_place(device, "the pickle has a tensor", remedy)
    )
