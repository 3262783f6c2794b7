"""Whether the libraries that raxis-cpu stands on are there and are what it was written for."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

MINIMUM = {"llvmlite": "0.50", "numpy": "2.0"}
"""The oldest version of each library; the same as in the package's dependencies."""


def missing() -> str | None:
    """One sentence about libraries that are not installed; None if all are. Imports none of them."""
    absent = [name for name in MINIMUM if importlib.util.find_spec(name) is None]
    if not absent:
        return None
    return f"raxis-cpu needs {' and '.join(absent)}, not installed here: {_command(*absent)}."


def check() -> None:
    """Import the libraries.

    Raises:
        ImportError: if one cannot be loaded, is too old, or keeps its arrays otherwise than kernels expect; with the
            command that mends it.
    """
    for name, minimum in MINIMUM.items():
        module = _loaded(name)
        if _numbers(module.__version__) < _numbers(minimum):
            raise ImportError(
                f"raxis-cpu needs {name} {minimum} or newer, but {module.__version__} is installed: {_command(name)}."
            )
    _check_arrays()


def _loaded(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise ImportError(
            f"raxis-cpu needs {name}, which cannot be loaded ({type(error).__name__}: {error}): "
            f"{_command(name, '--force-reinstall')}."
        ) from error


def _check_arrays() -> None:
    """Kernels read the address of an array's data out of the array object."""
    import ctypes

    import numpy as np

    from raxis_cpu.llvm.native import ARRAY_DATA

    array = np.empty(1)
    if ctypes.c_void_p.from_address(id(array) + ARRAY_DATA).value != array.ctypes.data:
        raise ImportError(
            f"raxis-cpu does not know the arrays of NumPy {np.__version__} on this Python: "
            f"{_command('raxis-cpu', '--upgrade')}."
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Major and minor number, as far as they are numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _command(*arguments: str) -> str:
    """What to type; libraries with their oldest version."""
    parts = [f"'{part}>={MINIMUM[part]}'" if part in MINIMUM else part for part in arguments]
    return f"`pip install {' '.join(parts)}`"
