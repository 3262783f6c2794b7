"""The plugin as a package: entry point, handshake, probe, and that it leaves everything else alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from raxis.backends import discovery, registry
from raxis.backends.api import API, Backend
from raxis.backends.discovery import EntryPoint
from raxis.backends.states import State
from raxis.testing.case import Case, Skipped, Subject, is_sentence, named, require

LEVEL = "packaging"

_HEAVY = ("numpy", "ml_dtypes", "raxis", "llvmlite", "pyopencl", "cupy", "torch")
_SECONDS = 120

_IMPORT = f"""
import importlib, sys
sys.path[:] = {{path!r}}
before = set(sys.modules)
module = importlib.import_module({{module!r}})
heavy = sorted(set({_HEAVY!r}) & (set(sys.modules) - before))
assert not heavy, f"importing the entry point's module imports {{{{heavy}}}}; leave that to load()."
answer = module.probe()
assert answer is None or isinstance(answer, str), f"probe() must give None or a sentence, not {{{{answer!r}}}}."
"""
_LOAD = """
import sys, warnings
sys.path[:] = {path!r}
import raxis, raxis.backends
from raxis.tensor import Tensor
def state():
    return [dict(vars(Tensor)), dict(vars(raxis.nn.Module)), list(warnings.filters), raxis.get_default_device(),
            raxis.get_default_dtype(), sys.excepthook]
before = state()
assert {module!r} not in sys.modules, "import raxis imports the plugin."
raxis.ones(2).sum().item()
assert {device!r} == "cpu" or {module!r} not in sys.modules, "using cpu imports the plugin."
raxis.backends.get({device!r})
names = ("Tensor", "nn.Module", "warnings.filters", "the default device", "the default dtype", "sys.excepthook")
changed = [name for name, one, other in zip(names, before, state()) if one != other]
assert not changed, f"loading the device changes {{changed}}."
"""


def _entry(subject: Subject) -> EntryPoint:
    """The entry point that provides the device."""
    found = [entry for entry in discovery.scan(discovery.BACKENDS) if entry.name == subject.type]
    if not found or not _served_by_plugin(subject):
        raise Skipped("raxis-core itself serves the device.")
    return found[0]


def _served_by_plugin(subject: Subject) -> bool:
    served = [
        row for row in registry.default.rows() if row.device == subject.type and row.state is State.READY
    ]
    return any(row.distribution != registry.CORE for row in served)


def _child(code: str, subject: Subject) -> None:
    entry = _entry(subject)
    text = code.format(path=sys.path, module=entry.value, device=subject.type)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    message = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}"
    require(done.returncode == 0, f"in a process of its own: {message}")


def _loaded(subject: Subject) -> None:
    require(isinstance(subject.backend, Backend), f"load() must return a Backend, not {subject.backend!r}.")


def _one_distribution(subject: Subject) -> None:
    _entry(subject)
    rows = [row for row in registry.default.rows() if row.device == subject.type]
    owners = [row.distribution for row in rows if row.distribution != registry.CORE]
    require(len(set(owners)) == 1, f"several distributions provide {subject.type}: {', '.join(owners)}.")
    require(rows[0].version not in ("", "unknown"), f"distribution {rows[0].distribution} has no version.")


def _handshake(subject: Subject) -> None:
    module = sys.modules[_entry(subject).value]
    require(module.API[0] == API[0] and module.API[1] <= API[1], f"API is {module.API}; this core has {API}.")
    answer = module.probe()
    require(answer is None, f"the device is in use, but probe() says {answer!r}.")


def _light_import(subject: Subject) -> None:
    _child(_IMPORT, subject)


def _leaves_the_rest_alone(subject: Subject) -> None:
    _child(_LOAD, subject)


def _reasons(subject: Subject) -> None:
    """A reason not to use the device is a sentence; there is none for one that is in use."""
    reason = registry.default.reason(subject.place.device)
    require(reason is None, f"the device is in use, but unavailable: {reason}")
    deferred = subject.backend.deferred_reason
    require(
        deferred is None or is_sentence(deferred), f"deferred_reason must be a sentence, but is {deferred!r}."
    )


def cases() -> Iterator[Case]:
    """Cases of the package."""
    checks = {
        "loaded": _loaded,
        "one_distribution": _one_distribution,
        "handshake": _handshake,
        "light_import": _light_import,
        "leaves_the_rest_alone": _leaves_the_rest_alone,
        "reasons": _reasons,
    }
    yield from named(LEVEL, checks)
