"""Finds entry points by reading ``entry_points.txt`` files.

Importing `importlib.metadata` costs more than the rest of the scan by a factor of 30, so directories are
listed here; only archives on the path (zip, egg) go through `importlib_metadata`. Nothing is imported.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from raxis.backends.settings import normalised

BACKENDS = "raxis.backends"
"""Entry-point group of devices; the name is the device type, the value a module."""
EXTENSIONS = "raxis.plugins"
"""Entry-point group of `raxis.hooks` implementations."""

_METADATA_SUFFIXES = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """One line of a distribution's ``entry_points.txt``; `location` is its metadata folder."""

    name: str
    value: str
    distribution: str
    version: str
    location: str


def scan(group: str, path: Sequence[str] | None = None) -> list[EntryPoint]:
    """All entry points of `group` on `path` (by default ``sys.path``), sorted by distribution and value.

    Of a distribution that is installed twice, only the one that comes first on the path counts: that is the
    one whose code would be imported.
    """
    seen: set[str] = set()
    found = []
    for entry in sys.path if path is None else path:
        distributions = sorted(_distributions(entry or os.curdir, group), key=_precedence)
        for name, version, location, text in distributions:
            if normalised(name) not in seen:
                seen.add(normalised(name))
                found += [EntryPoint(*pair, name, version, location) for pair in _parse(text, group)]
    return sorted(found, key=lambda point: (normalised(point.distribution), point.name, point.value))


_Distribution = tuple[str, str, str, str]
"""Name, version, location and the text of ``entry_points.txt``."""


def _precedence(distribution: _Distribution) -> tuple[str, list[int]]:
    """Newest first among leftovers of one distribution in the same folder."""
    name, version, _, _ = distribution
    return normalised(name), [-int(number) for number in re.findall(r"\d+", version)]


def _distributions(entry: str, group: str) -> Iterator[_Distribution]:
    """The distributions in one path entry whose entry points mention `group`."""
    try:
        with os.scandir(entry) as items:
            folders = [(item.path, item.name) for item in items if _is_metadata(item.name)]
    except NotADirectoryError:
        yield from _archived(entry, group)
        return
    except OSError:  # missing or unreadable: Python's own import skips it too
        return
    for folder, name in folders:
        text = _read(f"{folder}/entry_points.txt")
        if group in text:
            yield *_identity(folder, name), folder, text


def _is_metadata(name: str) -> bool:
    # pip renames what it is replacing to ~name; an interrupted upgrade leaves such folders behind.
    return name.endswith(_METADATA_SUFFIXES) and not name.startswith("~")


def _archived(entry: str, group: str) -> Iterator[_Distribution]:
    import importlib_metadata

    for distribution in importlib_metadata.distributions(path=[entry]):
        text = distribution.read_text("entry_points.txt") or ""
        if group in text:
            yield distribution.metadata["Name"], distribution.version, entry, text


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib is slow to import
            return file.read()
    except OSError:
        return ""


def _identity(folder: str, folder_name: str) -> tuple[str, str]:
    """Name and version from the metadata file, else from the folder's own name."""
    text = _read(f"{folder}/METADATA") or _read(f"{folder}/PKG-INFO")
    fields = dict(line.split(": ", 1) for line in text.split("\n\n", 1)[0].splitlines() if ": " in line)
    stem, _, version = folder_name.rsplit(".", 1)[0].partition("-")
    return fields.get("Name", stem), fields.get("Version", version or "unknown").strip()


def _parse(text: str, group: str) -> Iterable[tuple[str, str]]:
    """The ``name = value`` lines of section ``[group]``."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == group and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()
