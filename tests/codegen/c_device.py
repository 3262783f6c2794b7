"""A device that compiles plain C by the system's compiler; its memory is the host's, hidden in buffers."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raxis.backends.api import DeviceProperties
from raxis.codegen import C, KernelBackend
from raxis.errors import OutOfMemoryError

COMPILER = shutil.which("cc")
_OPTIONS = ("-O1", "-std=gnu99", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC")


class Buffer:
    def __init__(self, nbytes: int) -> None:
        self.content = np.empty(nbytes + 8, np.uint8)


class CBackend(KernelBackend):
    dialect = C()

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._numbers = itertools.count()

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("plain C")

    def allocate(self, nbytes: int, index: int) -> Buffer:
        if nbytes > 1 << 40:
            raise OutOfMemoryError(f"Out of memory on device 'c': an allocation of {nbytes} bytes failed.")
        return Buffer(nbytes)

    def copy_from_host(self, source: np.ndarray, buffer: Buffer, byte_offset: int) -> None:
        buffer.content[byte_offset : byte_offset + source.size] = source

    def copy_to_host(self, buffer: Buffer, byte_offset: int, target: np.ndarray) -> None:
        target[...] = buffer.content[byte_offset : byte_offset + target.size]

    def index_of(self, buffer: Buffer) -> int:
        return 0

    def build(self, name: str, source: str) -> Any:
        place = self._folder / f"kernel{next(self._numbers)}"
        place.with_suffix(".c").write_text(source)
        library = place.with_suffix(".so")
        files = ["-o", str(library), str(place.with_suffix(".c")), "-lm"]
        for openmp in (["-fopenmp"], []):  # not every compiler has it
            command = [str(COMPILER), *_OPTIONS, *openmp, *files]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if not done.returncode:
                break
        else:
            raise RuntimeError(f"{done.stderr}\n{source}")
        return getattr(ctypes.CDLL(str(library)), name)

    def launch(self, kernel: Any, groups: int, buffers: Sequence[Buffer], numbers: np.ndarray) -> None:
        arrays = [*(buffer.content for buffer in buffers), numbers]
        kernel(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
