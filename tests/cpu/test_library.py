"""Library routines against the reference interpreter, NumPy and torch, over dtypes, shapes and strides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from raxis import dtypes
from raxis.backends.reference.compiler import compile_program
from raxis.dtypes import HALF, DType
from raxis.layout import contiguous_strides
from raxis.ptir.builder import Builder
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis_cpu import threads
from raxis_cpu.library import composites, routine

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
REAL = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, *FLOATS)
EVERY = (dtypes.bool_, *REAL, dtypes.complex64, dtypes.complex128)
SOME = (dtypes.uint8, dtypes.int64, dtypes.bfloat16, dtypes.float32, dtypes.complex64)
TOLERANCES = {dtypes.float16: 2e-3, dtypes.bfloat16: 2e-2, dtypes.float32: 2e-5, dtypes.complex64: 2e-5}

Layout = str
"""How test arrays lie in memory: "dense", "transposed" or "spread" (every second element, backwards)."""
LAYOUTS = ("dense", "transposed", "spread")


@pytest.fixture
def three_threads() -> Iterator[None]:
    """Three threads during the test."""
    before = threads.get_num_threads()
    threads.set_num_threads(3)
    yield
    threads.set_num_threads(before)


def values(rng: np.random.Generator, dtype: DType, shape: Sequence[int]) -> np.ndarray:
    """Small numbers, many of them equal, with NaN, infinity and -0 among the floats."""
    if dtype.is_complex:
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype.numpy)
    if dtype.is_floating_point:
        return rng.normal(size=shape).astype(dtype.numpy)
    return rng.integers(0, 2 if dtype is dtypes.bool_ else 50, size=shape).astype(dtype.numpy)


def laid_out(array: np.ndarray, layout: Layout) -> np.ndarray:
    """The same elements in another order in memory."""
    if layout == "transposed" and array.ndim > 1:
        return np.ascontiguousarray(array.T).T
    if layout == "spread" and array.ndim:
        room = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        view = room[..., ::2][..., ::-1]
        view[...] = array
        return view
    return np.array(array, order="C")


def strides(array: np.ndarray) -> tuple[int, ...]:
    """Strides in elements."""
    return tuple(stride // array.itemsize for stride in array.strides)


def program_of(
    primitive: str, operands: Sequence[np.ndarray], kinds: Sequence[DType], **attributes: Any
) -> Program:
    """A program of one instruction."""
    builder = Builder(primitive)
    parameters = [
        builder.parameter(TensorType(kind, array.shape)) for kind, array in zip(kinds, operands, strict=True)
    ]
    return builder.build(builder.emit_all(primitive, parameters, attributes))


def expected_of(program: Program, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The reference interpreter's results."""
    results = [np.empty(value.type.shape, value.type.dtype.numpy) for value in program.results]
    arrays = [*map(np.ascontiguousarray, operands), *results]
    execute = compile_program(
        program,
        [contiguous_strides(array.shape) for array in operands],
        [contiguous_strides(array.shape) for array in results],
    )
    execute(*(item for array in arrays for item in (array.reshape(-1).view(np.uint8), 0)))
    return results


def check(
    primitive: str, operands: Sequence[np.ndarray], kinds: Sequence[DType], layout: Layout = "dense", **attributes: Any
) -> None:  # fmt: skip
    """Run an instruction on operands and results in a layout; compare with the reference."""
    program = program_of(primitive, operands, kinds, **attributes)
    given = [laid_out(array, layout) for array in operands]
    results = [
        laid_out(np.full(value.type.shape, 1, value.type.dtype.numpy), layout) for value in program.results
    ]
    run = routine(program.instructions[0], list(map(strides, given)), list(map(strides, results)))
    for _ in range(2):
        run(*given, *results)
        for found, wanted, value in zip(
            results, expected_of(program, operands), program.results, strict=True
        ):
            assert_close(found, wanted, value.type.dtype)
    for array, operand in zip(given, operands, strict=True):
        assert array.tobytes() == operand.tobytes()


def assert_close(found: np.ndarray, wanted: np.ndarray, dtype: DType) -> None:
    """Equal but for rounding."""
    if dtype in HALF:
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    tolerance = TOLERANCES.get(dtype, 1e-12)
    scale = max(1.0, float(np.abs(np.nan_to_num(wanted, nan=0, posinf=0, neginf=0)).max(initial=0)))
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=5 * tolerance * scale)


