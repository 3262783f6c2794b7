"""From device names to places: which backend serves a device, and the default device."""

from __future__ import annotations

import contextvars
import functools

from raxis.device import Device
from raxis.interception import active, anyone
from raxis.storage import Place

DeviceLike = Device | str | int

_SINGLE = ("cpu", "meta")
"""Device types of which there is one: they have no index."""

_places: dict[Device, Place] = {}
_default: contextvars.ContextVar[Device | None] = contextvars.ContextVar("raxis_default_device", default=None)


chosen_device = _default.get
"""The device of `set_default_device`; None where the environment decides."""


def in_vmap() -> bool:
    """Whether this thread is in a function that `raxis.func.vmap` runs."""
    chosen = chosen_device()
    return chosen is not None and chosen.depth > 0


def place_of(device: Device) -> Place:
    """Where tensors of a device live now: its real place, or the one that stands for it while ops are recorded."""
    place = real_place(device)
    if anyone.records and active.recording is not None and not device.depth:
        return active.recording.place(place)
    return place


def real_place(device: Device) -> Place:
    """The place of a device, loading its backend at first use; the registry's errors pass through."""
    found = _places.get(device)
    if found is None:
        from raxis.backends.registry import resolve  # late: the registry may import plugins

        backend, index = resolve(device)
        found = _places.setdefault(device, Place(canonical(device), backend, index))
    return found


def assign(place: Place) -> None:
    """Let a device that stands for others, such as a level of vmap, have this place."""
    _places[place.device] = place


def canonical(device: Device) -> Device:
    """The form tensors carry: no index for ``cpu`` and ``meta``, an index for every other type."""
    if (device.index is None) is (device.type in _SINGLE):
        return device
    return Device(device.type) if device.type in _SINGLE else Device(device.type, 0)


def as_device(value: DeviceLike | None) -> Device:
    """A device argument in canonical form; None means the default device."""
    if value is None:
        return get_default_device()
    if type(value) is Device:
        return canonical(value)
    if isinstance(value, int):
        raise RuntimeError(
            f"device index {value} was given without a device type; name the device, as in 'cuda:{value}'."
        )
    named = canonical(Device(value))
    chosen = chosen_device()
    return named if chosen is None else chosen.at_level(named)


def get_default_device() -> Device:
    """The device of new tensors when none is named: set_default_device's, else ``RAXIS_DEVICE``, else cpu.

    Example:
        >>> import raxis
        >>> raxis.get_default_device()
        device(type='cpu')
    """
    if anyone.records and active.recording is not None:
        active.recording.uses_default_device = True
    return chosen_device() or _environments_choice()


@functools.cache
def _environments_choice() -> Device:
    """Read once: asking the environment takes as long as making a small tensor."""
    from raxis.backends.settings import default_device_name

    return canonical(Device(default_device_name()))


def set_default_device(device: DeviceLike | None) -> None:
    """Set the device of new tensors; None restores the environment's choice.

    Raises:
        RuntimeError: if the device is unknown or unusable.
    """
    if device is None:
        _default.set(None)
        return
    chosen = as_device(device)
    place_of(chosen)
    _default.set(chosen)


_outer: contextvars.ContextVar[tuple[Device | None, ...]] = contextvars.ContextVar(
    "raxis_outer_devices", default=()
)
"""The default devices that entered ``with device:`` blocks will restore."""


def enter_device(device: Device) -> None:
    """Begin a block whose default device is `device`.

    Raises:
        RuntimeError: if the device is unknown or unusable.
    """
    chosen = canonical(device)
    place_of(chosen)
    _outer.set((*_outer.get(), _default.get()))
    _default.set(chosen)


def leave_device() -> None:
    """End the innermost such block."""
    *rest, previous = _outer.get()
    _outer.set(tuple(rest))
    _default.set(previous)
