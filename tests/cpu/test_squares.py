"""Loops over operands that lie across each other: squares are turned in registers."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis.schedule.loops import Axis, LoopKernel, Node, Store
from raxis.schedule.normalise import normalised
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import PTR, Function, Type
from raxis_cpu.llvm.plan import specimen_of
from raxis_cpu.llvm.turning import turned
from tests.cpu.kernels import Array, access, elementwise, random_values, run

SEED = 20261130
SHAPES = [(8, 8), (16, 16), (17, 33), (9, 100), (130, 8), (1030, 19), (19, 1030)]


def copied(source: Array, result: Array) -> LoopKernel:
    dtype = dtypes.from_numpy_dtype(source.dtype)
    nodes = (Node("load", (), dtype, access(0, source)),)
    axes = tuple(Axis(size) for size in source.shape)
    return normalised(LoopKernel("copy", (dtype, dtype), axes, nodes, (Store(0, access(1, result)),)))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("shape", SHAPES)
def test_transposed_copy(shape: tuple[int, int], dtype: DType) -> None:
    print("seed", SEED)
    source = random_values(dtype, shape, np.random.default_rng(SEED)).T
    result = np.empty(source.shape, source.dtype)
    kernel = copied(source, result)
    assert (specimen_of(kernel).tile is None) == dtype.is_complex
    run(kernel, [source, result])
    assert result.tobytes() == np.ascontiguousarray(source).tobytes()


@pytest.mark.parametrize("order", [(2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1), (1, 0, 2)])
def test_orders_of_three_axes(order: tuple[int, ...]) -> None:
    source = np.arange(11 * 18 * 21, dtype=np.float32).reshape(11, 18, 21).transpose(order)
    result = np.zeros(source.shape, np.float32)
    run(copied(source, result), [source, result])
    np.testing.assert_array_equal(result, source)


@pytest.mark.parametrize("shape", SHAPES)
def test_sum_with_a_transpose(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(SEED)
    x, y = rng.standard_normal(shape), rng.standard_normal(shape[::-1]).T
    result = np.empty(shape)
    run(normalised(elementwise("add", [x, y], result)), [x, y, result])
    np.testing.assert_array_equal(result, x + y)


def test_parts_of_larger_arrays() -> None:
    """Nothing is read or written outside: rows and columns around stay as they are."""
    source = np.arange(60.0 * 70).reshape(60, 70)
    result = np.full((80, 90), -1.0)
    part, target = source[3:40, 5:50].T, result[10:55, 20:57]
    run(copied(part, target), [part, target])
    np.testing.assert_array_equal(target, part)
    assert (result == -1).sum() == result.size - target.size


def test_a_column_beside_a_transpose() -> None:
    """Values that change from row to row only."""
    x = np.random.default_rng(SEED).standard_normal((40, 30)).astype(np.float32)
    column = np.arange(30, dtype=np.float32)[:, None] * np.ones((1, 40), np.float32)
    flat = np.broadcast_to(column[:, :1], (30, 40))
    result = np.empty((30, 40), np.float32)
    run(normalised(elementwise("mul", [x.T, flat], result)), [x.T, flat, result])
    np.testing.assert_array_equal(result, x.T * column)


@pytest.mark.parametrize("element", ["i8", "i16", "float", "double"])
@pytest.mark.parametrize("nbytes", [16, 32, 64])
def test_registers_of_every_machine(nbytes: int, element: str) -> None:
    """A square of registers of so many bytes, whatever this machine has."""
    size = Type(element).bits // 8
    lanes = nbytes // size
    function = Function("void @turn(ptr %source, ptr %target)")
    source, target = function.argument(PTR, "source"), function.argument(PTR, "target")
    rows = [
        function.load(Type(element, lanes), function.advance(source, row, nbytes)) for row in range(lanes)
    ]
    for number, column in enumerate(turned(rows)):
        function.store(column, function.advance(target, number, nbytes))
    function.line("ret void")
    code = Code(compile(f'target triple = "{host().triple}"\n{function.text}', host()))
    given = np.arange(lanes * lanes).astype(f"u{size}").reshape(lanes, lanes)
    found = np.empty_like(given)
    run_turn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address("turn"))
    run_turn(given.ctypes.data, found.ctypes.data)
    np.testing.assert_array_equal(found, given.T)
