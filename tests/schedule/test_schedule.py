"""Schedules compute what programs mean, and fuse what should be fused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import raxis
from raxis import dtypes
from raxis.ptir import Builder, Program, TensorType
from raxis.schedule import LibraryStep, LoopStep, schedule
from tests.ptir.harness import Placed, execute
from tests.ptir.interpreter import assert_agree, outcome
from tests.ptir.random_programs import SEEDS, announce, arrays, programs
from tests.schedule.simulate import dense, simulate

F32 = dtypes.float32


@settings(max_examples=150, phases=[Phase.generate])
@given(programs(), SEEDS, st.booleans())
def test_random_programs(program: Program, seed: int, spread: bool) -> None:
    announce(program, seed)
    numbers = arrays(program, seed)
    plain = [a.item() if p.by_value else a for p, a in zip(program.parameters, numbers, strict=True)]
    inputs, outputs = dense(program)
    if spread:
        inputs = [None if strides is None else tuple(2 * step for step in strides) for strides in inputs]
    expected = outcome(lambda: execute(program, plain))
    found = outcome(lambda: simulate(schedule(program, inputs, outputs), program, plain))
    if isinstance(found, tuple) and isinstance(expected, tuple):
        assert issubclass(expected[0], found[0])  # the simulation's sentences are shorter
        return
    assert_agree(program, numbers, found, expected)


def softmax(shape: tuple[int, ...] = (4, 6)) -> Program:
    builder = Builder("softmax")
    x = builder.parameter(TensorType(F32, shape))

    def spread(value):
        return builder.emit("broadcast", value, shape=shape, dims=(0,))

    shifted = builder.emit("sub", x, spread(builder.emit("reduce_max", x, dims=(1,))))
    powers = builder.emit("exp", shifted)
    return builder.build([builder.emit("div", powers, spread(builder.emit("reduce_sum", powers, dims=(1,))))])


def planned(program: Program, **options):
    return schedule(program, *dense(program), **options)


def test_softmax_is_one_kernel_of_three_passes() -> None:
    (step,) = planned(softmax()).steps
    assert str(step.kernel) == (
        "kernel softmax(b0 float32, b1 float32)\n"
        "  axes outer 4, inner 6\n"
        "  n0 float32 = load b0[i0*6 + i1]\n"
        "  n1 float32 = reduce_max n0\n"
        "  n2 float32 = sub n0, n1\n"
        "  n3 float32 = exp n2\n"
        "  n4 float32 = reduce_sum n3\n"
        "  n5 float32 = div n3, n4\n"
        "  store n5 to b1[i0*6 + i1]"
    )
    assert step.kernel.levels == (0, 1, 1, 1, 2, 2)


def test_results_over_one_space_share_a_kernel() -> None:
    builder = Builder("moments")
    x = builder.parameter(TensorType(F32, (3, 5)))
    total = builder.emit("reduce_sum", x, dims=(1,))
    centred = builder.emit("sub", x, builder.emit("broadcast", total, shape=(3, 5), dims=(0,)))
    squares = builder.emit("reduce_sum", builder.emit("mul", centred, centred), dims=(1,))
    (step,) = planned(builder.build([total, squares, centred])).steps
    assert len(step.kernel.stores) == 3


def test_elementwise_chains_collapse_to_one_axis() -> None:
    builder = Builder("chain")
    x = builder.parameter(TensorType(F32, (3, 4, 5)))
    y = builder.parameter(TensorType(F32, ()), by_value=True)
    wide = builder.emit("broadcast", y, shape=(3, 4, 5), dims=())
    program = builder.build([builder.emit("exp", builder.emit("mul", x, wide))])
    (step,) = planned(program).steps
    assert [axis.size for axis in step.kernel.axes] == [60]
    assert step.scalars == (1,)


def test_a_mean_of_row_reductions_is_two_kernels() -> None:
    builder = Builder("loss")
    x = builder.parameter(TensorType(F32, (4, 6)))
    highest = builder.emit("reduce_max", x, dims=(1,))
    shifted = builder.emit("sub", x, builder.emit("broadcast", highest, shape=(4, 6), dims=(0,)))
    total = builder.emit("log", builder.emit("reduce_sum", builder.emit("exp", shifted), dims=(1,)))
    mean = builder.emit("reduce_sum", builder.emit("add", total, highest), dims=(0,))
    steps = planned(builder.build([mean])).steps
    assert [len(step.kernel.stores) for step in steps] == [1, 1]


def test_products_are_library_steps_and_reshapes_of_dense_memory_are_free() -> None:
    builder = Builder("product")
    x = builder.parameter(TensorType(F32, (2, 3, 4)))
    w = builder.parameter(TensorType(F32, (4, 5)))
    flat = builder.emit("reshape", x, shape=(6, 4))
    made = builder.emit(
        "dot_general", flat, w, lhs_batch=(), rhs_batch=(), lhs_contract=(1,), rhs_contract=(0,)
    )
    program = builder.build([builder.emit("exp", builder.emit("reshape", made, shape=(2, 3, 5)))])
    first, second = planned(program).steps
    assert isinstance(first, LibraryStep)
    assert isinstance(second, LoopStep)


@pytest.mark.parametrize("shape", [(6, 4), (24,)])
def test_a_dense_result_is_written_in_the_shape_in_which_it_is_computed(shape: tuple[int, ...]) -> None:
    builder = Builder("repeat")
    x = builder.parameter(TensorType(F32, (3, 4)))
    twice = builder.emit("broadcast", x, shape=(2, 3, 4), dims=(1, 2))
    program = builder.build([builder.emit("reshape", twice, shape=shape)])
    made = planned(program)
    (step,) = made.steps
    assert [made.buffers[number].role for number in step.buffers] == ["parameter", "result"]
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    (found,) = simulate(made, program, [x])
    np.testing.assert_array_equal(found, np.concatenate([x, x]).reshape(shape))


def test_a_result_that_is_not_dense_is_written_in_its_own_shape() -> None:
    builder = Builder("repeat")
    x = builder.parameter(TensorType(F32, (3, 4)))
    twice = builder.emit("broadcast", x, shape=(2, 3, 4), dims=(1, 2))
    program = builder.build([builder.emit("reshape", twice, shape=(6, 4))])
    made = schedule(program, [(4, 1)], [(1, 6)])
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    (found,) = simulate(made, program, [x])
    np.testing.assert_array_equal(found, np.concatenate([x, x]))


def test_a_dying_temporary_becomes_the_result() -> None:
    builder = Builder("linear")
    x, w = (builder.parameter(TensorType(F32, shape)) for shape in ((6, 4), (4, 5)))
    bias = builder.parameter(TensorType(F32, (5,)))
    made = builder.emit("dot_general", x, w, lhs_batch=(), rhs_batch=(), lhs_contract=(1,), rhs_contract=(0,))
    spread = builder.emit("broadcast", bias, shape=(6, 5), dims=(1,))
    plan = planned(builder.build([builder.emit("add", made, spread)]))
    assert {buffer.role for buffer in plan.buffers} == {"parameter", "result"}
    assert len(plan.steps) == 2


@pytest.mark.parametrize(("primitive", "copies"), [("exp", 0), ("reverse", 1)])
def test_in_place_programs_that_read_elsewhere_go_through_a_temporary(primitive: str, copies: int) -> None:
    builder = Builder("in_place")
    x = builder.parameter(TensorType(F32, (6,)))
    attributes = {"dims": (0,)} if primitive == "reverse" else {}
    program = builder.build([builder.emit(primitive, x, **attributes)])
    steps = planned(program, in_place=True).steps
    assert len(steps) == 1 + copies
    assert sum(step.kernel.name == "copy" for step in steps) == copies


def test_in_place_softmax_needs_no_temporary() -> None:
    assert len(planned(softmax(), in_place=True).steps) == 1


def test_empty_results_need_no_kernel() -> None:
    assert planned(softmax((0, 6))).steps == ()


def test_strided_operands_and_results() -> None:
    program = softmax()
    placed = Placed(np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6), (1, 4))
    plan = schedule(program, [placed.strides], [(1, 4)])
    (found,) = simulate(plan, program, [placed.view])
    expected = raxis.softmax(raxis.from_numpy(placed.view.copy()), 1).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
