"""Writes in place from operands over the same memory: elements that both hold are read before they are written."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import raxis

PARTS: dict[str, tuple[slice, slice]] = {
    "apart": (slice(0, 3), slice(3, 6)),
    "apart, the other way": (slice(3, 6), slice(0, 3)),
    "shifted by one": (slice(1, 4), slice(0, 3)),
    "shifted back": (slice(0, 3), slice(1, 4)),
    "the same": (slice(0, 3), slice(0, 3)),
    "between": (slice(0, 6, 2), slice(1, 6, 2)),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(
    "write", [lambda x, y: x.copy_(y), lambda x, y: x.add_(y), lambda x, y: x.addcmul_(y, y)]
)
def test_against_copies(name: str, write: Callable[[raxis.Tensor, raxis.Tensor], raxis.Tensor]) -> None:
    target, source = PARTS[name]
    x = raxis.arange(6.0)
    expected = x.clone()
    write(expected[target], x[source].clone())
    for _ in range(2):
        x = raxis.arange(6.0)
        write(x[target], x[source])
        assert x.tolist() == expected.tolist()
        assert x._version == 1


def test_the_same_bytes_in_another_dtype() -> None:
    x = raxis.arange(4, dtype=raxis.int64)
    halves = x.view(raxis.int32)
    halves[:4].add_(x[1:3].repeat(2).to(raxis.int32))
    before = np.arange(4, dtype=np.int64).view(np.int32).copy()
    before[:4] += np.array([1, 2, 1, 2], dtype=np.int32)
    assert halves.tolist() == before.tolist()


def test_rows_of_one_matrix() -> None:
    x = raxis.arange(6.0).view(2, 3)
    x[1] = x[0]
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]
    x[0] += x[1]
    assert x.tolist() == [[0, 2, 4], [0, 1, 2]]
