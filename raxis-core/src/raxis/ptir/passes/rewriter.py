"""The rewriter: one sweep from front to back, in which rules replace values by simpler ones.

A rule sees an instruction whose operands are rewritten already, looks at what produced them, and gives the value
to use instead, or None. What it emits passes through the rules itself. So one sweep leaves nothing to do for rules that
look towards operands only. Instructions to which nothing happens are shared, not copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

from raxis.ptir.passes.record import Context
from raxis.ptir.primitives import lookup
from raxis.ptir.program import Instruction, Program, Region, Value
from raxis.ptir.types import TensorType


class Rule(NamedTuple):
    """A named rewriting of single instructions of the given primitives.

    `needs` says for each operand which primitive must have made it ("" for any) before `rewrite` is asked.
    """

    name: str
    primitives: tuple[str, ...]
    rewrite: Callable[[Rewriter, Instruction], Value | None]
    needs: tuple[str, ...] = ()


class RuleTable:
    """Rules by what they rewrite; they are tried in the order given."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            for primitive in rule.primitives:
                self._rules.setdefault(primitive, []).append(rule)
        self._candidates: dict[tuple[str, tuple[str, ...]], tuple[Rule, ...]] = {}

    def __contains__(self, primitive: str) -> bool:
        return primitive in self._rules

    def candidates(self, primitive: str, makers: tuple[str, ...]) -> tuple[Rule, ...]:
        """The rules for instructions of `primitive` whose operands are made by the primitives `makers`."""
        found = self._candidates.get((primitive, makers))
        if found is None:
            found = tuple(rule for rule in self._rules[primitive] if _is_met(rule.needs, makers))
            self._candidates[primitive, makers] = found
        return found


def _is_met(needs: tuple[str, ...], makers: tuple[str, ...]) -> bool:
    return all(need in ("", maker) for need, maker in zip(needs, makers, strict=False))


def sweep(program: Program, rules: RuleTable, context: Context) -> Program:
    """`program` after one sweep of `rules`, in it and in the regions of its branches and loops."""
    rewriter = Rewriter(program, rules, context)
    body = rewriter.run()
    return replace_body(program, body) if rewriter.changed else program


class Body(NamedTuple):
    """The instructions and results of a program or region."""

    instructions: tuple[Instruction, ...]
    results: tuple[Value, ...]


def replace_body(program: Program, body: Body) -> Program:
    """`program` with other instructions and results."""
    return Program(program.name, program.parameters, body.instructions, body.results, program.attributes)


