"""Extension points other than devices: hooks that an installed package may implement.

A package announces a module or object in the entry-point group ``raxis.plugins`` and marks its functions with
`hookimpl`. Nothing is imported before a hook is first called. A plugin that cannot be imported, implements an
unknown hook, or raises, is left out with a warning; its reason is kept and shown by ``python -m raxis.env``.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

from raxis.backends import discovery, messages
from raxis.backends.discovery import EntryPoint
from raxis.backends.settings import Settings
from raxis.backends.states import Row, State

if TYPE_CHECKING:
    from raxis.backends.api import KernelFactory
    from raxis.overrides.registry import Implementation
    from raxis.ptir.passes.record import BackendPasses

PROJECT = "raxis"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks the functions of a plugin that implement a hook."""


class Specification:
    """The hooks. Each returns what the plugin adds; core checks and registers it, so that a plugin that
    raises half-way has added nothing."""

    @hookspec
    def raxis_ops(self) -> Sequence[Any]:  # type: ignore[empty-body]
        """Records of ops to add to the op table."""

    @hookspec
    def raxis_composites(self, device: str) -> Mapping[str, KernelFactory]:  # type: ignore[empty-body]
        """Kernels for whole composites on devices of type `device`, by op name."""

    @hookspec
    def raxis_passes(self, device: str) -> BackendPasses:  # type: ignore[empty-body]
        """Passes that the compiler runs on programs for devices of type `device`, by stage, after the backend's own."""

    @hookspec
    def raxis_functional_overrides(  # type: ignore[empty-body]
        self,
    ) -> Mapping[str, Mapping[str, Callable[..., Any] | Implementation]]:
        """Implementations of functionals: ``{functional: {name: function}}``, or with a predicate `Implementation`."""

    @hookspec
    def raxis_checkpoint_formats(self) -> Sequence[Any]:  # type: ignore[empty-body]
        """Checkpoint formats for `raxis.load` and `raxis.save`."""


class Contribution(NamedTuple):
    """What one plugin returned from a hook."""

    plugin: str
    result: Any


class Extensions:
    """The extension plugins of one environment.

    Args:
        settings: the environment variables; by default the process's.
        path: where distributions are looked for; by default ``sys.path`` at first use.
    """

    def __init__(self, settings: Settings | None = None, path: Sequence[str] | None = None) -> None:
        self._settings = Settings() if settings is None else settings
        self._path = path
        self._lock = threading.RLock()
        self._manager: pluggy.PluginManager | None = None
        self._rows: dict[str, Row] = {}

    def collect(self, hook: str, **arguments: Any) -> list[Contribution]:
        """Call `hook` in every plugin that implements it; loads the plugins at first use.

        A plugin that raises is left out from now on, with a RuntimeWarning that names it and the reason.

        Raises:
            ValueError: if there is no such hook, or an environment variable of Raxis is malformed.

        Example:
            >>> Extensions(path=[]).collect("raxis_passes")
            []
        """
        if not hasattr(Specification, hook):
            raise ValueError(messages.unknown_hook(hook, hook_names()))
        manager = self._loaded()
        found = []
        for implementation in list(getattr(manager.hook, hook).get_hookimpls()):
            given = [arguments[name] for name in implementation.argnames]
            try:
                found.append(Contribution(implementation.plugin_name, implementation.function(*given)))
            except (Exception, SystemExit) as error:
                manager.unregister(name=implementation.plugin_name)
                self._fail(implementation.plugin_name, messages.raised(hook, error))
        return found

    def rows(self) -> list[Row]:
        """One row for each extension plugin, its entry-point name in place of a device; loads nothing."""
        with self._lock:
            found = {_key(entry): self._found(entry) for entry in self._entries()}
            return list({**found, **self._rows}.values())

    def _entries(self) -> list[EntryPoint]:
        return discovery.scan(discovery.EXTENSIONS, self._path)

    def _found(self, entry: EntryPoint) -> Row:
        names = (entry.name, entry.distribution)
        refusal = self._settings.selection(names).refusal(*names)
        return _row(entry, State.FOUND if refusal is None else State.BLOCKED, refusal or "")

    def _loaded(self) -> pluggy.PluginManager:
        with self._lock:
            if self._manager is None:
                manager = pluggy.PluginManager(PROJECT)
                manager.add_hookspecs(Specification)
                # Set first: a plugin whose import calls a hook must not start loading again.
                self._manager = manager
                for entry in self._entries():
                    self._load(manager, entry)
            return self._manager

    def _load(self, manager: pluggy.PluginManager, entry: EntryPoint) -> None:
        key = _key(entry)
        self._rows[key] = self._found(entry)
        if self._rows[key].state is State.BLOCKED:
            return
        try:
            _register(manager, key, _imported(entry))
        except (Exception, SystemExit) as error:
            if manager.has_plugin(key):
                manager.unregister(name=key)
            self._fail(key, messages.raised(f"loading {entry.value}", error))
        else:
            self._rows[key] = _row(entry, State.READY, "")

    def _fail(self, key: str, reason: str) -> None:
        self._rows[key] = self._rows[key]._replace(state=State.FAILED, reason=reason)
        warnings.warn(messages.extension_failed(key, reason), RuntimeWarning, stacklevel=3)


def hook_names() -> list[str]:
    """The names of all hooks."""
    return [name for name in vars(Specification) if name.startswith("raxis_")]


def _key(entry: EntryPoint) -> str:
    return f"{entry.name} ({entry.distribution} {entry.version})"


def _row(entry: EntryPoint, state: State, reason: str) -> Row:
    return Row(entry.name, entry.distribution, entry.version, state, reason)


def _imported(entry: EntryPoint) -> Any:
    from pkgutil import resolve_name

    return resolve_name(entry.value)


def _register(manager: pluggy.PluginManager, key: str, plugin: Any) -> None:
    """Register `plugin`; pluggy checks the arguments of its hooks, and their names are checked here."""
    manager.register(plugin, name=key)
    for caller in manager.get_hookcallers(plugin) or []:
        if not caller.has_spec():
            raise ValueError(messages.unknown_hook(caller.name, hook_names()))


default = Extensions()
"""The extension plugins of this process; it locks itself, and tests make their own."""

collect = default.collect
