"""The backend of device ``cpu``: its own memory, loop kernels compiled by LLVM, NumPy's BLAS for products."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import llvmlite
import numpy as np

from raxis.backends.api import Backend, Description, DeviceProperties, Executable, Strides
from raxis_cpu.allocator import CachingAllocator
from raxis_cpu.executable import compile_program
from raxis_cpu.library import composites
from raxis_cpu.machine import total_memory
from raxis_cpu.threads import get_num_threads, set_num_threads, thread_pool

if TYPE_CHECKING:
    from raxis.ptir.program import Program

Buffer = np.ndarray[Any, Any]

_CACHE_SHARE = 4
"""At most one part in so many of the machine's memory is kept for reuse."""
_COMPILER_MEMORY = 32 << 20
"""Bytes that must be free before a compilation: LLVM ends the process when it finds none."""


class CpuBackend(Backend):
    """Runs programs in host memory; buffers are uint8 arrays.

    Example:
        >>> from raxis_cpu.backend import CpuBackend
        >>> CpuBackend().allocate(12, 0).nbytes
        12
    """

    def __init__(self) -> None:
        self._total_memory = total_memory()
        self._allocator = CachingAllocator(self._total_memory // _CACHE_SHARE)
        self.composites = composites(self.host_view)
        thread_pool()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._allocator.renew_lock)

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        details = {"cores": str(os.cpu_count()), "numpy": np.__version__, "llvmlite": llvmlite.__version__}
        return DeviceProperties(platform.processor() or platform.machine(), self._total_memory, details)

    def allocate(self, nbytes: int, index: int) -> Buffer:
        return self._allocator.allocate(nbytes)

    def allocator(self, nbytes: int, index: int) -> Callable[[], Buffer]:
        return self._allocator.allocator(nbytes)

    def copy_from_host(self, source: Buffer, buffer: Buffer, byte_offset: int) -> None:
        buffer[byte_offset : byte_offset + source.size] = source

    def copy_to_host(self, buffer: Buffer, byte_offset: int, target: Buffer) -> None:
        target[...] = buffer[byte_offset : byte_offset + target.size]

    def compile(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> Executable:
        self._allocator.ensure(_COMPILER_MEMORY)
        return compile_program(
            program,
            inputs,
            outputs,
            in_place=in_place,
            disjoint=disjoint,
            allocate=self._allocator.allocate,
            composites=self.composites,
        )

    def describe(
        self,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
        sources: bool = False,
    ) -> Description:
        from raxis_cpu.description import description

        return description(
            program,
            inputs,
            outputs,
            in_place=in_place,
            disjoint=disjoint,
            composites=self.composites,
            sources=sources,
        )

    def host_view(self, buffer: Buffer) -> Buffer:
        return buffer

    def wrap_host(self, array: Buffer) -> Buffer:
        return array

    def memory_stats(self, index: int) -> Mapping[str, int]:
        return self._allocator.stats()

    def reset_peak_memory_stats(self, index: int) -> None:
        self._allocator.reset_peak()

    def empty_cache(self) -> None:
        self._allocator.empty_cache()

    def set_num_threads(self, count: int) -> None:
        set_num_threads(count)

    def get_num_threads(self) -> int:
        return get_num_threads()
