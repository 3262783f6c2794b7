"""Ops whose order of work depends on values, on the device cpu: against torch, over dtypes, layouts and sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.ptir import Builder, TensorType
from raxis_cpu.library import routine

DTYPES = ("float32", "float64", "int64", "int16", "uint8", "bool")
LENGTHS = (1, 2, 31, 32, 33, 64, 500, 513, 3000, 20_000)
"""On both sides of the lengths where another way to sort begins."""

Work = Callable[[Any, Any], Any]


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def thread_count(request: pytest.FixtureRequest) -> Iterator[None]:
    """So many threads during the test."""
    before = raxis.get_num_threads()
    raxis.set_num_threads(request.param)
    yield
    raxis.set_num_threads(before)


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, spread: float = 30) -> np.ndarray:
    """Random numbers; among the floats one NaN, infinities and zeros of both signs if there is room."""
    x = rng.normal(size=shape) * spread
    if not dtype.startswith("float"):
        return (np.abs(x) if dtype == "uint8" else x).astype(dtype)
    if x.size >= 16:
        x.reshape(-1)[[1, 5, 7, 9, 11, 13]] = np.nan, np.inf, -np.inf, 0.0, -0.0, 0.0
    return x.astype(dtype)


def both(work: Work, *arrays: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The results of raxis and of torch."""
    found = []
    for lib in (raxis, torch):
        result = work(lib, *[lib.from_numpy(array.copy()) for array in arrays])
        parts = result if isinstance(result, (tuple, list)) else (result,)
        found.append([np.asarray(part.detach().numpy()) for part in parts])
    return found[0], found[1]


def agree(work: Work, *arrays: np.ndarray, rtol: float = 0) -> None:
    """Shapes, dtypes and values of raxis and torch are the same."""
    ours, theirs = both(work, *arrays)
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=rtol)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_sort_is_stable(length: int, dtype: str, descending: bool, rng: np.random.Generator) -> None:
    for spread in (1, 1e6):
        x = numbers(rng, (2, length), dtype, spread)
        agree(lambda lib, t: lib.sort(t, dim=1, descending=descending, stable=True)[1], x)
        agree(lambda lib, t: lib.sort(t.t(), dim=0, descending=descending, stable=True)[1], x)


def test_sort_of_every_kind_of_keys(rng: np.random.Generator) -> None:
    """Spread evenly, all equal, ordered, reversed, and in two far groups."""
    length = 5000
    rows = [rng.random(length), np.ones(length), np.arange(length), -np.arange(length)]
    rows.append(np.where(rng.random(length) < 0.5, 1e-30, 1e30) * rng.random(length))
    x = np.stack(rows).astype(np.float32)
    agree(lambda lib, t: lib.sort(t, dim=1, stable=True), x)


@pytest.mark.usefixtures("thread_count")
def test_sort_of_a_million(rng: np.random.Generator) -> None:
    for shape in ((1 << 20,), (1 << 10, 1 << 10)):
        x = rng.normal(size=shape).astype(np.float32)
        values, indices = raxis.sort(raxis.from_numpy(x), stable=True)
        np.testing.assert_array_equal(indices.numpy(), np.argsort(x, -1, kind="stable"))
        np.testing.assert_array_equal(values.numpy(), np.sort(x, -1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "uint8"])
@pytest.mark.parametrize("length", LENGTHS)
def test_selections(length: int, dtype: str, rng: np.random.Generator) -> None:
    x = numbers(rng, (3, length), dtype)
    ordered = np.sort(x, 1)
    for count in {1, min(5, length), min(16, length), (length + 1) // 2, length}:
        for largest in (False, True):
            values, indices = raxis.topk(raxis.from_numpy(x), count, 1, largest)
            wanted = ordered[:, ::-1][:, :count] if largest else ordered[:, :count]
            np.testing.assert_array_equal(values.numpy(), wanted)
            np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), 1), wanted)
        for dim, array in ((1, x), (0, np.ascontiguousarray(x.T))):
            agree(lambda lib, t, n=count, d=dim: lib.kthvalue(t, n, d)[0], array)


