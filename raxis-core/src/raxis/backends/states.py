"""What can become of a plugin, and the row that describes it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class State(str, Enum):
    """State of a plugin; every state but `FOUND` and `READY` comes with a reason."""

    FOUND = "found"
    """Installed; no code of it has run beyond its probe."""
    BLOCKED = "blocked"
    """RAXIS_PLUGINS or RAXIS_PLUGINS_BLOCK excludes it; no code of it is imported."""
    INVALID = "invalid"
    """Its entry point breaks the naming rules; no code of it is imported."""
    SHADOWED = "shadowed"
    """Another distribution provides the same device and comes first; no code of it is imported."""
    INCOMPATIBLE = "incompatible"
    """It was made for another version of raxis-core."""
    UNAVAILABLE = "unavailable"
    """Its own probe says that the device cannot be used here."""
    FAILED = "failed"
    """Its code raised, or broke the protocol."""
    READY = "ready"
    """Loaded."""

    def __str__(self) -> str:
        return self.value


class Row(NamedTuple):
    """One plugin, or one built-in device, as `raxis.backends.list` reports it."""

    device: str
    distribution: str
    version: str
    state: State
    reason: str
