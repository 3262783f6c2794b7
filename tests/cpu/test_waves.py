"""Sine and cosine of the same numbers in one kernel, and what is known of the size of those numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
from raxis_cpu.llvm.bounds import bound
from tests.cpu.kernels import elementwise, run

NUMBERS = (
    0.0,
    -0.0,
    0.5,
    -1.0,
    3.1415927,
    6.0,
    -100.25,
    65536.0,
    65537.0,
    1e10,
    -3e30,
    math.inf,
    -math.inf,
    math.nan,
)


def _both(dtype: DType, order: tuple[str, str], count: int) -> LoopKernel:
    nodes = (Node("load", (), dtype, Access(0, (1,))), *(Node(op, (0,), dtype) for op in order))
    stores = tuple(Store(number, Access(number, (1,))) for number in (1, 2))
    return LoopKernel("both", (dtype,) * 3, (Axis(count),), nodes, stores)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.float16], ids=str)
@pytest.mark.parametrize("order", [("sin", "cos"), ("cos", "sin")])
@pytest.mark.parametrize("count", [1, 5, 16, 77])
def test_both_are_what_either_is(dtype: DType, order: tuple[str, str], count: int) -> None:
    with np.errstate(over="ignore"):
        x = np.resize(np.array(NUMBERS), count).astype(dtype.numpy)
    results = [np.empty_like(x) for _ in order]
    run(_both(dtype, order, count), [x, *results])
    for op, result in zip(order, results, strict=True):
        alone = np.empty_like(x)
        run(elementwise(op, [x], alone), [x, alone])
        np.testing.assert_array_equal(result, alone)
        with np.errstate(invalid="ignore"):
            exact = getattr(np, op)(x.astype(np.longdouble))
        np.testing.assert_allclose(result.astype(np.float64), exact.astype(np.float64), rtol=1e-3, atol=1e-15)
        np.testing.assert_array_equal(np.signbit(result[x == 0]), np.signbit(exact[x == 0]))


def _small_angles(mask: int, scale: float) -> tuple[Node, ...]:
    i32, f32 = dtypes.int32, dtypes.float32
    return (
        Node("load", (), i32, Access(0, (1,))),
        Node("constant", (), i32, mask),
        Node("and", (0, 1), i32),
        Node("cast", (2,), f32),
        Node("constant", (), f32, scale),
        Node("mul", (3, 4), f32),
        Node("sin", (5,), f32),
    )


@pytest.mark.parametrize(
    ("mask", "scale", "expected"),
    [(255, -0.5, 127.5), (-1, 0.5, math.inf), (7, math.inf, math.inf), (7, math.nan, math.inf)],
)
def test_bounds(mask: int, scale: float, expected: float) -> None:
    nodes = _small_angles(mask, scale)
    assert bound(nodes, 5) == expected
    assert bound(nodes, 0) == bound(nodes, 6) == math.inf


@pytest.mark.parametrize(
    ("mask", "scale"), [(0xFFFF, 0.001), (0xFFFF, 1.0), (0xFFFF, 2.0), (-1, 1.0), (3, 1e30)]
)
def test_sines_of_numbers_of_known_size(mask: int, scale: float) -> None:
    bits = np.random.default_rng(20261201).integers(-(1 << 31), 1 << 31, 1000).astype(np.int32)
    result = np.empty(1000, np.float32)
    kernel = LoopKernel(
        "sines",
        (dtypes.int32, dtypes.float32),
        (Axis(1000),),
        _small_angles(mask, scale),
        (Store(6, Access(1, (1,))),),
    )
    run(kernel, [bits, result])
    angles = (bits & mask).astype(np.float32) * np.float32(scale)
    np.testing.assert_allclose(result, np.sin(angles.astype(np.float64)), rtol=2e-7, atol=1e-12)
