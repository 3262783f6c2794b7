"""Strides, offsets and storages of views against torch, for random chains of views and hand-picked edge cases."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

import raxis
from tests.parity.bridge import to_raxis, to_torch


def _assert_same_geometry(ours: Any, theirs: torch.Tensor) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert ours.stride() == theirs.stride()
    assert ours.storage_offset() == theirs.storage_offset()
    assert to_torch(ours).tolist() == theirs.tolist()


def _random_step(rng: random.Random, tensor: torch.Tensor) -> Callable[[Any], Any]:
    """One random view op that is valid for tensors of this shape."""
    ndim = tensor.dim()
    if ndim == 0:
        return lambda x: x.unsqueeze(0)
    axis, other = rng.randrange(ndim), rng.randrange(ndim)
    size = tensor.shape[axis]
    start = rng.randint(0, size)
    stop, step = rng.randint(start, size), rng.randint(1, 3)
    order = rng.sample(range(ndim), ndim)
    choices: list[Callable[[Any], Any]] = [
        lambda x: x.transpose(axis, other),
        lambda x: x.permute(*order),
        lambda x: x.narrow(axis, start, stop - start),
        lambda x: x[(slice(None),) * axis + (slice(start, None, step),)],
        lambda x: x[..., None],
        lambda x: x.unsqueeze(axis),
        lambda x: x.squeeze(),
        lambda x: x.squeeze(axis),
        lambda x: x.expand(2, *x.shape),
        lambda x: x.flatten(),
        lambda x: x.reshape(*x.shape[:axis], -1) if 0 not in x.shape else x,
    ]
    if size:
        choices.append(lambda x: x.select(axis, size - 1))
        choices.append(lambda x: x.unfold(axis, 1, 1))
    if size % 2 == 0:
        choices.append(lambda x: x.unflatten(axis, (2, size // 2)) if size else x)
    if axis != other:
        choices.append(lambda x: x.diagonal(0, axis, other))
    return rng.choice(choices)


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_of_views(seed: int) -> None:
    rng = random.Random(seed)
    shape = [rng.choice([0, 1, 2, 2, 3, 3, 4, 4]) for _ in range(rng.randint(1, 4))]
    theirs = torch.arange(int(torch.Size(shape).numel()), dtype=torch.float32).reshape(shape)
    ours = to_raxis(theirs)
    for _ in range(6):
        step = _random_step(rng, theirs)
        before = theirs
        theirs, ours = step(theirs), step(ours)
        if before.numel() and theirs.untyped_storage().data_ptr() != before.untyped_storage().data_ptr():
            assert to_torch(ours).tolist() == theirs.tolist(), f"seed {seed}"
            ours = to_raxis(theirs)
        _assert_same_geometry(ours, theirs)


@pytest.mark.parametrize("seed", range(40))
def test_view_is_possible_exactly_where_torch_says(seed: int) -> None:
    rng = random.Random(seed)
    base = torch.arange(48.0).reshape(rng.choice([(2, 3, 8), (4, 12), (2, 2, 2, 6), (1, 48), (3, 1, 16)]))
    theirs = base.permute(*rng.sample(range(base.dim()), base.dim()))
    if rng.random() < 0.5:
        theirs = theirs[..., :1]
    count = theirs.numel()
    shapes = [(count,), (-1, 1), (1, count, 1), (2, -1), (count // 2, 2), (2, 1, -1), (-1, 4)]
    for shape in shapes:
        if any(size > 0 and count % size for size in shape):
            continue
        try:
            expected = theirs.view(shape)
        except RuntimeError:
            with pytest.raises(RuntimeError, match="view size is not compatible"):
                to_raxis(theirs).view(shape)
            continue
        _assert_same_geometry(to_raxis(theirs).view(shape), expected)


def test_views_share_memory_and_know_their_base() -> None:
    base = raxis.zeros(2, 3)
    row = base[1]
    cell = row[2]
    cell.fill_(7.0)
    assert base.tolist() == [[0, 0, 0], [0, 0, 7]]
    assert row._is_view()
    assert cell._base is base
    assert row._base is base
    assert not base._is_view()
    assert base._base is None
    assert base._version == row._version == 1


def test_detach_shares_memory_and_version_but_is_no_view() -> None:
    x = raxis.ones(2, requires_grad=True)
    detached = x.detach()
    assert not detached.requires_grad
    assert not detached._is_view()
    detached[0] = 5.0
    assert x.tolist() == [5.0, 1.0]
    assert x._version == detached._version == 1


def test_reshape_copies_only_where_it_must() -> None:
    x = raxis.zeros(2, 3)
    assert x.reshape(3, 2)._storage is x._storage
    assert x.t().reshape(6)._storage is not x._storage
    assert x.t().reshape(3, 2, 1)._storage is x._storage


def test_sizes_may_be_given_by_keyword_list_size_or_tensor() -> None:
    x = raxis.zeros(2, 6)
    assert x.view(size=(3, 4)).shape == x.view([3, 4]).shape == x.reshape(raxis.Size([3, 4])).shape == (3, 4)
    assert raxis.permute(x, dims=(1, 0)).shape == (6, 2)
    assert x.unsqueeze(0).expand(size=(3, -1, -1)).shape == (3, 2, 6)
    count = raxis.tensor(3)
    assert x.view(count, 4).shape == (3, 4)
    count.fill_(4)
    assert x.view(count, 3).shape == (4, 3)


ERRORS = [
    (lambda x: x.view(5), RuntimeError, r"shape '\[5\]' is invalid for input of size 24"),
    (lambda x: x.view(-1, -1), RuntimeError, "only one dimension can be inferred"),
    (lambda x: x.view(-2), RuntimeError, "invalid shape dimension -2"),
    (lambda x: x.transpose(0, 1).view(-1), RuntimeError, r"Use .reshape\(...\) instead"),
    (lambda x: x.expand(2), RuntimeError, "must be greater or equal to the number of dimensions"),
    (lambda x: x.expand(2, 3, 5), RuntimeError, "must match the existing size"),
    (lambda x: x.expand(-1, 2, 3, 4), RuntimeError, "leading, non-existing dimension 0"),
    (lambda x: x.permute(0, 1), RuntimeError, "does not match the length of the desired ordering"),
    (lambda x: x.permute(0, 0, 1), RuntimeError, "duplicate dims are not allowed"),
    (
        lambda x: x.transpose(0, 5),
        IndexError,
        r"Dimension out of range \(expected to be in range of \[-3, 2\]",
    ),
    (lambda x: x.unsqueeze(5), IndexError, r"expected to be in range of \[-4, 3\]"),
    (lambda x: x.narrow(0, 1, 2), RuntimeError, r"start \(1\) \+ length \(2\) exceeds dimension size \(2\)"),
    (lambda x: x.narrow(0, 3, 1), IndexError, "start out of range"),
    (lambda x: x.select(0, 5), IndexError, "index 5 out of range for tensor of size"),
    (lambda x: x.diagonal(0, 0, 0), RuntimeError, "diagonal dimensions cannot be identical 0, 0"),
    (lambda x: x.unfold(0, 5, 1), RuntimeError, "maximum size for tensor at dimension 0 is 2 but size is 5"),
    (lambda x: x.unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    (lambda x: x.as_strided((30,), (1,)), RuntimeError, "out of bounds for storage of size 96"),
    (lambda x: x.as_strided((2,), (-1,)), RuntimeError, "Negative strides are not supported"),
    (lambda x: x.as_strided((2,), (1,), -1), RuntimeError, "invalid storage offset -1"),
    (lambda x: x.split([1, 2]), RuntimeError, "to sum exactly to 2"),
    (lambda x: x.chunk(0), RuntimeError, "greater than 0"),
    (lambda x: x.t(), RuntimeError, r"t\(\) expects a tensor with <= 2 dimensions"),
    (lambda x: x.movedim((0, 1), (0, 0)), RuntimeError, "repeated dim in `destination`"),
    (lambda x: x.unflatten(1, (2, 2)), RuntimeError, "don't multiply up to the size of dim 1"),
    (lambda x: x.flatten(2, 1), RuntimeError, "start_dim cannot come after end_dim"),
    (lambda x: x.view(0, -1), RuntimeError, "is invalid for input of size 24"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_errors_are_torchs(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    theirs = torch.arange(24.0).reshape(2, 3, 4)
    with pytest.raises(error):
        call(theirs)
    with pytest.raises(error, match=message):
        call(to_raxis(theirs))


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "int32"), ("float64", "float32"), ("int16", "int64")]
)
def test_view_as_another_dtype(source: str, target: str) -> None:
    theirs = torch.arange(48).reshape(3, 16).to(getattr(torch, source))[1:]
    ours = to_raxis(theirs).view(getattr(raxis, target))
    _assert_same_geometry(ours, theirs.view(getattr(torch, target)))
