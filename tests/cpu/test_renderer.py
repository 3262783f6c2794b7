"""Generated kernels against the reference interpreter: every elementwise primitive and dtype, every layout."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import HALF, Category, DType
from raxis.ptir.primitives import PRIMITIVES
from raxis.ptir.primitives.elementwise import PRIMITIVES as ELEMENTWISE
from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node, Position, Store
from raxis_cpu.llvm import Argument, Built, build, supports
from raxis_cpu.llvm.build import default_arguments, render
from raxis_cpu.llvm.compile import assembly, host
from raxis_cpu.llvm.elementwise import EXPENSIVE
from raxis_cpu.llvm.math import UNARY
from raxis_cpu.llvm.plan import specimen_of
from tests.cpu import kernels
from tests.cpu.kernels import Array, address, assert_equal, elementwise, random_values, reference, run

SEED = 20261130
DIVISIONS = {"div", "floor_divide", "remainder", "fmod"}
LOOSE = {"erfinv": 8, "lgamma": 64, "digamma": 64, "pow": 8}
"""Units in the last place by which reference and kernel may differ; for all other functions 4."""
COMPLEX_ELSEWHERE = {"expm1", "log1p", "pow"}
"""What NumPy computes of complex numbers by formulas that lose digits; test_complex.py has exact values."""
CASES = [
    pytest.param(primitive.name, dtype, id=f"{primitive.name}-{dtype.name}")
    for primitive in ELEMENTWISE
    for dtype in dtypes.ALL
    if primitive.name != "cast"
    and dtype in primitive.admitted
    and supports(primitive.name, dtype)
    and not (dtype.is_complex and primitive.name in COMPLEX_ELSEWHERE)
]


def operand_dtypes(op: str, dtype: DType) -> list[DType]:
    if op == "select":
        return [dtypes.bool_, dtype, dtype]
    return [dtype] * (PRIMITIVES[op].arity or 1)


def operands_for(op: str, dtype: DType, arrays: list[Array]) -> list[Array]:
    """Divisors that are not zero, exponents that keep NumPy's integer power in its domain."""
    if dtype.category is Category.INTEGER and op in DIVISIONS:
        arrays[1] = np.where(arrays[1] == 0, np.array(3, arrays[1].dtype), arrays[1])
    return arrays


def assert_same(op: str, got: Array, expected: Array) -> None:
    exact = op not in EXPENSIVE | {"abs", "div", "mul", "rsqrt"} or expected.dtype.kind in "iub"
    if exact and expected.dtype.kind != "c":
        assert got.dtype == expected.dtype
        assert_equal(got, expected)
        return
    dtype = dtypes.from_numpy_dtype(expected.dtype)
    real = dtype.to_real()
    spacing = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}[real.name]
    tolerance = spacing * (1 if real in HALF else LOOSE.get(op, 4))
    wide = np.complex128 if dtype.is_complex else np.float64
    smallest = {"float16": 6e-8, "bfloat16": 1e-40, "float32": 1.5e-45, "float64": 5e-324}[real.name]
    floor = 64 * spacing if op in {"lgamma", "digamma"} else smallest
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=floor)


@pytest.mark.parametrize(("op", "dtype"), CASES)
def test_edge_values(op: str, dtype: DType) -> None:
    kinds = operand_dtypes(op, dtype)
    choices = [kernels.edge_values(kind) for kind in kinds]
    arrays = [np.array(column) for column in zip(*itertools.product(*choices), strict=True)]
    arrays = [array.astype(kind.numpy) for array, kind in zip(arrays, kinds, strict=True)]
    arrays = operands_for(op, dtype, arrays)
    expected = reference(op, arrays)
    result = np.empty(expected.shape, expected.dtype)
    run(elementwise(op, arrays, result), [*arrays, result])
    finite = edge_region(op, dtype, arrays)
    assert_same(op, result[finite], expected[finite])


def edge_region(op: str, dtype: DType, arrays: list[Array]) -> Array:
    """Where the reference interpreter is right; elsewhere test_math asks mpmath."""
    everywhere = np.ones(arrays[0].shape, np.bool_)
    if dtype.is_complex and op in {"div", "mul"}:
        return everywhere & np.isfinite(arrays[0] * 0 + 1)
    return everywhere


LAYOUT_CASES = [
    case for case in CASES if case.values[0] in {"add", "exp", "select", "make_complex", "eq", "remainder"}
]


