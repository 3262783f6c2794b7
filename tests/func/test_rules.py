"""Batched programs of every primitive against one run for each example on the reference backend."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from raxis import dtypes
from raxis.func.batching import batch
from raxis.func.rules import RULES
from raxis.ptir import PRIMITIVES, Builder, Program, TensorType, run, verify
from raxis.testing.applications import Application, of_primitive

SIZE = 3
CANDIDATES = (dtypes.float64, dtypes.int64, dtypes.bool_, dtypes.complex128, dtypes.int32)
ALL = [item for name in PRIMITIVES if name in RULES and name != "random_bits" for item in of_primitive(name)]


def test_every_primitive_with_operands_has_a_rule() -> None:
    assert set(PRIMITIVES) - set(RULES) == {"constant", "iota"}


def _flags(application: Application) -> list[tuple[bool, ...]]:
    """Every choice of operands that differ between examples."""
    return [flags for flags in product((True, False), repeat=len(application.shapes)) if any(flags)]


@pytest.mark.parametrize("application", ALL, ids=str)
def test_rule(application: Application, rng: np.random.Generator) -> None:
    dtype = next(candidate for candidate in CANDIDATES if application.admits(candidate))
    program = application.program(dtype)
    examples = [application.operands(dtype, rng) for _ in range(SIZE)]
    for flags in _flags(application):
        batched = batch(program, flags, SIZE, False)
        verify(batched.program)
        given = [
            np.stack([example[at] for example in examples]) if flag else examples[0][at]
            for at, flag in enumerate(flags)
        ]
        found = run(batched.program, given)
        for position in range(SIZE):
            own = [examples[position if flag else 0][at] for at, flag in enumerate(flags)]
            for result, wanted, differs in zip(found, run(program, own), batched.differs, strict=True):
                np.testing.assert_allclose(
                    result[position] if differs else result, wanted, rtol=1e-12, atol=1e-12
                )


@pytest.mark.parametrize("application", ALL, ids=str)
def test_rule_of_no_examples(application: Application) -> None:
    dtype = next(candidate for candidate in CANDIDATES if application.admits(candidate))
    program = application.program(dtype)
    batched = batch(program, [True] * len(application.shapes), 0, False)
    verify(batched.program)
    types = [TensorType(value.type.dtype, (0, *value.type.shape)) for value in program.results]
    assert [value.type for value in batched.program.results] == types


def _drawing() -> Program:
    """Two draws, the second on counters after those of the first."""
    builder = Builder("draw")
    key, offset = (builder.parameter(TensorType(dtypes.int64, ()), by_value=True) for _ in range(2))
    first = builder.emit_all("random_bits", [key, offset], {"shape": (5,), "dtype": dtypes.int32})
    step = builder.constant(2, dtypes.int64)  # blocks that the first draw took
    (second,) = builder.emit_all("add", [offset, step], {})
    last = builder.emit_all("random_bits", [key, second], {"shape": (3,), "dtype": dtypes.int64})
    return builder.build([*first, *last])


def test_random_numbers_of_examples_differ_and_never_repeat() -> None:
    batched = batch(_drawing(), [False, False], SIZE, True)
    assert batched.differs == (True, True)
    words, pairs = run(batched.program, [7, 11])
    assert words.shape == (SIZE, 5)
    assert pairs.shape == (SIZE, 3)
    drawn = [*words.ravel().tolist(), *pairs.ravel().view(np.int32).tolist()]
    assert len(set(drawn)) == len(drawn)
    counters = run(_words(SIZE * 4), [7, 11])[0]  # four blocks were set apart for each example
    assert set(drawn) <= set(counters.tolist())


def _words(blocks: int) -> Program:
    builder = Builder("words")
    parameters = [builder.parameter(TensorType(dtypes.int64, ()), by_value=True) for _ in range(2)]
    attributes = {"shape": (4 * blocks,), "dtype": dtypes.int32}
    return builder.build(builder.emit_all("random_bits", parameters, attributes))


def test_random_numbers_that_are_the_same() -> None:
    program = _drawing()
    batched = batch(program, [False, False], SIZE, False)
    assert batched.program == program
    assert batched.differs == (False, False)


def test_loop_whose_condition_differs_between_examples() -> None:
    going, body, builder = Builder(), Builder(), Builder("double")
    scalar = TensorType(dtypes.float64, ())
    x = going.parameter(scalar)
    below = going.emit_all("lt", [x, going.constant(10.0, dtypes.float64)], {})
    y = body.parameter(scalar)
    doubled = body.emit_all("add", [y, y], {})
    start = builder.parameter(scalar)
    regions = [going.region(below), body.region(doubled)]
    program = builder.build(builder.emit_all("while", [start], {}, regions))
    batched = batch(program, [True], 3, False)
    (found,) = run(batched.program, [np.array([1.0, 3.0, 40.0])])
    np.testing.assert_array_equal(found, [16.0, 12.0, 40.0])
