"""What is run for a program, in words: its schedule, the plan of memory, the kernels as LLVM IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from raxis.backends.api import Description, KernelFactory, Strides
from raxis.ptir.program import Program
from raxis.schedule import LoopStep, Schedule
from raxis.schedule.arena import plan
from raxis_cpu.executable import CompositeKernels, scheduled, step_arguments
from raxis_cpu.llvm.build import render
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.plan import specimen_of


def description(
    program: Program,
    inputs: Sequence[Strides | None],
    outputs: Sequence[Strides],
    *,
    in_place: int,
    disjoint: bool,
    composites: Mapping[str, KernelFactory],
    sources: bool,
) -> Description:
    """How a program is run; the arguments are those of `compile_program`."""
    kernels = CompositeKernels(composites)
    made = scheduled(program, inputs, outputs, in_place=in_place, disjoint=disjoint, kernels=kernels)
    return Description(
        str(made),
        len(made.steps),
        plan(made).nbytes,
        _temporary_bytes(made),
        _sources(made) if sources else {},
    )


def _temporary_bytes(made: Schedule) -> int:
    sizes = {
        buffer.position: prod(buffer.shape) * buffer.dtype.itemsize
        for buffer in made.buffers
        if buffer.role == "temporary"
    }
    return sum(sizes.values())


def _sources(made: Schedule) -> dict[str, str]:
    kernels = [(number, step) for number, step in enumerate(made.steps) if isinstance(step, LoopStep)]
    return {
        f"kernel-{number:02}-{step.kernel.name}.ll": render(
            specimen_of(step.kernel), step_arguments(step), host()
        )
        for number, step in kernels
    }
