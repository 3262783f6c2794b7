"""Intel's MKL, if it is installed and RAXIS_BLAS asks for it: the optional dependency ``raxis-cpu[mkl]``."""

from __future__ import annotations

import ctypes
import warnings
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from raxis.backends.settings import Settings
from raxis_cpu.blas import Blas, numpy_blas

_SEQUENTIAL = 1
"""MKL's name for the layer that runs every call in its caller's thread; the threads are our own."""
_FUNCTIONS = ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads")


@lru_cache(maxsize=1)
def product_blas() -> Blas | None:
    """The BLAS of matrix products: MKL if RAXIS_BLAS is ``mkl`` and it can be loaded, else NumPy's.

    Raises:
        ValueError: if RAXIS_BLAS has another value than ``numpy`` and ``mkl``.
    """
    if Settings().blas == "numpy":
        return numpy_blas()
    try:
        return _mkl()
    except (OSError, AttributeError) as error:
        warnings.warn(
            f"RAXIS_BLAS=mkl, but MKL cannot be used: {error} Install it with: pip install 'raxis-cpu[mkl]'. Products "
            "are computed without it.",
            RuntimeWarning,
            stacklevel=2,
        )
        return numpy_blas()


def is_mkl(blas: Blas | None) -> bool:
    """Whether products are MKL's."""
    return blas is not None and blas is not numpy_blas()


def _mkl() -> Blas:
    library = ctypes.CDLL(str(_path()))
    library.MKL_Set_Threading_Layer(_SEQUENTIAL)
    return Blas(library, ("", "_64"), _FUNCTIONS)


def _path() -> Path:
    """Where the library is that the distribution ``mkl`` brought along.

    Raises:
        OSError: if there is none.
    """
    try:
        files = metadata.files("mkl") or []
    except metadata.PackageNotFoundError:
        raise OSError("the distribution mkl is not installed.") from None
    found = sorted(str(file.locate()) for file in files if file.name.startswith(("libmkl_rt.", "mkl_rt.")))
    if not found:
        raise OSError("the distribution mkl has no library mkl_rt.")
    return Path(found[-1])
