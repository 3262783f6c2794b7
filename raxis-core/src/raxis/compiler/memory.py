"""Memory while recording: stand-ins for buffers, and storages whose buffer is one."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.dtypes import DType
from raxis.layout import Layout, Strides
from raxis.storage import Place, Storage

if TYPE_CHECKING:
    from raxis.tensor import Tensor


class Region(NamedTuple):
    """A strided part of memory; strides and offset count elements."""

    dtype: DType
    shape: tuple[int, ...]
    strides: Strides
    offset: int

    @classmethod
    def of(cls, layout: Layout, offset: int) -> Region:
        """The part that a tensor shows."""
        return cls(layout.dtype, layout.shape, layout.strides, offset)


class Memory:
    """The stand-in for one buffer while a function is recorded.

    Attributes:
        nbytes: its size.
        buffer: the real buffer: given from outside, or made when the recording ended; None before.
        source: where a given buffer comes from; None for memory that was allocated while recording.
        region: the part of a given buffer that programs take as parameter; None for all of it.
        moves: whether that part begins wherever the tensor of the source does at a call.
        dtype: how the memory was used first.
        written: whether a kernel wrote it.
    """

    __slots__ = ("__weakref__", "_owner", "buffer", "dtype", "moves", "nbytes", "region", "source", "written")

    def __init__(
        self, nbytes: int, buffer: Any = None, source: Any = None, region: Region | None = None
    ) -> None:
        self.nbytes = nbytes
        self.buffer = buffer
        self.source = source
        self.region = region
        self.moves = False
        self.dtype: DType | None = None if region is None else region.dtype
        self.written = False
        self._owner: weakref.ref[Storage] | None = None

    @property
    def is_outside(self) -> bool:
        """Whether the buffer belongs to somebody outside of the function, who sees what is written to it."""
        return self.source is not None and not isinstance(self.source, Filled)

    @property
    def owner(self) -> Storage | None:
        """The storage of a tensor that still lives; None once nobody can see this memory."""
        storage = None if self._owner is None else self._owner()
        return storage if storage is not None and storage.buffer is self else None  # else it was resized

    @owner.setter
    def owner(self, storage: Storage) -> None:
        self._owner = weakref.ref(storage)


class Held(NamedTuple):
    """A buffer that a tensor outside of the function holds."""

    storage: Storage


class Argument(NamedTuple):
    """A buffer of a tensor among the arguments."""

    position: int


class Gradient(NamedTuple):
    """A buffer of the ``grad`` that a tensor had when the function began."""

    leaf: Tensor | Argument


class Incoming(NamedTuple):
    """A buffer of the gradient of a result, which backward brings."""

    position: int


class Operand(NamedTuple):
    """A buffer of what a region of control flow is given."""

    position: int


class Shared(NamedTuple):
    """A buffer over memory of the host."""

    buffer: Any


class Filled(NamedTuple):
    """Source of memory that was filled from the host while recording; its buffer never changes."""


HELD_BY_TENSORS = (Held, Argument, Gradient)
"""Sources of buffers that tensors from outside of the function hold."""


class RecordedStorage(Storage):
    """A storage whose buffer is a `Memory`; it turns into a plain one when the recording ends."""

    __slots__ = ()

    @property
    def buffer(self) -> Any:
        """The stand-in."""
        return _slot.__get__(self)

    @buffer.setter
    def buffer(self, memory: Any) -> None:
        _slot.__set__(self, memory)
        if isinstance(memory, Memory):
            memory.owner = self

    def settle(self, buffer: Any, place: Place) -> None:
        """Become a plain storage of a real buffer."""
        self.__class__ = Storage  # type: ignore[assignment]
        self.buffer = buffer
        self.place = place

    @staticmethod
    def adopt(storage: Storage, memory: Memory, place: Place) -> None:
        """Let a real storage show `memory` until the recording ends."""
        storage.__class__ = RecordedStorage
        storage.buffer = memory
        storage.place = place


_slot: Any = Storage.__dict__["buffer"]
