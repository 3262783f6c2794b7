"""Patterns: composites found again in flattened programs, so that a backend's own kernel can claim them.

A pattern is programs: what an op, or a way to spell it, decomposes into. A template of the right rank is compared with
the instructions above each candidate, shapes aside. That tells the operands' types, and the pattern written out for
these must then agree in everything. The composite keeps the instructions as its region, so nothing changes where no
kernel claims it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from raxis.ptir.passes.contraction import SIDES
from raxis.ptir.passes.record import Context, Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, RuleTable, sweep
from raxis.ptir.passes.rewrites import COMMUTATIVE, ORDERED_UP_TO_ZERO
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction, Program, Region, Value
from raxis.ptir.types import TensorType


class Pattern(NamedTuple):
    """One way to spell a composite.

    Attributes:
        name: of the composite.
        anchor: the primitive of its last instruction.
        templates: programs for a result of some type whose sizes do not matter, optimised as the program is.
        written_out: the same for given operands, from a template, their types, and the numbers of the constants that
            stand where the template has its own; several where it is not clear which number means what.
    """

    name: str
    anchor: str
    templates: Callable[[TensorType], Iterable[Program]]
    written_out: Callable[[Program, Sequence[TensorType], Sequence[Any]], Iterable[Program]]


def recognition(patterns: Sequence[Pattern]) -> Pass:
    """The pass that wraps what `patterns` find in composites, one pattern after another."""
    tables = [RuleTable([Rule(each.name, (each.anchor,), _rewriting(each))]) for each in patterns]

    def run(program: Program, context: Context) -> Program:
        for table in tables:
            program = sweep(program, table, context)
        return program

    return Pass(
        "recognise", "instructions that are the decomposition of a composite become one", run, exact=False
    )


def _rewriting(pattern: Pattern) -> Callable[[Rewriter, Instruction], Value | None]:
    def rewrite(rewriter: Rewriter, instruction: Instruction) -> Value | None:
        result = instruction.results[0]
        for template in pattern.templates(result.type):
            found = _Match(rewriter, template, exact=False)
            if not found.reaches(instruction):
                continue
            types = [found.bound[parameter].type for parameter in template.parameters]
            for whole in pattern.written_out(template, types, found.numbers):
                match = _Match(rewriter, whole, exact=True)
                if match.reaches(instruction) and match.is_closed(result):
                    return match.composite(pattern.name)
        return None

    return rewrite


class _Operand(NamedTuple):
    """What a parameter of a pattern stands for: a value, perhaps with its dims in another order."""

    value: Value
    permutation: tuple[int, ...] | None = None

    @property
    def type(self) -> TensorType:
        type = self.value.type
        if self.permutation is None:
            return type
        return TensorType(type.dtype, tuple(type.shape[dim] for dim in self.permutation))


class _Match:
    """A pattern laid over the instructions above one value."""

    def __init__(self, rewriter: Rewriter, pattern: Program, exact: bool) -> None:
        self.pattern = pattern
        self.bound: dict[Value, _Operand] = {}
        self.numbers: list[Any] = []
        self._rewriter = rewriter
        self._exact = exact
        self._made = {value: item for item in pattern.instructions for value in item.results}
        self._covered: dict[Value, Instruction] = {}

    def reaches(self, instruction: Instruction) -> bool:
        """Whether the pattern's result is what `instruction` makes, and every parameter is found."""
        made = self._made.get(self.pattern.results[0])
        if made is None or not self._agrees(made, instruction):
            return False
        return all(parameter in self.bound for parameter in self.pattern.parameters)

    def _same(self, expected: Value, found: Value) -> bool:
        known = self.bound.get(expected)
        if known is not None:
            return known == _Operand(found)
        wanted = self._made.get(expected)
        if wanted is None:
            if expected.type.dtype is not found.type.dtype or expected.type.rank != found.type.rank:
                return False
            if self._exact and expected.type != found.type:
                return False
            self.bound[expected] = _Operand(found)
            return True
        made = self._rewriter.producer.get(found)
        if made is None or not self._agrees(wanted, made):
            return False
        self.bound[expected] = _Operand(found)
        return True

    def _agrees(self, wanted: Instruction, found: Instruction) -> bool:
        if wanted.primitive != found.primitive or len(wanted.operands) != len(found.operands):
            return False
        if wanted.primitive == "dot_general":
            agreed = self._agrees_in_dims(wanted, found)
        elif wanted.primitive == "constant":
            agreed = self._agrees_in_number(wanted.attributes, found.attributes)
        else:
            agreed = self._agrees_in_attributes(wanted, found) and self._agrees_in_operands(wanted, found)
        if agreed:
            self._covered[found.results[0]] = found
        return agreed

    def _agrees_in_attributes(self, wanted: Instruction, found: Instruction) -> bool:
        ignored = () if self._exact else ("shape", "start", "stop")
        return all(
            found.attributes[name] == value
            for name, value in wanted.attributes.items()
            if name not in ignored
        )

    def _agrees_in_number(self, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
        if wanted["dtype"] is not found["dtype"] or isinstance(found["value"], tuple):
            return False
        if self._exact:
            return bool(wanted["shape"] == found["shape"] and wanted["value"] == found["value"])
        self.numbers.append(found["value"])
        return True

    def _agrees_in_operands(self, wanted: Instruction, found: Instruction) -> bool:
        orders = [found.operands]
        if wanted.primitive in COMMUTATIVE | ORDERED_UP_TO_ZERO:
            orders.append(found.operands[::-1])
        before = self.bound, self._covered, self.numbers
        for order in orders:
            self.bound, self._covered, self.numbers = dict(before[0]), dict(before[1]), list(before[2])
            if all(self._same(one, other) for one, other in zip(wanted.operands, order, strict=True)):
                return True
        self.bound, self._covered, self.numbers = before
        return False

    def _agrees_in_dims(self, wanted: Instruction, found: Instruction) -> bool:
        """Products agree if they sum alike; operands that are parameters may have their dims in another order."""
        for place, side in enumerate(SIDES):
            expected, operand = wanted.operands[place], found.operands[place]
            ours, theirs = (_roles(item, place, side) for item in (wanted, found))
            if list(map(len, ours)) != list(map(len, theirs)):
                return False
            if ours == theirs:
                if not self._same(expected, operand):
                    return False
            elif not self._same_permuted(expected, _Operand(operand, _permutation(ours, theirs))):
                return False
        return True

    def _same_permuted(self, expected: Value, operand: _Operand) -> bool:
        if expected in self._made or (self._exact and expected.type != operand.type):
            return False
        return self.bound.setdefault(expected, operand) == operand

    def is_closed(self, result: Value) -> bool:
        """Whether nothing outside uses what the pattern computes on the way to `result`."""
        inside: Counter[Value] = Counter()
        for item in self._covered.values():
            inside.update(item.operands)
        return all(
            value is result or item.primitive == "constant" or self._rewriter.uses(value) == inside[value]
            for value, item in self._covered.items()
        )

    def composite(self, name: str) -> Value:
        """The composite in place of what was found."""
        operands = [self._operand(self.bound[parameter]) for parameter in self.pattern.parameters]
        region = Region(self.pattern.parameters, self.pattern.instructions, self.pattern.results)
        return self._rewriter.emit_composite(name, operands, self.pattern.attributes, region)

    def _operand(self, operand: _Operand) -> Value:
        if operand.permutation is None:
            return operand.value
        return self._rewriter.emit("transpose", operand.value, permutation=operand.permutation)


def _roles(product: Instruction, place: int, side: str) -> tuple[tuple[int, ...], ...]:
    """Batch, contracted and free dims of one operand."""
    batch, contract = (product.attributes[f"{side}_{role}"] for role in ("batch", "contract"))
    return batch, contract, free_dims(product.operands[place].type.rank, batch, contract)


def _permutation(ours: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Which of their dims stands at each of ours."""
    pairs = sorted(
        pair for one, other in zip(ours, theirs, strict=True) for pair in zip(one, other, strict=True)
    )
    return tuple(dim for _, dim in pairs)
