"""Everything else: the reference backend's NumPy kernels."""

from __future__ import annotations

from typing import Any

from raxis.backends.reference.kernels import KERNELS
from raxis.ptir.primitives import PRIMITIVES
from raxis_cpu.library.routine import Array, Call, Routine


def reference(call: Call) -> Routine:
    """The routine of any instruction."""
    instruction = call.instruction
    kernel = KERNELS[instruction.primitive](instruction)
    if PRIMITIVES[instruction.primitive].several_results:
        return _writing_all(kernel, len(instruction.operands))

    def routine(*arrays: Array) -> None:
        arrays[-1][...] = kernel(*arrays[:-1])

    return routine


def _writing_all(kernel: Any, count: int) -> Routine:
    def routine(*arrays: Array) -> None:
        for target, value in zip(arrays[count:], kernel(*arrays[:count]), strict=True):
            target[...] = value

    return routine
