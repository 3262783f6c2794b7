"""BLAS libraries, above all that inside NumPy, reached by their C symbols."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np

from raxis import dtypes

ROW_MAJOR, COLUMN_MAJOR = 101, 102
PLAIN, TRANSPOSED = 111, 112
UPPER, LOWER = 121, 122
NON_UNIT, UNIT = 131, 132
LEFT = 141
"""The numbers that CBLAS takes for words."""
LETTERS = {dtypes.float32: "s", dtypes.float64: "d", dtypes.complex64: "c", dtypes.complex128: "z"}
"""What names of BLAS's and LAPACK's functions begin with."""

# How the builds of OpenBLAS in NumPy's wheels, and elsewhere, decorate their symbols.
_DECORATIONS = (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", ""))


class Blas:
    """A loaded BLAS with C symbols.

    Args:
        library: the loaded library.
        decoration: what the symbols of its routines begin and end with.
        functions: the whole names of those that return and set the number of threads of one call.
    """

    def __init__(self, library: ctypes.CDLL, decoration: tuple[str, str], functions: tuple[str, str]) -> None:
        self._library = library
        self._decoration = decoration
        self.thread_functions = tuple(_address(library, name) for name in functions)
        """Addresses of the functions that return and set the number of threads of one call."""
        self._get = ctypes.CFUNCTYPE(ctypes.c_int)(self.thread_functions[0])
        self._set = ctypes.CFUNCTYPE(None, ctypes.c_int)(self.thread_functions[1])
        # How many blocks of `serial` are running, and the number of threads to restore after the last.
        self._serial_users = 0
        self._count = 0
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        # A thread that does not exist in the child may hold the lock or be inside `serial`.
        self._lock = threading.Lock()
        if self._serial_users:
            self._serial_users = 0
            self._set(self._count)

    @property
    def has_long_integers(self) -> bool:
        """Whether sizes are passed as 64-bit integers (else 32-bit)."""
        return "64" in self._decoration[1]

    def address(self, name: str) -> int:
        """Where the function ``name`` is; 0 if it is not there."""
        prefix, suffix = self._decoration
        return _address(self._library, f"{prefix}{name}{suffix}")

    def set_num_threads(self, count: int) -> None:
        """How many threads one call may use."""
        with self._lock:
            self._count = count
            if not self._serial_users:
                self._set(count)

    def get_num_threads(self) -> int:
        """How many threads one call may use."""
        with self._lock:
            return self._count if self._serial_users else int(self._get())

    @contextmanager
    def serial(self) -> Iterator[None]:
        """Let every call run in its caller's thread: while threads of our own call BLAS."""
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            if not self._serial_users:
                self._count = int(self._get())
                self._set(1)
            self._serial_users += 1

    def _leave(self) -> None:
        with self._lock:
            self._serial_users -= 1
            if not self._serial_users:
                self._set(self._count)


def _address(library: ctypes.CDLL, name: str) -> int:
    found = getattr(library, name, None)
    return 0 if found is None else ctypes.cast(found, ctypes.c_void_p).value or 0


@lru_cache(maxsize=1)
def numpy_blas() -> Blas | None:
    """The OpenBLAS that NumPy's wheel brought along; None if it has another BLAS."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for prefix, suffix in _DECORATIONS:
                get, put = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
                if hasattr(library, get) and hasattr(library, put):
                    return Blas(library, (prefix, suffix), (get, put))
    return None


def numpy_function(symbol: str) -> tuple[Blas, int] | None:
    """NumPy's BLAS and the address of a function of it or of its LAPACK; None if there is none."""
    blas = numpy_blas()
    address = blas.address(symbol) if blas is not None else 0
    return (blas, address) if blas is not None and address else None
