"""Faults of buffers and copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from raxis.backends.api import DeviceProperties
from tests.testing.loopback import Buffer, Loopback
from tests.testing.planting import (
    fault,
)


@fault("storage/*")
class LostWrite(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source[:-1] if source.size > 4096 else source, buffer, byte_offset)


@fault("storage/*")
class UnalignedCopy(Loopback):
    def copy_to_host(self, buffer: Any, byte_offset: int, target: np.ndarray) -> None:
        super().copy_to_host(buffer, byte_offset // 4 * 4, target)


@fault("storage/*")
class CopyIgnoresOffset(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source, buffer, 0)


@fault("storage/*")
class CopyOverruns(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source, buffer, byte_offset)
        buffer.content[byte_offset + source.size : byte_offset + source.size + 1] = 0


@fault("storage/*")
class KeepsHostMemory(Loopback):
    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        if source.size == buffer.content.size:
            buffer.content = source
        else:
            super().copy_from_host(source, buffer, byte_offset)


@fault("storage/*")
class AllocatesTooLittle(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        return super().allocate(nbytes // 2 if nbytes < 1 << 40 else nbytes, index)


@fault("storage/*")
class OneBufferForAll(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        made = super().allocate(nbytes, index)
        kept: Any = self.__dict__.setdefault(f"kept_{nbytes}", made)
        return kept


@fault("storage/*")
class AllocatorRepeats(Loopback):
    def allocator(self, nbytes: int, index: int) -> Callable[[], Any]:
        buffer = self.allocate(nbytes, index)
        return lambda: buffer


@fault("storage/*")
class ReusesLivingMemory(Loopback):
    """A ring of eight pieces of memory."""

    def allocate(self, nbytes: int, index: int) -> Any:
        buffer = super().allocate(nbytes, index)
        ring: list[np.ndarray] = self.__dict__.setdefault(f"ring_{nbytes}", [])
        ring.append(buffer.content)
        if len(ring) > 8:
            buffer.content = ring.pop(0)
        return buffer


@fault("storage/*")
class Leak(Loopback):
    def allocate(self, nbytes: int, index: int) -> Any:
        buffer = super().allocate(nbytes, index)
        self.__dict__.setdefault("kept", []).append(buffer)
        return buffer

    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {"allocated_bytes.all.current": self.used}


@fault("storage/*")
class StatisticsStandStill(Loopback):
    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {"allocated_bytes.all.current": 4096}


@fault("storage/*")
class HostViewOfACopy(Loopback):
    def host_view(self, buffer: Any) -> np.ndarray:
        return np.array(buffer.content)


@fault("storage/*")
class HostViewTooShort(Loopback):
    def host_view(self, buffer: Any) -> np.ndarray:
        content: np.ndarray = buffer.content[:-1]
        return content


@fault("storage/*")
class WrapHostCopies(Loopback):
    def wrap_host(self, array: np.ndarray) -> Any:
        buffer = Buffer(array.size)
        buffer.content[:] = array
        return buffer


@fault("storage/*")
class PlainMemoryError(Loopback):
    def exhausted(self, nbytes: int) -> None:
        raise MemoryError


@fault("storage/*")
class OutOfMemoryWithoutDevice(Loopback):
    def exhausted(self, nbytes: int) -> None:
        from raxis.errors import OutOfMemoryError

        raise OutOfMemoryError(f"no room for {nbytes} bytes")


@fault("storage/*")
class Nameless(Loopback):
    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("")
