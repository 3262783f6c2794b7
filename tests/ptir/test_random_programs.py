"""Whole random programs give what their instructions give one by one, also into strided and aliased results."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from raxis.ptir import PRIMITIVES, Instruction, Program, Value
from tests.ptir.harness import Placed, assert_identical, execute
from tests.ptir.interpreter import outcome, step_by_step
from tests.ptir.random_programs import ALL_CASES, SEEDS, announce, arguments, arrays, programs


def check(program: Program, seed: int, in_place: bool) -> None:
    announce(program, seed)
    placed = arguments(program, seed, spread=2)
    outputs = [_output(value, placed, program, in_place) for value in program.results]
    expected = outcome(lambda: step_by_step(program, arrays(program, seed)))
    actual = outcome(lambda: execute(program, placed, outputs))
    if isinstance(expected, tuple) or isinstance(actual, tuple):
        assert actual == expected
        return
    seen: set[int] = set()
    for output, result, array in reversed(list(zip(outputs, actual, expected, strict=True))):
        if id(output) not in seen:
            assert_identical(result, np.asarray(array))
        seen.add(id(output))


def _output(value: Value, placed: list[object], program: Program, in_place: bool) -> Placed:
    """A fresh result, or the first parameter of its type."""
    for parameter, item in zip(program.parameters, placed, strict=True):
        if in_place and isinstance(item, Placed) and parameter.type == value.type:
            return item
    return Placed(np.zeros(value.type.shape, value.type.dtype.numpy))


@settings(max_examples=150)
@given(programs(), SEEDS, st.booleans())
def test_whole_programs(program: Program, seed: int, in_place: bool) -> None:
    check(program, seed, in_place)


@pytest.mark.slow
@settings(max_examples=2000, phases=[Phase.generate])
@given(programs(), SEEDS, st.booleans())
def test_thousands_of_whole_programs(program: Program, seed: int, in_place: bool) -> None:
    check(program, seed, in_place)


def test_the_generator_knows_every_primitive() -> None:
    assert {case.primitive for case in ALL_CASES} == set(PRIMITIVES)


def test_regions_hold_other_regions() -> None:
    deepest = 0

    @settings(max_examples=300, database=None, phases=[Phase.generate])
    @given(programs())
    def look(program: Program) -> None:
        nonlocal deepest
        deepest = max(deepest, _depth(program.instructions))

    look()
    assert deepest >= 2


def _depth(instructions: tuple[Instruction, ...]) -> int:
    regions = [region for instruction in instructions for region in instruction.regions]
    return 1 + max((_depth(region.instructions) for region in regions), default=-1) if regions else 0
