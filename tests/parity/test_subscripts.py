"""``x[index]`` and ``x[index] = value`` against torch, for a grid of indices and for random ones."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity.bridge import to_raxis, to_torch

T = torch.tensor
MASK = torch.arange(24).reshape(2, 3, 4) % 5 < 2

INDICES: list[Any] = [
    0, -1, slice(None), slice(1, None), slice(None, None, 2), slice(5, 9), slice(2, 1), None, Ellipsis, (), True, False,
    (0, 1), (0, 1, 2), (..., 0), (0, ..., 1), (None, 0), (0, None, slice(1, 3)), (slice(None), None, ..., None),
    (..., ...), (slice(-2, None), slice(None, -1), slice(0, 4, 3)),
    T([1, 0, 1]), T([-1, 0]), T([], dtype=torch.int64), T(1), T([[0, 1], [1, 1]]), T([0, 1], dtype=torch.int32),
    (T([0, 1]), T([0, 2])), (T([0, 1]), slice(None), T([0, 2])), (slice(None), T([0, 2]), T([1, 3])),
    (slice(None), T([[0], [2]]), T([1, 3])), (T([0, 1]), ..., T([0, 3])), (0, T([0, 2])), (0, slice(None), T([0, 2])),
    (T([0, 1]), 0, slice(1, 3)), (T([0, 1]), None, T([0, 2])), (None, T([0, 1])), (slice(None), None, T([0, 2])),
    (T(0), T([0, 2])), (slice(None), 1, T([0, 2])), (T(1), T(2)), (slice(0, 1), T([1, 1, 0]), slice(None, None, 2)),
    MASK, MASK[0, 0].new_ones(2), (slice(None), MASK[0]), (0, MASK[0]), (..., MASK[0, 0]), (MASK[:, 0, 0], T([0, 1])),
    (MASK[:, :, 0], T([0, 1, 2, 3, 0])[: int(MASK[:, :, 0].sum())]), (MASK[:, 0, 0], slice(None), MASK[0, 0]),
    T(True), T(False), (True, 0), (0, True), (slice(None), True), MASK.new_zeros(2, 3, 4),
    [0, 1], [[0, 1], [1, 2]], [True, False], ([0, 1], [1, 2]), (slice(None), [2, 0]), [], range(2), (0, range(2)),
    np.array([1, 0]), np.array([True, False]), np.int64(1), (np.int64(0), slice(np.int64(1), None)),
    (slice(T(0), T(1)), 0),
]  # fmt: skip


def _subject() -> torch.Tensor:
    return torch.arange(24.0, dtype=torch.float64).reshape(2, 4, 3).transpose(1, 2)


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_reading(index: Any) -> None:
    theirs = _subject()
    ours = to_raxis(theirs)
    expected, result = theirs[index], ours[to_raxis(index)]
    assert to_torch(result).tolist() == expected.tolist()
    assert result.shape == expected.shape
    if expected._base is not None:
        assert result._storage is ours._storage
        assert result.stride() == expected.stride()
        assert result.storage_offset() == expected.storage_offset()
    else:
        assert result._storage is not ours._storage


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_gradient_of_reading(index: Any) -> None:
    theirs = _subject().requires_grad_()
    ours = to_raxis(theirs)
    ours.requires_grad = True
    expected, result = theirs[index], ours[to_raxis(index)]
    weights = torch.linspace(1, 2, expected.numel(), dtype=torch.float64).reshape(expected.shape)
    (expected * weights).sum().backward()
    (result * to_raxis(weights)).sum().backward()
    torch.testing.assert_close(to_torch(ours.grad), theirs.grad)


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("kind", ["number", "tensor", "row"])
@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
def test_writing(index: Any, kind: str) -> None:
    theirs = _subject()
    region = theirs[index]
    value: Any = -7
    if kind == "tensor":
        value = torch.arange(region.numel(), dtype=torch.float64).reshape(region.shape) + 100
    elif kind == "row":
        value = torch.arange(region.shape[-1] if region.dim() else 1, dtype=torch.float64).add(50)
        value = value if region.dim() else value[0]
    ours = to_raxis(theirs)
    theirs[index] = value
    ours[to_raxis(index)] = to_raxis(value)
    assert to_torch(ours).tolist() == theirs.tolist()


def _random_index(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Parts for every dimension, now and then None or Ellipsis; index tensors broadcast to (2, 3)."""
    parts: list[Any] = []
    for size in shape:
        choice = rng.randrange(6)
        if choice == 0:
            parts.append(rng.randrange(-size, size))
        elif choice == 1:
            start, stop = rng.choice([None, *range(-size, size)]), rng.choice([None, *range(size + 2)])
            parts.append(slice(start, stop, rng.randint(1, 3)))
        elif choice in (2, 3):
            of = rng.choice([(2, 3), (1, 3), (3,), (2, 1), (1,)])
            flat = [rng.randrange(-size, size) for _ in range(int(torch.Size(of).numel()))]
            parts.append(torch.tensor(flat).reshape(of))
        elif choice == 4:
            parts.append(None)
            parts.append(slice(None))
        else:
            parts.append(slice(None))
    if rng.random() < 0.3:
        cut = rng.randrange(len(parts))
        parts = [*parts[:cut], Ellipsis]
    return tuple(parts)


