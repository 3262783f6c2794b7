"""Unpickling checkpoints: PyTorch's names become our builders, and nothing else is called."""

from __future__ import annotations

import codecs
import pickle
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import IO, Any

from raxis import dtypes
from raxis.copying import view_storage
from raxis.device import Device
from raxis.dtypes import DType
from raxis.memory_format import layout as StorageLayout
from raxis.memory_format import strided
from raxis.nn.parameter import Parameter
from raxis.serialization.names import STORAGE_DTYPES
from raxis.size import Size
from raxis.storage import Storage
from raxis.tensor import Tensor

StorageOf = Callable[[str, str, int], Storage]
"""From key, location and size in bytes to the loaded storage."""


class TypedStorage:
    """A loaded storage with the dtype its reference named (None: bytes)."""

    def __init__(self, storage: Storage, dtype: DType | None) -> None:
        self.storage = storage
        self.dtype = dtype


class StorageKind:
    """A storage class of PyTorch: only its dtype matters."""

    def __init__(self, dtype: DType | None) -> None:
        self.dtype = dtype


def _tensor(
    typed: TypedStorage,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    *_: Any,
    dtype: DType | None = None,
) -> Tensor:
    chosen = dtype or typed.dtype
    if chosen is None:
        raise pickle.UnpicklingError("a tensor over an untyped storage names no dtype.")
    tensor = view_storage(typed.storage, offset, chosen, tuple(size), tuple(stride))
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def _tensor_with_dtype(
    typed: TypedStorage,
    offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    _hooks: Any,
    dtype: DType,
    *_: Any,
) -> Tensor:
    return _tensor(typed, offset, size, stride, requires_grad, dtype=dtype)


def _meta_tensor(dtype: DType, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    tensor = view_storage(None, 0, dtype, tuple(size), tuple(stride))
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def _parameter(data: Tensor, requires_grad: bool, *_: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _encode(text: str, encoding: str = "utf-8") -> bytes:
    return codecs.encode(text, encoding)


def _layout(name: str) -> StorageLayout:
    if name != "torch.strided":
        raise pickle.UnpicklingError(f"tensors of layout {name} are not supported.")
    return strided


_BUILDERS: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "bytearray"): bytearray,
    ("builtins", "complex"): complex,
    ("_codecs", "encode"): _encode,
    ("torch", "Size"): Size,
    ("torch", "device"): Device,
    ("torch", "Tensor"): Tensor,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_with_dtype,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): _meta_tensor,
    ("torch._utils", "_rebuild_parameter"): _parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    ("torch.serialization", "_get_layout"): _layout,
    ("torch.storage", "UntypedStorage"): StorageKind(None),
    **{("torch", name): StorageKind(dtype) for name, dtype in STORAGE_DTYPES.items()},
    **{("torch", dtype.name): dtype for dtype in dtypes.ALL},
}


def _load_storage(reference: Any, storage_of: StorageOf) -> TypedStorage:
    """The storage behind a persistent id."""
    well_formed = isinstance(reference, tuple) and len(reference) == 5 and reference[0] == "storage"
    if not well_formed or not isinstance(reference[1], StorageKind):
        raise pickle.UnpicklingError(
            f"the checkpoint refers to something other than a storage: {reference!r}"
        )
    _, kind, key, location, count = reference
    itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
    return TypedStorage(storage_of(str(key), str(location), int(count) * itemsize), kind.dtype)


class TrustingUnpickler(pickle.Unpickler):
    """Imports whatever the pickle names: only for files whose author is trusted."""

    def __init__(self, stream: IO[bytes], storage_of: StorageOf) -> None:
        super().__init__(stream)
        self._storage_of = storage_of

    def find_class(self, module: str, name: str) -> Any:
        found = _BUILDERS.get((module, name))
        return super().find_class(module, name) if found is None else found

    def persistent_load(self, reference: Any) -> TypedStorage:
        return _load_storage(reference, self._storage_of)


_PythonUnpickler: Any = pickle._Unpickler
"""The unpickler in Python: only in it can instructions be refused."""


class RestrictedUnpickler(_PythonUnpickler):  # type: ignore[misc]
    """Builds tensors, containers and numbers, and refuses everything else."""

    dispatch = _PythonUnpickler.dispatch.copy()

    def __init__(self, stream: IO[bytes], storage_of: StorageOf) -> None:
        super().__init__(stream)
        self._storage_of = storage_of

    def find_class(self, module: str, name: str) -> Any:
        module = "builtins" if module == "__builtin__" else module
        found = _BUILDERS.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(
                f"the checkpoint refers to {module}.{name}, which is not among those that weights_only=True "
                "allows. If you trust the author of the file, load it with weights_only=False; that runs code from "
                "the file."
            )
        return found

    def persistent_load(self, reference: Any) -> TypedStorage:
        return _load_storage(reference, self._storage_of)

    def _build(self) -> None:
        """Attributes are set on ordered dictionaries only (``_metadata`` of a state_dict)."""
        state = self.stack.pop()
        target = self.stack[-1]
        if type(target) is not OrderedDict or not isinstance(state, dict):
            raise pickle.UnpicklingError(
                f"the checkpoint sets attributes of a {type(target).__name__}; that is refused."
            )
        target.__dict__.update(state)

    def _refuse(self) -> None:
        raise pickle.UnpicklingError(
            "the checkpoint makes objects of classes; weights_only=True refuses that."
        )

    dispatch[pickle.BUILD[0]] = _build
    for _opcode in (
        pickle.INST,
        pickle.OBJ,
        pickle.NEWOBJ,
        pickle.NEWOBJ_EX,
        pickle.EXT1,
        pickle.EXT2,
        pickle.EXT4,
    ):
        dispatch[_opcode[0]] = _refuse
