"""Optimised random programs give what they gave before: bit for bit where passes promise it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from raxis.ptir import Program
from raxis.ptir.passes import PASSES, Pass, optimise
from tests.ptir.harness import execute
from tests.ptir.interpreter import Outcome, assert_agree, outcome
from tests.ptir.passes.special import assert_same_bits
from tests.ptir.random_programs import SEEDS, announce, arguments, arrays, programs

EXACT = [each for each in PASSES if each.exact]


def assert_identical(found: Outcome, expected: Outcome) -> None:
    """The same bits; an error may go, with what raised it, if no result depends on its value."""
    if isinstance(expected, tuple):
        return
    assert not isinstance(found, tuple)
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(one, other)


def compare(program: Program, seed: int, passes: list[Pass]) -> None:
    announce(program, seed)
    before = outcome(lambda: execute(program, arguments(program, seed)))
    optimised = optimise(program, passes=[tuple(passes)], verify=True)
    assert optimised.parameters == program.parameters
    assert [value.type for value in optimised.results] == [value.type for value in program.results]
    assert_identical(outcome(lambda: execute(optimised, arguments(optimised, seed))), before)


@pytest.mark.parametrize("each", EXACT, ids=lambda each: each.name)
@settings(max_examples=60)
@given(program=programs(), seed=SEEDS)
def test_each_exact_pass(each: Pass, program: Program, seed: int) -> None:
    compare(program, seed, [each])


@settings(max_examples=200)
@given(programs(16), SEEDS)
def test_all_exact_passes(program: Program, seed: int) -> None:
    compare(program, seed, EXACT)


@settings(max_examples=200)
@given(programs(16), SEEDS)
def test_all_passes(program: Program, seed: int) -> None:
    announce(program, seed)
    before = outcome(lambda: execute(program, arguments(program, seed)))
    optimised = optimise(program, verify=True)
    after = outcome(lambda: execute(optimised, arguments(optimised, seed)))
    if not isinstance(before, tuple):
        assert_agree(program, arrays(program, seed), after, before)