@pytest.mark.parametrize("seed", range(80))
def test_random_indices(seed: int) -> None:
    rng = random.Random(seed)
    shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 5)))
    theirs = torch.arange(int(torch.Size(shape).numel()), dtype=torch.float64).reshape(shape)
    index = _random_index(rng, shape)
    ours, our_index = to_raxis(theirs), to_raxis(index)
    expected = theirs[index]
    result = to_torch(ours[our_index])
    assert result.shape == expected.shape, f"seed {seed}: {index}"
    assert result.tolist() == expected.tolist(), f"seed {seed}: {index}"
    if not any(isinstance(part, int) for part in index):  # which NumPy broadcasts with index arrays
        by_numpy = theirs.numpy()[
            tuple(part.numpy() if isinstance(part, torch.Tensor) else part for part in index)
        ]
        assert result.shape == by_numpy.shape, f"seed {seed}: {index}"
        assert result.tolist() == by_numpy.tolist(), f"seed {seed}: {index}"
    theirs[index] = -1.0
    ours[our_index] = -1.0
    assert to_torch(ours).tolist() == theirs.tolist(), f"seed {seed}: {index}"


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ((0, -5), IndexError, "index -5 is out of bounds for dimension 1 with size 3"),
    ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
    (1.0, IndexError, "only integers, slices"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"),
    (slice(None, None, 0), ValueError, "slice step cannot be zero"),
    (slice(0.5, None), TypeError, "slice indices must be integers or None"),
    (T([5]), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    ((slice(None), T([-5])), IndexError, "index -5 is out of bounds for dimension 1 with size 3"),
    ((T([0]), T([7])), IndexError, "index 7 is out of bounds for dimension 1 with size 3"),
    (T([True] * 3), IndexError, r"The shape of the mask \[3\] at index 0 does not match"),
    ((T([0, 1]), T([0, 1, 2])), IndexError, r"could not be broadcast together with shapes \[2\], \[3\]"),
    (T([0.0]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    ((MASK, 0), IndexError, "too many indices for tensor of dimension 3"),
]


@pytest.mark.parametrize(("index", "error", "message"), ERRORS, ids=repr)
def test_errors_are_torchs(index: Any, error: type[Exception], message: str) -> None:
    theirs = torch.zeros(2, 3, 4)
    with pytest.raises(error):
        theirs[index]
    with pytest.raises(error, match=message):
        to_raxis(theirs)[to_raxis(index)]
    with pytest.raises(error, match=message):
        to_raxis(theirs)[to_raxis(index)] = 1.0


def test_a_zero_dimensional_tensor_has_no_elements_to_index() -> None:
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        raxis.tensor(1)[0]
    assert raxis.tensor(1)[...].shape == ()
    assert raxis.tensor(1)[None].shape == (1,)


@pytest.mark.parametrize(
    ("index", "value", "error", "message"),
    [
        ([0], torch.ones(3, dtype=torch.float64), RuntimeError, "source and destination dtypes match"),
        (0, torch.ones(2), RuntimeError, "must match"),
        ([0], torch.ones(2, 3), RuntimeError, r"value tensor of shape \[2, 3\] cannot be broadcast"),
        (0, [1, 2, 3], TypeError, "can't assign a list"),
        (0, 1j, RuntimeError, "value cannot be converted to type"),
    ],
)
def test_values_that_do_not_fit(index: Any, value: Any, error: type[Exception], message: str) -> None:
    theirs = torch.zeros(2, 3)
    with pytest.raises(error):
        theirs[index] = value
    ours = to_raxis(theirs)
    with pytest.raises(error, match=message):
        ours[index] = to_raxis(value)
    assert ours.tolist() == theirs.tolist()


def test_basic_assignment_casts() -> None:
    x = raxis.zeros(2, 2, dtype=raxis.int64)
    x[0] = 2.9
    x[1] = raxis.tensor([[1.5, 2.5]])
    assert x.tolist() == [[2, 2], [1, 2]]


def test_a_nested_list_warns_and_is_taken_for_a_tuple() -> None:
    x = raxis.arange(6).view(2, 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert x[[[0, 1], [2, 0]]].tolist() == [2, 3]
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_byte_mask_warns() -> None:
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        assert raxis.tensor([1, 2])[raxis.tensor([0, 1], dtype=raxis.uint8)].tolist() == [2]


def test_an_index_tensor_is_read_at_every_call() -> None:
    x, place = raxis.arange(3), raxis.tensor(0)
    assert x[place].item() == 0
    assert x[place:].shape == (3,)
    place.fill_(2)
    assert x[place].item() == 2
    assert x[place:].shape == (1,)
