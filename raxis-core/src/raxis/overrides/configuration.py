"""Policies from outside of the program: the environment, and a file.

Both are read once, at the first call of an op, and again by `refresh`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis.backends.settings import Settings

_lock = threading.RLock()
_begun = threading.Event()


def begin() -> None:
    """Read the configuration if nobody has yet.

    Raises:
        ValueError: naming its origin, if a policy is not understood.
    """
    if not _begun.is_set():
        with _lock:
            if not _begun.is_set():
                refresh()


def refresh() -> None:
    """Read RAXIS_OVERRIDES and the configuration file again.

    Raises:
        ValueError: naming its origin, if a policy is not understood; the policies before remain.
    """
    with _lock:
        before = _begun.is_set()
        # Set first: checking policies may import plugins that call ops.
        _begun.set()
        try:
            _read()
        except BaseException:
            if not before:
                _begun.clear()
            raise


def _read() -> None:
    from raxis.backends.settings import Settings
    from raxis.overrides import scopes

    settings = Settings()
    file, environment = from_file(settings), from_environment(settings)
    policies = {**file, **environment}
    if policies != scopes.configured():
        scopes.configure(policies)


def from_environment(settings: Settings) -> dict[str, str]:
    """The policies of RAXIS_OVERRIDES.

    Raises:
        ValueError: if one is not understood.
    """
    text = settings.raw("RAXIS_OVERRIDES")
    if text is None:
        return {}
    from raxis.overrides.policies import parsed

    return _checked(parsed(text, "RAXIS_OVERRIDES"), "RAXIS_OVERRIDES")


def from_file(settings: Settings) -> dict[str, str]:
    """The policies of the configuration file; none if there is no file.

    Raises:
        ValueError: if it is not a JSON object of policies that are understood.
    """
    path = settings.overrides_file
    return {} if path is None else _checked(stored(path), str(path))


def stored(path: Path) -> dict[str, str]:
    """What a configuration file says, not yet checked.

    Raises:
        ValueError: if it is no JSON object of strings, or cannot be read.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise ValueError(
            f'{path} must be a JSON object of policies by functional, as in {{"softmax": "composed"}}.'
        )
    return data


def write(path: Path, policies: Mapping[str, str]) -> None:
    """Replace a configuration file, wholly or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    fresh.write_text(json.dumps(dict(sorted(policies.items())), indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def _checked(policies: Mapping[str, str], origin: str) -> dict[str, str]:
    from raxis.overrides.policies import checked

    if not policies:
        return {}
    try:
        return checked(policies)
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from None
