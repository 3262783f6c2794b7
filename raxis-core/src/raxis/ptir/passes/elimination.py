"""Elimination of what is computed twice, and of what nobody uses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from raxis.ptir.attributes import attributes_key
from raxis.ptir.builder import live_instructions
from raxis.ptir.passes.record import Context, Pass
from raxis.ptir.passes.rewriter import Body, replace_body
from raxis.ptir.passes.rewrites import commutes
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.program import Instruction, Program, Region, Value


def _common(program: Program, context: Context) -> Program:
    body = _deduplicated(program, context)
    return program if body is None else replace_body(program, body)


def _deduplicated(function: Program | Region, context: Context) -> Body | None:
    """The body without instructions equal to earlier ones; None if there are none."""
    names: dict[Value, Value] = {}
    first: dict[Hashable, Instruction] = {}
    kept: list[Instruction] = []
    changed = False
    for original in function.instructions:
        instruction = _renamed(original, names)
        if instruction.regions and instruction.primitive != "composite":
            instruction = _with_regions(instruction, context)
        known = first.setdefault(_key(instruction), instruction)
        if known is instruction:
            kept.append(instruction)
            changed = changed or instruction is not original
        else:
            names.update(zip(instruction.results, known.results, strict=True))
            context.rewrites[instruction.primitive] += 1
            changed = True
    if not changed:
        return None
    return Body(tuple(kept), tuple([names.get(value, value) for value in function.results]))


def _renamed(instruction: Instruction, names: Mapping[Value, Value]) -> Instruction:
    if names.keys().isdisjoint(instruction.operands):
        return instruction
    return replace(instruction, operands=tuple([names.get(value, value) for value in instruction.operands]))


def _with_regions(instruction: Instruction, context: Context) -> Instruction:
    bodies = [_deduplicated(region, context) for region in instruction.regions]
    if not any(bodies):
        return instruction
    regions = tuple(
        region if body is None else Region(region.parameters, *body)
        for region, body in zip(instruction.regions, bodies, strict=True)
    )
    return replace(instruction, regions=regions)


def _key(instruction: Instruction) -> Hashable:
    """Equal exactly for instructions that compute the same; random ones too, which are functions of key and offset."""
    primitive, operands = instruction.primitive, instruction.operands
    if commutes(instruction):
        operands = tuple(sorted(operands, key=id))
    if primitive in _PLAIN:
        return primitive, operands, tuple(instruction.attributes.values())
    regions = tuple([region.key for region in instruction.regions])
    return primitive, operands, attributes_key(instruction.attributes), regions


_PLAIN = frozenset(
    primitive.name
    for primitive in PRIMITIVES.values()
    if not primitive.regions and "numbers" not in primitive.attributes.values()
)
"""Primitives whose attributes are of one kind each, so that Python's equality is identity."""


def _dead(program: Program, context: Context) -> Program:
    live = live_instructions(program.instructions, program.results)
    removed = len(program.instructions) - len(live)
    if not removed:
        return program
    context.rewrites["unused"] += removed
    return replace_body(program, Body(live, program.results))


CSE = Pass("cse", "equal instructions on equal operands are computed once", _common)
DCE = Pass("dce", "instructions that no result depends on go", _dead)
