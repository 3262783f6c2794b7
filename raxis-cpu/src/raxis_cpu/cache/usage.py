"""How often the cache served, over all processes: each adds one record to a file when it ends."""

from __future__ import annotations

import atexit
import os
import struct
from contextlib import suppress

from raxis_cpu.cache.folder import Folder

_RECORD = struct.Struct("<qq")
_MOST_BYTES = 4096
"""A longer file is rewritten as one record."""


class Usage:
    """Counts look-ups of this process and adds them to a file at exit; a forked child counts for itself.

    Args:
        folder: where the file is. Unless it is usable, nothing is counted.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._path = folder.path / "usage"
        self._counts = [0, 0]
        atexit.register(self.save)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._counts = [0, 0]

    def count(self, *, hit: bool) -> None:
        """Count one look-up."""
        self._counts[0 if hit else 1] += 1

    def totals(self) -> tuple[int, int]:
        """Hits and misses."""
        saved = self._saved()
        return saved[0] + self._counts[0], saved[1] + self._counts[1]

    def _saved(self) -> tuple[int, int]:
        try:
            content = self._path.read_bytes()
        except OSError:
            return 0, 0
        whole = len(content) // _RECORD.size * _RECORD.size
        records = list(_RECORD.iter_unpack(content[:whole]))
        return sum(hits for hits, _ in records), sum(misses for _, misses in records)

    def save(self) -> None:
        """Add the counts of this process to the file."""
        record, any_counted = _RECORD.pack(*self._counts), any(self._counts)
        self._reset()
        if any_counted and self._folder.is_usable():
            with suppress(OSError):
                self._append(record)

    def _append(self, record: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            file.write(record)
            size = file.tell()
        if size > _MOST_BYTES:
            merged = self._path.with_name(f"{self._path.name}.o.{os.getpid()}")
            merged.write_bytes(_RECORD.pack(*self._saved()))
            merged.replace(self._path)

    def clear(self) -> None:
        """Forget all counts."""
        self._reset()
        with suppress(OSError):
            self._path.unlink()
