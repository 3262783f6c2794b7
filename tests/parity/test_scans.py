"""Scans against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

CASES = opinfo.cases(
    "cummax", "cummin", "cumprod", "cumsum", "diff", "logcumsumexp",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_nan_stays_and_the_last_equal_index_counts(name: str) -> None:
    values = torch.tensor([1.0, 2, 2, 1, float("nan"), 1, float("nan")])
    ours, theirs = getattr(to_raxis(values), name)(0), getattr(values, name)(0)
    torch.testing.assert_close(to_torch(ours.values), theirs.values, equal_nan=True)
    assert ours.indices.tolist() == theirs.indices.tolist()


@pytest.mark.parametrize("zeros", [[], [1], [1, 3], [0]])
def test_gradient_of_cumprod_is_exact_where_elements_are_zero(zeros: list[int]) -> None:
    values = np.arange(2.0, 7.0)
    values[zeros] = 0
    theirs = torch.tensor(values, requires_grad=True)
    ours = raxis.tensor(values, requires_grad=True)
    theirs.cumprod(0).sum().backward()
    ours.cumprod(0).sum().backward()
    torch.testing.assert_close(to_torch(ours.grad), theirs.grad)


def test_logcumsumexp_of_extremes() -> None:
    values = torch.tensor([-float("inf"), -float("inf"), 1000.0, -1000.0, 1000.0, float("inf"), 3.0])
    torch.testing.assert_close(to_torch(to_raxis(values).logcumsumexp(0)), values.logcumsumexp(0))


def test_logcumsumexp_of_complex_numbers() -> None:
    values = torch.randn(4, 9, dtype=torch.complex128, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(to_torch(to_raxis(values).logcumsumexp(1)).exp(), values.exp().cumsum(1))


def test_integers_scan_in_int64_and_in_place_in_their_dtype() -> None:
    x = raxis.tensor([100, 100], dtype=raxis.int8)
    assert x.cumsum(0).tolist() == [100, 200]
    assert x.cumsum_(0).tolist() == [100, -56]


def test_empty_and_0d() -> None:
    assert raxis.ones(0, 3).cumsum(0).shape == (0, 3)
    assert raxis.tensor(3.0).cumprod(0).item() == 3.0
    assert raxis.ones(2, 0).cummax(1).indices.shape == (2, 0)
    assert raxis.ones(2, 3).diff(n=5).shape == (2, 0)


def test_diff_with_neighbours() -> None:
    x = raxis.tensor([[1, 4], [9, 16]])
    found = raxis.diff(x, dim=0, prepend=x[:1], append=x[1:])
    assert found.tolist() == [[0, 0], [8, 12], [0, 0]]
    assert raxis.diff(raxis.tensor([True, True, False])).tolist() == [False, True]
