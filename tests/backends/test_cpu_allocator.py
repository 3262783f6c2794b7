"""The caching allocator of raxis-cpu: alignment, reuse, counters, threads, and running out of memory."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from raxis.errors import OutOfMemoryError
from raxis_cpu.allocator import ALIGNMENT, SMALL, CachingAllocator, readable, size_class, system_memory

BIG = 1 << 20


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def bytes_of(allocator: CachingAllocator) -> tuple[int, int]:
    """Bytes in use, and those with the cached ones."""
    stats = allocator.stats()
    return stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"]


def limited(capacity: int):
    """A source of memory with `capacity` bytes in all, which come back when arrays are collected."""
    import weakref

    left = [capacity]

    def give_back(nbytes: int) -> None:
        left[0] += nbytes

    def source(nbytes: int) -> np.ndarray:
        if nbytes > left[0]:
            raise MemoryError
        left[0] -= nbytes
        memory = system_memory(nbytes)
        weakref.finalize(memory.base, give_back, nbytes)
        return memory

    return source


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 1000, SMALL, SMALL + 1, 12345, BIG, 3 * BIG + 7])
def test_buffers_are_aligned_writable_bytes(nbytes: int) -> None:
    allocator = CachingAllocator(BIG)
    buffers = [allocator.allocate(nbytes) for _ in range(3)]
    for number, buffer in enumerate(buffers):
        assert (buffer.dtype, buffer.shape) == (np.uint8, (nbytes,))
        assert nbytes <= SMALL or address(buffer) % ALIGNMENT == 0
        buffer[:] = number
    assert [set(buffer.tolist()) for buffer in buffers] == [{n} if nbytes else set() for n in range(3)]


def test_size_classes_waste_at_most_a_quarter() -> None:
    for nbytes in [*range(1, 5000), BIG + 1, 3 * BIG, 7 * BIG - 1]:
        rounded = size_class(nbytes)
        assert rounded % ALIGNMENT == 0
        assert nbytes <= rounded <= max(ALIGNMENT, nbytes * 1.25 + ALIGNMENT - 1)
        assert size_class(rounded) == rounded


def test_memory_is_reused_once_nothing_refers_to_it() -> None:
    allocator = CachingAllocator(4 * BIG)
    first = allocator.allocate(BIG)
    place, view = address(first), first[8:16].view(np.float32)[::-1]
    del first
    assert address(allocator.allocate(BIG)) != place
    view[:] = 7
    del view
    places = {address(allocator.allocate(BIG)) for _ in range(3)}
    assert allocator.stats()["num_device_alloc"] <= 2
    assert len(places) <= 2


def test_counters() -> None:
    allocator = CachingAllocator(2 * BIG)
    buffers = [allocator.allocate(BIG) for _ in range(3)]
    small = allocator.allocate(100)
    held = {"current": 3, "peak": 3, "allocated": 3, "freed": 0}
    assert allocator.stats() == {
        "num_device_alloc": 3,
        "num_alloc_retries": 0,
        "num_ooms": 0,
        **{f"allocation.all.{metric}": count for metric, count in held.items()},
        **{f"allocated_bytes.all.{metric}": count * BIG for metric, count in held.items()},
        **{f"reserved_bytes.all.{metric}": count * BIG for metric, count in held.items()},
    }
    del small, buffers  # of three freed blocks the cache may keep two
    assert bytes_of(allocator) == (0, 2 * BIG)
    again = allocator.allocate(BIG - 5)
    assert allocator.stats()["num_device_alloc"] == 3
    assert bytes_of(allocator) == (BIG, 2 * BIG)
    allocator.empty_cache()
    assert bytes_of(allocator) == (BIG, BIG)
    assert size_class(len(again)) == BIG
    stats = allocator.stats()
    assert [stats[f"allocated_bytes.all.{metric}"] for metric in ("allocated", "freed")] == [4 * BIG, 3 * BIG]
    assert [stats[f"reserved_bytes.all.{metric}"] for metric in ("allocated", "freed")] == [3 * BIG, 2 * BIG]


def test_peaks_start_again() -> None:
    allocator = CachingAllocator(8 * BIG)
    first = [allocator.allocate(BIG) for _ in range(3)]
    del first[1:]
    peaks = ("allocation.all.peak", "allocated_bytes.all.peak", "reserved_bytes.all.peak")
    assert [allocator.stats()[name] for name in peaks] == [3, 3 * BIG, 3 * BIG]
    allocator.reset_peak()
    assert [allocator.stats()[name] for name in peaks] == [1, BIG, 3 * BIG]
    allocator.empty_cache()
    allocator.reset_peak()
    first.append(allocator.allocate(BIG))
    assert [allocator.stats()[name] for name in peaks] == [2, 2 * BIG, 2 * BIG]


def test_out_of_memory_empties_the_cache_and_tries_again() -> None:
    allocator = CachingAllocator(8 * BIG, limited(4 * BIG))
    buffers = [allocator.allocate(BIG) for _ in range(4)]
    del buffers
    assert bytes_of(allocator) == (0, 4 * BIG)
    big = allocator.allocate(4 * BIG)
    assert len(big) == 4 * BIG
    assert allocator.stats()["num_alloc_retries"] == 1
    assert allocator.stats()["num_ooms"] == 0


def test_out_of_memory_says_what_is_held_and_cached() -> None:
    allocator = CachingAllocator(8 * BIG, limited(4 * BIG))
    held = [allocator.allocate(BIG), allocator.allocate(BIG)]
    allocator.allocate(BIG)
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.allocate(3 * BIG)
    assert str(caught.value) == (
        "Out of memory on device 'cpu': an allocation of 3.00 MiB failed. Tensors hold 2.00 MiB in 2 buffers; "
        "1.00 MiB of cached memory were given back before the second attempt. Free tensors that are no longer "
        "needed, or use smaller batches."
    )
    held.append(allocator.allocate(2 * BIG))
    assert allocator.stats()["allocation.all.current"] == 3
    assert allocator.stats()["num_ooms"] == 1


@pytest.mark.parametrize("nbytes", [1 << 60, 1 << 63, 1 << 70])
def test_absurd_sizes_are_out_of_memory(nbytes: int) -> None:
    with pytest.raises(
        OutOfMemoryError, match=r"an allocation of 1(024)?\.00 EiB|an allocation of 8\.00 EiB"
    ):
        CachingAllocator(BIG).allocate(nbytes)


def test_threads_never_share_a_live_buffer() -> None:
    allocator, wrong = CachingAllocator(64 * BIG), []

    def work(number: int) -> None:
        for step in range(200):
            buffer = allocator.allocate(SMALL * 2 + 4096 * (step % 3))
            buffer[:] = number
            if not (buffer == number).all():
                wrong.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    stats = allocator.stats()
    assert [stats[f"allocation.all.{metric}"] for metric in ("current", "allocated")] == [0, 800]
    assert stats["allocated_bytes.all.current"] == 0


def test_finalizer_that_allocates_does_not_deadlock() -> None:
    allocator = CachingAllocator(BIG)

    class Cycle:
        def __init__(self) -> None:
            self.me, self.buffer = self, allocator.allocate(BIG)

        def __del__(self) -> None:
            allocator.allocate(BIG)

    for _ in range(50):
        Cycle()
        allocator.allocate(BIG)
    gc.collect()
    assert allocator.stats()["allocated_bytes.all.current"] == 0


def test_readable_sizes() -> None:
    assert [readable(n) for n in (0, 1, 1024, 1536, 1 << 40)] == [
        "0 bytes",
        "1 bytes",
        "1.00 KiB",
        "1.50 KiB",
        "1.00 TiB",
    ]
