"""Generated kernels that reduce rows, alone and with what follows, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import HALF, Category, DType
from raxis.ptir.primitives import PRIMITIVES
from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
from raxis_cpu.llvm.plan import Plan, specimen_of
from tests.cpu import kernels
from tests.cpu.kernels import Array, assert_equal, random_values, reference, run

SEED = 20261130


def row_kernel(
    op: str, x: Array, result: Array, inner: tuple[int, ...], dtype: DType | None = None
) -> LoopKernel:
    """`op` over the axes `inner` of x; the axes of the kernel are those of x, outer ones first."""
    kind = dtypes.from_numpy_dtype(x.dtype)
    out = dtypes.from_numpy_dtype(result.dtype)
    order = [axis for axis in range(x.ndim) if axis not in inner] + list(inner)
    axes = tuple(Axis(x.shape[axis], axis in inner) for axis in order)
    strides = kernels.element_strides(x)
    load = Access(0, tuple(strides[axis] for axis in order))
    store = Access(1, kernels.element_strides(result) + (0,) * len(inner))
    nodes = (Node("load", (), kind, load), Node(op, (0,), dtype or out))
    return LoopKernel(op, (kind, out), axes, nodes, (Store(1, store),))


SHAPES = [((7,), (0,)), ((1000,), (0,)), ((5, 70), (1,)), ((70, 5), (0,)), ((70, 3), (0,)), ((6, 7, 9), (0, 2)),
          ((4, 5, 67), (1, 2)), ((5, 0), (1,)), ((0, 5), (1,)), ((3, 64), (1,)), ((33, 128), (0,)),
          ((2, 3, 40), (1,))]  # fmt: skip


@pytest.mark.parametrize(("shape", "inner"), SHAPES, ids=str)
@pytest.mark.parametrize(
    "op", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"]
)
def test_reductions(op: str, shape: tuple[int, ...], inner: tuple[int, ...]) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for dtype in sorted(PRIMITIVES[op].admitted, key=lambda dtype: dtype.name):
        x = np.asarray(random_values(dtype, shape, rng))
        expected = reference(op, [x], {"dims": inner})
        result = np.empty(expected.shape, expected.dtype)
        run(row_kernel(op, x, result, inner), [x, result])
        if dtype.category < Category.FLOAT or op in {"reduce_max", "reduce_min"}:
            assert_equal(result, expected)
            continue
        exact = getattr(np, op.removeprefix("reduce_"))(
            x.astype(np.complex128 if dtype.is_complex else np.float64), axis=inner
        )
        scale = np.sum(np.abs(x.astype(np.complex128)), axis=inner)
        if op == "reduce_prod":
            scale = np.abs(exact) * max(1, x.size)
        step = {2: 2.0**-8, 4: 2.0**-22, 8: 2.0**-50}[dtype.to_real().itemsize]
        with np.errstate(all="ignore"):
            wrong = np.abs(result.astype(np.complex128) - exact) > step * scale * (
                1 if dtype.itemsize == 2 else 4
            ) + (1e-7 if dtype is dtypes.float16 else 1e-30)
            overflow = ~np.isfinite(expected.astype(np.complex128))
        assert not np.any(wrong & ~overflow), (dtype, result, exact)


@pytest.mark.parametrize(("shape", "inner"), SHAPES, ids=str)
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_positions(op: str, shape: tuple[int, ...], inner: tuple[int, ...]) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    if 0 in [shape[axis] for axis in inner]:
        return
    for dtype in sorted(PRIMITIVES[op].admitted, key=lambda dtype: dtype.name):
        x = np.asarray(random_values(dtype, shape, rng))
        x = (np.round(x) if dtype.is_floating_point else x).astype(dtype.numpy)
        if dtype.is_floating_point and x.size:
            x.reshape(-1)[[0, -1]] = [np.nan, -np.inf]
        kept = tuple(axis for axis in range(x.ndim) if axis not in inner)
        length = int(np.prod([x.shape[axis] for axis in inner]))
        rows = x.transpose(*kept, *inner).reshape(*[x.shape[axis] for axis in kept], length)
        wide = rows.astype(np.float32) if dtype in HALF else rows
        expected = np.asarray(getattr(np, op)(wide, axis=-1))
        result = np.empty(expected.shape, np.int64)
        run(row_kernel(op, x, result, inner), [x, result])
        np.testing.assert_array_equal(result, expected, str(dtype))


def test_extremes_without_better_than_identity() -> None:
    x = np.full((3, 50), -np.inf, np.float32)
    result = np.empty(3, np.int64)
    run(row_kernel("argmax", x, result, (1,)), [x, result])
    assert result.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("rows", "columns"), [(1, 3000000), (300, 100000)])
def test_sums_are_pairwise(rows: int, columns: int) -> None:
    """The error stays near one rounding: for equal elements a running sum would be off by thousands of them."""
    x = np.full((rows, columns), 0.1, np.float32)[:3]
    for array, inner in ((x, (1,)), (np.ascontiguousarray(x.T), (0,))):
        result = np.empty(len(x), np.float32)
        run(row_kernel("reduce_sum", array, result, inner), [array, result])
        exact = float(np.float32(0.1)) * columns
        np.testing.assert_allclose(result, exact, rtol=3e-7)


def softmax_kernel(x: Array, y: Array) -> LoopKernel:
    kind = dtypes.from_numpy_dtype(x.dtype)
    rows, columns = x.shape
    nodes = (
        Node("load", (), kind, kernels.access(0, x)),
        Node("reduce_max", (0,), kind),
        Node("sub", (0, 1), kind),
        Node("exp", (2,), kind),
        Node("reduce_sum", (3,), kind),
        Node("div", (3, 4), kind),
    )
    store = Store(5, kernels.access(1, y))
    return LoopKernel("softmax", (kind, kind), (Axis(rows), Axis(columns, True)), nodes, (store,))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 129), (16, 1024), (5, 0)])
@pytest.mark.parametrize("transposed", [False, True])
def test_softmax(shape: tuple[int, int], transposed: bool) -> None:
    """Three passes; the exponentials are kept between the second and the third."""
    print("seed", SEED)
    x = np.random.default_rng(SEED).standard_normal(shape[::-1] if transposed else shape).astype(np.float32)
    x = x.T if transposed else x
    y = np.empty_like(x)
    kernel = softmax_kernel(x, y)
    assert not x.size or Plan(specimen_of(kernel)).kept == {3}
    run(kernel, [x, y])
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True, initial=-1e9))
    np.testing.assert_allclose(y, wide / wide.sum(1, keepdims=True), rtol=1e-6)


def test_row_values_and_full_values() -> None:
    """Mean and centred values of every row, in one kernel with two stores."""
    x = np.arange(24, dtype=np.float64).reshape(4, 6)
    mean, centred = np.empty(4), np.empty((4, 6))
    f64 = dtypes.float64
    nodes = (
        Node("load", (), f64, Access(0, (6, 1))),
        Node("reduce_sum", (0,), f64),
        Node("constant", (), f64, 6.0),
        Node("div", (1, 2), f64),
        Node("sub", (0, 3), f64),
    )
    stores = (Store(3, Access(1, (1, 0))), Store(4, Access(2, (6, 1))))
    run(LoopKernel("centre", (f64, f64, f64), (Axis(4), Axis(6, True)), nodes, stores), [x, mean, centred])
    np.testing.assert_array_equal(mean, x.mean(1))
    np.testing.assert_array_equal(centred, x - x.mean(1, keepdims=True))
