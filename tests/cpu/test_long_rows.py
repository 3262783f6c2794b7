"""Reductions of everything, done in parts: values, NaN, errors, and equal results on any number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from raxis import dtypes
from raxis.dtypes import DType
from raxis.errors import IndexOutOfRangeError
from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node, Store
from raxis_cpu.llvm.plan import specimen_of
from raxis_cpu.threads import get_num_threads, set_num_threads
from tests.cpu.kernels import Array, random_values, run

SEED = 20261130
SIZES = [1 << 17, (1 << 17) + 1, 1_000_003, 9_000_001]


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = get_num_threads()
    set_num_threads(request.param)
    yield request.param
    set_num_threads(before)


def reduced(op: str, array: Array, dtype: DType | None = None) -> Array:
    """One reduction of all elements."""
    kind = dtypes.from_numpy_dtype(array.dtype)
    row = Access(0, (1,))
    nodes = (Node("load", (), kind, row), Node(op, (0,), dtype or kind))
    kernel = LoopKernel(
        "all", (kind, kind), (Axis(array.size, inner=True),), nodes, (Store(1, Access(1, (0,))),)
    )
    assert specimen_of(kernel).split
    result = np.zeros(1, array.dtype)
    run(kernel, [array, result])
    return result


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", SIZES)
def test_sums(size: int) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for dtype in (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.int64):
        array = random_values(dtype, (size,), rng)
        if dtype is dtypes.int64:
            array %= 1000
        exact = array.astype(np.complex128 if dtype.is_complex else np.float64).sum()
        size_of_terms = np.abs(array).astype(np.float64).sum()
        unit = 0.0 if dtype is dtypes.int64 else np.finfo(array.real.dtype).eps
        assert abs(reduced("reduce_sum", array)[0] - exact) <= 8 * unit * size_of_terms


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("place", [0, 12345, -1])
def test_extremes_and_nan(size: int, place: int) -> None:
    array = np.random.default_rng(SEED).standard_normal(size).astype(np.float32)
    array[place] = 7.5
    assert reduced("reduce_max", array)[0] == np.float32(7.5)
    assert reduced("reduce_min", array)[0] == array.min()
    array[place] = np.nan
    assert np.isnan(reduced("reduce_max", array)[0])
    assert np.isnan(reduced("reduce_min", array)[0])


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("place", [0, 77_777, -1])
def test_truth(place: int) -> None:
    array = np.zeros(SIZES[1], np.bool_)
    assert not reduced("reduce_or", array)[0]
    array[place] = True
    assert reduced("reduce_or", array)[0]
    assert not reduced("reduce_and", array)[0]
    assert reduced("reduce_and", np.ones_like(array))[0]


@pytest.mark.usefixtures("threads")
def test_half_precision_is_rounded_at_the_end() -> None:
    array = np.full(SIZES[0], 0.1, np.float16)
    exact = array.astype(np.float64).sum()
    assert reduced("reduce_sum", array)[0] == np.float16(exact)


def test_equal_on_any_number_of_threads() -> None:
    array = np.random.default_rng(SEED).standard_normal(SIZES[2]).astype(np.float32)
    before = get_num_threads()
    found = []
    for count in (1, 2, 3):
        set_num_threads(count)
        found.append(reduced("reduce_sum", array)[0])
    set_num_threads(before)
    assert len(set(found)) == 1


@pytest.mark.usefixtures("threads")
def test_index_out_of_range() -> None:
    """It is found before anything is stored."""
    kinds = (dtypes.int64, dtypes.float32, dtypes.float32)
    picked = Gather(Access(1, (0,)), 1, 5, 0)
    nodes = (
        Node("load", (), dtypes.int64, Access(0, (1,))),
        Node("gather_load", (0,), dtypes.float32, picked),
        Node("reduce_sum", (1,), dtypes.float32),
    )
    kernel = LoopKernel("picked", kinds, (Axis(SIZES[1], inner=True),), nodes, (Store(2, Access(2, (0,))),))
    index, data, result = np.zeros(SIZES[1], np.int64), np.ones(5, np.float32), np.full(1, -1, np.float32)
    run(kernel, [index, data, result])
    assert result[0] == SIZES[1]
    index[100_000] = 5
    with pytest.raises(IndexOutOfRangeError, match="index 5 is out of bounds for dimension 0 with size 5"):
        run(kernel, [index, data, result])
    assert result[0] == SIZES[1]
