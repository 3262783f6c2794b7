"""NVIDIA GPUs, provided by raxis-cuda12 or raxis-cuda13.

The questions can be asked on every machine; what needs a GPU raises an error that says why there is none and
what to install.
"""

from __future__ import annotations

from collections.abc import Mapping

from raxis import backends
from raxis.backends.api import Backend, DeviceProperties
from raxis.backends.registry import default as _registry
from raxis.backends.states import State
from raxis.device import Device

__all__ = [
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "memory_stats",
    "synchronize",
    "unavailable_reason",
]


def is_available() -> bool:
    """Whether a GPU can be used, as far as the plugin can tell without being loaded.

    Example:
        >>> import raxis
        >>> raxis.cuda.is_available() == (raxis.cuda.unavailable_reason() is None)
        True
    """
    return unavailable_reason() is None


def unavailable_reason() -> str | None:
    """Why no GPU can be used and what to do about it; None if one can."""
    return backends.unavailable_reason("cuda")


def device_count() -> int:
    """How many GPUs there are; 0 where none can be used."""
    return backends.device_count("cuda") if is_available() else 0


def get_device_properties(device: str | int | Device | None = None) -> DeviceProperties:
    """Name and memory of a GPU, the first one by default.

    Raises:
        BackendError: if there is no such GPU; the message says why.
        ValueError: if `device` is of another type.
    """
    backend, index = _resolved(device)
    return backend.properties(index)


def get_device_name(device: str | int | Device | None = None) -> str:
    """The name of a GPU; errors as in `get_device_properties`."""
    return get_device_properties(device).name


def synchronize(device: str | int | Device | None = None) -> None:
    """Wait until all work submitted to a GPU is done; errors as in `get_device_properties`."""
    backend, index = _resolved(device)
    backend.synchronize(index)


def memory_stats(device: str | int | Device | None = None) -> Mapping[str, int]:
    """The allocator's counters in bytes; errors as in `get_device_properties`."""
    backend, index = _resolved(device)
    return backend.memory_stats(index)


def empty_cache() -> None:
    """Give cached memory back to the GPU; does nothing if none is in use."""
    if any(row.device == "cuda" and row.state is State.READY for row in backends.list()):
        backends.get("cuda").empty_cache()


def _resolved(device: str | int | Device | None) -> tuple[Backend, int]:
    if device is None or isinstance(device, int):
        return _registry.resolve(Device("cuda", device))
    named = Device(device)
    if named.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {named}.")
    return _registry.resolve(named)
