"""What can become of a plugin, and the row that describes it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class State(str, Enum):
    """State of a plugin; every state but `FOUND` and `READY` comes with a reason."""

    FOUND = "found"
    """Installed; no code of it has run beyond its probe. Name its device."""
    BLOCKED = "blocked"
    """RAXIS_PLUGINS, RAXIS_PLUGINS_BLOCK or RAXIS_CPU excludes it; no code of it is imported. Change the variable."""
    INVALID = "invalid"
    """Its entry point breaks the naming rules; no code of it is imported. Tell its author."""
    SHADOWED = "shadowed"
    """Another distribution provides the same device and comes first; no code of it is imported. Block the other one."""
    INCOMPATIBLE = "incompatible"
    """It was made for another version of raxis-core or its API. Run the pip command in the reason."""
    UNAVAILABLE = "unavailable"
    """Its probe says no, there are no devices, or another package excludes it. See the reason."""
    FAILED = "failed"
    """Its code raised, or broke the protocol. See the reason and the cause of the error."""
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