@pytest.mark.parametrize(("op", "dtype"), LAYOUT_CASES)
def test_layouts(op: str, dtype: DType) -> None:
    """Strided, reversed, transposed, broadcast, empty and rank-0 operands."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    kinds = operand_dtypes(op, dtype)

    def make(shape: tuple[int, ...]) -> list[Array]:
        return operands_for(op, dtype, [np.asarray(random_values(kind, shape, rng)) for kind in kinds])

    strided = [array[::3] for array in make((201,))]
    reversed_ = [array[::-1] for array in make((45,))]
    transposed = [array.T for array in make((5, 37))]
    broadcast = [np.broadcast_to(array[:, :1], array.shape) for array in make((4, 21))]
    mixed = [
        array if slot == 0 else np.broadcast_to(array[:1], array.shape)
        for slot, array in enumerate(make((6, 19)))
    ]
    for arrays in (
        make((131,)),
        strided,
        reversed_,
        transposed,
        broadcast,
        mixed,
        make(()),
        make((0,)),
        make((3, 0, 2)),
    ):
        expected = reference(op, arrays)
        result = np.full(expected.shape, 1, expected.dtype)
        run(elementwise(op, arrays, result), [*arrays, result])
        assert_same(op, result, expected)


@pytest.mark.parametrize("source", dtypes.ALL, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("target", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_cast(source: DType, target: DType) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    values = np.concatenate([kernels.edge_values(source), random_values(source, (77,), rng)])
    expected = reference("cast", [values], {"dtype": target})
    result = np.empty(values.shape, target.numpy)
    run(elementwise("cast", [values], result), [values, result])
    assert_equal(result, expected)


@pytest.mark.parametrize("value", [-0.0, np.nan])
def test_signs_survive(value: float) -> None:
    x = np.array([value, value], np.float32)
    for op in (
        "neg",
        "sqrt",
        "sin",
        "tan",
        "asin",
        "atan",
        "sinh",
        "tanh",
        "asinh",
        "atanh",
        "expm1",
        "log1p",
        "erf",
        "floor",
    ):
        result = np.empty_like(x)
        run(elementwise(op, [x], result), [x, result])
        if value == 0:
            assert np.signbit(result).tolist() == [op != "neg"] * 2, op
        else:
            assert np.isnan(result).all(), op


def test_results_land_where_strides_say() -> None:
    source, target = np.arange(12, dtype=np.float32), np.zeros((12, 3), np.float32)
    run(elementwise("neg", [source], target[:, 1]), [source, target[:, 1]])
    np.testing.assert_array_equal(target, np.stack([0 * source, -source, 0 * source], 1))


def test_in_place() -> None:
    x = np.arange(1000, dtype=np.float64)
    run(elementwise("add", [x, x], x), [x, x, x])
    np.testing.assert_array_equal(x, np.arange(1000) * 2.0)


def test_index_scalar_constant_and_select() -> None:
    i64, f32 = dtypes.int64, dtypes.float32
    nodes = (
        Node("index", (), i64, 1),
        Node("index", (), i64, 0),
        Node("le", (0, 1), dtypes.bool_),
        Node("scalar", (), f32, 0),
        Node("constant", (), f32, 0.0),
        Node("select", (2, 3, 4), f32),
    )
    out = np.empty((5, 70), np.float32)
    kernel = LoopKernel("tril", (f32,), (Axis(5), Axis(70)), nodes, (Store(5, Access(0, (70, 1))),), (f32,))
    run(kernel, [out], [2.5])
    np.testing.assert_array_equal(out, np.tril(np.full((5, 70), 2.5)))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
def test_scalars(dtype: DType) -> None:
    value: Any = {Category.BOOL: True, Category.INTEGER: -3, Category.FLOAT: 0.1, Category.COMPLEX: 1 - 2j}[
        dtype.category
    ]
    out = np.empty(9, dtype.numpy)
    kernel = LoopKernel(
        "fill", (dtype,), (Axis(9),), (Node("scalar", (), dtype, 0),), (Store(0, Access(0, (1,))),), (dtype,)
    )
    run(kernel, [out], [value])
    expected = (
        np.array(value).astype(dtype.numpy)
        if dtype.category is Category.INTEGER
        else np.array(value, dtype.numpy)
    )
    np.testing.assert_array_equal(out, np.full(9, expected))


def test_bad_scalar_raises() -> None:
    f32 = dtypes.float32
    kernel = LoopKernel(
        "fill", (f32,), (Axis(2),), (Node("scalar", (), f32, 0),), (Store(0, Access(0, (1,))),), (f32,)
    )
    fill, out = build(kernel).bind(kernel), np.zeros(2, np.float32)
    with pytest.raises(TypeError):
        fill(address(out), 0, "two")
    with pytest.raises(TypeError, match="expected 3 arguments"):
        fill(address(out), 0)
    fill(address(out), 0, -1)
    assert out.tolist() == [-1, -1]


def test_argument_order_and_offsets() -> None:
    f32 = dtypes.float32
    nodes = (Node("load", (), f32, Access(0, (1,), 2)), Node("scalar", (), f32, 0), Node("mul", (0, 1), f32))
    kernel = LoopKernel("scaled", (f32, f32), (Axis(3),), nodes, (Store(2, Access(1, (1,))),), (f32,))
    order = [Argument("buffer", 1), Argument("scalar", 0), Argument("buffer", 0)]
    x, y = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    build(kernel, order).bind(kernel)(address(y), 1, 10.0, address(x), 3)
    assert y.tolist() == [0, 50, 60, 70]


def test_one_code_for_all_sizes() -> None:
    kinds = [elementwise("add", [np.zeros(n)] * 2, np.zeros(n)) for n in (1, 5, 1000)]
    assert len({id(build(kernel)) for kernel in kinds}) == 1
    strided = elementwise("add", [np.zeros(10)[::2], np.zeros(5)], np.zeros(5))
    assert build(strided) is not build(kinds[0])


def test_built_ins_keep_their_code() -> None:
    x = np.zeros(5, np.float32)
    kernel = elementwise("cos", [x], x, name="alone")
    cosine = Built(specimen_of(kernel), default_arguments(kernel), host()).bind(kernel)
    gc.collect()
    cosine(address(x), 0, address(x), 0)
    assert x.tolist() == [1.0] * 5


def gather_kernel(table: Array, index: Array, out: Array) -> LoopKernel:
    """out[i, j] = table[index[i], j]"""
    kind, columns = dtypes.from_numpy_dtype(table.dtype), table.shape[1]
    nodes = (
        Node("load", (), dtypes.int64, Access(1, (1, 0))),
        Node("gather_load", (0,), kind, Gather(Access(0, (0, 1)), columns, len(table), 0)),
    )
    axes = (Axis(len(index)), Axis(columns))
    return LoopKernel("take", (kind, dtypes.int64, kind), axes, nodes, (Store(1, Access(2, (columns, 1))),))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.complex128, dtypes.int8, dtypes.bfloat16], ids=str)
def test_gather(dtype: DType) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    table, index = np.asarray(random_values(dtype, (9, 37), rng)), rng.integers(0, 9, 50)
    out = np.empty((50, 37), dtype.numpy)
    run(gather_kernel(table, index, out), [table, index, out])
    np.testing.assert_array_equal(out, table[index])


def test_gather_along_lanes() -> None:
    """The index itself varies along the vectors."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    table, index = rng.standard_normal(100), rng.integers(0, 50, 77)
    nodes = (
        Node("load", (), dtypes.int64, Access(1, (1,))),
        Node("gather_load", (0,), dtypes.float64, Gather(Access(0, (0,)), 2, 50, 0)),
    )
    out = np.empty(77)
    kernel = LoopKernel(
        "take",
        (dtypes.float64, dtypes.int64, dtypes.float64),
        (Axis(77),),
        nodes,
        (Store(1, Access(2, (1,))),),
    )
    run(kernel, [table, index, out])
    np.testing.assert_array_equal(out, table[::2][index])


