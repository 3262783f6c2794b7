"""Devices and the plugins that provide them.

A device is used by naming it (``device="foo"``); the functions here say which devices there are, and why one
is not usable. `raxis.backends.api` is the protocol that a plugin implements.
"""

from __future__ import annotations

import builtins

from raxis.backends import registry
from raxis.backends.api import Backend, DeviceProperties
from raxis.backends.settings import fallback_policy
from raxis.backends.states import Row, State
from raxis.device import Device
from raxis.errors import BackendError

__all__ = [
    "Backend",
    "BackendError",
    "DeviceProperties",
    "Row",
    "State",
    "device_count",
    "fallback_policy",
    "get",
    "is_available",
    "list",
    "refresh",
    "unavailable_reason",
]


def list() -> builtins.list[Row]:
    """Every built-in device and every installed plugin, with its state and the reason for it.

    Runs no code of any plugin. A device named by several rows is served by the one that is not shadowed.

    Example:
        >>> import raxis
        >>> [row.state.value for row in raxis.backends.list() if row.device == "meta"]
        ['ready']
    """
    return registry.default.rows()


def refresh() -> None:
    """Look for installed plugins again and forget failures.

    Devices in use stay as they are. Call it after installing or repairing a plugin in a running process.
    """
    registry.default.refresh()


def get(device: str | Device) -> Backend:
    """The backend that serves `device`, loaded if need be.

    Raises:
        BackendError: unknown device, unusable plugin, no device of that index, or an environment that
            changed after the device was first used.

    Example:
        >>> import raxis
        >>> raxis.backends.get("cpu").device_count()
        1
    """
    device = Device(device)
    backend, _ = registry.default.resolve(device)
    registry.default.check_unchanged(device.type)
    return backend


def is_available(device: str | Device) -> bool:
    """Whether `device` can be used, as far as its plugin can tell without being loaded.

    With an index (``"cuda:1"``) the plugin is loaded, because only it knows how many devices there are.

    Example:
        >>> import raxis
        >>> raxis.backends.is_available("cpu"), raxis.backends.is_available("nonesuch")
        (True, False)
    """
    return unavailable_reason(device) is None


def unavailable_reason(device: str | Device) -> str | None:
    """Why `device` cannot be used and what to do about it; None if it can.

    Example:
        >>> import raxis
        >>> raxis.backends.unavailable_reason("cpu:7")
        "Device 'cpu:7' does not exist: there is one device, cpu:0."
    """
    return registry.default.reason(Device(device))


def device_count(device_type: str) -> int:
    """How many devices of a type there are.

    Raises:
        BackendError: if the device type is unknown or unusable.

    Example:
        >>> import raxis
        >>> raxis.backends.device_count("cpu")
        1
    """
    return registry.default.device_count(device_type)


# Reading the metadata costs about 1 ms with 60 distributions installed; no code of a plugin runs.
registry.default.discover()
