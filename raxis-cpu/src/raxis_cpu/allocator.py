"""A caching allocator for host memory.

Fresh memory from the system costs a page fault for every 4 KiB touched, several times the cost of the
arithmetic on it; freed blocks are therefore kept, by size class, and handed out again.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from ctypes import addressof, c_char
from functools import partial
from typing import Any

import numpy as np

from raxis.errors import OutOfMemoryError

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector register."""
SMALL = 96 << 10
"""Requests of up to so many bytes go to NumPy and the C library, which keep small blocks themselves."""

Buffer = np.ndarray[Any, Any]
_BYTE = np.dtype(np.uint8)

# What NumPy raises when memory is out, and when a size is beyond the address space.
_NO_MEMORY = (MemoryError, ValueError, OverflowError)
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size_class(nbytes: int) -> int:
    """`nbytes` rounded up so that there are four classes to each power of two; at least `ALIGNMENT`.

    Example:
        >>> [size_class(n) for n in (1, 300, 1000, 1025)]
        [64, 320, 1024, 1280]
    """
    step = max(ALIGNMENT, 1 << max(0, (nbytes - 1).bit_length() - 3))
    return -(-nbytes // step) * step


def system_memory(nbytes: int) -> Buffer:
    """`nbytes` bytes of uninitialised memory at a multiple of `ALIGNMENT`; raises MemoryError."""
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    # A third of the cost of the address in raw.__array_interface__.
    start = -addressof(c_char.from_buffer(raw.data)) % ALIGNMENT
    return raw[start : start + nbytes]


class _Lease(weakref.ref["Buffer"]):
    """Knows the memory of a buffer, and is passed to the allocator when the buffer is collected."""

    __slots__ = ("memory",)
    memory: memoryview


class _Peak:
    """The greatest numbers of buffers, of bytes in use, and of those and cached ones."""

    __slots__ = ("allocated", "buffers", "reserved")

    def __init__(self, buffers: int, allocated: int, reserved: int) -> None:
        self.buffers = buffers
        self.allocated = allocated
        self.reserved = reserved


class CachingAllocator:
    """Hands out uint8 arrays and keeps their memory for reuse once they are collected.

    Thread-safe. A buffer counts as in use for as long as any NumPy view of it exists. Buffers of up to `SMALL`
    bytes are neither kept nor counted.

    Args:
        cache_limit: bytes that may be kept unused; beyond it freed memory goes back to the system.
        source: gets memory from the system and raises MemoryError when there is none.
    """

    def __init__(self, cache_limit: int, source: Callable[[int], Buffer] = system_memory) -> None:
        self._cache_limit = cache_limit
        self._source = source
        # Filled by weak-reference callbacks, which may run in any thread at any moment, even inside the
        # lock: they only append, and the next allocation sorts the leases in.
        self._returned: deque[_Lease] = deque()
        self._free: dict[int, list[memoryview]] = {}
        self._live: dict[int, _Lease] = {}
        self._allocated = self._cached = self._reserved_in_all = self._allocated_in_all = 0
        self._requests = self._hits = self._retries = self._failures = 0
        self._peak = _Peak(0, 0, 0)
        self.renew_lock()

    def renew_lock(self) -> None:
        """Replace the lock: in a forked child it may be held by a thread that does not exist there."""
        # Re-entrant, because the garbage collector may run a finalizer that allocates.
        self._lock = threading.RLock()

    def allocate(self, nbytes: int) -> Buffer:
        """A uint8 array of `nbytes` uninitialised bytes, beyond `SMALL` at a multiple of `ALIGNMENT`.

        Raises:
            OutOfMemoryError: if the system has no memory left, even after the cache was emptied.
        """
        if nbytes <= SMALL:
            return np.empty(nbytes, np.uint8)
        rounded = size_class(nbytes)
        with self._lock:
            self._sort_in()
            memory = self._cached_memory(rounded)
            if memory is None:
                memory = self._fresh(rounded).data
            # Views of an array over a memoryview keep that array alive; over another array they would not.
            buffer = np.frombuffer(memory, np.uint8, nbytes)
            self._register(_Lease(buffer, self._returned.append), memory)
        return buffer

    def allocator(self, nbytes: int) -> Callable[[], Buffer]:
        """`allocate` for this size, as a function without arguments."""
        return partial(np.empty, nbytes, _BYTE) if nbytes <= SMALL else partial(self.allocate, nbytes)

    def ensure(self, nbytes: int) -> None:
        """Make sure that the system has `nbytes` more; they are given back at once.

        Raises:
            OutOfMemoryError: if it has not, even after the cache was emptied.
        """
        self._from_system(nbytes)

    def empty_cache(self) -> None:
        """Give all unused memory back to the system."""
        with self._lock:
            self._sort_in()
            self._drop_cache()

    def stats(self) -> Mapping[str, int]:
        """Counters, named as in PyTorch's ``memory_stats``; sizes in bytes, rounded up to size classes.

        ``allocation.all.*`` counts buffers in use, ``allocated_bytes.all.*`` their bytes, ``reserved_bytes.all.*``
        those and what is kept for reuse; each ``current``, its ``peak``, and all that was ever ``allocated`` and
        ``freed``. ``num_device_alloc`` requests went to the system, ``num_alloc_retries`` needed the cache emptied,
        ``num_ooms`` failed.
        """
        with self._lock:
            self._sort_in()
            reserved = self._allocated + self._cached
            figures = {
                "allocation": (len(self._live), self._peak.buffers, self._requests),
                "allocated_bytes": (self._allocated, self._peak.allocated, self._allocated_in_all),
                "reserved_bytes": (reserved, self._peak.reserved, self._reserved_in_all),
            }
            events = {
                "num_device_alloc": self._requests - self._hits,
                "num_alloc_retries": self._retries,
                "num_ooms": self._failures,
            }
        for name, (current, peak, total) in figures.items():
            metrics = {"current": current, "peak": peak, "allocated": total, "freed": total - current}
            events |= {f"{name}.all.{metric}": value for metric, value in metrics.items()}
        return events

    def reset_peak(self) -> None:
        """Let the peaks start again from what is in use now."""
        with self._lock:
            self._sort_in()
            self._peak = _Peak(len(self._live), self._allocated, self._allocated + self._cached)

    def _sort_in(self) -> None:
        """Move the memory of collected buffers into the cache, up to its limit."""
        while self._returned:
            lease = self._returned.popleft()
            del self._live[id(lease)]
            nbytes = len(lease.memory)
            self._allocated -= nbytes
            if self._cached + nbytes <= self._cache_limit:
                self._cached += nbytes
                self._free.setdefault(nbytes, []).append(lease.memory)

    def _register(self, lease: _Lease, memory: memoryview) -> None:
        nbytes = len(memory)
        lease.memory = memory
        self._live[id(lease)] = lease
        self._requests += 1
        self._allocated += nbytes
        self._allocated_in_all += nbytes
        peak = self._peak
        # A call of max() would cost as much as all the rest here.
        if self._allocated > peak.allocated:  # noqa: PLR1730
            peak.allocated = self._allocated
        if len(self._live) > peak.buffers:  # noqa: PLR1730
            peak.buffers = len(self._live)

    def _cached_memory(self, nbytes: int) -> memoryview | None:
        try:
            memory = self._free[nbytes].pop()
        except LookupError:
            return None
        self._hits += 1
        self._cached -= nbytes
        return memory

    def _fresh(self, nbytes: int) -> Buffer:
        memory = self._from_system(nbytes)
        self._reserved_in_all += nbytes
        self._peak.reserved = max(self._peak.reserved, self._allocated + self._cached + nbytes)
        return memory

    def _from_system(self, nbytes: int) -> Buffer:
        try:
            return self._source(nbytes)
        except _NO_MEMORY:
            cached = self._emptied()
        try:
            return self._source(nbytes)
        except _NO_MEMORY:
            self._failures += 1
            raise OutOfMemoryError(self._out_of_memory(nbytes, cached)) from None

    def _emptied(self) -> int:
        """Empty the cache for a second attempt; how many bytes it held."""
        with self._lock:
            self._sort_in()
            cached = self._cached
            self._retries += 1
            self._drop_cache()
        return cached

    def _drop_cache(self) -> None:
        self._free.clear()
        self._cached = 0

    def _out_of_memory(self, nbytes: int, cached: int) -> str:
        buffers = "1 buffer" if len(self._live) == 1 else f"{len(self._live)} buffers"
        return (
            f"Out of memory on device 'cpu': an allocation of {readable(nbytes)} failed. Tensors hold "
            f"{readable(self._allocated)} in {buffers}; {readable(cached)} of cached memory were given back before "
            "the second attempt. Free tensors that are no longer needed, or use smaller batches."
        )


def readable(nbytes: int) -> str:
    """A size in the largest unit that leaves at least 1.

    Example:
        >>> readable(1023), readable(3 << 29)
        ('1023 bytes', '1.50 GiB')
    """
    unit = min(len(_UNITS) - 1, max(0, nbytes.bit_length() - 1) // 10)
    return f"{nbytes} bytes" if unit == 0 else f"{nbytes / (1 << 10 * unit):.2f} {_UNITS[unit]}"
