"""Rematerialisation: a cheap value that lies in memory for long is computed again where it is needed next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from raxis.ptir.passes.liveness import BY_ELEMENT, Liveness, memory_read, nbytes, producers
from raxis.ptir.passes.record import Context, Pass
from raxis.ptir.passes.rewriter import Body, highest_id, replace_body
from raxis.ptir.program import Instruction, Program, Value


def rematerialisation(budget: int) -> Pass:
    """The pass that brings the temporaries of a program below `budget` bytes, as far as that costs little work.

    It runs last: finding what is computed twice would undo it.
    """

    def run(program: Program, context: Context) -> Program:
        while (shorter := _step(program, budget)) is not None:
            program = shorter
            context.rewrites["computed again"] += 1
        return program

    return Pass("rematerialise", f"temporaries take at most {budget} bytes where recomputing is cheap", run)


def _step(program: Program, budget: int) -> Program | None:
    """The program with one value less in memory at the peak; None if it fits, or nothing helps."""
    liveness = Liveness(program)
    live = liveness.live_bytes()
    peak = max(live, default=0)
    if peak <= budget:
        return None
    place = live.index(peak)
    largest = max(_candidates(liveness, place), key=lambda value: nbytes(value.type), default=None)
    return None if largest is None else _computed_again(program, largest, place)


def _candidates(liveness: Liveness, place: int) -> Iterator[Value]:
    """Values that only wait in memory at `place`, and can be computed later from what is there anyway."""
    made = producers(liveness.program)
    reads = _reads(liveness)
    results = set(liveness.program.results)
    for value, (birth, death) in liveness.ranges.items():
        if not birth < place < death or value in results or made[value].primitive not in BY_ELEMENT:
            continue
        if any(at <= place <= until for at, until in reads[value]):
            continue
        if all(_is_there(liveness, source, death) for source in memory_read(value, made, liveness.stored)):
            yield value


def _reads(liveness: Liveness) -> dict[Value, list[tuple[int, int]]]:
    """For each value the instructions that use it, and until when they, or what they are fused with, read it."""
    found: dict[Value, list[tuple[int, int]]] = defaultdict(list)
    for place, instruction in enumerate(liveness.program.instructions):
        until = place
        if not liveness.stored.intersection(instruction.results):
            until = max(
                (liveness.last_read.get(result, place) for result in instruction.results), default=place
            )
        for operand in instruction.operands:
            found[operand].append((place, until))
    return found


def _is_there(liveness: Liveness, source: Value, place: int) -> bool:
    """Whether a value is in memory at `place`: a parameter, or one that lives on."""
    return source not in liveness.ranges or liveness.ranges[source].death >= place


def _computed_again(program: Program, value: Value, place: int) -> Program:
    """The program with `value` made anew for its uses after `place`."""
    again = Value(1 + highest_id(program), value.type)
    origin = next(item for item in program.instructions if value in item.results)
    instructions = list(program.instructions[: place + 1])
    rest = program.instructions[place + 1 :]
    first = next(position for position, item in enumerate(rest) if value in item.operands)
    instructions += [*rest[:first], replace(origin, results=(again,))]
    instructions += [_reading(item, value, again) for item in rest[first:]]
    return replace_body(program, Body(tuple(instructions), program.results))


def _reading(instruction: Instruction, old: Value, new: Value) -> Instruction:
    if old not in instruction.operands:
        return instruction
    return replace(instruction, operands=tuple(new if each is old else each for each in instruction.operands))
