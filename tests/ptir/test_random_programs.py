"""Whole random programs give what their instructions give one by one, also into strided and aliased results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from raxis.ptir import Instruction, Program, Value
from tests.ptir.harness import Placed, assert_identical, execute, one_instruction, samples
from tests.ptir.strategies import programs


def step_by_step(
    parameters: Sequence[Value],
    instructions: Sequence[Instruction],
    results: Sequence[Value],
    inputs: Sequence[object],
) -> list[np.ndarray]:
    """Runs every instruction as a program of its own; composites by their region."""
    values = dict(zip(parameters, inputs, strict=True))
    for instruction in instructions:
        operands = [values[operand] for operand in instruction.operands]
        values |= zip(instruction.results, _one_step(instruction, operands), strict=True)
    return [values[result] for result in results]


def _one_step(instruction: Instruction, operands: list[np.ndarray]) -> list[np.ndarray]:
    if instruction.primitive == "composite":
        (region,) = instruction.regions
        return step_by_step(region.parameters, region.instructions, region.results, operands)
    types = [operand.type for operand in instruction.operands]
    return execute(
        one_instruction(instruction.primitive, types, dict(instruction.attributes), instruction.regions),
        operands,
    )


def outcome(run: object) -> list[np.ndarray] | tuple[type, str]:
    """The results, or the error."""
    try:
        return run()  # type: ignore[operator, no-any-return]
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)


@settings(max_examples=120)
@given(programs(), st.integers(0, 2**32 - 1), st.booleans())
def test_whole_programs(program: Program, seed: int, in_place: bool) -> None:
    rng = np.random.default_rng(seed)
    arrays = [samples(parameter.type.dtype, parameter.type.shape, rng) for parameter in program.parameters]
    placed = [
        array.item() if parameter.by_value else Placed(array, [2 * step for step in Placed(array).strides], 1)
        for parameter, array in zip(program.parameters, arrays, strict=True)
    ]
    outputs = [_output(value, placed, program, in_place) for value in program.results]
    expected = outcome(
        lambda: step_by_step(program.parameters, program.instructions, program.results, arrays)
    )
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
