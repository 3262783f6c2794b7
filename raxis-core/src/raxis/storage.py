"""Storages: the memory behind tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from raxis.backends.api import Backend
    from raxis.device import Device


class Place:
    """A resolved device: the backend that serves it, the index there, and what its storages are."""

    __slots__ = ("backend", "device", "index", "storage")

    def __init__(
        self, device: Device, backend: Backend, index: int, storage: type[Storage] | None = None
    ) -> None:
        self.device = device
        self.backend = backend
        self.index = index
        self.storage = storage or Storage

    def drawn(self, blocks: int) -> int:
        """How many random counters an op takes here that takes `blocks` for one example of vmap."""
        return blocks


class Storage:
    """A buffer of one device, shared by all tensors that view it.

    Attributes:
        buffer: the backend's buffer object.
        nbytes: size in bytes.
        place: the device it lives on.
        version: how often it was written in place; autograd compares it to find overwritten values.
        read_only: whether the memory belongs to something that must not change, such as a read-only array.
        shared: set where the host has an array over the memory, through which it may change unnoticed.
    """

    # No __init__: every eager op makes a storage, and generated code sets the five attributes faster.
    __slots__ = ("__weakref__", "buffer", "nbytes", "place", "read_only", "shared", "version")
    buffer: Any
    nbytes: int
    place: Place
    version: int
    read_only: bool
    shared: bool

    @classmethod
    def over(cls, buffer: Any, nbytes: int, place: Place) -> Storage:
        """A storage of an existing buffer."""
        storage = cls()
        storage.buffer = buffer
        storage.nbytes = nbytes
        storage.place = place
        storage.version = 0
        storage.read_only = False
        return storage

    def replace(self, buffer: Any, nbytes: int) -> None:
        """Take another buffer of the same device."""
        self.buffer = buffer
        self.nbytes = nbytes
        self.read_only = False

    def __reduce__(self) -> tuple[Any, ...]:
        from raxis.copying import reduce_storage

        return reduce_storage(self)

    def __repr__(self) -> str:
        return f"Storage({self.nbytes} bytes on {self.place.device}, version {self.version})"


def allocate(nbytes: int, place: Place) -> Storage:
    """A new uninitialised storage."""
    return place.storage.over(place.backend.allocate(nbytes, place.index), nbytes, place)


def storage_from_bytes(data: np.ndarray, place: Place) -> Storage:
    """A storage at `place` with a copy of a uint8 array."""
    storage = allocate(data.size, place)
    place.backend.copy_from_host(data, storage.buffer, 0)
    return storage
