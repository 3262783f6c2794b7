"""Which values need memory, and from when until when: an estimate that holds for any scheduler that fuses.

Values that are computed element by element are computed where they are used; what library routines make or take, what
is reduced, and results lie in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from raxis.ptir.passes.views import REARRANGING
from raxis.ptir.primitives.elementwise import PRIMITIVES as _ELEMENTWISE
from raxis.ptir.program import Instruction, Program, Value
from raxis.ptir.types import TensorType

BY_ELEMENT = frozenset(primitive.name for primitive in _ELEMENTWISE)
REDUCTIONS = frozenset(
    {"reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or", "argmax", "argmin"}
)
_SOURCES = frozenset({"constant", "iota"})
_FUSED = frozenset({*BY_ELEMENT, *REARRANGING, *_SOURCES})
"""Primitives whose results are computed where they are used."""

_FUSING = _FUSED | REDUCTIONS
"""Primitives that can compute their operands themselves."""


def nbytes(type: TensorType) -> int:
    """Bytes of a dense tensor."""
    return type.size * type.dtype.itemsize


class Range(NamedTuple):
    """A value is made by instruction `birth` and read for the last time by instruction `death`."""

    birth: int
    death: int


class Liveness:
    """Lifetimes of the values of one program.

    Attributes:
        stored: the values that lie in memory of the program's own, or of its results.
        ranges: their lifetimes.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.stored = _stored(program)
        self.last_read = self._last_reads()
        self.ranges = {
            value: Range(place, max(place, self.last_read.get(value, place)))
            for place, instruction in enumerate(program.instructions)
            for value in instruction.results
            if value in self.stored
        }

    def _last_reads(self) -> dict[Value, int]:
        """The last instruction that reads each value, perhaps to compute others at its place."""
        end = len(self.program.instructions)
        last = dict.fromkeys(self.program.results, end)
        for place in range(end - 1, -1, -1):
            instruction = self.program.instructions[place]
            read = place
            if not self.stored.intersection(instruction.results):
                read = max((last.get(result, place) for result in instruction.results), default=place)
            for operand in instruction.operands:
                last[operand] = max(last.get(operand, read), read)
        return last

    def live_bytes(self) -> list[int]:
        """Bytes of temporaries while each instruction runs."""
        changes = [0] * (len(self.program.instructions) + 2)
        results = set(self.program.results)
        for value, (birth, death) in self.ranges.items():
            if value not in results:
                changes[birth] += nbytes(value.type)
                changes[death + 1] -= nbytes(value.type)
        return list(accumulate(changes))[:-2]


def _stored(program: Program) -> set[Value]:
    stored = set(program.results)
    for instruction in program.instructions:
        if instruction.primitive not in _FUSED:
            stored.update(instruction.results)
        if instruction.primitive not in _FUSING:
            stored.update(instruction.operands)
    return stored


def producers(program: Program) -> dict[Value, Instruction]:
    """The instruction that makes each value."""
    return {value: item for item in program.instructions for value in item.results}


def memory_read(value: Value, made: dict[Value, Instruction], stored: set[Value]) -> Iterator[Value]:
    """The parameters and stored values that computing `value` reads, through what is computed on the way."""
    stack, seen = list(made[value].operands), set()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        if current in stored or current not in made:
            yield current
        else:
            stack.extend(made[current].operands)
