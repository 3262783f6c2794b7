"""Memory of tensors of which there is one for each example of `vmap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.autograd.grad_mode import no_grad
from raxis.interception import active
from raxis.layout import layout_of
from raxis.storage import Place, Storage, allocate
from raxis.tensor import wrap

if TYPE_CHECKING:
    from raxis.dtypes import DType
    from raxis.func.backend import BatchBackend
    from raxis.tensor import Tensor


class BatchBuffer:
    """Memory for every example, or one for all of them; which of both may be settled by the first write.

    Attributes:
        backend: of the level it belongs to.
        nbytes: the size for one example.
        storage: the memory; None before the first write.
        start: where the first example begins, in bytes.
        stride: from one example to the next, in bytes; None if they are all the same.
        outside: the tensor from outside of `vmap` that the memory belongs to.
    """

    __slots__ = ("backend", "nbytes", "outside", "start", "storage", "stride")

    def __init__(
        self,
        backend: BatchBackend,
        nbytes: int,
        outside: Tensor | None = None,
        stride: int | None = None,
    ) -> None:
        self.backend = backend
        self.nbytes = nbytes
        self.outside = outside
        self.stride = stride
        self.storage: Storage | None = None
        self.start = 0
        if outside is not None:
            self.storage = outside._storage
            self.start = outside._offset * outside._layout.dtype.itemsize

    def filled(self) -> Storage:
        """The memory; if there is none yet, one for all examples."""
        if self.storage is None:
            self.storage = allocate(self.nbytes, self.backend.place)
        return self.storage

    @staticmethod
    def elements(count: int, itemsize: int) -> int:
        """Bytes as elements.

        Raises:
            RuntimeError: if they are no whole number of elements.
        """
        if count % itemsize:
            raise RuntimeError(
                f"vmap: {count} bytes from one example to the next are no whole number of elements of {itemsize} "
                "bytes, so that they cannot be viewed as such. Clone the tensor first."
            )
        return count // itemsize

    def open(self, dtype: DType) -> None:
        """Make ready for a write of `dtype` that differs between examples.

        Raises:
            RuntimeError: if the memory is one that all examples share from outside.
        """
        if self.stride is not None:
            return
        if self.outside is not None:
            raise shared_write()
        single, self.stride = self.storage, self.nbytes
        self.storage = allocate(self.nbytes * self.backend.size, self.backend.place)
        if single is not None:
            self.storage.version = single.version
            _repeat(single, self.storage, dtype, self.elements(self.nbytes, dtype.itemsize))

    def check_writable(self) -> None:
        """Raise RuntimeError for memory of a tensor that the tape outside of `vmap` knows."""
        if self.outside is None:
            return
        if self.outside._edge is not None:
            raise RuntimeError(
                "vmap: a tensor that requires grad outside of vmap is being written in place inside of it. Write to a "
                "clone()."
            )
        if active.recording is not None and not self.outside._layout.device.depth:
            active.recording.note_write(self.outside)


def _repeat(single: Storage, storage: Storage, dtype: DType, count: int) -> None:
    """Copy the memory of one example to that of all."""
    device = single.place.device
    size = storage.nbytes // max(single.nbytes, 1)
    once = wrap(single, 0, layout_of(dtype, (1, count), None, device))
    with no_grad():
        wrap(storage, 0, layout_of(dtype, (size, count), None, device)).copy_(once)


def shared_write() -> RuntimeError:
    """The error of writing what differs between examples over what all share."""
    return RuntimeError(
        "vmap: an inplace operation is not possible because it would write a value for each example into a tensor that "
        "all examples share, being made outside of vmap. Use the out-of-place operation, or make the tensor inside, "
        "such as with new_zeros()."
    )


class BatchStorage(Storage):
    """A storage over a `BatchBuffer`; its version is that of the memory, which tensors outside may show too."""

    __slots__ = ()

    @property
    def version(self) -> int:
        """How often the memory was written in place."""
        held = self.buffer.storage
        found: int = _version.__get__(self) if held is None else held.version
        return found

    @version.setter
    def version(self, value: int) -> None:
        held = self.buffer.storage
        if held is None:
            _version.__set__(self, value)
        else:
            held.version = value

    @classmethod
    def sharing(cls, buffer: BatchBuffer, place: Place) -> BatchStorage:
        """A storage over memory that exists, whose version stays what it is."""
        storage = cls()
        storage.buffer = buffer
        storage.nbytes = buffer.nbytes
        storage.place = place
        storage.read_only = buffer.filled().read_only
        return storage


_version: Any = Storage.__dict__["version"]
