"""Indices out of range: found before memory is touched, in every op that takes them, in generated kernels too."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis

SIZE = 5
BAD = [SIZE, -SIZE - 1, 2**31, 2**62, 2**63 - 1, -(2**63)]

Op = Callable[[ModuleType, Any, Any], Any]

OPS: dict[str, Op] = {
    "subscript": lambda lib, x, index: x[index],
    "subscript of a sum": lambda lib, x, index: (x + 1)[index] * 2,
    "subscript of columns": lambda lib, x, index: lib.stack([x, x])[:, index],
    "two subscripts": lambda lib, x, index: lib.stack([x, x], 1)[index, lib.zeros_like(index)],
    "take": lambda lib, x, index: lib.take(x, index),
    "gather": lambda lib, x, index: lib.gather(x, 0, index),
    "gather rows": lambda lib, x, index: lib.gather(lib.stack([x, x], 1), 0, lib.stack([index, index], 1)),
    "index_select": lambda lib, x, index: lib.index_select(x, 0, index),
    "embedding": lambda lib, x, index: lib.nn.functional.embedding(index, lib.stack([x, x], 1)),
    "scatter": lambda lib, x, index: x.scatter(0, index, lib.ones(2)),
    "scatter a number": lambda lib, x, index: x.scatter(0, index, 1.0),
    "scatter_add": lambda lib, x, index: x.scatter_add(0, index, lib.ones(2)),
    "scatter_reduce": lambda lib, x, index: x.scatter_reduce(0, index, lib.ones(2), "amax"),
    "index_add": lambda lib, x, index: x.index_add(0, index, lib.ones(2)),
    "index_copy": lambda lib, x, index: x.index_copy(0, index, lib.ones(2)),
    "index_fill": lambda lib, x, index: x.index_fill(0, index, 1.0),
    "index_put": lambda lib, x, index: x.index_put((index,), lib.ones(2)),
    "index_put, added": lambda lib, x, index: x.index_put((index,), lib.ones(2), accumulate=True),
}

WRITES: dict[str, Op] = {
    "scatter_": lambda lib, x, index: x.scatter_(0, index, lib.ones(2)),
    "scatter_add_": lambda lib, x, index: x.scatter_add_(0, index, lib.ones(2)),
    "index_add_": lambda lib, x, index: x.index_add_(0, index, lib.ones(2)),
    "index_copy_": lambda lib, x, index: x.index_copy_(0, index, lib.ones(2)),
    "index_fill_": lambda lib, x, index: x.index_fill_(0, index, 1.0),
    "index_put_": lambda lib, x, index: x.index_put_((index,), lib.ones(2)),
    "assignment": lambda lib, x, index: x.__setitem__(index, 3.0),
    "out": lambda lib, x, index: lib.take(lib.zeros(SIZE), index, out=x.resize_(2)),
}

LOSSES: dict[str, Op] = {
    "nll_loss": lambda lib, x, index: lib.nn.functional.nll_loss(x, index),
    "cross_entropy": lambda lib, x, index: lib.nn.functional.cross_entropy(x, index),
    "cross_entropy, weighted": lambda lib, x, index: lib.nn.functional.cross_entropy(
        x, index, lib.ones(SIZE)
    ),
}


def torch_refuses(op: Op, make: Callable[[ModuleType], Any], index: list[int]) -> type[Exception]:
    """The class of PyTorch's error."""
    with pytest.raises((IndexError, RuntimeError)) as caught:
        op(torch, make(torch), torch.tensor(index))
    return caught.type


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("op", OPS.values(), ids=OPS)
def test_reading_and_writing(op: Op, bad: int) -> None:
    for size, index in ((SIZE, [0, bad]), (0, [bad, bad])):
        expected = torch_refuses(op, lambda lib, size=size: lib.arange(float(size)), index)
        for _ in range(2):
            with pytest.raises(expected):
                op(raxis, raxis.arange(float(size)), raxis.tensor(index))


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_nothing_is_written(write: Op, bad: int) -> None:
    target, index = raxis.arange(float(SIZE)), raxis.tensor([0, bad])
    for _ in range(2):
        with pytest.raises((IndexError, RuntimeError)):
            write(raxis, target, index)
        assert target.tolist() == list(range(len(target)))


@pytest.mark.parametrize("bad", [SIZE, -1, 2**40])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_classes(loss: Op, bad: int) -> None:
    torch_refuses(loss, lambda lib: lib.zeros(2, SIZE), [1, bad])
    for _ in range(2):
        with pytest.raises((IndexError, RuntimeError)):
            loss(raxis, raxis.zeros(2, SIZE), raxis.tensor([1, bad]))


@pytest.mark.parametrize("position", [0, 77_777, 199_999])
def test_one_wrong_index_among_many(position: int) -> None:
    index = raxis.zeros(200_000, dtype=raxis.int64)
    index[position] = SIZE
    target = raxis.full((200_000,), 7.0)
    table = raxis.arange(float(SIZE))
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 5"):
        raxis.index_select(table, 0, index)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        raxis.gather(table, 0, index, out=target)
    assert (target == 7).all()


@pytest.mark.parametrize("dtype", [raxis.int32, raxis.int64])
def test_indices_of_nothing(dtype: raxis.dtype) -> None:
    nothing = raxis.zeros(0, dtype=dtype)
    assert raxis.zeros(0)[nothing].shape == (0,)
    assert raxis.zeros(3)[nothing].shape == (0,)
    assert raxis.zeros(3, 0)[raxis.tensor([2, -3], dtype=dtype)].shape == (2, 0)
    for index in (3, -4):
        with pytest.raises(IndexError):
            raxis.zeros(3, 0)[raxis.tensor([0, index], dtype=dtype)]
