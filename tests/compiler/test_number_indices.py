"""``x[i]`` for tensors `i` without dimensions, in compiled functions and under `vmap`: compared with torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.compiler import CompileError
from raxis.func import grad, vmap

ARRAY = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
ROWS = [1, 0]
INDICES: dict[str, Callable[[Any, Any], Any]] = {
    "i": lambda i, rows: i,
    ":i": lambda i, rows: (slice(None), i),
    "ii": lambda i, rows: (i, i),
    "i1": lambda i, rows: (i, 1),
    "1i": lambda i, rows: (1, i),
    "...i": lambda i, rows: (..., i),
    "1:,i": lambda i, rows: (slice(1, None), i),
    "i,None": lambda i, rows: (i, None),
    "i:None,i": lambda i, rows: (i, slice(None), None, i),
    ":,rows,:,i": lambda i, rows: (slice(None), rows, slice(None), i),
    "rows,:,i": lambda i, rows: (rows, slice(None), i),
    "i,rows,i": lambda i, rows: (i, rows, i),
    "i,:,rows": lambda i, rows: (i, slice(None), rows),
}


def _assigned(x: Any, key: Any, value: Any) -> Any:
    x = x.clone()
    x[key] = value
    return x


def _added(x: Any, key: Any, value: Any) -> Any:
    x = x.clone()
    x[key] += value
    return x


def _of(library: Any, array: np.ndarray) -> Any:
    return library.from_numpy(array.copy())


@pytest.mark.parametrize("name", INDICES)
def test_reads_in_compiled_functions(name: str) -> None:
    def read(library: Any) -> Any:
        rows = library.tensor(ROWS)
        return lambda x, i: x[INDICES[name](i, rows)]

    compiled = raxis.compile(read(raxis))
    for number in (-1, 0):
        expected = read(torch)(_of(torch, ARRAY), torch.tensor(number))
        found = compiled(_of(raxis, ARRAY), raxis.tensor(number))
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
    assert len(compiled.misses()) == 1


@pytest.mark.parametrize("dtype", ["int32", "int16", "int8"])
def test_dtypes_of_indices(dtype: str) -> None:
    compiled, index = raxis.compile(lambda x, i: x[1, i]), raxis.tensor(-1, dtype=getattr(raxis, dtype))
    np.testing.assert_array_equal(compiled(_of(raxis, ARRAY), index).numpy(), ARRAY[1, -1])


@pytest.mark.parametrize("name", INDICES)
def test_reads_under_vmap(name: str) -> None:
    """Example by example, since torch puts dimensions elsewhere under vmap where index tensors are among them."""
    rows = raxis.tensor(ROWS)
    numbers = raxis.tensor([0, 1, -1])
    found = vmap(lambda i: _of(raxis, ARRAY)[INDICES[name](i, rows)])(numbers)
    for position, number in enumerate(numbers.tolist()):
        expected = _of(torch, ARRAY)[INDICES[name](torch.tensor(number), torch.tensor(ROWS))]
        np.testing.assert_array_equal(found[position].numpy(), expected.numpy())


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("write", [_assigned, _added])
def test_writes(name: str, write: Any) -> None:
    """A number, and values that are broadcast."""
    torch_x = _of(torch, ARRAY)
    key = INDICES[name](torch.tensor(-1), torch.tensor(ROWS))
    part = np.random.default_rng(0).standard_normal(torch_x[key].shape).astype(np.float32)
    for value in (7, part[..., :1]):
        expected = write(torch_x, key, value if isinstance(value, int) else _of(torch, value)).numpy()

        def function(x: Any, i: Any, value: Any) -> Any:
            return write(x, INDICES[name](i, raxis.tensor(ROWS)), value)

        given = value if isinstance(value, int) else _of(raxis, value)
        found = raxis.compile(function)(_of(raxis, ARRAY), raxis.tensor(-1), given)
        np.testing.assert_array_equal(found.numpy(), expected)
        several = _of(raxis, np.stack([ARRAY, ARRAY]))
        found = vmap(function, in_dims=(0, 0, None))(several, raxis.tensor([0, -1]), given)
        np.testing.assert_array_equal(found[1].numpy(), expected)


def test_values_of_another_dtype_are_cast() -> None:
    compiled = raxis.compile(lambda x, i: _assigned(x, i, raxis.arange(3)))
    assert compiled(raxis.zeros(2, 3), raxis.tensor(1)).tolist() == [[0, 0, 0], [0, 1, 2]]


def test_a_mask_beside_it() -> None:
    mask = raxis.tensor([True, False, True])
    found = raxis.compile(lambda x, i: _assigned(x, (i, mask), 5.0))(raxis.zeros(2, 3), raxis.tensor(1))
    assert found.tolist() == [[0, 0, 0], [5, 0, 5]]


def test_arguments_are_written() -> None:
    x = raxis.zeros(3, 2)

    @raxis.compile
    def step(x: Any, i: Any) -> None:
        x[i] += 1
        x[i, 0] = 9

    for i in (0, 2, 2):
        step(x, raxis.tensor(i))
    assert x.tolist() == [[9, 1], [0, 0], [9, 2]]


@pytest.mark.parametrize("number", [5, 3, -4])
def test_out_of_range(number: int) -> None:
    x, index = raxis.zeros(3, 2), raxis.tensor(number)
    compiled = raxis.compile(lambda x, i: x[i])
    compiled(x, raxis.tensor(2))
    calls = (
        lambda: x[index],
        lambda: compiled(x, index),
        lambda: raxis.compile(lambda x, i: x[i])(x, index),
        lambda: vmap(lambda i: x[i])(raxis.stack([raxis.tensor(0), index])),
    )
    for call in calls:
        with pytest.raises(IndexError, match=f"index {number} is out of bounds for dimension 0 with size 3"):
            call()


def test_gradients() -> None:
    weight = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)

    def loss(w: Any, i: Any) -> Any:
        return (w[i] ** 2).sum() + (w[:, i - 1] ** 3).sum()

    expected = torch.func.grad(loss)(_of(torch, weight), torch.tensor(2)).numpy()
    w, i = _of(raxis, weight), raxis.tensor(2)
    np.testing.assert_allclose(raxis.compile(grad(loss))(w, i).numpy(), expected, rtol=1e-6)
    found = vmap(grad(loss), in_dims=(None, 0))(w, raxis.tensor([1, 2]))[1]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
    w.requires_grad_()
    raxis.compile(loss)(w, i).backward()
    np.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-6)


def test_control_flow() -> None:
    x = raxis.arange(12.0).reshape(3, 4)

    @raxis.compile
    def total(x: Any) -> Any:
        start = (raxis.tensor(0), raxis.zeros(4))
        return raxis.while_loop(lambda i, _: i < 3, lambda i, found: (i + 1, found + x[i]), start)[1]

    assert total(x).tolist() == [12, 15, 18, 21]


# ---- where a copy would not be as good as a view -----------------------------------------------------------------


def _written(x: Any, i: Any) -> Any:
    x[i].add_(1)
    return x


def _written_through(x: Any, i: Any) -> Any:
    x[i][0] = 1
    return x


def _read_late(x: Any, i: Any) -> Any:
    row = x[i]
    x.add_(1)
    return row.sum()


def _returned_late(x: Any, i: Any) -> Any:
    row = x[i]
    x.add_(1)
    return row


def _put_elsewhere(x: Any, i: Any) -> Any:
    row = x[i]
    row += 1
    x[i + 1] = row
    return x


@pytest.mark.parametrize("function", [_written, _written_through, _read_late, _returned_late, _put_elsewhere])
def test_what_needs_a_view_is_an_error(function: Any) -> None:
    with pytest.raises(CompileError, match=r"x\[i\], where i is a tensor, .*Write x\[i\] = value"):
        raxis.compile(function)(raxis.zeros(3, 2), raxis.tensor(1))
    expected = function(raxis.zeros(3, 2), raxis.tensor(1))
    found = raxis.compile(function, on_break="eager")(raxis.zeros(3, 2), raxis.tensor(1))
    assert found.tolist() == expected.tolist()


def test_a_copy_may_be_used_before_the_write() -> None:
    def function(x: Any, i: Any) -> Any:
        row = x[i]
        total = row.sum()
        x[i] = row * 2
        return total

    x = raxis.ones(3, 2)
    compiled = raxis.compile(function)
    assert [compiled(x, raxis.tensor(1)).item() for _ in range(3)] == [2, 4, 8]
    assert x.tolist() == [[1, 1], [8, 8], [1, 1]]
