"""Cost model: operations, bytes, kernels and memory of a program, and the time a machine needs at least."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import NamedTuple

from raxis.ptir.passes.liveness import BY_ELEMENT, Liveness, memory_read, nbytes, producers
from raxis.ptir.passes.views import REARRANGING
from raxis.ptir.program import Instruction, Program, Region, Value


class Machine(NamedTuple):
    """The limits of a device."""

    operations_per_second: float
    bytes_per_second: float
    launch_seconds: float


class Cost(NamedTuple):
    """What running a program once takes.

    Attributes:
        operations: arithmetic, a multiplication and an addition being two.
        bytes_read: from memory, by all kernels.
        bytes_written: to memory.
        kernels: how many there are when everything computed by element is fused.
        parameter_bytes: memory of the tensors given.
        result_bytes: memory of the results.
        peak_bytes: the most memory that temporaries take at one time.
    """

    operations: int
    bytes_read: int
    bytes_written: int
    kernels: int
    parameter_bytes: int
    result_bytes: int
    peak_bytes: int

    def seconds(self, machine: Machine) -> float:
        """The least time: the slower of arithmetic and memory, and starting the kernels."""
        work = max(
            self.operations / machine.operations_per_second,
            (self.bytes_read + self.bytes_written) / machine.bytes_per_second,
        )
        return work + self.kernels * machine.launch_seconds


def cost(program: Program) -> Cost:
    """The cost of a program; loops whose length is not known count as one round, branches as their dearer side.

    Example:
        >>> from raxis.ptir import parse
        >>> found = cost(parse('''ptir 1.0
        ... program "p"(%0: f32[4,8], %1: f32[8,2]) {
        ...   %2 = dot_general(%0, %1) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[4,2]
        ...   %3 = exp(%2) : f32[4,2]
        ...   return %3
        ... }'''))
        >>> found.operations, found.kernels, found.peak_bytes
        (136, 2, 32)
    """
    liveness = Liveness(program)
    made = producers(program)
    kernels = [value for value in liveness.ranges if _runs(made[value])]
    read = sum(
        nbytes(source.type) for value in kernels for source in memory_read(value, made, liveness.stored)
    )
    return Cost(
        operations=sum(map(operations, program.instructions)),
        bytes_read=read,
        bytes_written=sum(nbytes(value.type) for value in kernels),
        kernels=len({made[value] for value in kernels}),
        parameter_bytes=sum(nbytes(each.type) for each in program.parameters if not each.by_value),
        result_bytes=sum(nbytes(value.type) for value in dict.fromkeys(program.results) if value in made),
        peak_bytes=max(liveness.live_bytes(), default=0),
    )


def _runs(instruction: Instruction) -> bool:
    """Whether a stored value takes a kernel of its own; a reshape is another name of the same memory."""
    return instruction.primitive != "reshape"


def operations(instruction: Instruction) -> int:
    """Arithmetic operations of one instruction."""
    count = _OPERATIONS.get(instruction.primitive)
    if count is not None:
        return count(instruction)
    if instruction.primitive in BY_ELEMENT:
        return instruction.results[0].type.size
    if instruction.primitive in REARRANGING or not instruction.operands:
        return 0
    return max(value.type.size for value in (*instruction.operands, *instruction.results))


def _of_region(region: Region) -> int:
    return sum(map(operations, region.instructions))


def _dot(instruction: Instruction) -> int:
    lhs: Value = instruction.operands[0]
    contracted = prod(lhs.type.shape[dim] for dim in instruction.attributes["lhs_contract"])
    return 2 * instruction.results[0].type.size * contracted


def _convolution(instruction: Instruction) -> int:
    return 2 * instruction.results[0].type.size * prod(instruction.operands[1].type.shape[1:])


def _scan(instruction: Instruction) -> int:
    sequence = instruction.operands[instruction.attributes["carry_count"]]
    return sequence.type.shape[0] * _of_region(instruction.regions[0])


_OPERATIONS: Mapping[str, Callable[[Instruction], int]] = {
    "dot_general": _dot,
    "convolution": _convolution,
    "cast": lambda _: 0,
    "cond": lambda instruction: max(map(_of_region, instruction.regions)),
    "while": lambda instruction: sum(map(_of_region, instruction.regions)),
    "scan": _scan,
    "composite": lambda instruction: _of_region(instruction.regions[0]),
}