@pytest.mark.parametrize("bad", [-1, 9, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("place", [0, 17, 49])
def test_bad_index_is_found_before_anything_is_stored(bad: int, place: int) -> None:
    table, index = np.zeros((9, 37), np.float32), np.zeros(50, np.int64)
    index[place] = bad
    out = np.ones((50, 37), np.float32)
    with pytest.raises(IndexError, match=f"^index {bad} is out of bounds for dimension 0 with size 9$"):
        run(gather_kernel(table, index, out), [table, index, out])
    assert (out == 1).all()


def test_bad_index_in_an_empty_table() -> None:
    table, index, out = np.zeros((0, 4), np.float32), np.zeros(3, np.int64), np.ones((3, 4), np.float32)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 0 with size 0"):
        run(gather_kernel(table, index, out), [table, index, out])
    run(gather_kernel(table, index[:0], out[:0]), [table, index[:0], out[:0]])


@pytest.mark.parametrize("dtype", [dtypes.uint8, dtypes.int16, dtypes.int32, dtypes.int64], ids=str)
@pytest.mark.parametrize("op", sorted(DIVISIONS))
def test_division_by_zero(op: str, dtype: DType) -> None:
    x, y, out = (np.ones(101, dtype.numpy) for _ in range(3))
    y[100] = 0
    with pytest.raises(RuntimeError, match=r"^ZeroDivisionError$"):
        run(elementwise(op, [x, y], out), [x, y, out])
    assert (out == 1).all()
    run(elementwise(op, [x[:100], y[:100]], out[:100]), [x[:100], y[:100], out[:100]])


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int64], ids=str)
@pytest.mark.parametrize("shape", [(1,), (7,), (1000,), (5, 33)], ids=str)
@pytest.mark.parametrize("offset", [0, 5, -1])
def test_random_bits(dtype: DType, shape: tuple[int, ...], offset: int) -> None:
    key = -0x123456789ABCDEF
    expected = reference("random_bits", [np.array(key), np.array(offset)], {"shape": shape, "dtype": dtype})
    out = np.empty(shape, dtype.numpy)
    strides = kernels.element_strides(out)
    i64 = dtypes.int64
    nodes = (
        Node("scalar", (), i64, 0),
        Node("scalar", (), i64, 1),
        Node("random", (0, 1), dtype, Position(strides)),
    )
    axes = tuple(Axis(size) for size in shape)
    kernel = LoopKernel("bits", (dtype,), axes, nodes, (Store(2, Access(0, strides)),), (i64, i64))
    run(kernel, [out], [key, offset])
    np.testing.assert_array_equal(out, expected)


