"""Library steps: instructions as kernels of their own, as programs of other instructions, or on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raxis.codegen.decompositions import decomposition
from raxis.codegen.host import HostPart
from raxis.codegen.launching import Memory, Part, Scalars
from raxis.codegen.routines import ROUTINES, Call
from raxis.ptir.program import Program
from raxis.schedule import Buffer, LibraryStep, Number

if TYPE_CHECKING:
    from raxis.codegen.backend import KernelBackend


def library_step(
    backend: KernelBackend, step: LibraryStep, buffers: Sequence[Buffer], numbers: Sequence[Number]
) -> Part:
    """What runs a library step on the memory of these buffers."""
    instruction, slots = step.instruction, (*step.operands, *step.results)
    if all(slot >= 0 for slot in slots):
        routine = ROUTINES.get(instruction.primitive)
        made = (
            routine(Call(backend, instruction, slots, [buffers[slot] for slot in slots])) if routine else None
        )
        if made is not None:
            return made
        program = decomposition(instruction, tiles=bool(backend.dialect.shared))
        if program is not None:
            return NestedPart(backend, program, slots, buffers)
    return HostPart(backend, step, buffers, numbers)


class NestedPart(Part):
    """An instruction as a program of other instructions."""

    def __init__(
        self, backend: KernelBackend, program: Program, slots: Sequence[int], buffers: Sequence[Buffer]
    ) -> None:
        count = len(program.parameters)
        strides = [buffers[slot].strides for slot in slots]
        self._run = backend.compile(program, strides[:count], strides[count:])
        self.rendered = self._run.rendered
        self._slots = tuple(slots)

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        self._run(*(part for slot in self._slots for part in memory[slot]))