@pytest.mark.parametrize("length", [1, 2, 7, 40, 4096])
def test_medians(length: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=(4, length)).astype(np.float32)
    x[1, 0] = x[2, :] = np.nan
    x[3, : length // 2] = np.nan
    for name in ("median", "nanmedian"):
        agree(lambda lib, t, name=name: getattr(lib, name)(t, 1)[0], x)
        agree(lambda lib, t, name=name: getattr(lib, name)(t), x)
    values, indices = raxis.median(raxis.from_numpy(x), 1, keepdim=True)
    np.testing.assert_array_equal(np.take_along_axis(x, indices.numpy(), 1), values.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (300,), (30, 50), (0, 4), (2, 3, 4)], ids=str)
def test_distinct_elements(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    x = np.asarray(numbers(rng, shape, dtype, 2))
    for name in ("unique", "unique_consecutive"):
        agree(lambda lib, t, name=name: getattr(lib, name)(t), x)
        agree(lambda lib, t, name=name: getattr(lib, name)(t, return_inverse=True, return_counts=True), x)
        if x.ndim > 1:
            agree(lambda lib, t, name=name: getattr(lib, name)(t.transpose(0, 1), return_inverse=True), x)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
@pytest.mark.parametrize("width", [1, 7, 16, 33, 200])
def test_rows_that_an_index_picks(width: int, dtype: str, rng: np.random.Generator) -> None:
    data = (
        rng.standard_normal((6, width)) * 1j if dtype == "complex128" else numbers(rng, (6, width), dtype, 3)
    )
    rows = rng.integers(0, 6, 9)
    agree(lambda lib, t, i: lib.index_select(t, 0, i), data, rows)
    agree(lambda lib, t, i: t[i] + t[i[:1]], data, rows)
    agree(lambda lib, t, i: lib.index_select(t[:, ::2], 0, i), data, rows)
    agree(lambda lib, t, i: lib.index_select(t, 0, i[:0]), data, rows)
    with pytest.raises(IndexError, match="out of"):
        raxis.index_select(raxis.from_numpy(data), 0, raxis.tensor([0, 6]))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("length", [7, 8, 9, 15, 16, 17, 31, 33, 1500])
def test_runs_across_the_ends_of_vectors(length: int, dtype: str, rng: np.random.Generator) -> None:
    lengths = rng.integers(1, 6, length)
    runs = np.repeat(rng.integers(-1, 2, length), lengths)[:length].astype(dtype)
    same, different = np.zeros(length, dtype), np.arange(length, dtype=dtype)
    found = [runs, same, different]
    if dtype.startswith("float"):
        strange = runs.copy()
        strange[rng.random(length) < 0.2] = np.nan
        strange[rng.random(length) < 0.3] = -0.0
        found.append(strange)
    for array in found:
        agree(lambda lib, t: lib.unique_consecutive(t), array)
        agree(lambda lib, t: lib.unique(t), array)
        agree(lambda lib, t: lib.unique_consecutive(t[::2]), array)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (9,), (3, 5), (0, 4), (2, 3, 4)], ids=str)
def test_masks_and_positions(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    x = np.asarray(numbers(rng, shape, dtype, 1) if dtype != "complex128" else rng.integers(0, 2, shape) * 1j)
    mask = np.asarray(rng.random(shape) < 0.5)
    agree(lambda lib, t: t.nonzero(), x)
    agree(lambda lib, t, m: t[m], x, mask)
    agree(lambda lib, t, m: t.masked_select(m), x, mask)
    if x.ndim > 1:
        agree(lambda lib, t: t.transpose(0, -1).nonzero(), x)
        agree(lambda lib, t, m: t.transpose(0, -1)[m.transpose(0, -1)], x, mask)
        agree(lambda lib, t, m: t.masked_select(m[..., :1]), x, mask)
        agree(lambda lib, t, m: t[..., :1].masked_select(m), x, mask)


def test_gradient_of_a_mask(rng: np.random.Generator) -> None:
    def work(lib: Any, t: Any, m: Any) -> Any:
        row = t[0].requires_grad_()
        (row.masked_select(m) ** 2).sum().backward()
        return row.grad

    agree(work, rng.normal(size=(3, 5)), rng.random((4, 5)) < 0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "uint8"])
