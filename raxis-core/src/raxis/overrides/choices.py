"""Measured choices on disk: one small file per case in the cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from raxis.backends import registry
from raxis.backends.settings import Settings
from raxis.backends.states import State
from raxis.device import Device
from raxis.version import __version__


class Case(NamedTuple):
    """What a choice depends on; another case is measured anew.

    Attributes:
        functional: its name.
        arguments: dtypes, shapes and strides of tensors, and all other arguments, as text.
        tracked: whether the backward half was measured too.
        implementations: the names of those that admit the arguments.
        origins: the device, and who made implementations and backend, with versions.
    """

    functional: str
    arguments: str
    tracked: bool
    implementations: tuple[str, ...]
    origins: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The case as JSON gives it back."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in self._asdict().items()
        }


def origin_of(device: Device) -> str:
    """The device and its software, with versions."""
    backend, index = registry.default.resolve(device)
    rows = registry.default.rows()
    served = [
        f"{row.distribution} {row.version}"
        for row in rows
        if row.device == device.type and row.state is State.READY
    ]
    name = backend.properties(index).name
    return f"{device.type}: {name}, {', '.join(served)}, raxis-core {__version__}, {backend.get_num_threads()} threads"


def load(case: Case) -> str | None:
    """The stored choice for a case; None if there is none."""
    path = _path(case)
    found = None if path is None else _read(path)
    if found is None or found["case"] != case.as_json() or found["choice"] not in case.implementations:
        return None
    return str(found["choice"])


def save(case: Case, choice: str, seconds: Mapping[str, float]) -> None:
    """Store a choice with the times it follows from; a folder that cannot be written to is left alone."""
    path = _path(case)
    if path is None:
        return
    times = {name: round(second * 1e6, 3) for name, second in seconds.items()}
    text = json.dumps({"case": case.as_json(), "choice": choice, "microseconds": times}, indent=1)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)


def stored(functional: str) -> Iterator[dict[str, Any]]:
    """The stored choices of a functional: ``case``, ``choice`` and ``microseconds`` by implementation."""
    for path in _files():
        found = _read(path)
        if found is not None and found["case"].get("functional") == functional:
            yield found


def forget() -> None:
    """Delete all stored choices."""
    for path in _files():
        with suppress(OSError):
            path.unlink()


def _files() -> list[Path]:
    folder = _folder()
    return [] if folder is None else sorted(folder.glob("*.json"))


def _folder() -> Path | None:
    cache = Settings().cache_folder
    return None if cache is None else cache / "overrides"


def _path(case: Case) -> Path | None:
    folder = _folder()
    digest = hashlib.blake2b(json.dumps(case.as_json()).encode(), digest_size=16).hexdigest()
    return None if folder is None else folder / f"{digest}.json"


def _read(path: Path) -> dict[str, Any] | None:
    """A file's content; None for what is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = (
        isinstance(found, dict)
        and isinstance(found.get("case"), dict)
        and {"choice", "microseconds"} <= set(found)
    )
    return found if whole else None
