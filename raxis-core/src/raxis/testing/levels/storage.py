"""Buffers: sizes, copies, separate memory, views of the host, and what is given back."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from raxis.errors import OutOfMemoryError
from raxis.testing.case import Case, Skipped, Subject, named, require

LEVEL = "storage"

_SIZES = (0, 1, 3, 8, 63, 64, 4095, 1 << 20)
_MANY, _LARGE = 24, 1 << 24


def _pattern(size: int, start: int = 0) -> np.ndarray:
    return (np.arange(start, start + size, dtype=np.int64) * 7 % 251).astype(np.uint8)


def _filled(subject: Subject, data: np.ndarray) -> Any:
    buffer = subject.backend.allocate(data.size, subject.index)
    subject.backend.copy_from_host(data, buffer, 0)
    return buffer


def _read(subject: Subject, buffer: Any, size: int, offset: int = 0) -> np.ndarray:
    target = np.full(size, 0xEE, np.uint8)
    subject.backend.copy_to_host(buffer, offset, target)
    return target


def _round_trip(subject: Subject) -> None:
    for size in _SIZES:
        data = _pattern(size)
        found = _read(subject, _filled(subject, data), size)
        require((found == data).all(), f"{size} bytes came back other than they were copied to the device.")


def _parts(subject: Subject) -> None:
    whole = _pattern(1000)
    buffer = _filled(subject, whole)
    for offset, size in ((0, 1), (1, 1), (3, 7), (500, 256), (999, 1), (1000, 0), (13, 64)):
        part = _pattern(size, start=offset + 100)
        subject.backend.copy_from_host(part, buffer, offset)
        whole[offset : offset + size] = part
        found = _read(subject, buffer, 1000)
        require(
            (found == whole).all(),
            f"copying {size} bytes to byte {offset} changed other bytes, or not these.",
        )
        found = _read(subject, buffer, size, offset)
        require((found == part).all(), f"copying {size} bytes from byte {offset} gave other bytes.")


def _host_memory_is_copied(subject: Subject) -> None:
    data = _pattern(256)
    buffer = _filled(subject, data)
    data[:] = 0
    found = _read(subject, buffer, 256)
    require((found == _pattern(256)).all(), "copy_from_host kept the host's memory instead of copying it.")
    found[:] = 0
    require(
        (_read(subject, buffer, 256) == _pattern(256)).all(), "copy_to_host gave memory of the device away."
    )


def _separate(subject: Subject) -> None:
    buffers = [_filled(subject, np.full(128, number, np.uint8)) for number in range(16)]
    make = subject.backend.allocator(128, subject.index)
    for number in range(16, 32):
        buffers.append(make())
        subject.backend.copy_from_host(np.full(128, number, np.uint8), buffers[-1], 0)
    for number, buffer in enumerate(buffers):
        require(
            (_read(subject, buffer, 128) == number).all(), f"buffer {number} shares memory with another one."
        )


def _reused(subject: Subject) -> None:
    """Memory of a collected buffer may serve again, but never while its buffer lives."""
    kept = _filled(subject, _pattern(4096))
    for _ in range(64):
        _filled(subject, np.zeros(4096, np.uint8))
    require(
        (_read(subject, kept, 4096) == _pattern(4096)).all(), "a living buffer lost its bytes to a later one."
    )


def _host_view(subject: Subject) -> None:
    data = _pattern(100)
    buffer = _filled(subject, data)
    view = subject.backend.host_view(buffer)
    if view is None:
        raise Skipped("the host cannot see the device's memory.")
    require(
        view.dtype == np.uint8 and view.ndim == 1,
        f"host_view must be a vector of uint8, not {view.dtype}{view.shape}.",
    )
    require(view.size >= 100 and (view[:100] == data).all(), "host_view does not show the buffer's bytes.")
    subject.backend.copy_from_host(_pattern(10, 50), buffer, 20)
    require(
        (view[20:30] == _pattern(10, 50)).all(),
        "host_view is a copy: a later write to the buffer is not seen.",
    )
    view[0] = 99
    require(
        _read(subject, buffer, 1)[0] == 99,
        "host_view is a copy: a write through it does not reach the buffer.",
    )
    require(
        view.ctypes.data % 16 == 0, f"a buffer begins at address {view.ctypes.data:#x}, no multiple of 16."
    )


def _wrap_host(subject: Subject) -> None:
    array = _pattern(64)
    buffer = subject.backend.wrap_host(array)
    if buffer is None:
        raise Skipped("the device cannot share memory of the host.")
    require((_read(subject, buffer, 64) == _pattern(64)).all(), "wrap_host does not show the array's bytes.")
    array[5] = 200
    require(_read(subject, buffer, 64)[5] == 200, "wrap_host copied the array: a later write is not seen.")
    subject.backend.copy_from_host(np.full(1, 77, np.uint8), buffer, 6)
    require(array[6] == 77, "wrap_host copied the array: a write to the buffer does not reach it.")


def _given_back(subject: Subject) -> None:
    """Buffers that nobody holds any more give their memory back."""
    before = _memory_in_use(subject)
    data = np.zeros(_LARGE, np.uint8)
    for _ in range(_MANY):
        _filled(subject, data)
    gc.collect()
    subject.backend.empty_cache()
    grown = _memory_in_use(subject) - before
    require(
        grown < _MANY * _LARGE / 4,
        f"{_MANY} buffers of {_LARGE} bytes were made and dropped, and {grown} bytes more are in use now.",
    )


def _memory_in_use(subject: Subject) -> int:
    """Bytes by the device's own count, else by the operating system's for this process."""
    counted = subject.backend.memory_stats(subject.index).get("allocated_bytes.all.current")
    if counted is not None:
        return counted
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        raise Skipped("neither the device nor the operating system says how much memory is in use.") from None
    return pages * 4096


def _statistics(subject: Subject) -> None:
    name = "allocated_bytes.all.current"
    before = subject.backend.memory_stats(subject.index)
    if name not in before:
        raise Skipped("the device keeps no memory statistics.")
    buffer = _filled(subject, _pattern(1 << 20))
    grown = subject.backend.memory_stats(subject.index)[name] - before[name]
    require(grown >= 1 << 20, f"after an allocation of 1 MiB the statistics grew by {grown} bytes.")
    del buffer


def _out_of_memory(subject: Subject) -> None:
    try:
        subject.backend.allocate(1 << 58, subject.index)
    except OutOfMemoryError as error:
        text = str(error)
        require(subject.type in text and any(sign.isdigit() for sign in text),
                f"the out-of-memory text must name the device and the size: {text!r}.")  # fmt: skip
    except MemoryError as error:
        require(
            False, f"an allocation that fails must raise raxis.OutOfMemoryError, not MemoryError: {error}"
        )
    else:
        require(False, "an allocation of 2**58 bytes succeeded.")
    _round_trip(subject)


def _properties(subject: Subject) -> None:
    count = subject.backend.device_count()
    require(type(count) is int and count >= 1, f"device_count() must be a positive int, but is {count!r}.")
    for index in range(count):
        properties = subject.backend.properties(index)
        require(bool(properties.name.strip()), f"device {index} has no name.")
        require(
            0 <= properties.total_memory < sys.maxsize, f"total_memory of device {index} is no size in bytes."
        )


def cases() -> Iterator[Case]:
    """Cases of buffers."""
    yield from named(
        LEVEL,
        {
            "properties": _properties,
            "round_trip": _round_trip,
            "parts": _parts,
            "host_memory_is_copied": _host_memory_is_copied,
            "separate": _separate,
            "reused": _reused,
            "host_view": _host_view,
            "wrap_host": _wrap_host,
            "given_back": _given_back,
            "statistics": _statistics,
            "out_of_memory": _out_of_memory,
        },
    )
