"""Programs on raxis-cpu give what the reference gives: random ones, strided and in place."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from raxis import dtypes
from raxis.backends.api import Executable
from raxis.ptir import Builder, Program, TensorType
from raxis_cpu.backend import CpuBackend
from raxis_cpu.executable import compile_program
from tests.ptir.harness import Placed, execute
from tests.ptir.interpreter import assert_agree, outcome
from tests.ptir.random_programs import SEEDS, announce, arguments, arrays, programs

BACKEND = CpuBackend()


def run(
    program: Program, inputs: Sequence[object], outputs: Sequence[Placed], in_place: bool = False
) -> list[np.ndarray]:
    """The results on raxis-cpu; `inputs` are `Placed` arrays and numbers."""
    strides = [item.strides if isinstance(item, Placed) else None for item in inputs]
    executable = BACKEND.compile(program, strides, [item.strides for item in outputs], in_place=in_place)
    arguments: list[object] = []
    for item in [*inputs, *outputs]:
        arguments += [item.buffer, item.offset] if isinstance(item, Placed) else [item]
    assert executable(*arguments) is None
    return [item.view for item in outputs]


def fresh(program: Program, offset: int = 0) -> list[Placed]:
    return [
        Placed(np.zeros(value.type.shape, value.type.dtype.numpy), offset=offset) for value in program.results
    ]


def check(program: Program, seed: int, spread: int) -> None:
    announce(program, seed)
    expected = outcome(lambda: execute(program, arguments(program, seed)))
    found = outcome(lambda: run(program, arguments(program, seed, spread), fresh(program, seed % 2)))
    assert_agree(program, arrays(program, seed), found, expected)


@settings(max_examples=60, phases=[Phase.generate])
@given(programs(), SEEDS, st.integers(1, 2))
def test_random_programs(program: Program, seed: int, spread: int) -> None:
    check(program, seed, spread)


@pytest.mark.slow
@settings(max_examples=1000, phases=[Phase.generate])
@given(programs(), SEEDS, st.integers(1, 2))
def test_a_thousand_random_programs(program: Program, seed: int, spread: int) -> None:
    check(program, seed, spread)


def one_result(primitive: str, shape: tuple[int, ...], **attributes: object) -> Program:
    builder = Builder(primitive)
    x = builder.parameter(TensorType(dtypes.float32, shape))
    return builder.build([builder.emit(primitive, x, **attributes)])


@pytest.mark.parametrize(
    ("primitive", "attributes"),
    [
        ("exp", {}),
        ("reverse", {"dims": (0,)}),
        ("cumsum", {"dim": 0}),
        ("transpose", {"permutation": (1, 0)}),
    ],
)
def test_in_place(primitive: str, attributes: dict[str, object], rng: np.random.Generator) -> None:
    program = one_result(primitive, (5, 5), **attributes)
    values = rng.standard_normal((5, 5)).astype(np.float32)
    (expected,) = execute(program, [values])
    target = Placed(values)
    (found,) = run(program, [target], [target], in_place=True)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_in_place_with_the_operand_twice(rng: np.random.Generator) -> None:
    builder = Builder("square")
    x, y = (builder.parameter(TensorType(dtypes.float32, (4, 4))) for _ in range(2))
    program = builder.build([builder.emit("mul", x, builder.emit("transpose", y, permutation=(1, 0)))])
    values = rng.standard_normal((4, 4)).astype(np.float32)
    target = Placed(values)
    (found,) = run(program, [target, target], [target], in_place=True)
    np.testing.assert_allclose(found, values * values.T, rtol=1e-6)


def test_one_compiled_kernel_serves_many_sizes(rng: np.random.Generator) -> None:
    for size in (0, 1, 7, 8, 9, 63, 64, 65, 1000, 100_003):
        values = rng.standard_normal(size).astype(np.float32)
        program = one_result("tanh", (size,))
        (found,) = run(program, [Placed(values)], fresh(program))
        np.testing.assert_allclose(found, np.tanh(values.astype(np.float64)), rtol=4e-7)


def test_two_composites_of_one_region(rng: np.random.Generator) -> None:
    inner = Builder()
    powers = inner.region([inner.emit("exp", inner.parameter(TensorType(dtypes.float32, (3,))))])
    builder = Builder("difference")
    operands = [builder.parameter(TensorType(dtypes.float32, (3,))) for _ in range(2)]
    first, second = (builder.emit("composite", x, name="exp_of", regions=[powers])[0] for x in operands)
    program = builder.build([builder.emit("sub", first, second)])
    x, y = rng.standard_normal((2, 3)).astype(np.float32)
    (found,) = run(program, [Placed(x), Placed(y)], fresh(program))
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)) - np.exp(y.astype(np.float64)), rtol=1e-5)


def test_the_kernel_of_a_composite_is_made_once() -> None:
    row = TensorType(dtypes.float32, (3,))
    inner = Builder()
    powers = inner.region([inner.emit("exp", inner.parameter(row))])
    builder = Builder("powers")
    once = builder.emit("composite", builder.parameter(row), name="exp_of", regions=[powers])[0]
    twice = builder.emit("composite", once, name="exp_of", regions=[powers])[0]
    program = builder.build([builder.emit("neg", twice)])
    made: list[str] = []

    def factory(composite: Program, inputs: object, outputs: object) -> Executable:
        made.append(composite.name)

        def kernel(x: np.ndarray, x_offset: int, y: np.ndarray, y_offset: int) -> None:
            views = (memory.view(np.float32)[at : at + 3] for memory, at in ((x, x_offset), (y, y_offset)))
            np.exp(*views)

        return kernel

    executable = compile_program(
        program, [(1,)], [(1,)], in_place=0, allocate=partial(np.empty, dtype=np.uint8),
        composites={"exp_of": factory},
    )  # fmt: skip
    x, found = np.zeros(3, np.float32), np.empty(3, np.float32)
    executable(x.view(np.uint8), 0, found.view(np.uint8), 0)
    assert made == ["exp_of"]
    np.testing.assert_allclose(found, -np.exp(1.0), rtol=1e-6)


def test_copies_between_buffers_of_several_dtypes_at_offsets() -> None:
    builder = Builder("copies")
    _, x = (builder.parameter(TensorType(dtype, (5,))) for dtype in (dtypes.int8, dtypes.float32))
    program = builder.build([builder.emit("slice", x, start=(1,), stop=(4,), step=(1,)), x])
    numbers = np.arange(5, dtype=np.float32)
    inputs = [Placed(np.arange(5, dtype=np.int8), offset=1), Placed(numbers, offset=3)]
    sliced, whole = run(program, inputs, fresh(program, offset=2))
    np.testing.assert_array_equal(sliced, [1, 2, 3])
    np.testing.assert_array_equal(whole, numbers)


def test_part_of_an_operand_at_an_offset_in_a_loop() -> None:
    element = Builder()
    carry, added = (element.parameter(TensorType(dtypes.float32, (2,))) for _ in range(2))
    body = element.region([element.emit("add", carry, added)])
    builder = Builder("sums")
    x, rows = (builder.parameter(TensorType(dtypes.float32, shape)) for shape in ((5,), (3, 2)))
    part = builder.emit("slice", x, start=(2,), stop=(4,), step=(1,))
    program = builder.build([*builder.emit_all("scan", [part, rows], {"carry_count": 1}, [body])])
    inputs = [
        Placed(np.array([9, 9, 1, 2, 9], np.float32), offset=3),
        Placed(np.ones((3, 2), np.float32), offset=1),
    ]
    (found,) = run(program, inputs, fresh(program, offset=1))
    np.testing.assert_array_equal(found, [4, 5])
