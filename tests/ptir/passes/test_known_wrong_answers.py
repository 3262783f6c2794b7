"""Wrong answers that optimizers of tensor programs have given elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType, Value
from raxis.ptir.passes import optimise, split
from tests.ptir.harness import execute

VECTOR = TensorType(dtypes.float32, (3,))
COUNTER = TensorType(dtypes.int64, ())


def binary(primitive: str, *order: int) -> Program:
    builder = Builder("binary")
    operands = [builder.parameter(VECTOR) for _ in range(2)]
    return builder.build([builder.emit(primitive, *(operands[place] for place in order))])


def repeated(primitive: str, times: int) -> Program:
    builder = Builder("repeated")
    value: Value = builder.parameter(VECTOR)
    for _ in range(times):
        value = builder.emit(primitive, value)
    return builder.build([value])


def test_operand_order_through_a_shared_cache() -> None:
    cache: dict[Program, Program] = {}
    data = [np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)]
    for order, expected in (((0, 1), data[0] - data[1]), ((1, 0), data[1] - data[0])):
        program = binary("sub", *order)
        optimised = cache.setdefault(program, optimise(program))
        np.testing.assert_array_equal(execute(optimised, data)[0], expected)
    assert len(cache) == 2


def test_operands_of_sums_have_one_order_and_of_differences_their_own() -> None:
    assert optimise(binary("add", 0, 1)) == optimise(binary("add", 1, 0))
    assert optimise(binary("sub", 0, 1)) != optimise(binary("sub", 1, 0))


@pytest.mark.parametrize(("primitive", "times"), [("neg", 2), ("neg", 3), ("exp", 2), ("abs", 3)])
def test_repeated_structure_with_a_flush_between(primitive: str, times: int) -> None:
    """One program for all, and the same program run once for each step with memory between, agree."""
    data = np.array([-1, 0.5, 2], np.float32)
    stepwise = data
    once = optimise(repeated(primitive, 1))
    for _ in range(times):
        (stepwise,) = execute(once, [stepwise])
    np.testing.assert_array_equal(execute(optimise(repeated(primitive, times)), [data])[0], stepwise)


def masks(offsets: tuple[int, int]) -> Program:
    """Two draws, `offsets` blocks after the one the caller gives."""
    builder = Builder("masks")
    key, offset = (builder.parameter(COUNTER, by_value=True) for _ in range(2))
    drawn = []
    for step in offsets:
        moved = builder.emit("add", offset, builder.constant(step, dtypes.int64))
        drawn.append(builder.emit("random_bits", key, moved, shape=(8,), dtype=dtypes.int32))
    return builder.build(drawn)


def test_random_numbers_do_not_repeat() -> None:
    first, second = execute(optimise(masks((0, 2))), [7, 0])
    assert (first != second).any()
    third, _ = execute(optimise(masks((0, 2))), [7, 2])
    np.testing.assert_array_equal(third, second)


def test_equal_draws_are_one() -> None:
    program = optimise(masks((1, 1)))
    assert [item.primitive for item in program.instructions].count("random_bits") == 1
    assert program.results[0] is program.results[1]


def noisy_weight() -> Program:
    """A weight times noise, all of it made of parameters that do not change but for the offset."""
    builder = Builder("noisy")
    weight = builder.parameter(TensorType(dtypes.int32, (4,)))
    key, offset = (builder.parameter(COUNTER, by_value=True) for _ in range(2))
    noise = builder.emit("random_bits", key, offset, shape=(4,), dtype=dtypes.int32)
    return builder.build([builder.emit("mul", weight, noise)])


@pytest.mark.parametrize("frozen", [{0}, {0, 1}, {0, 1, 2}])
def test_folding_never_goes_through_noise(frozen: set[int]) -> None:
    program = optimise(noisy_weight(), frozen=frozen)
    parts = split(program, frozen)
    assert parts.prologue.instructions == ()
    weight = np.arange(1, 5, dtype=np.int32)
    one, other = (execute(parts.main, [weight, 3, offset])[0] for offset in (0, 1))
    assert (one != other).any()


def test_noise_of_constants_is_not_folded() -> None:
    builder = Builder("constant noise")
    zero = builder.constant(0, dtypes.int64)
    program = builder.build([builder.emit("random_bits", zero, zero, shape=(2,), dtype=dtypes.int32)])
    assert optimise(program).instructions[-1].primitive == "random_bits"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_zero_times_special_numbers_is_nan(number: float) -> None:
    builder = Builder("zero")
    x = builder.parameter(VECTOR)
    program = builder.build([builder.emit("mul", x, builder.constant(0.0, dtypes.float32, (3,)))])
    assert np.isnan(execute(optimise(program), [np.full(3, number, np.float32)])[0]).all()


@pytest.mark.parametrize("primitive", ["maximum", "minimum"])
def test_nan_goes_through_extrema(primitive: str) -> None:
    builder = Builder("extrema")
    x = builder.parameter(VECTOR)
    zero = builder.constant(0.0, dtypes.float32, (3,))
    inner = builder.emit(primitive, x, zero)
    program = builder.build([builder.emit(primitive, inner, zero)])
    found = execute(optimise(program), [np.array([np.nan, 1, -1], np.float32)])[0]
    expected = np.maximum if primitive == "maximum" else np.minimum
    np.testing.assert_array_equal(found, expected(np.array([np.nan, 1, -1], np.float32), 0))
