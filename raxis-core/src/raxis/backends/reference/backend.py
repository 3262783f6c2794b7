"""The backend object over NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from raxis.backends.api import Backend, DeviceProperties, Executable, Strides
from raxis.backends.reference.compiler import compile_program
from raxis.errors import OutOfMemoryError
from raxis.ptir.program import Program


class ReferenceBackend(Backend):
    """Runs every program with NumPy, in host memory; buffers are uint8 arrays.

    Example:
        >>> ReferenceBackend().allocate(12, 0).nbytes
        12
    """

    def device_count(self) -> int:
        return 1

    def properties(self, index: int) -> DeviceProperties:
        return DeviceProperties("NumPy reference", details={"numpy": np.__version__})

    def allocate(self, nbytes: int, index: int) -> np.ndarray:
        # NumPy aligns to 16 bytes, enough for every dtype; asking for the address to do better costs a microsecond.
        try:
            return np.empty(nbytes, np.uint8)
        except (MemoryError, ValueError, OverflowError):  # the last two: beyond the address space
            raise OutOfMemoryError(
                f"Out of memory on device 'cpu': an allocation of {nbytes} bytes failed. Free tensors that are no "
                "longer needed, or use smaller batches."
            ) from None

    def copy_from_host(self, source: np.ndarray, buffer: np.ndarray, byte_offset: int) -> None:
        buffer[byte_offset : byte_offset + source.size] = source

    def copy_to_host(self, buffer: np.ndarray, byte_offset: int, target: np.ndarray) -> None:
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
        return compile_program(program, inputs, outputs)

    def host_view(self, buffer: np.ndarray) -> np.ndarray:
        return buffer

    def wrap_host(self, array: np.ndarray) -> np.ndarray:
        return array
