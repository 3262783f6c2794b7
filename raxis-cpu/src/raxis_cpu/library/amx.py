"""Intel's AMX: whether the processor has it, and whether the system lets this process use it."""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache

from raxis_cpu.llvm.compile import host

_FEATURES = {"+amx-tile", "+amx-bf16", "+avx512bf16"}
_ARCH_PRCTL = 158
_REQUEST_PERMISSION, _TILE_DATA = 0x1023, 18
"""ARCH_REQ_XCOMP_PERM and XFEATURE_XTILEDATA of Linux: threads have no room for tiles until their process asks."""


@lru_cache(maxsize=1)
def has_amx() -> bool:
    """Whether tiles of bfloat16 can be multiplied; the first call asks the system for the permission.

    It holds for all threads of the process and of those forked from it.
    """
    if sys.platform != "linux" or not set(host().features.split(",")) >= _FEATURES:
        return False
    libc = ctypes.CDLL(None)
    libc.syscall.restype = ctypes.c_long
    arguments = (_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA)
    return bool(libc.syscall(*map(ctypes.c_long, arguments)) == 0)
