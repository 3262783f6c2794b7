"""Data sets and how they are divided."""

from __future__ import annotations

from typing import Any

import pytest
import torch.utils.data

import raxis
from raxis.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split


def test_tensor_dataset() -> None:
    dataset = TensorDataset(raxis.arange(6).reshape(3, 2), raxis.tensor([5, 6, 7]))
    assert len(dataset) == 3
    assert [part.tolist() for part in dataset[1]] == [[2, 3], 6]
    assert [part.tolist() for part in dataset[1:]] == [[[2, 3], [4, 5]], [6, 7]]
    with pytest.raises(ValueError, match=r"Size mismatch between tensors: .*\(3,\), \(4,\)"):
        TensorDataset(raxis.zeros(3), raxis.zeros(4))


def test_concat_dataset() -> None:
    dataset = ConcatDataset([[1, 2], [], [3], range(4, 6)])
    assert [dataset[index] for index in range(len(dataset))] == [1, 2, 3, 4, 5]
    assert [dataset[index] for index in (-1, -5)] == [5, 1]
    assert dataset.cumulative_sizes == [2, 2, 3, 5]
    for index in (5, -6):
        with pytest.raises(IndexError, match="out of range"):
            dataset[index]
    with pytest.raises(ValueError, match="empty iterable"):
        ConcatDataset([])
    with pytest.raises(TypeError, match="does not support IterableDataset"):
        ConcatDataset([IterableDataset()])


def test_sum_of_datasets() -> None:
    both = TensorDataset(raxis.tensor([1])) + TensorDataset(raxis.tensor([2]))
    assert [both[index][0].item() for index in range(2)] == [1, 2]


def test_subset() -> None:
    subset = Subset([10, 20, 30], [2, 0])
    assert [subset[index] for index in range(len(subset))] == [30, 10]
    tensors = Subset(raxis.tensor([10, 20, 30]), [2, 0])
    assert tensors[[1, 0]].tolist() == [10, 30]


def test_undefined_methods() -> None:
    with pytest.raises(NotImplementedError, match="__getitem__"):
        Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset())


@pytest.mark.parametrize(
    ("count", "lengths"),
    [
        (10, [3, 7]),
        (10, [0, 10]),
        (10, [0.5, 0.5]),
        (11, [0.3, 0.3, 0.4]),
        (7, [0.34, 0.33, 0.33]),
        (0, [0, 0]),
    ],
)
def test_random_split_sizes_are_torchs(count: int, lengths: list[Any]) -> None:
    ours = random_split(range(count), lengths, generator=raxis.Generator().manual_seed(1))
    theirs = torch.utils.data.random_split(range(count), lengths)
    assert [len(part) for part in ours] == [len(part) for part in theirs]
    assert sorted(
        example for part in ours for example in (part[index] for index in range(len(part)))
    ) == list(range(count))


def test_random_split_repeats_and_differs() -> None:
    def split(seed: int) -> list[Any]:
        return [
            list(part.indices)
            for part in random_split(range(50), [25, 25], raxis.Generator().manual_seed(seed))
        ]

    assert split(1) == split(1)
    assert split(1) != split(2)


def test_random_split_refuses() -> None:
    with pytest.raises(ValueError, match="does not equal the length"):
        random_split(range(10), [3, 3])
    with pytest.raises(ValueError, match="not between 0 and 1"):
        random_split(range(10), [1.5, -0.5])
