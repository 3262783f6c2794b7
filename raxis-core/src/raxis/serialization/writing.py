"""Pickling objects for a checkpoint, with PyTorch's names for tensors and their parts."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import IO, Any

from raxis.device import Device
from raxis.dtypes import DType
from raxis.nn.parameter import Parameter
from raxis.serialization.names import STORAGE_NAMES, TorchName, torch_name
from raxis.size import Size
from raxis.storage import Storage
from raxis.tensor import Tensor


class StorageReference:
    """A storage as the pickle refers to it: by key, with the dtype of its elements."""

    def __init__(self, storage: Storage, dtype: DType) -> None:
        self.storage = storage
        self.dtype = dtype


_PythonPickler: Any = pickle._Pickler
"""The pickler in Python: only it lets a subclass write names of modules that are not there."""


class CheckpointPickler(_PythonPickler):  # type: ignore[misc]
    """Writes tensors as references to storages, which it collects in `storages` by key."""

    dispatch = _PythonPickler.dispatch.copy()

    def __init__(self, stream: IO[bytes], protocol: int) -> None:
        super().__init__(stream, protocol)
        self.storages: dict[str, Storage] = {}
        self._keys: dict[int, tuple[str, DType]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, StorageReference):
            return None
        storage, dtype = obj.storage, obj.dtype
        kind = torch_name("torch", STORAGE_NAMES[dtype])
        return (
            "storage",
            kind,
            self._key(storage, dtype),
            str(storage.place.device),
            storage.nbytes // dtype.itemsize,
        )

    def _key(self, storage: Storage, dtype: DType) -> str:
        key, known = self._keys.setdefault(id(storage), (str(len(self._keys)), dtype))
        if known is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{known} and {dtype}. Save a clone() of one of them."
            )
        self.storages[key] = storage
        return key

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Parameter):
            return torch_name("torch._utils", "_rebuild_parameter"), (
                obj.data,
                obj.requires_grad,
                OrderedDict(),
            )
        if isinstance(obj, Tensor):
            return _reduce_tensor(obj)
        if isinstance(obj, Size):
            return torch_name("torch", "Size"), (tuple(obj),)
        if isinstance(obj, Device):
            return torch_name("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, OrderedDict):
            return OrderedDict, (), vars(obj) or None, None, iter(obj.items())
        return NotImplemented

    def _save_name(self, obj: TorchName) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def _save_dtype(self, obj: DType) -> None:
        self.save(torch_name("torch", obj.name))

    dispatch[TorchName] = _save_name
    dispatch[DType] = _save_dtype


def _reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    layout = tensor._layout
    if layout.device.type == "meta":
        arguments = (layout.dtype, layout.shape, layout.strides, tensor.requires_grad)
        return torch_name("torch._utils", "_rebuild_meta_tensor_no_storage"), arguments
    reference = StorageReference(tensor._storage, layout.dtype)
    view = (tensor._offset, layout.shape, layout.strides)
    return torch_name("torch._utils", "_rebuild_tensor_v2"), (
        reference,
        *view,
        tensor.requires_grad,
        OrderedDict(),
    )
