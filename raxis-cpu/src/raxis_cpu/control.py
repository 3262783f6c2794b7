"""Branches and loops: each region is a program of its own, compiled like any other; Python decides which runs next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from raxis.backends.api import Executable, Strides
from raxis.layout import contiguous_strides
from raxis.ptir.program import Instruction, Program, Region
from raxis.ptir.types import TensorType
from raxis.schedule.graph import region_program
from raxis_cpu.library.routine import Array, Routine

Compile = Callable[[Program, Sequence[Strides | None], Sequence[Strides]], Executable]


class _Dense(NamedTuple):
    """A dense value: bytes of memory, and where in them it starts, in elements."""

    memory: Array
    offset: int = 0


_Step = Callable[[Sequence[_Dense], Sequence[_Dense]], None]
"""Runs a region on values, writing its results."""


def control(instruction: Instruction, compile: Compile) -> Routine:
    """What runs a ``cond``, ``while`` or ``scan`` on arrays, one per operand, then one per result.

    Results share no memory with operands, and are written when all went well.
    """
    run = _RUNS[instruction.primitive](instruction, compile)
    count = len(instruction.operands)
    types = [value.type for value in instruction.results]

    def routine(*arrays: Array) -> None:
        found = run([_Dense(_bytes(array)) for array in arrays[:count]])
        for target, value, type in zip(arrays[count:], found, types, strict=True):
            target[...] = _array(value, type)

    return routine


def _step(region: Region, compile: Compile) -> _Step:
    executable = compile(
        region_program(region),
        [contiguous_strides(type.shape) for type in region.parameter_types],
        [contiguous_strides(type.shape) for type in region.result_types],
    )

    def step(operands: Sequence[_Dense], results: Sequence[_Dense]) -> None:
        executable(*(part for value in (*operands, *results) for part in value))

    return step


def _turn(region: Region, count: int, compile: Compile) -> tuple[_Step, list[int]]:
    """The body of a loop, and which of its `count` carried values it changes; it writes only these, then the others."""
    changed = [at for at in range(count) if region.results[at] is not region.parameters[at]]
    if not changed and len(region.results) == count:
        changed = list(range(count))  # there are no programs without results
    results = [region.results[at] for at in changed] + list(region.results[count:])
    return _step(Region(region.parameters, region.instructions, tuple(results)), compile), changed


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _array(value: _Dense, type: TensorType) -> Array:
    dtype = type.dtype.numpy
    return np.ndarray(type.shape, dtype, value.memory, value.offset * dtype.itemsize)


def _room(types: Sequence[TensorType]) -> list[_Dense]:
    return [_Dense(np.empty(type.size * type.dtype.itemsize, np.uint8)) for type in types]


_Run = Callable[[Sequence[_Dense]], Sequence[_Dense]]


def _cond(instruction: Instruction, compile: Compile) -> _Run:
    if_true, if_false = (_step(region, compile) for region in instruction.regions)
    types = [value.type for value in instruction.results]

    def run(operands: Sequence[_Dense]) -> Sequence[_Dense]:
        predicate, *arguments = operands
        results = _room(types)
        (if_true if predicate.memory[0] else if_false)(arguments, results)
        return results

    return run


class _Carries:
    """The carried values of a loop: those that change are read from one set of memory and written to another."""

    def __init__(
        self, initial: Sequence[_Dense], types: Sequence[TensorType], changed: Sequence[int]
    ) -> None:
        self.current = list(initial)
        self._types = [types[at] for at in changed]
        self._changed = changed
        self._spare: Sequence[_Dense] | None = None
        self._first = True

    def next(self) -> Sequence[_Dense]:
        """Where this turn writes."""
        return _room(self._types) if self._spare is None else self._spare

    def advance(self, written: Sequence[_Dense]) -> None:
        """What this turn wrote is current; what it read is free, except for the operands."""
        self._spare = None if self._first else [self.current[at] for at in self._changed]
        self._first = False
        for at, value in zip(self._changed, written, strict=True):
            self.current[at] = value


def _while(instruction: Instruction, compile: Compile) -> _Run:
    types = [value.type for value in instruction.operands]
    condition = _step(instruction.regions[0], compile)
    body, changed = _turn(instruction.regions[1], len(types), compile)

    def run(operands: Sequence[_Dense]) -> Sequence[_Dense]:
        carries, going_on = _Carries(operands, types, changed), _Dense(np.empty(1, np.uint8))
        while True:
            condition(carries.current, [going_on])
            if not going_on.memory[0]:
                return carries.current
            written = carries.next()
            body(carries.current, written)
            carries.advance(written)

    return run


def _scan(instruction: Instruction, compile: Compile) -> _Run:
    (region,) = instruction.regions
    count = instruction.attributes["carry_count"]
    body, changed = _turn(region, count, compile)
    carried = region.parameter_types[:count]
    element_sizes = [type.size for type in region.parameter_types[count:]]
    stacked_sizes = [type.size for type in region.result_types[count:]]
    stacked_types = [value.type for value in instruction.results[count:]]
    length = instruction.operands[count].type.shape[0]

    def run(operands: Sequence[_Dense]) -> Sequence[_Dense]:
        carries, stacked = _Carries(operands[:count], carried, changed), _room(stacked_types)
        for turn in range(length):
            elements = _elements(operands[count:], element_sizes, turn)
            written = carries.next()
            body([*carries.current, *elements], [*written, *_elements(stacked, stacked_sizes, turn)])
            carries.advance(written)
        return [*carries.current, *stacked]

    return run


def _elements(stacks: Sequence[_Dense], sizes: Sequence[int], turn: int) -> list[_Dense]:
    return [_Dense(stack.memory, turn * size) for stack, size in zip(stacks, sizes, strict=True)]


_RUNS: Mapping[str, Callable[[Instruction, Compile], _Run]] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}