def test_random_bits_at_strided_positions() -> None:
    i32, i64 = dtypes.int32, dtypes.int64
    whole = reference("random_bits", [np.array(7), np.array(0)], {"shape": (6, 40), "dtype": i32})
    nodes = (
        Node("scalar", (), i64, 0),
        Node("scalar", (), i64, 1),
        Node("random", (0, 1), i32, Position((1, 40), 3)),
    )
    out = np.empty((30, 6), np.int32)
    kernel = LoopKernel(
        "bits", (i32,), (Axis(30), Axis(6)), nodes, (Store(2, Access(0, (6, 1))),), (i64, i64)
    )
    run(kernel, [out], [7, 0])
    np.testing.assert_array_equal(out, whole.T[3:33])


def test_vectors_fill_the_registers() -> None:
    """The generated loop works on whole registers of this machine."""
    x = np.zeros(100, np.float32)
    kernel = elementwise("exp", [x], x)
    text = render(specimen_of(kernel), default_arguments(kernel), host())
    register = {64: "%zmm", 32: "%ymm"}.get(host().vector_bytes)
    if register is not None:
        fused = [line for line in assembly(text, host()).splitlines() if "vfmadd" in line]
        assert fused
        assert all(register in line for line in fused)


def test_vectors_run_along_the_axis_with_the_fewest_strided_loads() -> None:
    """Sums down the columns of a matrix, weighted by row: lanes are columns, though the weights lie along rows."""
    matrix, weights = Access(0, (1, 64)), [Access(slot, (0, 1)) for slot in (1, 2)]
    loads = [Node("load", (), dtypes.float32, access) for access in (matrix, *weights)]
    nodes = (
        *loads,
        Node("mul", (0, 1), dtypes.float32),
        Node("mul", (3, 2), dtypes.float32),
        Node("reduce_sum", (4,), dtypes.float32),
    )
    axes, stores = (Axis(64), Axis(32, inner=True)), (Store(5, Access(3, (1, 0))),)
    assert specimen_of(LoopKernel("sums", (dtypes.float32,) * 4, axes, nodes, stores)).lane == 0


NARROW = host()._replace(cpu="haswell", features="+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt,+avx,+sse4.2")


@pytest.mark.skipif(host().vector_bytes < 32, reason="runs code for AVX2")
@pytest.mark.parametrize("op", ["exp", "sin", "add", "not", "pow"])
def test_machine_without_masks(op: str) -> None:
    """Code for AVX2 copies the ends of rows element by element; it runs on AVX-512 machines too."""
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    dtype = dtypes.uint8 if op == "not" else dtypes.float32
    arrays = [np.abs(random_values(dtype, (77,), rng)) for _ in range(PRIMITIVES[op].arity or 1)]
    result = np.empty(77, dtype.numpy)
    kernel = elementwise(op, arrays, result)
    narrow = Built(specimen_of(kernel), default_arguments(kernel), NARROW)
    arguments = [part for array in (*arrays, result) for part in (address(array), 0)]
    narrow.bind(kernel)(*arguments)
    assert_same(op, result, reference(op, arrays))


def test_every_function_is_a_primitive() -> None:
    assert set(UNARY) <= set(PRIMITIVES)
