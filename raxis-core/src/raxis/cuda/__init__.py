"""NVIDIA GPUs, provided by raxis-cuda12 or raxis-cuda13.

The questions can be asked on every machine; what needs a GPU raises an error that says why there is none and
what to install.

Example:
    >>> import raxis
    >>> raxis.cuda.is_available() == (raxis.cuda.unavailable_reason() is None)
    True
"""

from __future__ import annotations

from raxis.device_functions import DeviceFunctions

__all__ = [
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
    "unavailable_reason",
]

_functions = DeviceFunctions("cuda")
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
unavailable_reason = _functions.unavailable_reason
