"""Runs programs instruction by instruction, and judges whether two backends' results are those of one program.

Backends may round differently. A later instruction can make any difference of a small one (a comparison, a cast, a
cancellation), so where results differ by more than their own rounding, the program is run again with each inexact
instruction's rounding errors exaggerated at random: what moves then may differ, what does not must not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from raxis.dtypes import Category, DType
from raxis.ptir import Builder, Instruction, Program, Region, Value
from raxis.ptir.primitives import elementwise
from tests.ptir.harness import TOLERANCE, assert_close, execute, one_instruction

Noise = Callable[[np.ndarray, DType], np.ndarray]
Outcome = list[np.ndarray] | tuple[type, str]

ACCUMULATING = frozenset(
    {"reduce_sum", "reduce_prod", "cumsum", "cumprod", "dot_general", "convolution", "scatter", "put"}
)
"""Primitives whose order of operations is the backend's own."""

_EXACT = frozenset(
    {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "maximum", "minimum", "select", "cast"}
)
INEXACT = ACCUMULATING | {primitive.name for primitive in elementwise.PRIMITIVES} - _EXACT

_NOISY_RUNS = 8


def unchanged(array: np.ndarray, dtype: DType) -> np.ndarray:
    """No noise."""
    return array


def step_by_step(
    program: Program, inputs: Sequence[np.ndarray], noise: Noise = unchanged
) -> list[np.ndarray]:
    """The results by running every instruction as a program of its own, and regions by Python's control flow."""
    return _function(Region(program.parameters, program.instructions, program.results), inputs, noise)


def _function(region: Region, inputs: Sequence[np.ndarray], noise: Noise) -> list[np.ndarray]:
    values: dict[Value, np.ndarray] = dict(zip(region.parameters, inputs, strict=True))
    for instruction in region.instructions:
        operands = [values[operand] for operand in instruction.operands]
        values |= zip(
            instruction.results,
            _CONTROL.get(instruction.primitive, _plain)(instruction, operands, noise),
            strict=True,
        )
    return [values[result] for result in region.results]


def _plain(instruction: Instruction, operands: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
    types = [operand.type for operand in instruction.operands]
    if instruction.primitive in ACCUMULATING:
        operands = [noise(array, type.dtype) for array, type in zip(operands, types, strict=True)]
    program = one_instruction(instruction.primitive, types, dict(instruction.attributes))
    results = execute(program, operands)
    if instruction.primitive not in INEXACT:
        return results
    return [noise(array, value.type.dtype) for array, value in zip(results, instruction.results, strict=True)]


def _cond(instruction: Instruction, operands: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
    taken = instruction.regions[0] if operands[0] else instruction.regions[1]
    return _function(taken, operands[1:], noise)


def _while(instruction: Instruction, carries: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
    condition, body = instruction.regions
    while _function(condition, carries, noise)[0]:
        carries = _function(body, carries, noise)
    return carries


def _scan(instruction: Instruction, operands: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
    count = instruction.attributes["carry_count"]
    carries, sequences = operands[:count], operands[count:]
    stacked = [np.empty(value.type.shape, value.type.dtype.numpy) for value in instruction.results[count:]]
    for step in range(len(sequences[0])):
        found = _function(
            instruction.regions[0], [*carries, *(np.asarray(xs[step]) for xs in sequences)], noise
        )
        carries = found[:count]
        for target, element in zip(stacked, found[count:], strict=True):
            target[step] = element
    return [*carries, *stacked]


def _composite(instruction: Instruction, operands: list[np.ndarray], noise: Noise) -> list[np.ndarray]:
    return _function(instruction.regions[0], operands, noise)


_CONTROL = {"cond": _cond, "while": _while, "scan": _scan, "composite": _composite}


def opened(program: Program) -> Program:
    """The program with composites replaced by their contents, and without what no result needs."""
    builder = Builder(program.name)
    stands_for: dict[Value, Value] = {
        parameter: builder.parameter(parameter.type, parameter.by_value) for parameter in program.parameters
    }
    _open(builder, program.instructions, stands_for)
    return builder.build([stands_for[value] for value in program.results])


def _open(builder: Builder, instructions: Sequence[Instruction], stands_for: dict[Value, Value]) -> None:
    for instruction in instructions:
        operands = [stands_for[operand] for operand in instruction.operands]
        if instruction.primitive == "composite":
            (region,) = instruction.regions
            inside = dict(zip(region.parameters, operands, strict=True))
            _open(builder, region.instructions, inside)
            results = [inside[value] for value in region.results]
        else:
            attributes = dict(instruction.attributes)
            results = list(builder.emit_all(instruction.primitive, operands, attributes, instruction.regions))
        stands_for |= zip(instruction.results, results, strict=True)


def outcome(run: Callable[[], list[np.ndarray]]) -> Outcome:
    """The results, or the error."""
    try:
        return run()
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)


def assert_agree(program: Program, inputs: Sequence[np.ndarray], found: Outcome, expected: Outcome) -> None:
    """Two outcomes of a program are the same up to rounding and what this program makes of it."""
    if isinstance(expected, tuple) and not isinstance(found, tuple):
        # Backends open composites and leave out what no result needs, errors included.
        expected = outcome(lambda: step_by_step(opened(program), inputs))
    if isinstance(expected, tuple) or isinstance(found, tuple):
        assert found == expected
        return
    slack: list[np.ndarray] | None = None
    for position, value in enumerate(program.results):
        one, other = found[position], np.asarray(expected[position])
        try:
            assert_close(one, other, value.type.dtype)
        except AssertionError:
            slack = slack or _slack(program, inputs, expected)
            assert one.shape == other.shape
            assert one.dtype == other.dtype
            differs = ~_within(
                _wide(one), _wide(other), slack[position], TOLERANCE.get(value.type.dtype.name, 0.0)
            )
            if differs.any():
                raise


def _within(one: np.ndarray, other: np.ndarray, slack: np.ndarray, tolerance: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= 4 * slack + tolerance * (np.abs(other) + 0.1)
    return near | (one == other) | (np.isnan(one) & np.isnan(other)) | ~np.isfinite(slack)


def _slack(program: Program, inputs: Sequence[np.ndarray], expected: list[np.ndarray]) -> list[np.ndarray]:
    """How far each element of the results moves under exaggerated rounding; infinite where it becomes another kind."""
    farthest = [np.zeros(np.shape(array)) for array in expected]
    for run in range(_NOISY_RUNS):
        rng = np.random.default_rng(run)
        noisy = step_by_step(program, inputs, lambda array, dtype, rng=rng: _noisy(array, dtype, rng))
        for position, (one, other) in enumerate(zip(noisy, expected, strict=True)):
            with np.errstate(all="ignore"):
                moved = np.abs(_wide(one) - _wide(other))
            same = (_wide(one) == _wide(other)) | (np.isnan(_wide(one)) & np.isnan(_wide(other)))
            moved = np.where(same, 0.0, np.where(np.isfinite(moved), moved, np.inf))
            farthest[position] = np.maximum(farthest[position], moved)
    return farthest


def _noisy(array: np.ndarray, dtype: DType, rng: np.random.Generator) -> np.ndarray:
    if dtype.category < Category.FLOAT:
        return array
    factor = 1 + TOLERANCE[dtype.name] * rng.choice([-1.0, 0.0, 1.0], np.shape(array))
    with np.errstate(all="ignore"):
        return np.asarray(_wide(array) * factor).astype(dtype.numpy)


def _wide(array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
