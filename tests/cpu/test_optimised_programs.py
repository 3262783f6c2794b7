"""Optimised programs on raxis-cpu give what the reference gives for the programs as they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import Phase, given, settings

from raxis.ptir import Parameter, Program
from raxis.ptir.passes import optimise
from tests.cpu.test_programs import BACKEND, fresh, run
from tests.ptir.harness import Placed, execute
from tests.ptir.interpreter import assert_agree, outcome
from tests.ptir.passes.test_patterns import HEADS, attention, composites, recognised, traced
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


def test_recognised_attention_is_what_the_device_claims() -> None:
    program = traced(attention, HEADS, HEADS, HEADS)
    (found,) = composites(recognised(program))
    (region,) = found.regions
    parameters = tuple(Parameter(value.id, value.type) for value in region.parameters)
    names = dict(zip(region.parameters, parameters, strict=True))
    body = tuple(
        replace(item, operands=tuple(names.get(value, value) for value in item.operands))
        for item in region.instructions
    )
    alone = Program("_attention", parameters, body, region.results, found.attributes)
    rng = np.random.default_rng(0)
    inputs = [Placed(rng.standard_normal(value.type.shape).astype(np.float32)) for value in parameters]
    output = Placed(np.zeros(region.results[0].type.shape, np.float32))
    kernel = BACKEND.composites["_attention"](alone, [each.strides for each in inputs], [output.strides])
    assert kernel is not None
    kernel(*(part for each in [*inputs, output] for part in (each.buffer, each.offset)))
    (expected,) = execute(alone, inputs)
    np.testing.assert_allclose(output.view, expected, rtol=1e-5, atol=1e-6)
