"""The cache of this user: which folder, which keys, and how often it served."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import llvmlite

from raxis import dtypes
from raxis.backends.settings import Settings
from raxis.logs import listener
from raxis.schedule import loops
from raxis.version import __version__
from raxis_cpu.cache.entry import name_of, pack, unpack
from raxis_cpu.cache.folder import Folder
from raxis_cpu.cache.usage import Usage

if TYPE_CHECKING:
    from raxis_cpu.llvm.compile import Target

LIMIT = 256 << 20
"""Bytes that entries may take; what was not used for longest goes first."""
_WRITES_PER_TRIM = 64
"""One write in so many looks at the size of the whole."""


def object_code(program: str, target: Target, make: Callable[[], bytes]) -> bytes:
    """The object code of a program: from the cache, else made and kept there.

    Args:
        program: the whole text that decides what `make` makes, given the target and the sources of raxis_cpu.llvm.
        target: what the code is for.
        make: the compiler.

    Raises:
        ValueError: if RAXIS_CACHE has a value that is not understood.
    """
    folder = _folder()
    if folder is None:
        return _made(program, make)
    key = f"{_origin(target)}\n\n{program}"
    name = name_of(key)
    entry = folder.read(name)
    code = None if entry is None else unpack(key, entry)
    _usage(folder).count(hit=code is not None)
    if code is None:
        code = _made(program, make)
        folder.write(name, pack(key, code))
        if int(name[:8], 16) % _WRITES_PER_TRIM == 0:
            folder.trim()
    elif (log := listener("kernels")) is not None:
        log.info("%s: from the cache", _title(program))
    return code


def _made(program: str, make: Callable[[], bytes]) -> bytes:
    """What `make` makes, which is logged."""
    log = listener("kernels")
    if log is None:
        return make()
    start = perf_counter()
    code = make()
    log.info("%s: compiled in %.1f ms, %d B", _title(program), (perf_counter() - start) * 1e3, len(code))
    log.debug("%s", program)
    return code


def _title(program: str) -> str:
    """The first line of a program, which names it."""
    return program.lstrip().split("\n", 1)[0][:100]


def summary() -> dict[str, Any]:
    """Where the cache is, what it holds, and how often it served, all finished processes and this one taken together.

    `folder` is None if nothing is kept: with RAXIS_CACHE=off, and without a home. `hits` and `misses` count look-ups.
    """
    folder = _folder()
    if folder is None:
        return {"folder": None, "entries": 0, "bytes": 0, "limit": LIMIT, "hits": 0, "misses": 0}
    files = folder.files()
    hits, misses = _usage(folder).totals()
    size = sum(file.size for file in files)
    return {
        "folder": str(folder.path),
        "entries": len(files),
        "bytes": size,
        "limit": folder.limit,
        "hits": hits,
        "misses": misses,
    }


def clear() -> int:
    """Remove all entries; how many there were. Code that is loaded stays loaded."""
    folder = _folder()
    if folder is None:
        return 0
    _usage(folder).clear()
    return folder.clear()


def _folder() -> Folder | None:
    path = Settings().cache_folder
    # Other devices keep their code beside it.
    return None if path is None else _folder_at(path / "cpu")


@lru_cache(maxsize=4)
def _folder_at(path: Path) -> Folder:
    return Folder(path, LIMIT)


@lru_cache(maxsize=4)
def _usage(folder: Folder) -> Usage:
    return Usage(folder)


@lru_cache(maxsize=4)
def _origin(target: Target) -> str:
    """What code depends on beside the program: versions, sources, the layout of Python's objects, the processor."""
    lines = (
        f"raxis-cpu {__version__}",
        f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, target.llvm_version))}",
        f"sources {_sources()}",
        f"{sys.implementation.cache_tag}, objects {object.__basicsize__}, bytes {bytes.__basicsize__}",
        f"{target.triple} {target.cpu} {target.features}",
    )
    return "\n".join(lines)


def _sources() -> str:
    """A hash of what writes and compiles code, which changes without a version while Raxis is developed."""
    found = blake2b(digest_size=16)
    generator = sorted((Path(__file__).parent.parent / "llvm").rglob("*.py"))
    for path in (Path(loops.__file__), Path(dtypes.__file__), *generator):
        # There are no files in an archive; the version alone decides there.
        with suppress(OSError):
            content = path.read_bytes()
            found.update(f"{path.name} {len(content)}\n".encode() + content)
    return found.hexdigest()
