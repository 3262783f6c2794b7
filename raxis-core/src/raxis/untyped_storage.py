"""The user's handle on a tensor's memory."""

from __future__ import annotations

from raxis.device import Device
from raxis.interception import active, anyone
from raxis.storage import Storage


class UntypedStorage:
    """The bytes behind a tensor and all its views; handles of the same memory are equal.

    Example:
        >>> import raxis
        >>> base = raxis.ones(2, 3)
        >>> base.untyped_storage() == base.t().untyped_storage()
        True
        >>> base.untyped_storage().nbytes()
        24
    """

    __slots__ = ("_storage",)

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def nbytes(self) -> int:
        """Size in bytes."""
        nbytes = self._storage.nbytes
        return active.recording.shown(nbytes) if anyone.records and active.recording is not None else nbytes

    def size(self) -> int:
        """Size in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def data_ptr(self) -> int:
        """The host address of the memory; where there is none, a number that is the same for the same memory."""
        from raxis.ops.definitions.memory import address_of

        return address_of(self._storage)

    @property
    def device(self) -> Device:
        """Where the memory is."""
        return self._storage.place.device

    def tolist(self) -> list[int]:
        """The bytes as ints.

        Raises:
            NotImplementedError: on the meta device, which has none.
        """
        from raxis.copying import storage_bytes

        return storage_bytes(self._storage).tolist()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._storage is self._storage

    def __hash__(self) -> int:
        return id(self._storage)

    def __repr__(self) -> str:
        return f"<raxis.UntypedStorage of {self._storage.nbytes} bytes on {self.device}>"
