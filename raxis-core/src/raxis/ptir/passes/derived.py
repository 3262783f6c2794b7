"""Derived weights: what a program computes from parameters that do not change, taken out of it.

A packed, converted or folded weight is computed by a program of its own, once, and kept by whoever runs the programs;
`Recipe` is what to key it by, besides the identities and versions of the parameters it is made from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from raxis.ptir.builder import live_instructions
from raxis.ptir.passes.liveness import nbytes
from raxis.ptir.passes.rewriter import highest_id
from raxis.ptir.passes.views import REARRANGING
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.program import Instruction, Parameter, Program, Value

LARGEST_GROWTH = 2
"""A derived weight takes at most so many times the memory of the parameters it is made from."""


class Recipe(NamedTuple):
    """How one derived weight is made.

    Attributes:
        program: from the parameters to the one weight; equal recipes are equal programs.
        sources: which parameters of the split program those are.
    """

    program: Program
    sources: tuple[int, ...]


class Split(NamedTuple):
    """A program in two parts.

    Attributes:
        prologue: from frozen parameters to all derived weights.
        sources: which parameters of the whole program the prologue's are.
        main: the rest; its parameters are those of the whole program, then the derived weights.
    """

    prologue: Program
    sources: tuple[int, ...]
    main: Program

    def recipes(self) -> Iterator[Recipe]:
        """One recipe for each derived weight, in order."""
        for result in self.prologue.results:
            yield self._recipe(result)

    def _recipe(self, result: Value) -> Recipe:
        instructions = live_instructions(self.prologue.instructions, [result])
        used = {operand for item in instructions for operand in item.operands}
        kept = [
            (parameter, source)
            for parameter, source in zip(self.prologue.parameters, self.sources, strict=True)
            if parameter in used
        ]
        # Without names and identities, so that the same recipe is equal in every program.
        anonymous = {
            parameter: Parameter(parameter.id, parameter.type, parameter.by_value) for parameter, _ in kept
        }
        body = tuple(_with_operands(item, anonymous) for item in instructions)
        return Recipe(
            Program("derived", tuple(anonymous.values()), body, (result,)),
            tuple(source for _, source in kept),
        )


def split(program: Program, frozen: Collection[int]) -> Split:
    """Take out what depends on frozen parameters only, where that saves work and does not cost much memory.

    Random numbers are never taken out, nor is what only moves or repeats elements, but for a convolution's weight.

    Args:
        program: the whole.
        frozen: positions of the parameters whose values do not change between calls.

    Example:
        >>> from raxis.ptir import parse
        >>> whole = parse('''ptir 1.0
        ... program "p"(%0: f32[2], %1: f32[2]) {
        ...   %2 = exp(%1) : f32[2]
        ...   %3 = mul(%0, %2) : f32[2]
        ...   return %3
        ... }''')
        >>> parts = split(whole, {1})
        >>> [item.primitive for item in parts.prologue.instructions], parts.sources
        (['exp'], (1,))
        >>> [item.primitive for item in parts.main.instructions], len(parts.main.parameters)
        (['mul'], 3)
    """
    return _Splitter(program, frozen).split()


class _Splitter:
    def __init__(self, program: Program, frozen: Collection[int]) -> None:
        self._program = program
        self._made = {result: item for item in program.instructions for result in item.results}
        self._leaves: dict[Value, frozenset[int]] = {
            program.parameters[position]: frozenset({position}) for position in frozen
        }
        self._computed: set[Value] = set()
        self._moved: set[Value] = set()
        for instruction in program.instructions:
            self._examine(instruction)

    def _examine(self, instruction: Instruction) -> None:
        """Note what the instruction's results depend on, if that is nothing but frozen parameters and constants."""
        if not is_deterministic(instruction) or not all(
            value in self._leaves for value in instruction.operands
        ):
            return
        leaves = frozenset().union(*(self._leaves[value] for value in instruction.operands))
        computes = instruction.primitive not in REARRANGING and bool(leaves)
        moves = instruction.primitive not in {"reshape", "broadcast"}
        for result in instruction.results:
            self._leaves[result] = leaves
            if computes or not self._computed.isdisjoint(instruction.operands):
                self._computed.add(result)
            if moves or not self._moved.isdisjoint(instruction.operands):
                self._moved.add(result)

    def split(self) -> Split:
        derived, kept = self._frontier()
        ids = count(1 + highest_id(self._program))
        weights: dict[Value, Parameter] = {value: Parameter(next(ids), value.type) for value in derived}
        instructions = tuple(
            _with_operands(item, weights) for item in self._program.instructions if item in kept
        )
        results = tuple(weights.get(value, value) for value in self._program.results)
        parameters = (*self._program.parameters, *weights.values())
        main = Program(self._program.name, parameters, instructions, results, self._program.attributes)
        return Split(*self._prologue(derived), main)

    def _frontier(self) -> tuple[list[Value], set[Instruction]]:
        """The values to derive, and the instructions that stay."""
        derived: dict[Value, None] = {}
        kept: set[Instruction] = set()
        needed: set[Value] = set()
        for value in self._program.results:
            self._want(value, None, derived, needed)
        for instruction in reversed(self._program.instructions):
            if needed.isdisjoint(instruction.results):
                continue
            kept.add(instruction)
            for value in instruction.operands:
                self._want(value, instruction, derived, needed)
        in_order = {value: place for place, value in enumerate(self._made)}
        return sorted(derived, key=in_order.__getitem__), kept

    def _want(
        self, value: Value, consumer: Instruction | None, derived: dict[Value, None], needed: set[Value]
    ) -> None:
        if value not in derived and value not in needed and self._is_worth_it(value, consumer):
            derived[value] = None
        elif value not in derived:
            needed.add(value)

    def _is_worth_it(self, value: Value, consumer: Instruction | None) -> bool:
        leaves = self._leaves.get(value)
        if not leaves or value not in self._made:
            return False
        is_filter = consumer is not None and consumer.primitive == "convolution"
        if value not in (self._moved if is_filter else self._computed):
            return False
        total = sum(nbytes(self._program.parameters[position].type) for position in leaves)
        return nbytes(value.type) <= LARGEST_GROWTH * total

    def _prologue(self, derived: Sequence[Value]) -> tuple[Program, tuple[int, ...]]:
        instructions = live_instructions(self._program.instructions, derived)
        used = {operand for item in instructions for operand in item.operands}
        sources = tuple(place for place, each in enumerate(self._program.parameters) if each in used)
        parameters = tuple(self._program.parameters[place] for place in sources)
        return Program(f"{self._program.name} prologue", parameters, instructions, tuple(derived)), sources


def is_deterministic(instruction: Instruction) -> bool:
    """Whether the instruction draws no random numbers, in its regions neither."""
    return PRIMITIVES[instruction.primitive].effect == "pure" and all(
        is_deterministic(inner) for region in instruction.regions for inner in region.instructions
    )


def _with_operands(instruction: Instruction, names: Mapping[Any, Value]) -> Instruction:
    operands = tuple(names.get(value, value) for value in instruction.operands)
    return instruction if operands == instruction.operands else replace(instruction, operands=operands)
