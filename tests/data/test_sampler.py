"""Samplers draw what they promise, and a seed repeats it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import raxis
from raxis.utils.data import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def generator(seed: int = 0) -> raxis.Generator:
    return raxis.Generator().manual_seed(seed)


def test_sequential() -> None:
    sampler = SequentialSampler([7, 8, 9])
    assert list(sampler) == [0, 1, 2]
    assert len(sampler) == 3


def test_random_is_a_permutation() -> None:
    sampler = RandomSampler(range(20), generator=generator())
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    assert list(RandomSampler(range(20), generator=generator())) == first


def test_random_follows_the_default_seed() -> None:
    raxis.manual_seed(3)
    first = [list(RandomSampler(range(20))) for _ in range(2)]
    raxis.manual_seed(3)
    assert [list(RandomSampler(range(20))) for _ in range(2)] == first
    assert first[0] != first[1]


def test_random_without_replacement_goes_round() -> None:
    drawn = list(RandomSampler(range(4), num_samples=10, generator=generator()))
    assert sorted(drawn[:4]) == sorted(drawn[4:8]) == [0, 1, 2, 3]
    assert len(drawn) == 10
    assert len(set(drawn[8:])) == 2
    assert len(list(RandomSampler(range(4), num_samples=3, generator=generator()))) == 3


def test_random_with_replacement() -> None:
    sampler = RandomSampler(range(4), replacement=True, num_samples=4000, generator=generator())
    counts = Counter(sampler)
    assert len(sampler) == 4000
    # Five standard deviations of a binomial distribution.
    assert all(abs(counts[index] - 1000) < 137 for index in range(4))


def test_random_of_an_empty_set() -> None:
    assert list(RandomSampler([])) == []


def test_subset_random() -> None:
    sampler = SubsetRandomSampler(range(10, 30), generator=generator())
    drawn = list(sampler)
    assert sorted(drawn) == list(range(10, 30))
    assert drawn != list(range(10, 30))
    assert len(sampler) == 20


def test_weighted() -> None:
    counts = Counter(WeightedRandomSampler([1.0, 0.0, 3.0], 4000, generator=generator()))
    assert counts[1] == 0
    assert abs(counts[2] - 3000) < 137
    distinct = list(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False, generator=generator()))
    assert sorted(distinct) == [0, 1, 2]
    assert all(isinstance(index, int) for index in distinct)


@pytest.mark.parametrize(
    ("drop_last", "expected"), [(False, [[0, 1, 2], [3, 4, 5], [6]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_batches(drop_last: bool, expected: list[list[int]]) -> None:
    sampler = BatchSampler(SequentialSampler(range(7)), 3, drop_last)
    assert list(sampler) == expected
    assert len(sampler) == len(expected)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: RandomSampler([1], replacement=1), TypeError),
        (lambda: RandomSampler([1], num_samples=0), ValueError),
        (lambda: RandomSampler([1], num_samples=1.5), ValueError),
        (lambda: WeightedRandomSampler([1.0], 0), ValueError),
        (lambda: WeightedRandomSampler([[1.0]], 1), ValueError),
        (lambda: WeightedRandomSampler([1.0], 1, replacement=None), TypeError),
        (lambda: BatchSampler([1], 0, False), ValueError),
        (lambda: BatchSampler([1], True, False), ValueError),
        (lambda: BatchSampler([1], 1, 1), ValueError),
        (lambda: iter(Sampler()), NotImplementedError),
    ],
)
def test_refuses(build: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        build()
