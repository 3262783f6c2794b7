"""Which backend serves a device: discovery, states, and lazy, isolated loading of plugins."""

from __future__ import annotations

import importlib
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from raxis.backends import discovery, messages
from raxis.backends.api import Backend
from raxis.backends.discovery import EntryPoint
from raxis.backends.plugin import Outcome, Plugin
from raxis.backends.settings import Selection, Settings, normalised
from raxis.backends.states import Row, State
from raxis.device import Device
from raxis.errors import BackendError
from raxis.version import __version__

CORE = "raxis-core"
FIRST_PARTY = {"raxis-cpu": "cpu", "raxis-cuda12": "cuda", "raxis-cuda13": "cuda"}
"""Our plugins and the device each may provide; they must have core's version."""
BUILT_IN = ("cpu", "meta")
"""Devices that exist without any plugin; a plugin may take over ``cpu``."""

_DEVICE_TYPE = re.compile(r"[a-z_][a-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class _Served(NamedTuple):
    """What serves a device type in this process; `plugin` is None for a backend of core."""

    backend: Backend
    device_count: int
    plugin: Plugin | None
    reason: str


class Registry:
    """All devices of one environment.

    Args:
        settings: the environment variables; by default the process's, read at each use.
        path: where distributions are looked for; by default ``sys.path`` at the time of the scan.
        core_version: the version first-party plugins must have.

    Thread-safe. Each plugin is loaded at most once, and a thread that needs it meanwhile waits.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        path: Sequence[str] | None = None,
        core_version: str = __version__,
    ) -> None:
        self._settings = Settings() if settings is None else settings
        self._path = path
        self._core_version = core_version
        self._lock = threading.RLock()
        self._plugins: list[Plugin] | None = None
        self._served: dict[str, _Served] = {}
        self._resolved: dict[Device, tuple[Backend, int]] = {}

    # --- public ---

    def discover(self) -> None:
        """Read the installed plugins' metadata, once; no code of theirs is imported."""
        self._all()

    def resolve(self, device: Device) -> tuple[Backend, int]:
        """The backend that serves `device`, loaded if need be, and the device's index.

        Raises:
            BackendError: unknown device, unusable plugin (with its stored reason), no device of that index,
                or an environment changed after the device type was first used.
            ValueError: an environment variable of Raxis is malformed.
        """
        return self._resolved.get(device) or self._resolve(device)

    def refresh(self) -> None:
        """Look for plugins again and forget failures; devices in use stay as they are."""
        importlib.invalidate_caches()
        with self._lock:
            kept = {
                plugin.entry: plugin for plugin in self._plugins or () if plugin.entry.name in self._served
            }
            self._plugins = [kept.get(entry) or self._plugin(entry) for entry in self._scan()]

    def rows(self) -> list[Row]:
        """One row for each plugin and each device of core; runs no code of any plugin."""
        selection = self._selection()
        rows = [self._row(plugin, self._view(plugin, selection)) for plugin in self._all()]
        return [*self._core_rows(selection), *rows]

    def reason(self, device: Device) -> str | None:
        """Why `device` cannot be used, by its handshake and probe; None if nothing speaks against it."""
        try:
            plugin = None if device.type in self._served else self._chosen(device.type)
            if plugin is None or device.index is not None:
                self.resolve(device)
            elif (outcome := plugin.probe()) is not None and outcome.state is not State.READY:
                raise self._error(plugin, outcome)
        except BackendError as error:
            return str(error)
        return None

    def plugin(self, row: Row) -> Plugin | None:
        """The plugin that `row` describes; None for a device of core."""
        matches = (
            p for p in self._all() if (p.entry.name, p.entry.distribution) == (row.device, row.distribution)
        )
        return next(matches, None)

    def check_unchanged(self, device_type: str) -> None:
        """Raise BackendError if the environment no longer selects what serves a device type in use."""
        self._serve(device_type)

    def device_count(self, device_type: str) -> int:
        """How many devices of a usable type there are; loads it."""
        self.resolve(Device(device_type))
        return self._served[device_type].device_count

    # --- scanning ---

    def _all(self) -> list[Plugin]:
        with self._lock:
            if self._plugins is None:
                self._plugins = [self._plugin(entry) for entry in self._scan()]
            return self._plugins

    def _scan(self) -> list[EntryPoint]:
        return discovery.scan(discovery.BACKENDS, self._path)

    def _plugin(self, entry: EntryPoint) -> Plugin:
        return Plugin(entry, self._core_version)

    # --- states ---

    def _selection(self) -> Selection:
        names = [name for plugin in self._all() for name in (plugin.entry.name, plugin.entry.distribution)]
        return self._settings.selection(names)

    def _view(self, plugin: Plugin, selection: Selection) -> Outcome:
        """State and reason of a plugin now: what its metadata and the settings say, then what loading said."""
        if plugin.ready:
            return plugin.outcome or Outcome(State.READY)
        return self._excluded(plugin, selection) or plugin.outcome or Outcome(State.FOUND)

    def _excluded(self, plugin: Plugin, selection: Selection) -> Outcome | None:
        """Why no code of the plugin may be imported; None if it may."""
        entry = plugin.entry
        if reason := _invalid(entry):
            return Outcome(State.INVALID, reason)
        if reason := selection.refusal(entry.name, entry.distribution):
            return Outcome(State.BLOCKED, reason)
        if entry.name == "cpu" and self._settings.cpu == "reference":
            return Outcome(State.BLOCKED, messages.reference_chosen())
        if entry.name == "cuda" and len(self._claimants("cuda", None)) > 1:
            return Outcome(State.UNAVAILABLE, messages.cuda_conflict(self._core_version))
        winner = self._claimants(entry.name, selection)[0]
        if winner is not plugin:
            return Outcome(State.SHADOWED, messages.shadowed(winner.entry.distribution))
        if normalised(entry.distribution) in FIRST_PARTY and entry.version != self._core_version:
            reason = messages.version_mismatch(entry.distribution, entry.version, self._core_version)
            return Outcome(State.INCOMPATIBLE, reason)
        return None

    def _claimants(self, device: str, selection: Selection | None) -> list[Plugin]:
        """Valid plugins for a device type, in their stable order; without blocked ones if `selection` is given."""
        return [
            plugin
            for plugin in self._all()
            if plugin.entry.name == device
            and not _invalid(plugin.entry)
            and not (selection and selection.refusal(device, plugin.entry.distribution))
        ]

    # --- resolving ---

    def _resolve(self, device: Device) -> tuple[Backend, int]:
        served = self._serve(device.type)
        index = device.index or 0
        if index >= served.device_count:
            raise BackendError(
                messages.index_out_of_range(device.type, index, served.device_count), device.type
            )
        return self._resolved.setdefault(device, (served.backend, index))

    def _serve(self, device: str) -> _Served:
        """What serves `device`, checked against the settings as they are now."""
        plugin = self._chosen(device)
        served = self._served.get(device)
        if served is None:
            served = self._started(device, plugin)
            with self._lock:
                return self._served.setdefault(device, served)
        if served.plugin is not plugin and not served.reason:
            raise BackendError(messages.changed(device, _label(served.plugin), _label(plugin)), device)
        return served

    def _chosen(self, device: str) -> Plugin | None:
        """The plugin that the settings select for `device`; None if core itself serves it.

        Raises:
            BackendError: if there is none, or none that may be used.
        """
        if device == "meta" or (device == "cpu" and self._settings.cpu == "reference"):
            return None
        selection = self._selection()
        admitted = self._claimants(device, selection)
        if admitted or device == "cpu":
            return next(iter(admitted), None)
        refused = self._claimants(device, None)
        if not refused:
            raise self._unknown(device)
        raise self._error(refused[0], self._excluded(refused[0], selection) or Outcome(State.FOUND))

    def _started(self, device: str, plugin: Plugin | None) -> _Served:
        if device == "meta":
            return _Served(_meta_backend(), 1, None, "")
        if plugin is None:
            return _Served(_reference_backend(), 1, None, "")
        outcome = self._excluded(plugin, self._selection()) or plugin.load()
        if outcome.backend is not None:
            return _Served(outcome.backend, outcome.device_count, plugin, "")
        if device != "cpu":
            raise self._error(plugin, outcome)
        reason = messages.reference_serves(outcome.reason)
        warnings.warn(reason, RuntimeWarning, stacklevel=_outside())
        return _Served(_reference_backend(), 1, None, reason)

    # --- describing ---

    def _row(self, plugin: Plugin, view: Outcome) -> Row:
        entry = plugin.entry
        return Row(entry.name, entry.distribution, entry.version, view.state, view.reason)

    def _core_rows(self, selection: Selection) -> Iterator[Row]:
        yield Row("cpu", CORE, self._core_version, *self._reference_state(selection))
        yield Row("meta", CORE, self._core_version, State.READY, "")

    def _reference_state(self, selection: Selection) -> tuple[State, str]:
        """Core's own row for ``cpu``: serving, standing in for a plugin, or shadowed by it."""
        served = self._served.get("cpu")
        plugin = next(iter(self._claimants("cpu", selection)), None) if served is None else served.plugin
        if plugin is None or self._settings.cpu == "reference":
            return State.READY, "" if served is None else served.reason
        view = self._view(plugin, selection)
        if view.state in (State.FOUND, State.READY):
            return State.SHADOWED, messages.shadowed(plugin.entry.distribution)
        return State.READY, messages.reference_serves(view.reason)

    def _error(self, plugin: Plugin, outcome: Outcome) -> BackendError:
        text = messages.unusable(plugin.entry.name, plugin.label, outcome.state, outcome.reason)
        error = BackendError(text, plugin.entry.name, outcome.state)
        error.__cause__ = outcome.cause
        return error

    def _unknown(self, device: str) -> BackendError:
        usable = {plugin.entry.name for plugin in self._all() if not _invalid(plugin.entry)}
        invalid = [plugin for plugin in self._all() if plugin.entry.name == device]
        if invalid:
            return self._error(invalid[0], Outcome(State.INVALID, _invalid(invalid[0].entry) or ""))
        return BackendError(messages.unknown_device(device, sorted({*BUILT_IN, *usable})), device)


def _invalid(entry: EntryPoint) -> str | None:
    """Which naming rule an entry point breaks."""
    owners = [name for name, device in FIRST_PARTY.items() if device == entry.name]
    if not _DEVICE_TYPE.fullmatch(entry.name):
        return messages.invalid_name(entry.name)
    if (owners or entry.name in BUILT_IN) and normalised(entry.distribution) not in owners:
        return messages.reserved_name(entry.name, owners)
    return None if _MODULE.fullmatch(entry.value) else messages.invalid_value(entry.value)


def _label(plugin: Plugin | None) -> str:
    return f"{CORE}'s reference backend" if plugin is None else plugin.label


def _reference_backend() -> Backend:
    from raxis.backends.reference.backend import ReferenceBackend

    return ReferenceBackend()


def _meta_backend() -> Backend:
    from raxis.backends.meta import MetaBackend

    return MetaBackend()


def _outside() -> int:
    """Stack level of the first caller outside raxis, for warnings."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "raxis":
        frame, level = frame.f_back, level + 1
    return level


default = Registry()
"""The registry of this process; it locks itself, and tests make their own."""

resolve = default.resolve
