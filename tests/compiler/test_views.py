"""Reading and writing strided regions as values: compared with NumPy's own views."""

from __future__ import annotations

import random

import numpy as np
import pytest

import raxis
from raxis.backends.reference.backend import ReferenceBackend
from raxis.compiler import views
from raxis.compiler.memory import Region
from raxis.dtypes import float32
from raxis.ptir.builder import Builder
from raxis.ptir.types import TensorType

BACKEND = ReferenceBackend()
SEEDS = range(8)


def _home(rng: random.Random) -> tuple[np.ndarray, np.ndarray]:
    """Memory, and a dense view of all of it."""
    shape = tuple(rng.choice([1, 2, 3, 4, 6, 8]) for _ in range(rng.randint(1, 4)))
    memory = np.arange(np.prod(shape), dtype=np.float32)
    order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.3 else range(len(shape))
    dense = memory.reshape([shape[dim] for dim in order])
    return memory, dense.transpose(np.argsort(order))


def _some_view(rng: random.Random, view: np.ndarray) -> np.ndarray:
    for _ in range(rng.randint(0, 4)):
        kind = rng.random()
        if kind < 0.4 and view.ndim:
            dim = rng.randrange(view.ndim)
            start = rng.randint(0, view.shape[dim] - 1)
            stop = rng.randint(start + 1, view.shape[dim])
            view = view[(slice(None),) * dim + (slice(start, stop, rng.choice([1, 1, 2])),)]
        elif kind < 0.55 and view.ndim:
            dim = rng.randrange(view.ndim)
            view = view[(slice(None),) * dim + (rng.randrange(view.shape[dim]), Ellipsis)]
        elif kind < 0.7:
            view = view.transpose(rng.sample(range(view.ndim), view.ndim))
        elif kind < 0.9 and view.flags.c_contiguous and view.size > 1:
            rows = rng.choice([rows for rows in range(1, view.size + 1) if view.size % rows == 0])
            view = view.reshape(rows, -1)
        elif kind < 0.95 and view.ndim < 5:
            view = np.broadcast_to(view, (3, *view.shape))
    return view


def _region(memory: np.ndarray, view: np.ndarray) -> Region:
    start = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return Region(float32, view.shape, tuple(stride // 4 for stride in view.strides), start // 4)


def _run(program, operands, target: np.ndarray, strides) -> None:
    """Execute with the operands' own memory."""
    inputs = [tuple(stride // 4 for stride in view.strides) for _, view in operands]
    arguments = [part for memory, _ in operands for part in (memory.view(np.uint8), 0)]
    BACKEND.compile(program, inputs, [strides])(*arguments, target.view(np.uint8), 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_read(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        memory, dense = _home(rng)
        view = _some_view(rng, dense)
        builder = Builder()
        home = views.Home(builder.parameter(TensorType(float32, dense.shape)), _region(memory, dense))
        program = builder.build([views.read(builder, home, _region(memory, view))])
        found = np.zeros(max(view.size, 1), np.float32)
        rows = np.zeros(view.shape, np.float32)
        _run(program, [(memory, dense)], found, tuple(stride // 4 for stride in rows.strides))
        np.testing.assert_array_equal(found[: view.size].reshape(view.shape), view)


@pytest.mark.parametrize("seed", SEEDS)
def test_write(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        memory, dense = _home(rng)
        view = _some_view(rng, dense)
        if any(size > 1 and not stride for size, stride in zip(view.shape, view.strides, strict=True)):
            continue
        builder = Builder()
        home = views.Home(builder.parameter(TensorType(float32, dense.shape)), _region(memory, dense))
        region = _region(memory, view)
        value = builder.parameter(TensorType(float32, view.shape))
        written = views.write(builder, home, region, value)
        new = -1 - np.arange(view.size, dtype=np.float32).reshape(view.shape)
        expected = memory.copy()
        np.lib.stride_tricks.as_strided(expected[region.offset :], view.shape, view.strides)[...] = new
        found = np.full(memory.size, np.nan, np.float32)
        program = builder.build([written.value])
        strides = tuple(written.region.strides)
        inputs = [(memory, dense), (new.reshape(-1), new)]
        _run(program, inputs, found[written.region.offset :], strides)
        np.testing.assert_array_equal(found, expected)


def test_parts_of_a_dimension_need_no_gather() -> None:
    """Heads of queries, keys and values: three slices of one dimension, each split and transposed."""
    builder = Builder()
    home = views.Home(
        builder.parameter(TensorType(float32, (2, 5, 24))), Region(float32, (2, 5, 24), (120, 24, 1), 0)
    )
    heads = Region(float32, (2, 2, 5, 4), (120, 4, 24, 1), 8)
    program = builder.build([views.read(builder, home, heads)])
    assert [item.primitive for item in program.instructions] == ["reshape", "slice", "transpose"]


@pytest.mark.parametrize("strides", [(1, 1), (3, 1), (1, 2)])
def test_parts_without_elements(strides: tuple[int, int]) -> None:
    """Strides of memory without elements say nothing about gaps."""
    builder = Builder()
    empty = views.Home(builder.parameter(TensorType(float32, (5, 0))), Region(float32, (5, 0), strides, 5))
    (turned,) = builder.build([
        views.read(builder, empty, Region(float32, (0, 5), (strides[1], strides[0]), 5))
    ]).results  # fmt: skip
    assert turned.type.shape == (0, 5)
    whole = views.Home(builder.parameter(TensorType(float32, (4, 3))), Region(float32, (4, 3), (3, 1), 0))
    nothing = builder.parameter(TensorType(float32, (4, 0)))
    assert views.write(builder, whole, Region(float32, (4, 0), (3, 1), 2), nothing) is whole


def test_transposed_weight_without_elements() -> None:
    product = raxis.compile(lambda x, weight: x @ weight.t())(raxis.ones(3, 0), raxis.ones(5, 2)[:, 2:])
    np.testing.assert_array_equal(product.numpy(), np.zeros((3, 5), np.float32))
