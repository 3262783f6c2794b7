"""A folder that only its user can write: reading, writing and trimming it next to other processes.

Nothing here raises OSError: what cannot be read is missing, and what cannot be written is left out.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

_TOUCH_SECONDS = 3600.0
"""How exactly the time of the last use is kept."""
_ABANDONED_SECONDS = 3600.0
"""A file that was to be renamed and is older than this was left by a process that died."""
_TRIMMED = 0.75
"""The share of the limit that trimming leaves, so that it is rarely needed."""


class File(NamedTuple):
    """A file in the folder."""

    path: Path
    size: int
    used: float


class Folder:
    """The files of one folder with the suffix of entries.

    Args:
        path: the folder; it is made, for its user alone, when something is written.
        limit: bytes that `trim` leaves at most.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self.limit = limit
        self._reported = False

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None if there is none that can be trusted."""
        try:
            return self._read(name) if self.is_usable() else None
        except FileNotFoundError:
            return None
        except OSError as error:
            self.report(str(error))
            return None

    def is_usable(self) -> bool:
        """Whether the folder is there and nobody else can write it."""
        try:
            reason = distrust(self.path.stat())
        except FileNotFoundError:
            return False
        except OSError as error:
            reason = f"cannot be used: {error}"
        if reason is not None:
            self.report(f"{self.path} {reason}")
        return reason is None

    def _read(self, name: str) -> bytes | None:
        path = self.path / name
        with open(os.open(path, _READ), "rb") as file:  # noqa: PTH123  flags that pathlib does not have
            status = os.fstat(file.fileno())
            reason = distrust(status) if stat.S_ISREG(status.st_mode) else "is no regular file"
            if reason is not None:
                self.report(f"{path} {reason}")
                return None
            content = file.read()
        if time.time() - status.st_mtime > _TOUCH_SECONDS:
            with suppress(OSError):
                os.utime(path)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Put a file there, or replace it, in one step."""
        temporary = self.path / f"{name}.{os.getpid()}-{os.urandom(6).hex()}"
        try:
            self.path.mkdir(0o700, parents=True, exist_ok=True)
            if self.is_usable():
                self._write(temporary, content)
                temporary.replace(self.path / name)
        except OSError as error:
            self.report(str(error))
            with suppress(OSError):
                temporary.unlink()

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        with open(os.open(path, _CREATE, 0o600), "wb") as file:  # noqa: PTH123
            file.write(content)

    def files(self) -> list[File]:
        """The entries; none if the folder is not usable."""
        return [file for file in self._all_files() if file.path.suffix == ".o"]

    def _all_files(self) -> Iterator[File]:
        try:
            # A Path for every name would cost more than the listing.
            names = os.listdir(self.path) if self.is_usable() else []  # noqa: PTH208
        except OSError:
            return
        for name in names:
            # Another process may have removed it meanwhile.
            with suppress(OSError):
                status = (self.path / name).lstat()
                if stat.S_ISREG(status.st_mode):
                    yield File(self.path / name, status.st_size, status.st_mtime)

    def trim(self) -> None:
        """Remove what was not used for longest, if there is more than the limit, and abandoned files."""
        for file in self._all_files():
            if ".o." in file.path.name and time.time() - file.used > _ABANDONED_SECONDS:
                _remove(file)
        files = sorted(self.files(), key=lambda file: file.used)
        total = sum(file.size for file in files)
        if total <= self.limit:
            return
        for file in files:
            if total <= self.limit * _TRIMMED:
                return
            total -= file.size * _remove(file)

    def clear(self) -> int:
        """Remove every entry; the number of entries that are gone."""
        return sum(_remove(file) for file in self._all_files() if ".o" in file.path.suffixes)

    def report(self, problem: str) -> None:
        """Say in the log, once, why the cache is not used."""
        if self._reported:
            return
        self._reported = True
        import logging

        logging.getLogger("raxis_cpu.cache").debug("The kernel cache is not used: %s", problem)


def distrust(status: os.stat_result) -> str | None:
    """Why a file or folder may hold what somebody else put there; None if only its user can have written it.

    On Windows the user's profile is protected by its access list, and there is nothing to look at here.
    """
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, not to user {os.geteuid()}"
    if status.st_mode & _OTHERS_MAY_WRITE:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _remove(file: File) -> bool:
    """Whether it could be removed."""
    try:
        file.path.unlink()
    except OSError:
        return False
    return True
