"""Torch values as raxis values, and back: same bytes, strides and offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import raxis
from raxis import dtypes
from raxis.layout import extent, layout_of
from raxis.placement import as_device, place_of
from raxis.storage import allocate
from raxis.tensor import Tensor, wrap

TORCH_DTYPES: dict[dtypes.DType, torch.dtype] = {dtype: getattr(torch, dtype.name) for dtype in dtypes.ALL}
RAXIS_DTYPES: dict[torch.dtype, dtypes.DType] = {theirs: ours for ours, theirs in TORCH_DTYPES.items()}


class NotRepresentableError(Exception):
    """A torch value that has no raxis counterpart (sparse or quantised tensors, other dtypes, ...)."""


def to_raxis(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """The raxis counterpart of a torch value, recursively; `memo` (by id) keeps identities.

    Raises:
        NotRepresentableError: if there is none.
    """
    memo = {} if memo is None else memo
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            memo[id(value)] = tensor_to_raxis(value, memo)
        return memo[id(value)]
    if isinstance(value, (tuple, list, dict, slice)):
        return _container_to_raxis(value, memo)
    return _object_to_raxis(value)


def _container_to_raxis(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, torch.Size):
        return raxis.Size(value)
    if isinstance(value, dict):
        return {key: to_raxis(item, memo) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(to_raxis(part, memo) for part in (value.start, value.stop, value.step)))
    items = [to_raxis(item, memo) for item in value]
    return items if isinstance(value, list) else tuple(items)


def _object_to_raxis(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        if value not in RAXIS_DTYPES:
            raise NotRepresentableError(str(value))
        return RAXIS_DTYPES[value]
    if isinstance(value, torch.device):
        return raxis.device(str(value))
    if isinstance(value, (torch.memory_format, torch.layout)):
        return _named(str(value).removeprefix("torch."))
    if isinstance(value, torch.Generator):
        return raxis.Generator().manual_seed(value.initial_seed())
    if isinstance(value, torch.nn.Module):
        return getattr(raxis.nn, type(value).__name__)()
    return value


def _named(name: str) -> Any:
    if not hasattr(raxis, name):
        raise NotRepresentableError(name)
    return getattr(raxis, name)


def tensor_to_raxis(tensor: torch.Tensor, memo: dict[int, Any] | None = None) -> Tensor:
    """A raxis tensor over a copy of the whole storage, one for all tensors that share it; requires no grad."""
    lazy = tensor.is_conj() or tensor.is_neg()
    tensor = tensor.detach()
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.dtype not in RAXIS_DTYPES:
        raise NotRepresentableError(f"{tensor.layout} tensor of dtype {tensor.dtype}")
    tensor = tensor.resolve_conj().resolve_neg()
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    layout = layout_of(RAXIS_DTYPES[tensor.dtype], shape, strides, as_device(tensor.device.type))
    place = place_of(layout.device)
    storage = tensor.untyped_storage()
    if (tensor.storage_offset() + extent(shape, strides)) * tensor.itemsize > storage.nbytes():
        raise NotRepresentableError("a tensor that an error of torch left larger than its storage")
    if memo is None or lazy:
        return wrap(_copied(storage, place), tensor.storage_offset(), layout)
    if storage._cdata not in memo:
        memo[storage._cdata] = _copied(storage, place)
    return wrap(memo[storage._cdata], tensor.storage_offset(), layout)


def _copied(storage: torch.UntypedStorage, place: Any) -> Any:
    made = allocate(storage.nbytes(), place)
    if storage.device.type == "cpu" and storage.nbytes():
        content = torch.empty(0, dtype=torch.uint8).set_(storage).numpy()
        place.backend.copy_from_host(content, made.buffer, 0)
    return made


def to_torch(value: Any) -> Any:
    """The torch counterpart of a raxis result, recursively."""
    if isinstance(value, Tensor):
        return tensor_to_torch(value)
    if isinstance(value, (tuple, list)):
        items = [to_torch(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dtypes.DType):
        return TORCH_DTYPES[value]
    if isinstance(value, raxis.memory_format | type(raxis.strided)):
        return getattr(torch, repr(value).removeprefix("raxis."))
    return value


def tensor_to_torch(tensor: Tensor) -> torch.Tensor:
    """A torch tensor over a copy of the whole storage, with the same strides and offset."""
    layout, storage = tensor._layout, tensor._storage
    dtype = TORCH_DTYPES[layout.dtype]
    if layout.device.type == "meta" or storage.nbytes < layout.dtype.itemsize or layout.numel == 0:
        return torch.empty_strided(layout.shape, layout.strides, dtype=dtype, device=layout.device.type)
    content = np.empty(storage.nbytes, np.uint8)
    storage.place.backend.copy_to_host(storage.buffer, 0, content)
    whole = torch.from_numpy(content[: storage.nbytes // layout.dtype.itemsize * layout.dtype.itemsize]).view(
        dtype
    )
    return whole.as_strided(layout.shape, layout.strides, tensor._offset)
