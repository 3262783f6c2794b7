"""This machine: how much memory this process may use, and the lines of its caches."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_LINE = 64
"""Bytes that caches read and write at once."""

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Files with the limit of a container, as control groups of version 2 and 1 show it inside."""
_UNKNOWN = 4 << 30
"""Assumed where the system does not say (Windows): cautious."""


def whole_lines(nbytes: int) -> int:
    """`nbytes`, or an address, rounded up to whole lines of the cache.

    Example:
        >>> [whole_lines(n) for n in (0, 1, 64, 65)]
        [0, 64, 64, 128]
    """
    return -(-nbytes // CACHE_LINE) * CACHE_LINE


def total_memory(control_groups: Path = _CONTROL_GROUPS) -> int:
    """Bytes of physical memory, or of the container's limit if that is less.

    Example:
        >>> total_memory() > 0
        True
    """
    return min([_physical_memory(), *_container_limits(control_groups)])


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def _container_limits(folder: Path) -> list[int]:
    found = []
    for name in _LIMITS:
        try:
            text = (folder / name).read_text().strip()
        except OSError:
            continue
        if text.isdecimal() and int(text) > 0:  # else "max"
            found.append(int(text))
    return found
