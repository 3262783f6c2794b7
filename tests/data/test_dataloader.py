"""Batches: their order, their contents, and options that exclude each other."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch.utils.data

import raxis
from raxis.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

Point = namedtuple("Point", ["x", "name"])


class Stream(IterableDataset):
    def __iter__(self) -> Iterator[int]:
        return iter(range(7))

    def __len__(self) -> int:
        return 7


def plain(value: Any) -> Any:
    """Tensors as (dtype name, list), structures gone into."""
    if isinstance(value, (raxis.Tensor, torch.Tensor)):
        return str(value.dtype).split(".")[1], value.tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(plain, value))
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(
    "examples",
    [
        [1, 2, 3],
        [1.5, 2.0],
        [True, False],
        ["a", "b"],
        [b"a", b"b"],
        [np.float32(1.5), np.float32(2.5)],
        [np.int16(1), np.int16(2)],
        [np.bool_(True), np.bool_(False)],
        [np.arange(3), np.arange(3, 6)],
        [np.zeros((2, 0)), np.zeros((2, 0))],
        [np.array(1.5), np.array(2.5)],
        [(1, 2.0), (3, 4.0)],
        [[1, [2, 3]], [4, [5, 6]]],
        [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        [OrderedDict(a=1.0), OrderedDict(a=2.0)],
        [Point(1, "a"), Point(2, "b")],
        [(np.ones(2), {"k": (1, "s")}), (np.zeros(2), {"k": (2, "t")})],
    ],
    ids=repr,
)
def test_collate_is_torchs(examples: list[Any]) -> None:
    ours, theirs = default_collate(examples), torch.utils.data.default_collate(examples)
    assert plain(ours) == plain(theirs)
    assert isinstance(ours, (type(theirs), raxis.Tensor))


def test_collate_tensors() -> None:
    batch = default_collate([raxis.tensor([1.0, 2.0]), raxis.tensor([3.0, 4.0])])
    assert batch.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(RuntimeError):
        default_collate([raxis.zeros(2), raxis.zeros(3)])


def test_collate_refuses() -> None:
    with pytest.raises(RuntimeError, match="equal size"):
        default_collate([(1, 2), (1,)])
    with pytest.raises(TypeError, match="found object"):
        default_collate([object()])
    with pytest.raises(TypeError, match="array of"):
        default_collate([np.array(["a"])])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"batch_size": 3},
        {"batch_size": 3, "drop_last": True},
        {"batch_size": 3, "sampler": [4, 0, 2, 2]},
        {"batch_sampler": [[1], [2, 3, 0], []]},
        {"batch_size": None},
        {"batch_size": 2, "collate_fn": sum},
        {"batch_size": 10},
    ],
    ids=str,
)
def test_batches_are_torchs(settings: dict[str, Any]) -> None:
    settings = {
        **settings,
        "collate_fn": settings.get("collate_fn", list if settings.get("batch_size", 1) else None),
    }
    ours, theirs = DataLoader(range(7), **settings), torch.utils.data.DataLoader(range(7), **settings)
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs)
    assert list(ours) == list(theirs)


@pytest.mark.parametrize(
    "settings", [{}, {"batch_size": 3}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}], ids=str
)
def test_streams_are_torchs(settings: dict[str, Any]) -> None:
    class TorchStream(torch.utils.data.IterableDataset):
        __iter__, __len__ = Stream.__iter__, Stream.__len__

    ours, theirs = DataLoader(Stream(), **settings), torch.utils.data.DataLoader(TorchStream(), **settings)
    assert plain(list(ours)) == plain(list(theirs))
    assert len(ours) == len(theirs)


def test_shuffle_repeats_with_a_seed() -> None:
    def epochs(seed: int) -> list[Any]:
        loader = DataLoader(
            range(20), batch_size=5, shuffle=True, generator=raxis.Generator().manual_seed(seed)
        )
        return [[batch.tolist() for batch in loader] for _ in range(2)]

    first = epochs(1)
    assert first == epochs(1)
    assert first != epochs(2)
    assert first[0] != first[1]
    assert sorted(index for batch in first[0] for index in batch) == list(range(20))


def test_pairs_of_tensors() -> None:
    dataset = TensorDataset(raxis.arange(8.0).reshape(4, 2), raxis.arange(4))
    inputs, targets = next(iter(DataLoader(dataset, batch_size=3)))
    assert inputs.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert targets.tolist() == [0, 1, 2]


def test_single_examples_become_tensors() -> None:
    loader = DataLoader([np.arange(2), np.arange(3)], batch_size=None)
    assert [example.tolist() for example in loader] == [[0, 1], [0, 1, 2]]


def test_fetching_a_batch_at_once() -> None:
    class Batched(Dataset):
        def __len__(self) -> int:
            return 4

        def __getitems__(self, indices: list[int]) -> list[int]:
            return [index * 10 for index in indices]

    assert [batch.tolist() for batch in DataLoader(Batched(), batch_size=3)] == [[0, 10, 20], [30]]


def test_options_without_effect() -> None:
    loader = DataLoader(range(3), pin_memory=True, worker_init_fn=print, timeout=1.0)
    assert [batch.tolist() for batch in loader] == [[0], [1], [2]]


def test_two_iterators_are_independent() -> None:
    loader = DataLoader(range(3))
    first, second = iter(loader), iter(loader)
    next(first)
    assert next(second).tolist() == [0]


def test_empty_dataset() -> None:
    assert list(DataLoader([])) == []
    assert len(DataLoader([])) == 0


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"num_workers": 2},
            r"num_workers=2 asks for worker processes, which are not available.*num_workers=0",
        ),
        ({"num_workers": -1}, "non-negative"),
        ({"timeout": -1}, "non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor=2"),
        ({"persistent_workers": True}, "persistent_workers=True"),
        ({"multiprocessing_context": "fork"}, "multiprocessing_context=fork"),
        ({"sampler": [0], "shuffle": True}, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[0]], "shuffle": True}, "batch_sampler option is mutually exclusive"),
        ({"batch_sampler": [[0]], "drop_last": True}, "batch_sampler option is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "disables auto-batching"),
        ({"batch_size": 0}, "positive integer"),
    ],
    ids=str,
)
def test_refuses(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        DataLoader([1], **settings)


@pytest.mark.parametrize("settings", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}], ids=str)
def test_streams_have_their_own_order(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="IterableDataset: expected unspecified"):
        DataLoader(Stream(), **settings)
