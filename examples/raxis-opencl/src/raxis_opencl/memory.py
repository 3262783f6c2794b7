"""Memory of the devices: buffers that the host cannot see, counted."""

from __future__ import annotations

import threading

import pyopencl as cl

from raxis.errors import OutOfMemoryError


class Memory:
    """Accounts for the buffers of one device; several threads allocate at once."""

    def __init__(self, context: cl.Context, device: cl.Device) -> None:
        self._context = context
        self.total: int = device.global_mem_size
        self._largest: int = device.max_mem_alloc_size
        self.used = self.peak = 0
        self._lock = threading.RLock()  # a collection, and with it a `give`, may begin within a `take`

    def take(self, nbytes: int, index: int) -> cl.Buffer:
        """New memory.

        Raises:
            OutOfMemoryError: if there is not that much left.
        """
        with self._lock:
            if nbytes > min(self._largest, self.total - self.used):
                raise self._error(nbytes, index)
            self.used += nbytes
            self.peak = max(self.peak, self.used)
        try:
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, max(nbytes, 1))
        except (cl.MemoryError, cl.LogicError):
            self.give(nbytes)
            raise self._error(nbytes, index) from None

    def _error(self, nbytes: int, index: int) -> OutOfMemoryError:
        return OutOfMemoryError(
            f"Out of memory on device 'opencl:{index}': an allocation of {nbytes} bytes failed. Tensors hold "
            f"{self.used} of {self.total} bytes; free some, or use smaller batches."
        )

    def give(self, nbytes: int) -> None:
        """Account for a buffer that is gone."""
        with self._lock:
            self.used -= nbytes

    def reset_peak(self) -> None:
        """Let the peak start again from what is in use now."""
        with self._lock:
            self.peak = self.used


class Buffer:
    """A piece of a device's memory; it is given back when the buffer is collected."""

    __slots__ = ("__weakref__", "_memory", "_nbytes", "content", "index")

    def __init__(self, memory: Memory, nbytes: int, index: int) -> None:
        self.content = memory.take(nbytes, index)
        self._memory, self._nbytes, self.index = memory, nbytes, index

    def __del__(self) -> None:
        if hasattr(self, "index"):
            self._memory.give(self._nbytes)
