"""The device ``cpu``, served by raxis-cpu, or by raxis-core's reference backend, which does not count memory.

raxis-cpu counts buffers of more than 16 KiB; smaller ones come from the C library.

Example:
    >>> import raxis
    >>> held = raxis.zeros(1 << 20)
    >>> raxis.cpu.memory_allocated() <= raxis.cpu.max_memory_allocated() <= raxis.cpu.max_memory_reserved()
    True
    >>> raxis.cpu.device_count(), raxis.cpu.is_available()
    (1, True)
"""

from __future__ import annotations

from raxis.device_functions import DeviceFunctions

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "synchronize",
]

_functions = DeviceFunctions("cpu")
device_count = _functions.device_count
empty_cache = _functions.empty_cache
get_device_name = _functions.get_device_name
get_device_properties = _functions.get_device_properties
is_available = _functions.is_available
max_memory_allocated = _functions.max_memory_allocated
max_memory_reserved = _functions.max_memory_reserved
memory_allocated = _functions.memory_allocated
memory_reserved = _functions.memory_reserved
memory_stats = _functions.memory_stats
reset_peak_memory_stats = _functions.reset_peak_memory_stats
synchronize = _functions.synchronize


def current_device() -> str:
    """``"cpu"``, as in PyTorch: there is one such device."""
    return "cpu"
