"""Schedules: the steps a backend runs for one program, over numbered buffers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from raxis.dtypes import DType
from raxis.layout import Strides
from raxis.ptir.program import Instruction, Value
from raxis.schedule.loops import LoopKernel


class Buffer(NamedTuple):
    """Memory a schedule works on: dtype, shape and strides (in elements) of the value it holds.

    `offset` counts elements from where the memory begins.

    `role` is "parameter" or "result" (memory of the caller, `position` says which one) or "temporary" (memory of the
    schedule, dense and row-major, `position` is -1).
    """

    role: str
    position: int
    dtype: DType
    shape: tuple[int, ...]
    strides: Strides
    offset: int = 0


class Number(NamedTuple):
    """A number that the host knows when a schedule runs: by-value parameter `position`, if any, plus `added`."""

    position: int | None
    added: Any


class LoopStep(NamedTuple):
    """Run a loop kernel: `buffers` fill its slots, `scalars` are by-value parameters, `values` is what it computes."""

    kernel: LoopKernel
    buffers: tuple[int, ...]
    scalars: tuple[int, ...]
    values: tuple[Value, ...] = ()


class LibraryStep(NamedTuple):
    """Run one instruction by a library routine. An operand is a buffer, or ~n for entry n of `Schedule.numbers`."""

    instruction: Instruction
    operands: tuple[int, ...]
    results: tuple[int, ...]


Step = LoopStep | LibraryStep


class Schedule(NamedTuple):
    """Buffers, the steps over them in order, the numbers that steps take, and where values of steps come from.

    `origins` names for each value of a step the program's value that it is, or is a part of.
    """

    buffers: tuple[Buffer, ...]
    steps: tuple[Step, ...]
    numbers: tuple[Number, ...] = ()
    origins: Mapping[Value, Value] = MappingProxyType({})

    def values(self, step: Step) -> tuple[Value, ...]:
        """The program's values that a step computes, each after those it is made of."""
        computed = step.values if isinstance(step, LoopStep) else step.instruction.results
        return tuple(dict.fromkeys(self.origins.get(value, value) for value in computed))

    def __str__(self) -> str:
        lines = [
            f"buffer {number}: {buffer.role} {buffer.dtype.name}{list(buffer.shape)} strides {list(buffer.strides)}"
            for number, buffer in enumerate(self.buffers)
        ]
        for step in self.steps:
            if isinstance(step, LoopStep):
                lines.append(
                    f"loop on buffers {list(step.buffers)}, scalars {list(step.scalars)}\n{step.kernel}"
                )
            else:
                lines.append(
                    f"library {step.instruction.primitive} {list(step.operands)} -> {list(step.results)}"
                )
        return "\n".join(lines)