class Rewriter:
    """The program or region being rewritten."""

    def __init__(self, function: Program | Region, rules: RuleTable, context: Context) -> None:
        self.context = context
        self.changed = False
        self.producer: dict[Value, Instruction] = {}
        self._makers: dict[Value, str] = {}
        self.order: dict[Value, int] = {value: place for place, value in enumerate(function.parameters)}
        self._function = function
        self._rules = rules
        self._instructions: list[Instruction] = []
        self._names: dict[Value, Value] = {}
        self._ids = count(1 + highest_id(function))
        self._uses: Counter[Value] | None = None

    def run(self) -> Body:
        """Rewrite everything."""
        for instruction in self._function.instructions:
            self._place(self._with_new_operands(instruction))
        results = tuple(self.name_of(value) for value in self._function.results)
        return Body(tuple(self._instructions), results)

    # ---- for rules ----------------------------------------------------------------------------------

    def maker(self, value: Value) -> str:
        """The primitive that produces `value`; "parameter" for parameters."""
        return self._makers.get(value, "parameter")

    def made_by(self, value: Value, primitive: str) -> Instruction | None:
        """The instruction that produces `value`, if it is of this primitive."""
        found = self.producer.get(value)
        return found if found is not None and found.primitive == primitive else None

    def number(self, value: Value) -> Any:
        """The number that every element of a constant has; None if `value` is something else."""
        found = self.producer.get(value)
        if found is None or found.primitive != "constant":
            return None
        number = found.attributes["value"]
        return None if isinstance(number, tuple) else number

    def uses(self, value: Value) -> int:
        """How often `value` is an operand or a result, as far as the sweep knows."""
        if self._uses is None:
            self._uses = _use_counts(self._function, self._names)
        return self._uses[value]

    def emit(self, primitive: str, *operands: Value, **attributes: Any) -> Value:
        """The value of a new instruction, itself rewritten by the rules."""
        record = lookup(primitive)
        checked = record.canonical(attributes)
        (type,) = record.infer([value.type for value in operands], checked)
        return self.emit_as(type, primitive, *operands, **checked)

    def emit_as(self, type: TensorType, primitive: str, *operands: Value, **attributes: Any) -> Value:
        """The same for a rule that knows the type; nothing is checked."""
        result = Value(next(self._ids), type)
        if self._uses is not None:
            self._uses.update(operands)
        self._place(Instruction(primitive, operands, attributes, (result,)))
        return self.name_of(result)

    def emit_composite(
        self, name: str, operands: Sequence[Value], attributes: Mapping[str, Any], region: Region
    ) -> Value:
        """The one value of a new composite."""
        result = Value(next(self._ids), region.results[0].type)
        if self._uses is not None:
            self._uses.update(operands)
        named = {"name": name, **attributes}
        self._place(Instruction("composite", tuple(operands), named, (result,), (region,)))
        return result

    def constant(self, number: Any, type: TensorType) -> Value:
        """A constant with one number for all elements, or one each in row-major order."""
        attributes = lookup("constant").canonical({"value": number, "dtype": type.dtype, "shape": type.shape})
        return self.emit_as(type, "constant", **attributes)

    # ---- the sweep ----------------------------------------------------------------------------------

    def name_of(self, value: Value) -> Value:
        """What stands for `value` now."""
        return self._names.get(value, value)

    def _with_new_operands(self, instruction: Instruction) -> Instruction:
        names = self._names
        operands = instruction.operands
        if not names.keys().isdisjoint(operands):
            operands = tuple([names.get(value, value) for value in operands])
            instruction = replace(instruction, operands=operands)
        if instruction.regions and instruction.primitive != "composite":
            return self._with_new_regions(instruction)
        return instruction

    def _with_new_regions(self, instruction: Instruction) -> Instruction:
        regions = []
        for region in instruction.regions:
            inner = Rewriter(region, self._rules, self.context)
            body = inner.run()
            regions.append(Region(region.parameters, *body) if inner.changed else region)
            self.changed = self.changed or inner.changed
        return replace(instruction, regions=tuple(regions))

    def _place(self, instruction: Instruction) -> None:
        if instruction.primitive in self._rules and self._rewritten(instruction):
            return
        self._instructions.append(instruction)
        for result in instruction.results:
            self.order[result] = len(self.order)
            self.producer[result] = instruction
            self._makers[result] = instruction.primitive

    def _rewritten(self, instruction: Instruction) -> bool:
        makers = tuple([self._makers.get(operand, "parameter") for operand in instruction.operands])
        for rule in self._rules.candidates(instruction.primitive, makers):
            found = rule.rewrite(self, instruction)
            if found is not None:
                self._rename(instruction, found)
                self.context.rewrites[rule.name] += 1
                return True
        return False

    def _rename(self, instruction: Instruction, found: Value) -> None:
        (result,) = instruction.results
        self.changed = True
        self._names[result] = found
        if self._uses is not None:
            self._uses.subtract(instruction.operands)
            self._uses[found] += self._uses[result]


def highest_id(function: Program | Region) -> int:
    """The greatest value id of a program or region, without those in its regions."""
    made = (value.id for item in function.instructions for value in item.results)
    return max((*made, *(value.id for value in function.parameters)), default=-1)


def _use_counts(function: Program | Region, names: Mapping[Value, Value]) -> Counter[Value]:
    counts: Counter[Value] = Counter()
    for instruction in function.instructions:
        counts.update(instruction.operands)
    counts.update(function.results)
    for old, new in names.items():
        counts[new] += counts[old]
    return counts
