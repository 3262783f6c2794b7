"""Kernels in plain C give what the reference backend gives."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from raxis import dtypes
from raxis.codegen.splitting import SHORTEST
from raxis.interception import active
from raxis.ptir import PRIMITIVES, Builder, Program, TensorType, Value
from raxis.testing import Subject, Verdict, answers, collect, run
from raxis.testing.comparing import check_close
from raxis.testing.placed import APART, PLAIN, Arrangement, Placed, call, execute
from tests.codegen.c_device import COMPILER, CBackend
from tests.ptir.random_programs import SEEDS, announce, arrays, programs

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return Subject("c", CBackend(tmp_path_factory.mktemp("kernels")))


def check(subject: Subject, level: str, pattern: str) -> None:
    outcomes = list(run(subject, collect([level], f"{level}/{pattern}")))
    assert outcomes
    assert not [
        f"{outcome.case}: {outcome.detail}" for outcome in outcomes if outcome.verdict is Verdict.FAILED
    ]
    assert any(outcome.verdict is Verdict.PASSED for outcome in outcomes)


@pytest.mark.parametrize(
    "pattern",
    [
        "exp[[]bfloat16]", "special/pow[[]float32]", "special/erfinv[[]float64]", "special/digamma[[]float64]",
        "special/remainder[[]float32]", "floor_divide[[]int8]", "pow[[]int16]", "shift_right[[]int64]",
        "nextafter[[]float16]", "acos[[]complex128]", "cast[[]float64]", "reduce_sum[[]float16]",
        "reduce_max[[]float32]", "argmin[[]float32]", "cumsum[[]bfloat16]", "sort[[]float32]",
        "searchsorted[[]int32]", "dot_general[[]complex64]", "convolution[[]float32]", "take[[]uint8]",
        "scatter[[]float16]", "scatter[[]int32]", "put[[]float64]", "random_bits[[]int64]", "while[[]float32]",
        "fft[[]complex64]", "constant[[]float32]",
    ],
)  # fmt: skip
def test_primitives(subject: Subject, pattern: str) -> None:
    check(subject, "primitives", pattern)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["storage", "programs"])
def test_levels(subject: Subject, level: str) -> None:
    check(subject, level, "*")


@pytest.mark.slow
@pytest.mark.rotating
@pytest.mark.parametrize("name", ["special/*", *(f"{name}[[]*" for name in PRIMITIVES)])
def test_every_primitive(subject: Subject, name: str) -> None:
    check(subject, "primitives", name)


@settings(max_examples=20, phases=[Phase.generate], deadline=None)
@given(programs(), SEEDS, st.booleans())
def test_random_programs(subject: Subject, program: Program, seed: int, apart: bool) -> None:
    announce(program, seed)
    numbers = arrays(program, seed)
    try:
        expected = answers.run(program, numbers)
    except (IndexError, RuntimeError) as error:
        with pytest.raises(type(error)):
            execute(subject, program, operands(subject, program, numbers, apart))
        return
    found = execute(subject, program, operands(subject, program, numbers, apart))
    for value, one, other in zip(program.results, found, expected, strict=True):
        check_close(one, other, value.type.dtype, f"a result of\n{program}", factor=50)


def operands(
    subject: Subject, program: Program, numbers: list[np.ndarray], apart: bool
) -> list[Placed | complex]:
    return [
        array.item() if parameter.by_value else Placed(subject, array, APART if apart else PLAIN)
        for parameter, array in zip(program.parameters, numbers, strict=True)
    ]


def cast(subject: Subject, array: np.ndarray, source: dtypes.DType, target: dtypes.DType) -> np.ndarray:
    builder = Builder("cast")
    x = builder.parameter(TensorType(source, array.shape))
    program = builder.build(builder.emit_all("cast", [x], {"dtype": target}))
    return execute(subject, program, [Placed(subject, array)])[0]


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16])
def test_every_half(subject: Subject, dtype: dtypes.DType) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype.numpy)
    wide = cast(subject, every, dtype, dtypes.float32)
    np.testing.assert_array_equal(wide, every.astype(np.float32))
    back = cast(subject, wide, dtypes.float32, dtype)
    numbers = ~np.isnan(wide)
    np.testing.assert_array_equal(back.view(np.uint16)[numbers], every.view(np.uint16)[numbers])
    assert np.isnan(back.astype(np.float32)[~numbers]).all()


@pytest.mark.parametrize("numpy", [np.float16, ml_dtypes.bfloat16])
def test_rounding_to_half(subject: Subject, numpy: type, rng: np.random.Generator) -> None:
    halves = np.arange(0, 1 << 16, 7, dtype=np.uint16).view(numpy).astype(np.float32)
    halves = halves[np.isfinite(halves)]
    ordered = np.sort(halves)
    ties = ((ordered[1:].astype(np.float64) + ordered[:-1]) / 2).astype(np.float32)
    anything = rng.integers(0, 1 << 32, 4096, dtype=np.uint32).view(np.float32)
    given = np.concatenate([ties, np.nextafter(ties, np.float32(np.inf)), anything[~np.isnan(anything)]])
    dtype = dtypes.float16 if numpy is np.float16 else dtypes.bfloat16
    with np.errstate(all="ignore"):
        expected = given.astype(numpy)
    np.testing.assert_array_equal(
        cast(subject, given, dtypes.float32, dtype).view(np.uint16), expected.view(np.uint16)
    )


def test_long_rows(subject: Subject, rng: np.random.Generator) -> None:
    x = rng.normal(size=(3, 5001)).astype(np.float32)
    x[1, 77] = np.nan
    builder = Builder("rows")
    value = builder.parameter(TensorType(dtypes.float32, x.shape))
    results = [builder.emit("reduce_sum", value, dims=(1,)), builder.emit("argmax", value, dim=1)]
    total, place = execute(subject, builder.build(results), [Placed(subject, x, APART)])
    np.testing.assert_allclose(total, x.sum(1, dtype=np.float64), rtol=1e-3, atol=1e-2)
    assert place.tolist() == [x[0].argmax(), 77, x[2].argmax()]


def test_one_element(subject: Subject) -> None:
    builder = Builder("one")
    x = builder.parameter(TensorType(dtypes.float32, (1, 1)))
    program = builder.build([builder.emit("reduce_sum", builder.emit("exp", x), dims=(0, 1))])
    assert execute(subject, program, [Placed(subject, np.zeros((1, 1), np.float32))])[0] == 1.0


def test_no_elements(subject: Subject) -> None:
    builder = Builder("nothing")
    x = builder.parameter(TensorType(dtypes.float32, (0, 3)))
    results = [
        builder.emit("exp", x),
        *(builder.emit(f"reduce_{name}", x, dims=(0,)) for name in ("sum", "max")),
    ]
    found = execute(subject, builder.build(results), [Placed(subject, np.empty((0, 3), np.float32))])
    assert found[0].shape == (0, 3)
    assert found[1].tolist() == [0.0] * 3
    assert found[2].tolist() == [-np.inf] * 3


def test_updates_from_the_memory_that_they_change(subject: Subject, rng: np.random.Generator) -> None:
    """x.scatter_(0, index, x)"""
    x, index = rng.normal(size=(6, 4)).astype(np.float32), rng.permutation(6)[:, None].repeat(4, 1)
    builder = Builder("scatter")
    value, updates = (builder.parameter(TensorType(dtypes.float32, x.shape)) for _ in range(2))
    at = builder.parameter(TensorType(dtypes.int64, index.shape))
    program = builder.build([builder.emit("scatter", value, at, updates, dim=0, reduce="set")])
    placed = Placed(subject, x)
    call(subject, program, [placed, placed, Placed(subject, index)], [placed], in_place=1, disjoint=False)
    expected = np.empty_like(x)
    np.put_along_axis(expected, index, x, 0)
    np.testing.assert_array_equal(placed.read(), expected)


@pytest.mark.parametrize("reduce", ["add", "max"])
def test_many_updates_of_few_elements(subject: Subject, rng: np.random.Generator, reduce: str) -> None:
    """Made at once, by atomic exchanges."""
    index, updates = rng.integers(0, 5, 4000), rng.integers(-99, 99, 4000).astype(np.int32)
    builder = Builder("scatter")
    types = [(dtypes.int32, (5,)), (dtypes.int64, (4000,)), (dtypes.int32, (4000,))]
    operands = [builder.parameter(TensorType(dtype, shape)) for dtype, shape in types]
    program = builder.build(builder.emit_all("scatter", operands, {"dim": 0, "reduce": reduce}))
    start = np.arange(5, dtype=np.int32)
    (found,) = execute(subject, program, [Placed(subject, array) for array in (start, index, updates)])
    expected = start.copy()
    (np.add if reduce == "add" else np.maximum).at(expected, index, updates)
    assert found.tolist() == expected.tolist()


def test_description_has_sources(subject: Subject) -> None:
    builder = Builder("double")
    x = builder.parameter(TensorType(dtypes.float32, (3,)))
    program = builder.build([builder.emit("add", x, x)])
    found = subject.backend.describe(program, [(1,)], [(1,)], sources=True)
    assert list(found.sources) == ["0-raxis_double"]
    assert "v0 + v0" in found.sources["0-raxis_double"]
    assert found.steps == 1


class Watcher:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def begin_kernel(self, name: str, detail: str, values: Sequence[Value]) -> str:
        self.told.append((name, [value.type.shape for value in values]))
        return name

    def end(self, event: str) -> None:
        self.told.append(event)


def test_steps_are_observed(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = Builder("steps")
    x = builder.parameter(TensorType(dtypes.float32, (3,)))
    running = builder.emit("cumsum", builder.emit("exp", x), dim=0)
    program = builder.build([running])
    executable = subject.backend.compile(program, [(1,)], [(1,)])
    source, target = Placed(subject, np.zeros(3, np.float32)), Placed(subject, np.zeros(3, np.float32))
    watcher = Watcher()
    monkeypatch.setattr(active, "observer", watcher)
    executable.observed()(source.buffer, 0, target.buffer, 0)
    assert target.read().tolist() == [1.0, 2.0, 3.0]
    loop, scan = "raxis_steps", "raxis_cumsum"
    assert watcher.told == [(loop, [(3,)]), loop, (scan, [(3,)]), scan]


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.int64, dtypes.complex64])
@pytest.mark.parametrize("arrangement", [PLAIN, APART])
def test_rows_in_parts(
    subject: Subject, rng: np.random.Generator, dtype: dtypes.DType, arrangement: Arrangement
) -> None:
    """Two long rows: a mean of shifted elements, beside a row that is only read."""
    size = SHORTEST + 77
    x = rng.integers(-8, 8, (2, size)).astype(dtype.numpy)
    y = rng.integers(1, 4, 2).astype(dtype.numpy)
    builder = Builder("parts")
    values, rows = (builder.parameter(TensorType(dtype, array.shape)) for array in (x, y))
    spread = builder.emit("broadcast", rows, shape=x.shape, dims=(0,))
    total = builder.emit("reduce_sum", builder.emit("mul", values, spread), dims=(1,))
    program = builder.build([builder.emit("mul", total, rows)])
    assert len(subject.backend.describe(program, [(size, 1), (1,)], [(1,)], sources=True).sources) == 3
    (found,) = execute(subject, program, [Placed(subject, x, arrangement), Placed(subject, y)])
    wide = np.complex128 if dtype.is_complex else np.float64
    expected = x.astype(wide).sum(1) * y.astype(wide) ** 2
    np.testing.assert_allclose(found.astype(wide), expected, rtol=2e-3 if dtype is dtypes.float16 else 1e-6)


def test_divisors_that_the_host_knows(subject: Subject) -> None:
    builder = Builder("divided")
    x = builder.parameter(TensorType(dtypes.uint8, (3,)))
    y = builder.parameter(TensorType(dtypes.uint8, ()), by_value=True)
    quotient = builder.emit("div", x, builder.emit("broadcast", y, shape=(3,), dims=()))
    program = builder.build([quotient])
    assert list(subject.backend.describe(program, [(1,), None], [(1,)], sources=True).sources) == [
        "0-raxis_divided"
    ]
    values = Placed(subject, np.array([7, 8, 9], np.uint8))
    assert execute(subject, program, [values, 2])[0].tolist() == [3, 4, 4]
    for zero in (0, 256):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            execute(subject, program, [values, zero])


def test_an_error_of_a_later_step_leaves_results_alone(subject: Subject) -> None:
    """Indices that are given are looked at before anything is computed."""
    builder = Builder("two")
    x = builder.parameter(TensorType(dtypes.float32, (4,)))
    index = builder.parameter(TensorType(dtypes.int64, (3,)))
    program = builder.build([builder.emit("cumsum", x, dim=0), builder.emit("take", x, index, dim=0)])
    outputs = [Placed(subject, np.full(size, 7, np.float32)) for size in (4, 3)]
    operands = [Placed(subject, np.ones(4, np.float32)), Placed(subject, np.array([0, 4, 1]))]
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        call(subject, program, operands, outputs)
    assert [output.read().tolist() for output in outputs] == [[7.0] * 4, [7.0] * 3]