PRODUCTS = [
    ((3, 4), (4, 5), (), (), (1,), (0,)),
    ((3, 4), (5, 4), (), (), (1,), (1,)),
    ((4, 3), (4, 5), (), (), (0,), (0,)),
    ((4,), (4,), (), (), (0,), (0,)),
    ((3, 4), (4,), (), (), (1,), (0,)),
    ((4,), (4, 3), (), (), (0,), (0,)),
    ((3,), (4,), (), (), (), ()),
    ((2, 3, 4), (2, 4, 5), (0,), (0,), (2,), (1,)),
    ((2, 3, 4), (5, 4, 2), (0,), (2,), (2,), (1,)),
    ((2, 6, 3, 4), (2, 6, 5, 4), (0, 1), (0, 1), (3,), (3,)),
    ((2, 3, 4), (3, 2, 5), (), (), (0, 1), (1, 0)),
    ((2, 3, 4, 5), (4, 7), (), (), (2,), (0,)),
    ((2, 3), (2, 3), (0, 1), (0, 1), (), ()),
    ((0, 4), (4, 5), (), (), (1,), (0,)),
    ((3, 0), (0, 5), (), (), (1,), (0,)),
    ((1, 9), (9, 1), (), (), (1,), (0,)),
    ((70, 33), (33, 65), (), (), (1,), (0,)),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [*FLOATS, dtypes.int32, dtypes.complex64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_dot_general(case: tuple, dtype: DType, layout: Layout, rng: np.random.Generator) -> None:
    left, right, lhs_batch, rhs_batch, lhs_contract, rhs_contract = case
    operands = [values(rng, dtype, left), values(rng, dtype, right)]
    check("dot_general", operands, (dtype, dtype), layout, lhs_batch=lhs_batch, rhs_batch=rhs_batch,
          lhs_contract=lhs_contract, rhs_contract=rhs_contract)  # fmt: skip


LARGE_PRODUCTS = [
    ((300, 70), (70, 90), (), (), (1,), (0,)),
    ((70, 300), (90, 70), (), (), (0,), (1,)),
    ((90, 70), (70, 300), (), (), (1,), (0,)),
    ((600, 700), (700,), (), (), (1,), (0,)),
    ((700, 600), (700,), (), (), (0,), (0,)),
    ((700,), (700, 600), (), (), (0,), (0,)),
    ((700,), (600, 700), (), (), (0,), (1,)),
    ((3, 5, 64, 64), (3, 5, 64, 30), (0, 1), (0, 1), (3,), (2,)),
    ((5, 64, 3, 40), (64, 5, 3, 40), (0, 2), (1, 2), (3,), (3,)),
    ((4, 700, 600), (4, 700), (0,), (0,), (1,), (1,)),
    ((4, 1, 700), (4, 700, 600), (0,), (0,), (2,), (1,)),
    ((2, 2, 2, 2, 2, 40, 40), (2, 2, 2, 2, 2, 40, 40), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4), (6,), (5,)),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "dtype", [dtypes.bfloat16, dtypes.float32, dtypes.float64], ids=lambda dtype: dtype.name
)
@pytest.mark.parametrize("case", LARGE_PRODUCTS, ids=str)
@pytest.mark.usefixtures("three_threads")
def test_large_products_in_parallel(
    case: tuple, dtype: DType, layout: Layout, rng: np.random.Generator
) -> None:
    left, right, lhs_batch, rhs_batch, lhs_contract, rhs_contract = case
    operands = [values(rng, dtype, left), values(rng, dtype, right)]
    check("dot_general", operands, (dtype, dtype), layout, lhs_batch=lhs_batch, rhs_batch=rhs_batch,
          lhs_contract=lhs_contract, rhs_contract=rhs_contract)  # fmt: skip


def test_product_of_broadcast_matrices(rng: np.random.Generator) -> None:
    x, y = (
        np.broadcast_to(values(rng, dtypes.float32, (1, 40)), (30, 40)),
        values(rng, dtypes.float32, (40, 20)),
    )
    program = program_of("dot_general", (x, y), (dtypes.float32,) * 2, lhs_batch=(), rhs_batch=(), lhs_contract=(1,),
                         rhs_contract=(0,))  # fmt: skip
    out = np.empty((30, 20), np.float32)
    routine(program.instructions[0], [(0, 1), (20, 1)], [(20, 1)])(x, y, out)
    np.testing.assert_allclose(out, x.astype(np.float64) @ y, rtol=1e-4, atol=1e-5)


CONVOLUTIONS = [
    # image, weight, stride, padding, dilation, groups
    ((2, 3, 10), (4, 3, 3), (1,), ((1, 1),), (1,), 1),
    ((2, 3, 10), (4, 3, 3), (2,), ((0, 2),), (2,), 1),
    ((2, 4, 9, 8), (6, 4, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 4, 9, 8), (6, 4, 3, 2), (2, 3), ((2, 1), (0, 1)), (1, 2), 1),
    ((2, 4, 9, 8), (6, 4, 3, 3), (1, 1), ((2, 0), (0, 3)), (2, 1), 1),
    ((2, 4, 9, 8), (6, 2, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 2),
    ((2, 4, 9, 8), (8, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 4),
    ((2, 4, 9, 8), (4, 1, 3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 4),
    ((2, 4, 9, 8), (6, 4, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 4, 9, 8), (6, 2, 1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 2),
    ((2, 4, 9, 8), (6, 4, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ((3, 8, 40, 41), (5, 8, 7, 7), (1, 1), ((3, 3), (3, 3)), (1, 1), 1),
    ((40, 32, 14, 14), (8, 32, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((40, 32, 14, 14), (8, 32, 3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
    ((2, 3, 5, 6, 7), (4, 3, 2, 3, 3), (1, 1, 1), ((1, 0), (1, 1), (0, 2)), (1, 2, 1), 1),
    ((2, 3, 5, 6, 7), (4, 3, 2, 3, 3), (2, 1, 2), ((1, 0), (1, 1), (0, 2)), (1, 2, 1), 1),
    ((2, 3), (4, 3), (), (), (), 1),
    ((0, 3, 5, 5), (4, 3, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 0, 5, 5), (4, 0, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((1, 2, 3, 3), (2, 2, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int64, dtypes.complex64],
                         ids=lambda dtype: dtype.name)  # fmt: skip
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolution(case: tuple, dtype: DType, layout: Layout, rng: np.random.Generator) -> None:
    image, weight, stride, padding, dilation, groups = case
    if np.prod(image) > 1000 and dtype is not dtypes.float32:
        pytest.skip("large cases run in float32 only")
    operands = [values(rng, dtype, image), values(rng, dtype, weight)]
    check("convolution", operands, (dtype, dtype), layout, stride=stride, padding=padding, dilation=dilation,
          groups=groups)  # fmt: skip


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
@pytest.mark.usefixtures("three_threads")
def test_convolution_in_parallel(case: tuple, rng: np.random.Generator) -> None:
    image, weight, stride, padding, dilation, groups = case
    operands = [values(rng, dtypes.float32, image), values(rng, dtypes.float32, weight)]
    check("convolution", operands, (dtypes.float32,) * 2, stride=stride, padding=padding, dilation=dilation,
          groups=groups)  # fmt: skip


def test_convolution_keeps_infinities_in_place(rng: np.random.Generator) -> None:
    """Superfluous places at the ends of rows see other rows; the result must not."""
    x, w = values(rng, dtypes.float32, (2, 3, 6, 5)), values(rng, dtypes.float32, (4, 3, 3, 3))
    x[0, 1, 2, 4] = np.inf
    check("convolution", (x, w), (dtypes.float32,) * 2, stride=(1, 1), padding=((1, 1), (1, 1)), dilation=(1, 1),
          groups=1)  # fmt: skip


def with_specials(array: np.ndarray) -> np.ndarray:
    """Some elements replaced by NaN of both signs, infinities and zeros of both signs."""
    if array.dtype.kind in "iub" or array.size < 12:
        return array
    specials = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0]).astype(array.dtype)
    flat = array.reshape(-1)
    flat[: 2 * len(specials)] = np.concatenate([specials, specials[::-1]])
    return array


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [dtypes.bool_, *REAL], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    ("shape", "dim"), [((40,), 0), ((5, 30), 1), ((30, 5), 0), ((3, 0), 1), ((2, 9, 4), 1)]
)
def test_sort(
    shape: tuple, dim: int, dtype: DType, descending: bool, layout: Layout, rng: np.random.Generator
) -> None:
    x = with_specials(values(rng, dtype, shape))
    for stable in (True, False):
        check("sort", (x,), (dtype,), layout, dim=dim, descending=descending, stable=stable)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [dtypes.float64, dtypes.int64], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("scale", [1, 2**20, 2**21, 2**40])
def test_sort_of_wide_elements(dtype: DType, descending: bool, scale: int, rng: np.random.Generator) -> None:
    x = rng.permutation(np.arange(4096) // 2 - 1024).reshape(4, 1024).astype(dtype.numpy) * scale
    x[0, :4] += np.array([0, 1, -1, 0]).astype(dtype.numpy)
    check("sort", (x,), (dtype,), dim=1, descending=descending, stable=True)


def test_sort_of_the_least_and_the_greatest_integer() -> None:
    limits = np.iinfo(np.int64)
    for low, high in (
        (limits.min, limits.max),
        (limits.max - 2**32, limits.max),
        (limits.min, limits.min + 2**32 - 1),
    ):
        x = np.array([high, low, high, low, low + 1])
        check("sort", (x,), (dtypes.int64,), dim=0, descending=False, stable=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize("dtype", SOME, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(("shape", "dim"), [((7,), 0), ((3, 5), 0), ((3, 5), 1), ((0, 3), 0), ((2, 3, 4), 1)])
def test_scans(
    shape: tuple, dim: int, dtype: DType, name: str, layout: Layout, rng: np.random.Generator
) -> None:
    if (name in {"cumsum", "cumprod"} and dtype is dtypes.bool_) or (
        name in {"cummax", "cummin"} and dtype.is_complex
    ):
        pytest.skip("not defined")
    check(name, (values(rng, dtype, shape),), (dtype,), layout, dim=dim)


@pytest.mark.parametrize("reduce", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", EVERY, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    ("shape", "index_shape", "dim"),
    [
        ((7,), (20,), 0),
        ((4, 5), (9, 3), 0),
        ((4, 5), (3, 9), 1),
        ((3, 4, 5), (2, 8, 5), 1),
        ((3, 2), (0, 2), 0),
    ],
)
def test_scatter(
    shape: tuple, index_shape: tuple, dim: int, dtype: DType, reduce: str, rng: np.random.Generator
) -> None:
    if reduce in {"max", "min"} and dtype.is_complex:
        pytest.skip("not defined")
    index = rng.integers(0, shape[dim], size=index_shape)
    operands = (values(rng, dtype, shape), index, values(rng, dtype, index_shape))
    for layout in LAYOUTS:
        check("scatter", operands, (dtype, dtypes.int64, dtype), layout, dim=dim, reduce=reduce)


@pytest.mark.parametrize("reduce", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("dtype", EVERY, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize(
    ("shape", "dim"), [((7,), 0), ((4, 5), 0), ((4, 5), 1), ((3, 4, 21), 1), ((0, 4), 1)]
)
def test_put(shape: tuple, dim: int, dtype: DType, reduce: str, rng: np.random.Generator) -> None:
    if reduce in {"max", "min"} and dtype.is_complex:
        pytest.skip("not defined")
    for count in (0, 1, 11):
        index = rng.integers(0, shape[dim], size=count)
        updates = values(rng, dtype, (*shape[:dim], count, *shape[dim + 1 :]))
        operands = (values(rng, dtype, shape), index, updates)
        for layout in LAYOUTS:
            check("put", operands, (dtype, dtypes.int64, dtype), layout, dim=dim, reduce=reduce)


@pytest.mark.parametrize("reduce", ["max", "min"])
@pytest.mark.parametrize("primitive", ["put", "scatter"])
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: dtype.name)
def test_extrema_propagate_nan(dtype: DType, primitive: str, reduce: str) -> None:
    x = np.array([1, np.nan, 3], dtype.numpy)
    updates = np.array([np.nan, 2, 5, np.nan], dtype.numpy)
    check(primitive, (x, np.array([0, 1, 2, 0]), updates), (dtype, dtypes.int64, dtype), dim=0, reduce=reduce)


@pytest.mark.parametrize("wrong", [-1, 4, 2**40, -(2**62)])
@pytest.mark.parametrize("primitive", ["put", "scatter"])
@pytest.mark.parametrize("reduce", ["set", "add"])
def test_an_index_out_of_range_leaves_the_result_alone(primitive: str, reduce: str, wrong: int) -> None:
    x, index, updates = np.zeros(4, np.float32), np.array([0, wrong]), np.ones(2, np.float32)
    kinds = (dtypes.float32, dtypes.int64, dtypes.float32)
    program = program_of(primitive, (x, index, updates), kinds, dim=0, reduce=reduce)
    out = np.full(4, 7, np.float32)
    run = routine(program.instructions[0], [(1,), (1,), (1,)], [(1,)])
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for dimension 0 with size 4"):
        run(x, index, updates, out)
    assert (out == 7).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_primitives_run_the_reference_kernels(layout: Layout, rng: np.random.Generator) -> None:
    x, index = values(rng, dtypes.float32, (4, 5)), rng.integers(0, 4, size=(2, 3))
    check("take", (x, index), (dtypes.float32, dtypes.int64), layout, dim=0)
    rows = np.sort(x, axis=1)
    check("searchsorted", (rows, x), (dtypes.float32,) * 2, layout, right=True)


def run_composite(name: str, program: Program, x: np.ndarray, results: Sequence[np.ndarray]) -> bool:
    """Run a composite's kernel; False if there is none for this case."""
    made = composites(lambda buffer: buffer)[name](program, [strides(x)], list(map(strides, results)))
    if made is None:
        return False
    made(*(item for array in (x, *results) for item in (array.reshape(-1).view(np.uint8), 0)))
    return True


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    "dtype", [dtypes.float32, dtypes.bfloat16, dtypes.int32], ids=lambda dtype: dtype.name
)
@pytest.mark.parametrize(
    ("shape", "dim", "count"), [((50,), 0, 5), ((4, 30), 1, 30), ((30, 4), 0, 1), ((6, 1), 1, 1)]
)
def test_topk(
    shape: tuple, dim: int, count: int, dtype: DType, largest: bool, rng: np.random.Generator
) -> None:
    x = with_specials(values(rng, dtype, shape))
    builder = Builder("topk")
    parameter = builder.parameter(TensorType(dtype, shape))
    parts = builder.emit_all("sort", [parameter], {"dim": dim, "descending": largest, "stable": True})
    stop = tuple(count if axis == dim else size for axis, size in enumerate(shape))
    zeros, ones = (0,) * len(shape), (1,) * len(shape)
    program = builder.build(
        [builder.emit("slice", part, start=zeros, stop=stop, step=ones) for part in parts]
    )
    results = [np.empty(stop, dtype.numpy), np.empty(stop, np.int64)]
    assert run_composite("topk", program, x, results)
    for found, wanted, value in zip(results, expected_of(program, (x,)), program.results, strict=True):
        assert_close(found, wanted, value.type.dtype)


def test_topk_agrees_with_torch(rng: np.random.Generator) -> None:
    x = rng.normal(size=(8, 1000)).astype(np.float32)
    builder = Builder("topk")
    parameter = builder.parameter(TensorType(dtypes.float32, x.shape))
    parts = builder.emit_all("sort", [parameter], {"dim": 1, "descending": True, "stable": True})
    program = builder.build(
        [builder.emit("slice", part, start=(0, 0), stop=(8, 10), step=(1, 1)) for part in parts]
    )
    found = [np.empty((8, 10), np.float32), np.empty((8, 10), np.int64)]
    assert run_composite("topk", program, x, found)
    wanted = torch.topk(torch.from_numpy(x), 10)
    np.testing.assert_array_equal(found[0], wanted.values.numpy())
    np.testing.assert_array_equal(found[1], wanted.indices.numpy())


@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize(
    ("shape", "dim", "place"), [((50,), 0, 7), ((4, 30), 1, 0), ((30, 4), 0, 29), ((3, 5, 2), 1, 2)]
)
def test_kthvalue(shape: tuple, dim: int, place: int, keepdim: bool, rng: np.random.Generator) -> None:
    x = with_specials(values(rng, dtypes.float32, shape))
    kept = tuple(1 if axis == dim else size for axis, size in enumerate(shape))
    final = kept if keepdim else tuple(size for axis, size in enumerate(shape) if axis != dim)
    builder = Builder("kthvalue")
    parameter = builder.parameter(TensorType(dtypes.float32, shape))
    parts = builder.emit_all("sort", [parameter], {"dim": dim, "descending": False, "stable": True})
    at = builder.constant(place, dtypes.int64, kept)
    found = [builder.emit("gather", part, at, dim=dim) for part in parts]
    program = builder.build(
        [part if keepdim else builder.emit("reshape", part, shape=final) for part in found]
    )
    results = [np.empty(final, np.float32), np.empty(final, np.int64)]
    assert run_composite("kthvalue", program, x, results)
    for got, wanted in zip(results, expected_of(program, (x,)), strict=True):
        np.testing.assert_array_equal(got, wanted)
