"""The zip archive of a checkpoint: names, alignment, reading and writing of entries."""

from __future__ import annotations

import os
import secrets
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

_ALIGNMENT = 64
_LOCAL_HEADER = 30
_ZIP64_EXTRA = 20
_DATE = (1980, 1, 1, 0, 0, 0)
_PADDING_TAG = 0x4246


class Writer:
    """Writes entries uncompressed, their data aligned to 64 bytes so that they can be memory-mapped."""

    def __init__(self, stream: IO[bytes], root: str) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._root = root

    def add(self, name: str, data: bytes | memoryview) -> None:
        """One entry below the root."""
        size = len(data)
        info = zipfile.ZipInfo(f"{self._root}/{name}", _DATE)
        info.file_size = size
        large = size * 1.05 > zipfile.ZIP64_LIMIT
        header = _LOCAL_HEADER + len(info.filename.encode()) + (_ZIP64_EXTRA if large else 0) + 4
        padding = -(self._zip.start_dir + header) % _ALIGNMENT
        info.extra = struct.pack("<HH", _PADDING_TAG, padding) + bytes(padding)
        with self._zip.open(info, "w", force_zip64=large) as entry:
            entry.write(data)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Write the directory, without which the archive cannot be read; after an error, write no more."""
        if kind is not None:
            self._zip.fp = None
        self._zip.close()


class Reader:
    """Reads the entries of an archive, whatever its root is called.

    Raises:
        RuntimeError: if it is no checkpoint.
    """

    def __init__(self, source: Any, mapped: Path | None = None) -> None:
        try:
            self._zip = zipfile.ZipFile(source)
        except zipfile.BadZipFile as error:
            raise RuntimeError(
                "the file is no zip archive: either it is damaged, or it was saved in PyTorch's format from before "
                "version 1.6, which is not supported; load it with PyTorch and save it anew."
            ) from error
        pickles = [name for name in self._zip.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise RuntimeError(
                f"the archive is no checkpoint: expected one data.pkl in it, but found {len(pickles)}."
            )
        self._root = pickles[0].removesuffix("data.pkl")
        self._mapped = mapped

    def read(self, name: str, default: bytes | None = None) -> bytes:
        """The bytes of a small entry."""
        if default is not None and self._root + name not in self._zip.namelist():
            return default
        return self._zip.read(self._root + name)

    def size(self, name: str) -> int:
        """The bytes of an entry's data.

        Raises:
            RuntimeError: if there is no such entry.
        """
        try:
            return self._zip.getinfo(self._root + name).file_size
        except KeyError:
            raise RuntimeError(f"the checkpoint refers to {name}, which is not in the archive.") from None

    def fill(self, name: str, target: np.ndarray) -> None:
        """Read an entry into a uint8 array of its size."""
        with self._zip.open(self._root + name) as entry:
            view = target.data
            while view:
                count = entry.readinto(view)  # type: ignore[attr-defined]
                if not count:
                    raise RuntimeError(f"the archive ends within {name}; it is damaged.")
                view = view[count:]

    def map(self, name: str) -> np.ndarray | None:
        """An entry's bytes as private copy-on-write memory over the file; None where that is impossible."""
        info = self._zip.getinfo(self._root + name)
        if self._mapped is None or info.compress_type != zipfile.ZIP_STORED or not info.file_size:
            return None
        with self._mapped.open("rb") as stream:
            stream.seek(info.header_offset + 26)
            name_length, extra_length = struct.unpack("<HH", stream.read(4))
        start = info.header_offset + _LOCAL_HEADER + name_length + extra_length
        return np.asarray(np.memmap(self._mapped, np.uint8, "c", start, (info.file_size,)))

    def close(self) -> None:
        """Close the archive (not a file object given by the user)."""
        self._zip.close()


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file written beside `path` that takes its place once all went well."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}.partial")
    try:
        with beside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
