"""A device with memory of its own, whose programs the reference interpreter runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.backends.reference.backend import ReferenceBackend
from raxis.errors import OutOfMemoryError
from raxis.ptir import Program

MEMORY = 1 << 32
"""Bytes that the device has."""


class Buffer:
    """A piece of the device's memory; the memory is given back when the buffer is collected.

    Nobody but this module looks inside: to Raxis a buffer is an opaque object.
    """

    __slots__ = ("__weakref__", "_memory", "content")

    def __init__(self, memory: Memory, nbytes: int) -> None:
        memory.take(nbytes)
        self._memory = memory
        self.content = np.empty(nbytes, np.uint8)

    def __del__(self) -> None:
        if hasattr(self, "content"):
            self._memory.give(self.content.size)


class Memory:
    """Counts what is in use; several threads allocate at once."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = self.peak = 0
        self._lock = threading.RLock()  # a collection, and with it a `give`, may begin within a `take`

    def take(self, nbytes: int) -> None:
        """Account for a new buffer.

        Raises:
            OutOfMemoryError: if there is not that much left.
        """
        with self._lock:
            if nbytes > self.total - self.used:
                raise OutOfMemoryError(
                    f"Out of memory on device 'template': an allocation of {nbytes} bytes failed. Tensors hold "
                    f"{self.used} of {self.total} bytes; free some, or use smaller batches."
                )
            self.used += nbytes
            self.peak = max(self.peak, self.used)

    def give(self, nbytes: int) -> None:
        """Account for a buffer that is gone."""
        with self._lock:
            self.used -= nbytes

    def reset_peak(self) -> None:
        """Let the peak start again from what is in use now."""
        with self._lock:
            self.peak = self.used


class TemplateBackend(Backend):
    """Programs run through the reference interpreter, on memory that the host cannot see.

    Replace `compile` by a compiler for your device, and `Buffer` and the copies by its memory.
    """

    def __init__(self) -> None:
        self._memory = Memory(MEMORY)
        self._interpreter = ReferenceBackend()

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("template", total_memory=MEMORY)

    def allocate(self, nbytes: int, index: int) -> Buffer:
        return Buffer(self._memory, nbytes)

    def copy_from_host(self, source: np.ndarray, buffer: Buffer, byte_offset: int) -> None:
        buffer.content[byte_offset : byte_offset + source.size] = source

    def copy_to_host(self, buffer: Buffer, byte_offset: int, target: np.ndarray) -> None:
        target[...] = buffer.content[byte_offset : byte_offset + target.size]

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        run = self._interpreter.compile(program, inputs, outputs, in_place=in_place, disjoint=disjoint)
        return Kernel(run)

    def memory_stats(self, index: int) -> Mapping[str, int]:
        return {
            "allocated_bytes.all.current": self._memory.used,
            "allocated_bytes.all.peak": self._memory.peak,
        }

    def reset_peak_memory_stats(self, index: int) -> None:
        self._memory.reset_peak()


class Kernel:
    """An executable: called with buffers, offsets and numbers in the order of the program's parameters and results."""

    def __init__(self, run: Executable) -> None:
        self._run = run

    def __call__(self, *arguments: Any) -> None:
        self._run(*_opened(arguments))


def _opened(arguments: Sequence[Any]) -> Iterator[Any]:
    for argument in arguments:
        yield argument.content if isinstance(argument, Buffer) else argument
