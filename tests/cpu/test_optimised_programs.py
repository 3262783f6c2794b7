"""Optimised programs on raxis-cpu give what the reference gives for the programs as they were."""

from __future__ import annotations

from hypothesis import Phase, given, settings

from raxis.ptir import Program
from raxis.ptir.passes import optimise
from tests.cpu.test_programs import fresh, run
from tests.ptir.harness import execute
from tests.ptir.interpreter import assert_agree, outcome
from tests.ptir.random_programs import SEEDS, announce, arguments, arrays, programs


@settings(max_examples=60, phases=[Phase.generate])
@given(programs(16), SEEDS)
def test_random_programs(program: Program, seed: int) -> None:
    announce(program, seed)
    optimised = optimise(program, verify=True)
    expected = outcome(lambda: execute(program, arguments(program, seed)))
    found = outcome(lambda: run(optimised, arguments(optimised, seed), fresh(optimised)))
    if not isinstance(expected, tuple):
        assert_agree(program, arrays(program, seed), found, expected)
