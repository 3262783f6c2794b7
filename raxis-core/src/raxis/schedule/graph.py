"""A program prepared for scheduling: composites opened, producers and kinds of values at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from raxis.ptir.primitives.elementwise import PRIMITIVES as _ELEMENTWISE
from raxis.ptir.program import Instruction, Parameter, Program, Value
from raxis.schedule.affine import VIEWS

ELEMENTWISE = frozenset(primitive.name for primitive in _ELEMENTWISE)
REDUCES = frozenset({"reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum"})
SEARCHES = frozenset({"argmax", "argmin"})
SOURCES = frozenset({"iota", "random_bits"})
LOOKUPS = frozenset({"gather", "take"})
UPDATES = frozenset({"put", "scatter"})
"""Primitives whose first operand and result may be the same memory in a library step."""
INDEXED = LOOKUPS | UPDATES
"""Their second operand holds positions, which may be out of range."""


class Graph:
    """Instructions of a program in order, with composites replaced by their decompositions."""

    def __init__(self, program: Program) -> None:
        self.parameters = program.parameters
        self._stands_for: dict[Value, Value] = {}
        self.instructions = self._opened(program.instructions)
        self.results = tuple(self.resolve(value) for value in program.results)
        self.producer = {result: item for item in self.instructions for result in item.results}

    def position(self, value: Value) -> int:
        """Which parameter the value is."""
        return next(position for position, parameter in enumerate(self.parameters) if parameter is value)

    def resolve(self, value: Value) -> Value:
        """The value itself, or what it is another name of."""
        while value in self._stands_for:
            value = self._stands_for[value]
        return value

    def _opened(self, instructions: Sequence[Instruction]) -> list[Instruction]:
        opened: list[Instruction] = []
        for instruction in instructions:
            operands = tuple(self.resolve(operand) for operand in instruction.operands)
            if instruction.primitive in REDUCES and not instruction.attributes["dims"]:
                self._stands_for[instruction.results[0]] = operands[0]
                continue
            if instruction.primitive != "composite":
                opened.append(self._placed(instruction, operands))
                continue
            (region,) = instruction.regions
            self._stands_for.update(zip(region.parameters, operands, strict=True))
            opened += self._opened(region.instructions)
            # Resolved now: another composite may have the same region, whose values then stand for others.
            results = [self.resolve(value) for value in region.results]
            self._stands_for.update(zip(instruction.results, results, strict=True))
        return opened

    def _placed(self, instruction: Instruction, operands: tuple[Value, ...]) -> Instruction:
        """The instruction on these operands, with results of its own."""
        results = tuple(Value(value.id, value.type) for value in instruction.results)
        self._stands_for.update(zip(instruction.results, results, strict=True))
        return replace(instruction, operands=operands, results=results)

    def is_number(self, value: Value) -> bool:
        """Whether the value is a by-value parameter."""
        return isinstance(value, Parameter) and value.by_value

    def is_uniform(self, value: Value) -> bool:
        """Whether every element is the same number, known from the program."""
        item = self.producer.get(value)
        return (
            item is not None
            and item.primitive == "constant"
            and not isinstance(item.attributes["value"], tuple)
        )

    def is_fusable(self, value: Value) -> bool:
        """Whether a loop kernel can compute the value where it is used."""
        item = self.producer.get(value)
        if item is None:
            return False
        return (
            item.primitive in ELEMENTWISE
            or item.primitive in VIEWS
            or item.primitive in REDUCES
            or item.primitive in SEARCHES
            or item.primitive in SOURCES
            or item.primitive in LOOKUPS
            or self.is_uniform(value)
        )


def reduced_dims(item: Instruction) -> tuple[int, ...]:
    """The dimensions a reduction or an argmax goes over."""
    if item.primitive in SEARCHES:
        return (item.attributes["dim"],)
    dims: tuple[int, ...] = item.attributes["dims"]
    return dims
