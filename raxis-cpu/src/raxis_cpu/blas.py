"""The BLAS library inside NumPy, reached by its C symbols."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path

import numpy as np

# How the builds of OpenBLAS in NumPy's wheels, and elsewhere, decorate their symbols.
_DECORATIONS = (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", ""))


class Blas:
    """OpenBLAS as NumPy loaded it.

    Args:
        library: the loaded library.
        decoration: what its symbols begin and end with.
    """

    def __init__(self, library: ctypes.CDLL, decoration: tuple[str, str]) -> None:
        self._library = library
        self._decoration = decoration

    @property
    def has_long_integers(self) -> bool:
        """Whether sizes are passed as 64-bit integers (else 32-bit)."""
        return self._decoration[1] == "64_"

    def address(self, name: str) -> int:
        """Where the function ``name`` is; 0 if it is not there."""
        prefix, suffix = self._decoration
        found = getattr(self._library, f"{prefix}{name}{suffix}", None)
        return 0 if found is None else ctypes.cast(found, ctypes.c_void_p).value or 0

    def set_num_threads(self, count: int) -> None:
        """How many threads one call may use."""
        ctypes.CFUNCTYPE(None, ctypes.c_int)(self.address("openblas_set_num_threads"))(count)

    def get_num_threads(self) -> int:
        """How many threads one call may use."""
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(self.address("openblas_get_num_threads"))())


@lru_cache(maxsize=1)
def numpy_blas() -> Blas | None:
    """The OpenBLAS that NumPy's wheel brought along; None if it has another BLAS."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for prefix, suffix in _DECORATIONS:
                if hasattr(library, f"{prefix}openblas_set_num_threads{suffix}"):
                    return Blas(library, (prefix, suffix))
    return None