@pytest.mark.parametrize("shape", [(1,), (7,), (40,), (3, 50), (50, 3), (2, 65, 9), (0, 3)], ids=str)
def test_running_extrema(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    x = numbers(rng, shape, dtype)
    for dim in range(len(shape)):
        for name in ("cummax", "cummin"):
            agree(lambda lib, t, name=name, d=dim: getattr(t, name)(d), x)
            agree(lambda lib, t, name=name, d=dim: getattr(t.transpose(0, -1), name)(d), x)


@pytest.mark.usefixtures("thread_count")
@pytest.mark.parametrize("shape", [(100_003,), (300, 400)], ids=str)
def test_running_sums_of_float32_are_kept_in_float64(
    shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    x = rng.random(shape).astype(np.float32)
    for dim in range(len(shape)):
        builder = Builder("running")
        operand = builder.parameter(TensorType(raxis.float32, shape))
        item = builder.build([builder.emit("cumsum", operand, dim=dim)]).instructions[0]
        for order in ("C", "F"):
            given, out = np.asarray(x, order=order), np.empty(shape, np.float32)
            strides = [tuple(stride // 4 for stride in array.strides) for array in (given, out)]
            routine(item, strides[:1], strides[1:])(given, out)
            np.testing.assert_allclose(out, np.cumsum(x, dim, np.float64), rtol=1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (300,), (30, 50), (5, 0)], ids=str)
def test_logcumsumexp(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> None:
    x = np.asarray(rng.normal(size=shape) * 20, dtype)
    if x.size >= 300:
        x.reshape(-1)[[0, 1, 120, 150]] = -np.inf, -np.inf, np.inf, np.nan
    for dim in range(-1, len(shape)):
        agree(lambda lib, t, d=dim: t.logcumsumexp(d), x, rtol=1e-6 if dtype == "float32" else 1e-12)


@pytest.mark.usefixtures("thread_count")
@pytest.mark.parametrize("name", ["scatter", "scatter_add", "index_copy", "index_add"])
def test_large_writes(name: str, rng: np.random.Generator) -> None:
    x, values = rng.normal(size=(2, 700, 300))
    rows = rng.integers(0, 700, 700)
    index = rows if name.startswith("index") else np.repeat(rows[:, None], 300, 1)
    ours = getattr(raxis.from_numpy(x), name)(0, raxis.from_numpy(index), raxis.from_numpy(values)).numpy()
    wanted = x.copy()
    for row, value in zip(rows, values, strict=True):
        wanted[row] = wanted[row] + value if name.endswith("add") else value
    np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("name", ["scatter_", "scatter_add_", "index_copy_", "index_add_"])
def test_writes_in_place_check_before_they_write(name: str) -> None:
    x = raxis.zeros(4)
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        getattr(x, name)(0, raxis.tensor([0, 1, 4]), raxis.ones(3))
    assert x.tolist() == [0, 0, 0, 0]
    getattr(x, name)(0, raxis.tensor([0, 1, 3]), raxis.ones(3))
    assert x.tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_writing_a_tensor_into_itself(dtype: str, rng: np.random.Generator) -> None:
    """As if the source had been copied first: the result's memory is that of all operands."""
    x = rng.integers(0, 6, (6, 6)).astype(dtype)
    rows, places = rng.integers(0, 6, 6), rng.integers(0, 6, (6, 6))
    writes: list[Callable[[Any, Any, Any, Any], Any]] = [
        lambda t, source, i, _: t.index_add_(0, i, source),
        lambda t, source, i, _: t.t().index_add_(1, i, source.t()),
        lambda t, source, _, j: t.scatter_(0, j, source),
        lambda t, source, _, j: t.scatter_add_(1, j, source),
        lambda t, source, i, _: t[:, 1:4].index_copy_(0, i.argsort(stable=True), source[:, 1:4]),
        lambda t, source, i, _: t.index_put_((i.argsort(stable=True),), source),
    ]
    for write in writes:
        target, wanted = raxis.from_numpy(x.copy()), torch.from_numpy(x.copy())
        write(target, target, raxis.from_numpy(rows), raxis.from_numpy(places))
        write(wanted, wanted.clone(), torch.from_numpy(rows), torch.from_numpy(places))
        np.testing.assert_array_equal(target.numpy(), wanted.numpy())


def test_an_index_that_is_written_over() -> None:
    index = raxis.tensor([2, 0, 1, 3])
    index.index_add_(0, index, raxis.tensor([10, 20, 30, 40]))
    assert index.tolist() == [22, 30, 11, 43]


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool", "complex128"])
def test_reads_at_several_indices(dtype: str, rng: np.random.Generator) -> None:
    x = (rng.normal(size=(5, 6, 7)) * 3).astype(dtype)
    i, j, k = rng.integers(-5, 5, (4, 3)), rng.integers(-6, 6, (4, 3)), rng.integers(-7, 7, 3)
    agree(lambda lib, t, i, j: t[i, j], x, i, j)
    agree(lambda lib, t, i, j: t[i.t(), j.int().t()], x, i, j)
    agree(lambda lib, t, i, j, k: t[i, j, k], x, i, j, k)
    agree(lambda lib, t, j, k: t[:, j, k], x, j, k)
    agree(lambda lib, t, i, j: t[i[:0], j[:0]], x, i, j)
    agree(lambda lib, t, k: t.transpose(0, 2)[k[:, None], k[:1] % 6], x, k)


@pytest.mark.parametrize("wrong", [5, -6, 2**40])
def test_reads_at_several_indices_are_checked(wrong: int) -> None:
    x, index = raxis.zeros(5, 6), raxis.tensor([0, wrong])
    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for dimension 0 with size 5"):
        x[index, raxis.tensor([0, 1])]


def test_counts(rng: np.random.Generator) -> None:
    x = rng.integers(0, 9, 1003)
    agree(lambda lib, t: lib.bincount(t), x)
    agree(lambda lib, t: lib.bincount(t[::3].int(), minlength=20), x)
    agree(lambda lib, t: lib.bincount(t[:0]), x)
    agree(lambda lib, t: lib.nn.functional.one_hot(t.reshape(17, 59), 9), x)
    agree(lambda lib, t: t.repeat_interleave(t), x)
    with pytest.raises(RuntimeError, match="non-negative"):
        raxis.bincount(raxis.tensor([1, -1]))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_searchsorted(dtype: str, right: bool, rng: np.random.Generator) -> None:
    for length in (0, 1, 2, 7, 1000):
        boundaries, values = np.sort(numbers(rng, (3, length), dtype, 5), 1), numbers(rng, (3, 21), dtype, 5)
        found = raxis.searchsorted(
            raxis.from_numpy(boundaries), raxis.from_numpy(values), right=right
        ).numpy()
        side = "right" if right else "left"
        wanted = [np.searchsorted(row, value, side) for row, value in zip(boundaries, values, strict=True)]
        np.testing.assert_array_equal(found, np.stack(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "complex128"])
def test_joining_of_small_tensors(dtype: str, rng: np.random.Generator) -> None:
    a, b, c = ((rng.random(shape) * 99).astype(dtype) for shape in ((3, 4), (5, 4), (3, 7)))
    agree(lambda lib, a, b: lib.cat([a, b, a]), a, b)
    agree(lambda lib, a, b: lib.cat([a.t(), b.t()], 1), a, b)
    agree(lambda lib, a, c: lib.cat([a, c, a[:, :0]], 1), a, c)
    agree(lambda lib, a: lib.stack([a, a, a], 1), a)
    agree(lambda lib, a: lib.stack([a, a], -1), a)
    agree(lambda lib, a: lib.cat([a[1:2].expand(3, 4), a[:, ::2].flip(0)], 1), a)
    agree(lambda lib, a: a.repeat(2, 3, 2), a)
