"""Cases that a plugin's author knows to fail, with the reason: data in the plugin's own ``pyproject.toml``.

::

    [tool.raxis.testing]
    exclude = [{ case = "primitives/eig[*]", reason = "libfoo has no general eigenvalue solver." }]
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from raxis.testing.case import Case


@dataclass(frozen=True)
class Exclusion:
    """A shell pattern over ids of cases, and why these fail. ``[`` stands for itself.

    Example:
        >>> Exclusion("primitives/eig[*]", "No solver.").matches(Case("primitives", "eig[float32]", print))
        True
    """

    case: str
    reason: str

    def matches(self, case: Case) -> bool:
        """Whether it is about a case."""
        return fnmatchcase(case.id, self.case.replace("[", "[[]"))


def read(path: Path | None) -> list[Exclusion]:
    """The exclusions in a ``pyproject.toml``; none without a file.

    Raises:
        ValueError: if an entry is no table of a case and a reason.
    """
    if path is None or not path.is_file():
        return []
    settings = _parsed(path).get("tool", {}).get("raxis", {}).get("testing", {})
    return [_exclusion(entry, path) for entry in settings.get("exclude", [])]


def _exclusion(entry: Any, path: Path) -> Exclusion:
    texts = isinstance(entry, dict) and all(
        isinstance(value, str) and value.strip() for value in entry.values()
    )
    if not texts or set(entry) != {"case", "reason"}:
        raise ValueError(
            f"{path}: an entry of tool.raxis.testing.exclude must be a table with the texts `case` and `reason`, "
            f"but is {entry!r}."
        )
    return Exclusion(entry["case"], entry["reason"])


def _parsed(path: Path) -> dict[str, Any]:
    library = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    parsed: dict[str, Any] = library.loads(path.read_text(encoding="utf-8"))
    return parsed


def nearest_pyproject(start: Path) -> Path | None:
    """The ``pyproject.toml`` in a folder or the closest folder above it."""
    return next(
        (
            folder / "pyproject.toml"
            for folder in (start, *start.parents)
            if (folder / "pyproject.toml").is_file()
        ),
        None,
    )
