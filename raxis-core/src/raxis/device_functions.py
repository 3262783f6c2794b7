"""What `raxis.cpu`, `raxis.cuda` and the like say of the devices of one type."""

from __future__ import annotations

from collections.abc import Mapping

from raxis import backends
from raxis.backends.api import Backend, DeviceProperties
from raxis.backends.registry import default as _registry
from raxis.backends.states import State
from raxis.device import Device

Named = str | int | Device | None
"""A device, by name, by index among those of its type, or None for the first one."""


class DeviceFunctions:
    """The functions of one device type; a module such as `raxis.cpu` gives them their names.

    Every function that takes a device raises BackendError if there is no such device, with a message that says why,
    and ValueError if it is of another type.

    Args:
        type: the device type.
    """

    def __init__(self, type: str) -> None:
        self._type = type

    def is_available(self) -> bool:
        """Whether such a device can be used, as far as its plugin can tell without being loaded."""
        return self.unavailable_reason() is None

    def unavailable_reason(self) -> str | None:
        """Why no such device can be used and what to do about it; None if one can."""
        return backends.unavailable_reason(self._type)

    def device_count(self) -> int:
        """How many such devices there are; 0 where none can be used."""
        return backends.device_count(self._type) if self.is_available() else 0

    def get_device_properties(self, device: Named = None) -> DeviceProperties:
        """Name and memory of a device, the first one by default."""
        backend, index = self._resolved(device)
        return backend.properties(index)

    def get_device_name(self, device: Named = None) -> str:
        """The name of a device."""
        return self.get_device_properties(device).name

    def synchronize(self, device: Named = None) -> None:
        """Wait until all work submitted to a device is done."""
        backend, index = self._resolved(device)
        backend.synchronize(index)

    def memory_stats(self, device: Named = None) -> Mapping[str, int]:
        """The allocator's counters by PyTorch's names; empty where the backend keeps none.

        Sizes are in bytes: ``allocated_bytes.all.current`` in use by tensors, ``reserved_bytes.all.current`` in use
        or kept for reuse, each with its ``peak`` and what was ever ``allocated`` and ``freed``;
        ``num_alloc_retries`` and ``num_ooms`` count failures.
        """
        backend, index = self._resolved(device)
        return backend.memory_stats(index)

    def memory_allocated(self, device: Named = None) -> int:
        """Bytes in use by tensors; 0 where the backend does not count."""
        return self._counter("allocated_bytes.all.current", device)

    def max_memory_allocated(self, device: Named = None) -> int:
        """The most bytes ever in use, since the start or the last `reset_peak_memory_stats`."""
        return self._counter("allocated_bytes.all.peak", device)

    def memory_reserved(self, device: Named = None) -> int:
        """Bytes in use by tensors or kept for reuse."""
        return self._counter("reserved_bytes.all.current", device)

    def max_memory_reserved(self, device: Named = None) -> int:
        """The most bytes ever reserved, since the start or the last `reset_peak_memory_stats`."""
        return self._counter("reserved_bytes.all.peak", device)

    def reset_peak_memory_stats(self, device: Named = None) -> None:
        """Let the peaks start again from what is in use now."""
        backend, index = self._resolved(device)
        backend.reset_peak_memory_stats(index)

    def empty_cache(self) -> None:
        """Give cached memory back to the system; does nothing while no such device is in use."""
        if any(row.device == self._type and row.state is State.READY for row in backends.list()):
            backends.get(self._type).empty_cache()

    def _counter(self, name: str, device: Named) -> int:
        return self.memory_stats(device).get(name, 0)

    def _resolved(self, device: Named) -> tuple[Backend, int]:
        if device is None or isinstance(device, int):
            return _registry.resolve(Device(self._type, device))
        named = Device(device)
        if named.type != self._type:
            raise ValueError(f"Expected a {self._type} device, but got: {named}.")
        return _registry.resolve(named)
