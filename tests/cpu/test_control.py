"""Branches and loops on raxis-cpu, whose regions are kernels."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.ptir import Builder, Program, Region, TensorType, Value
from tests.cpu.test_programs import fresh, run
from tests.ptir.harness import Placed

INDEX, VECTOR = TensorType(dtypes.int64, ()), TensorType(dtypes.float32, (3,))


def below(limit: int, *others: TensorType) -> Region:
    """Whether the first carry is below a limit."""
    builder = Builder()
    step = builder.parameter(INDEX)
    for type in others:
        builder.parameter(type)
    return builder.region([builder.emit("lt", step, builder.constant(limit, dtypes.int64))])


def swapping_loop(turns: int) -> Program:
    """``while i < turns: i, a, b = i + 1, b, a``."""
    body = Builder()
    step, a, b = (body.parameter(type) for type in (INDEX, VECTOR, VECTOR))
    swapped = body.region([body.emit("add", step, body.constant(1, dtypes.int64)), b, a])
    builder = Builder("swap")
    operands = [builder.parameter(type) for type in (INDEX, VECTOR, VECTOR)]
    return builder.build(builder.emit("while", *operands, regions=[below(turns, VECTOR, VECTOR), swapped]))


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 1001])
def test_carries_that_swap(turns: int) -> None:
    program = swapping_loop(turns)
    x, y = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    placed = [Placed(np.int64(0)), Placed(x, (2,), 1), Placed(y)]
    step, a, b = run(program, placed, fresh(program))
    assert step == turns
    np.testing.assert_array_equal((a, b), (y, x) if turns % 2 else (x, y))
    np.testing.assert_array_equal(placed[1].view, x)  # operands stay as they are


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_carries_that_no_turn_changes(turns: int) -> None:
    body = Builder()
    step, kept, total = (body.parameter(type) for type in (INDEX, VECTOR, VECTOR))
    counted = body.emit("add", step, body.constant(1, dtypes.int64))
    region = body.region([counted, kept, body.emit("add", total, kept)])
    builder = Builder("kept")
    operands = [builder.parameter(type) for type in (INDEX, VECTOR, VECTOR)]
    program = builder.build(builder.emit("while", *operands, regions=[below(turns, VECTOR, VECTOR), region]))
    x, y = np.float32([1, 2, 3]), np.float32([4, 5, 6])
    placed = [Placed(np.int64(0)), Placed(x, (2,), 1), Placed(y)]
    step, kept, total = run(program, placed, fresh(program))
    np.testing.assert_array_equal(kept, x)
    np.testing.assert_array_equal(total, y + turns * x)


@pytest.mark.parametrize("stacked", [False, True])
def test_a_loop_that_changes_nothing(stacked: bool) -> None:
    body = Builder()
    kept, element = body.parameter(VECTOR), body.parameter(VECTOR)
    region = body.region([kept, body.emit("add", kept, element)] if stacked else [kept])
    builder = Builder("kept")
    operands = [builder.parameter(type) for type in (VECTOR, TensorType(dtypes.float32, (4, 3)))]
    program = builder.build(builder.emit("scan", *operands, carry_count=1, regions=[region]))
    x, steps = np.float32([1, 2, 3]), np.arange(12, dtype=np.float32).reshape(4, 3)
    results = run(program, [Placed(x), Placed(steps)], fresh(program))
    for found, expected in zip(results, [x, steps + x][: 1 + stacked], strict=True):
        np.testing.assert_array_equal(found, expected)


def running(length: int) -> Program:
    """Running totals and their doubles."""
    body = Builder()
    total, element = body.parameter(VECTOR), body.parameter(VECTOR)
    total = body.emit("add", total, element)
    region = body.region([total, body.emit("add", total, total)])
    builder = Builder("running")
    operands = [builder.parameter(type) for type in (VECTOR, TensorType(dtypes.float32, (length, 3)))]
    return builder.build(builder.emit("scan", *operands, carry_count=1, regions=[region]))


@pytest.mark.parametrize("length", [0, 1, 2, 50])
def test_scan_into_strided_results(length: int, rng: np.random.Generator) -> None:
    program = running(length)
    start, steps = (
        rng.integers(-9, 9, 3).astype(np.float32),
        rng.integers(-9, 9, (length, 3)).astype(np.float32),
    )
    outputs = [Placed(np.zeros(3, np.float32), (2,)), Placed(np.zeros((length, 3), np.float32), (1, length))]
    total, doubles = run(program, [Placed(start), Placed(steps, (6, 2), 5)], outputs)
    expected = start + np.cumsum(steps.astype(np.float64), 0)
    np.testing.assert_array_equal(doubles, 2 * expected)
    np.testing.assert_array_equal(total, expected[-1] if length else start)


def choosing() -> Program:
    """``a[i] if flag else nan``, for each of three elements."""

    def region(primitive: str) -> Region:
        builder = Builder()
        x, index = builder.parameter(VECTOR), builder.parameter(TensorType(dtypes.int64, (3,)))
        if primitive == "take":
            return builder.region([builder.emit("take", x, index, dim=0)])
        return builder.region([builder.constant(float("nan"), dtypes.float32, (3,))])

    builder = Builder("choosing")
    types = (TensorType(dtypes.bool_, ()), VECTOR, TensorType(dtypes.int64, (3,)))
    operands: list[Value] = [builder.parameter(type) for type in types]
    return builder.build(builder.emit("cond", *operands, regions=[region("take"), region("nan")]))


def test_only_the_branch_taken_runs_and_an_error_writes_nothing() -> None:
    program = choosing()
    x, bad = Placed(np.float32([1, 2, 3])), Placed(np.int64([0, 3, 1]))
    (found,) = run(program, [Placed(np.bool_(False)), x, bad], fresh(program))
    assert np.isnan(found).all()
    target = Placed(np.float32([7, 7, 7]))
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
        run(program, [Placed(np.bool_(True)), x, bad], [target])
    np.testing.assert_array_equal(target.view, 7)
    (found,) = run(program, [Placed(np.bool_(True)), x, Placed(np.int64([2, 0, 1]))], [target])
    np.testing.assert_array_equal(found, [3, 1, 2])
