"""The memory behind a tensor: addresses, storage handles, resizing in place."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.autograd.grad_mode import mode
from raxis.autograd.inplace import check_inplace
from raxis.layout import contiguous_strides, layout_of
from raxis.memory_format import memory_format as MemoryFormat
from raxis.ops.definitions.factory import sizes_of
from raxis.ops.table import composed
from raxis.storage import Storage, allocate
from raxis.tensor import Tensor, wrap
from raxis.untyped_storage import UntypedStorage


@composed("storage_offset(Tensor input) -> int", function=False, out=False)
def storage_offset(input: Tensor) -> int:
    """Where the first element lies in the storage, in elements.

    Example:
        >>> import raxis
        >>> raxis.arange(4)[2:].storage_offset()
        2
    """
    return input._offset


@composed("data_ptr(Tensor input) -> int", function=False, out=False)
def data_ptr(input: Tensor) -> int:
    """The address of the first element; 0 where there is no memory.

    Tensors of devices whose memory has no host address give a number that is the same for the same storage.
    """
    storage = input._storage
    if not input._layout.numel or input._layout.device.type == "meta":
        return 0
    return address_of(storage) + input._offset * input._layout.dtype.itemsize


def address_of(storage: Storage) -> int:
    """The host address of a storage's memory, or the identity of its buffer."""
    if storage.buffer is None:
        return 0
    memory = storage.place.backend.host_view(storage.buffer)
    return id(storage.buffer) if memory is None else int(memory.ctypes.data)


@composed("is_set_to(Tensor input, Tensor tensor) -> bool", function=False, out=False)
def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Whether both are the same view of the same storage."""
    same = input._storage is tensor._storage and input._offset == tensor._offset
    return (
        same
        and input._layout.shape == tensor._layout.shape
        and input._layout.strides == tensor._layout.strides
    )


@composed("is_pinned(Tensor input) -> bool", function=False, out=False)
def is_pinned(input: Tensor) -> bool:
    """False: host memory is never pinned."""
    return False


@composed("is_shared(Tensor input) -> bool", function=False, out=False)
def is_shared(input: Tensor) -> bool:
    """False: no memory is shared between processes."""
    return False


@composed("untyped_storage(Tensor input) -> object", function=False, out=False)
def untyped_storage(input: Tensor) -> UntypedStorage:
    """The memory, shared by all views; see `raxis.untyped_storage.UntypedStorage`."""
    return UntypedStorage(input._storage)


@composed("resize_(Tensor input, int... size) -> Tensor", function=False, out=False)
def resize_(input: Tensor, *args: Any, memory_format: MemoryFormat | None = None) -> Tensor:
    """Change the shape in place, with more memory if needed; elements keep their place in memory.

    Raises:
        RuntimeError: if `input` requires grad, or a size is negative.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2, 3, 4]).resize_(2, 1)
        tensor([[1],
                [2]])
    """
    if input._edge is not None and mode.enabled:
        raise RuntimeError("cannot resize variables that require grad")
    shape = sizes_of(args)
    layout = layout_of(input._layout.dtype, shape, contiguous_strides(shape), input._layout.device)
    _grow(input._storage, (input._offset + layout.numel) * layout.dtype.itemsize)
    input._layout = layout
    return input


def _grow(storage: Storage, nbytes: int) -> None:
    """At least `nbytes` of memory, the present bytes kept."""
    if nbytes <= storage.nbytes:
        return
    place = storage.place
    fresh = allocate(nbytes, place)
    bytes_of(fresh)[: storage.nbytes].copy_(bytes_of(storage))
    storage.replace(fresh.buffer, nbytes)


def bytes_of(storage: Storage) -> Tensor:
    """A storage as a one-dimensional uint8 tensor."""
    return wrap(storage, 0, layout_of(dtypes.uint8, (storage.nbytes,), (1,), storage.place.device))


@composed("resize_as_(Tensor input, Tensor the_template) -> Tensor", out=False)
def resize_as_(input: Tensor, the_template: Tensor) -> Tensor:
    """Change the shape in place to `the_template`'s."""
    return resize_(input, the_template._layout.shape)


@composed("set_(Tensor input, Tensor source) -> Tensor", function=False, out=False)
def set_(input: Tensor, source: Tensor) -> Tensor:
    """Make `input` the same view of the same storage as `source`.

    Raises:
        RuntimeError: if the dtypes or devices differ, or `input` is a leaf that requires grad.
    """
    check_inplace("set_", input)
    if source._layout.dtype is not input._layout.dtype or source._layout.device is not input._layout.device:
        raise RuntimeError(
            f"set_() expects a source of dtype {input.dtype} on {input.device}, but got {source.dtype} on "
            f"{source.device}."
        )
    input._storage, input._offset, input._layout = source._storage, source._offset, source._layout
    return input
