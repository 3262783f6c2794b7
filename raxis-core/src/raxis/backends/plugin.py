"""One device plugin: import and handshake, probe, load; each at most once, none able to disturb others."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar, cast

from raxis.backends import messages
from raxis.backends.api import API, Backend
from raxis.backends.discovery import EntryPoint
from raxis.backends.states import State
from raxis.errors import BackendError
from raxis.logs import listener

_T = TypeVar("_T")


@dataclass(frozen=True)
class Outcome:
    """Where a plugin ended: a state with its reason, what was raised, or the loaded backend."""

    state: State
    reason: str = ""
    cause: BaseException | None = None
    backend: Backend | None = None
    device_count: int = 0


class Plugin:
    """An entry point and what became of it.

    Attributes:
        entry: the entry point.
        outcome: None while nothing final is known (state `State.FOUND`).
    """

    def __init__(self, entry: EntryPoint, core_version: str) -> None:
        self.entry = entry
        self.outcome: Outcome | None = None
        self._core_version = core_version
        self._module: ModuleType | None = None
        self._lock = threading.RLock()
        self._owner: int | None = None

    @property
    def ready(self) -> bool:
        """Whether the backend is loaded."""
        return self.outcome is not None and self.outcome.state is State.READY

    @property
    def label(self) -> str:
        """Distribution and version, as messages name the plugin."""
        return f"{self.entry.distribution} {self.entry.version}"

    def probe(self) -> Outcome | None:
        """Import, handshake and probe; None if all passed and the device is not loaded yet."""
        with self._exclusive():
            if self.outcome is None and (probed := self._probed()) is not None:
                self._settle(probed)
            return self.outcome

    def load(self) -> Outcome:
        """Import, handshake, probe and load.

        Raises:
            BackendError: if the plugin calls back here while it is being loaded.
        """
        with self._exclusive():
            if self.outcome is None:
                probed = self._probed()
                self._settle(self._guarded("load()", self._load) if probed is None else probed)
            return cast("Outcome", self.outcome)

    def _settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        log = listener("plugins")
        if log is not None:
            reason = f": {outcome.reason}" if outcome.reason else ""
            log.info("device %s, %s is %s%s", self.entry.name, self.label, outcome.state, reason)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        if self._owner == threading.get_ident():
            raise BackendError(messages.reentrant(self.entry.name, self.label), self.entry.name)
        with self._lock:
            self._owner = threading.get_ident()
            try:
                yield
            finally:
                self._owner = None

    def _guarded(self, step: str, run: Callable[[], _T]) -> _T | Outcome:
        """Run a step of plugin code; KeyboardInterrupt alone passes and leaves the plugin as found."""
        try:
            return run()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit and whatever else a plugin invents
            return Outcome(State.FAILED, messages.raised(step, error), error)

    def _probed(self) -> Outcome | None:
        """None when handshake and probe passed."""
        if self._module is not None:
            return None
        imported = self._guarded(f"importing {self.entry.value}", self._handshake)
        return imported or self._guarded("probe()", self._ask)

    def _handshake(self) -> Outcome | None:
        module = importlib.import_module(self.entry.value)
        for member, name in (("API", "API"), ("probe", "probe()"), ("load", "load()")):
            if not hasattr(module, member):
                return Outcome(State.FAILED, messages.missing_member(self.entry.value, name))
        return self._compared(module.API)

    def _compared(self, api: object) -> Outcome | None:
        if not (isinstance(api, tuple) and len(api) == 2 and all(type(part) is int for part in api)):
            return Outcome(State.INCOMPATIBLE, messages.malformed_api(api))
        if api[0] == API[0] and api[1] <= API[1]:
            return None
        reason = messages.api_mismatch(self.entry.distribution, api, API, self._core_version)
        return Outcome(State.INCOMPATIBLE, reason)

    def _ask(self) -> Outcome | None:
        module = importlib.import_module(self.entry.value)
        answer = module.probe()
        if answer is None:
            self._module = module
            return None
        if isinstance(answer, str) and answer.strip():
            return Outcome(State.UNAVAILABLE, answer.strip())
        return Outcome(State.FAILED, messages.bad_probe(answer))

    def _load(self) -> Outcome:
        backend = cast("ModuleType", self._module).load()
        if not isinstance(backend, Backend):
            return Outcome(State.FAILED, messages.bad_load(backend))
        count = backend.device_count()
        if type(count) is not int or count < 0:
            return Outcome(State.FAILED, messages.bad_count(count))
        if count == 0:
            return Outcome(State.UNAVAILABLE, messages.no_devices())
        return Outcome(State.READY, backend.deferred_reason or "", backend=backend, device_count=count)
