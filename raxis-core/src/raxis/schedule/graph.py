"""A program prepared for scheduling: composites opened, producers and kinds of values at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from raxis.ptir.primitives.elementwise import PRIMITIVES as _ELEMENTWISE
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.schedule.affine import VIEWS
from raxis.schedule.schedule import Number
from raxis.schedule.target import EVERYTHING, Target

ELEMENTWISE = frozenset(primitive.name for primitive in _ELEMENTWISE)
REDUCES = frozenset({"reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_prod", "reduce_sum"})
SEARCHES = frozenset({"argmax", "argmin"})
SOURCES = frozenset({"iota", "random_bits"})
LOOKUPS = frozenset({"gather", "take"})
UPDATES = frozenset({"put", "scatter"})
"""Primitives whose result may be the memory of operands of its type and strides in a library step."""
INDEXED = LOOKUPS | UPDATES
"""Their second operand holds positions, which may be out of range."""


class Graph:
    """Instructions of a program in order, with composites replaced by their decompositions.

    Attributes:
        origins: for each value made here the program's value that it is, or that its composite makes.
    """

    def __init__(self, program: Program, target: Target = EVERYTHING) -> None:
        self.parameters = program.parameters
        self._target = target
        self._positions = {parameter: position for position, parameter in enumerate(program.parameters)}
        self.producer: dict[Value, Instruction] = {}
        self._stands_for: dict[Value, Value] = {}
        self.origins: dict[Value, Value] = {}
        self.instructions = self._opened(program.instructions)
        self.results = tuple(self.resolve(value) for value in program.results)

    def position(self, value: Value) -> int:
        """Which parameter the value is."""
        return self._positions[value]  # type: ignore[index]  # only parameters have one

    def resolve(self, value: Value) -> Value:
        """The value itself, or what it is another name of."""
        while value in self._stands_for:
            value = self._stands_for[value]
        return value

    def _opened(
        self, instructions: Sequence[Instruction], composite: Value | None = None
    ) -> list[Instruction]:
        opened: list[Instruction] = []
        for instruction in instructions:
            operands = tuple(self.resolve(operand) for operand in instruction.operands)
            if instruction.primitive in REDUCES and not instruction.attributes["dims"]:
                self._stands_for[instruction.results[0]] = operands[0]
                continue
            if instruction.primitive != "composite" or self._is_claimed(instruction, operands):
                placed = self._placed(instruction, operands)
                for made, origin in zip(placed.results, instruction.results, strict=True):
                    self.origins[made] = origin if composite is None else composite
                opened.append(placed)
                continue
            (region,) = instruction.regions
            self._stands_for.update(zip(region.parameters, operands, strict=True))
            opened += self._opened(region.instructions, composite or instruction.results[0])
            # Resolved now: another composite may have the same region, whose values then stand for others.
            results = [self.resolve(value) for value in region.results]
            self._stands_for.update(zip(instruction.results, results, strict=True))
        return opened

    def _placed(self, instruction: Instruction, operands: tuple[Value, ...]) -> Instruction:
        """The instruction on these operands, with results of its own."""
        results = tuple(Value(value.id, value.type) for value in instruction.results)
        self._stands_for.update(zip(instruction.results, results, strict=True))
        placed = replace(instruction, operands=operands, results=results)
        self.producer.update((result, placed) for result in results)
        return placed

    def _is_claimed(self, instruction: Instruction, operands: tuple[Value, ...]) -> bool:
        """Whether the backend runs the composite itself, and the numbers it takes are known when it is called."""
        pairs = zip(instruction.regions[0].parameters, operands, strict=True)
        known = all(self.number(operand) for parameter, operand in pairs if self.is_number(parameter))
        return known and self._target.claims(composite_program(instruction))

    def number(self, value: Value) -> Number | None:
        """How the host gets a rank-0 value: a by-value parameter, a constant, or their sum; None if it cannot."""
        value = self.resolve(value)
        if self.is_number(value):
            return Number(self.position(value), 0)
        item = self.producer.get(value)
        if item is None or value.type.shape:
            return None
        if item.primitive == "constant":
            return Number(None, item.attributes["value"])
        if item.primitive != "add":
            return None
        first, second = (self.number(operand) for operand in item.operands)
        if first is None or second is None or None not in (first.position, second.position):
            return None
        position = first.position if second.position is None else second.position
        return Number(position, first.added + second.added)

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
            (item.primitive in ELEMENTWISE and self._target.renders(item))
            or item.primitive in VIEWS
            or item.primitive in REDUCES
            or item.primitive in SEARCHES
            or item.primitive in SOURCES
            or item.primitive in LOOKUPS
            or self.is_uniform(value)
        )


def composite_program(instruction: Instruction) -> Program:
    """A composite's decomposition as a program of its name and attributes."""
    (region,) = instruction.regions
    attributes = {name: value for name, value in instruction.attributes.items() if name != "name"}
    return Program(
        instruction.attributes["name"],
        region.parameters,
        region.instructions,
        region.results,
        attributes,
    )


def region_program(region: Region) -> Program:
    """A program that does what the region does."""
    parameters = tuple(Parameter(number, type) for number, type in enumerate(region.parameter_types))
    results = tuple(Value(len(parameters) + number, type) for number, type in enumerate(region.result_types))
    whole = Instruction("composite", parameters, {"name": "region"}, results, (region,))
    return Program("region", parameters, (whole,), results)


def reduced_dims(item: Instruction) -> tuple[int, ...]:
    """The dimensions a reduction or an argmax goes over."""
    if item.primitive in SEARCHES:
        return (item.attributes["dim"],)
    dims: tuple[int, ...] = item.attributes["dims"]
    return dims
