"""Sorting, distinct elements and binning against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_torch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*input value tensor is non-contiguous:UserWarning"),
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized:UserWarning"),
]

CASES = opinfo.cases(
    "argsort", "bincount", "bucketize", "histc", "histogram", "histogramdd",
    "isin", "kthvalue", "msort", "searchsorted", "sort", "topk",
    "unique", "unique_consecutive",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("dtype", [torch.int8, torch.bool, torch.float16])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable(dtype: torch.dtype, descending: bool, rng: np.random.Generator) -> None:
    theirs = torch.from_numpy(rng.integers(0, 4, (50, 7))).to(dtype)
    ours = raxis.from_numpy(theirs.numpy())
    expected = torch.sort(theirs, dim=0, stable=True, descending=descending)
    found = ours.sort(0, descending, stable=True)
    assert found.indices.tolist() == expected.indices.tolist()
    assert ours.argsort(0, descending, stable=True).tolist() == expected.indices.tolist()


def test_nan_is_greatest() -> None:
    x = raxis.tensor([float("nan"), 1.0, float("inf")])
    assert x.argsort().tolist() == [1, 2, 0]
    assert x.argsort(descending=True).tolist() == [0, 2, 1]
    assert x.topk(1).indices.tolist() == [0]
    assert x.kthvalue(2).values.item() == float("inf")


def test_selected_elements_are_where_the_indices_say(rng: np.random.Generator) -> None:
    values = rng.integers(0, 5, (6, 20))
    x = raxis.from_numpy(values)
    for found in (x.topk(3, 1), x.topk(3, 1, largest=False), x.kthvalue(4, 1, keepdim=True), x.sort(1)):
        np.testing.assert_array_equal(
            np.take_along_axis(values, found.indices.numpy(), 1), found.values.numpy()
        )
    np.testing.assert_array_equal(x.topk(3, 1).values.numpy(), -np.sort(-values, 1)[:, :3])


def test_gradients_go_to_the_selected_elements() -> None:
    x = raxis.tensor([3.0, 1.0, 2.0], requires_grad=True)
    (x.sort().values * raxis.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4.0, 1.0, 2.0]


@pytest.mark.parametrize("call", [lambda x: x.topk(4), lambda x: x.kthvalue(0), lambda x: x.kthvalue(4)])
def test_k_out_of_range(call: Any) -> None:
    with pytest.raises(RuntimeError, match="k out of range"):
        call(raxis.tensor([1, 2, 3]))


@pytest.mark.parametrize("dim", [0, 1])
def test_unique_slices(dim: int, rng: np.random.Generator) -> None:
    values = rng.integers(0, 2, (12, 3)) if dim == 0 else rng.integers(0, 2, (3, 12))
    ours = raxis.from_numpy(values).unique(return_inverse=True, return_counts=True, dim=dim)
    theirs = torch.from_numpy(values).unique(return_inverse=True, return_counts=True, dim=dim)
    for mine, expected in zip(ours, theirs, strict=True):
        torch.testing.assert_close(to_torch(mine), expected)


def test_unique_of_nothing_and_of_nan() -> None:
    assert [tuple(part.shape) for part in raxis.ones(0).unique(return_inverse=True, return_counts=True)] == [
        (0,)
    ] * 3
    values, inverse, counts = raxis.tensor([float("nan"), 1.0, float("nan")]).unique(
        return_inverse=True, return_counts=True
    )
    assert (len(values), inverse.tolist(), counts.tolist()) == (3, [1, 0, 2], [1, 1, 1])
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        raxis.ones(0, 3).unique(dim=1)


def test_runs() -> None:
    x = raxis.tensor([1, 1, 2, 2, 1])
    values, inverse, counts = x.unique_consecutive(return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 1, 2], [2, 2, 1])


def test_isin_of_mixed_dtypes() -> None:
    x = raxis.tensor([1, 2, 3])
    assert raxis.isin(x, raxis.tensor([2.5, 3.0])).tolist() == [False, False, True]
    assert raxis.isin(x, 2, invert=True).tolist() == [True, False, True]
    assert raxis.isin(x, raxis.tensor([])).tolist() == [False] * 3


def test_histograms() -> None:
    assert raxis.bincount(raxis.tensor([1, 3, 1]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0]
    assert raxis.bincount(raxis.tensor([0, 1]), raxis.tensor([0.5, 2.0])).tolist() == [0.5, 2.0]
    assert raxis.histc(raxis.tensor([0.0, 1.0, 3.0, float("nan")]), 3, 0, 3).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="not finite"):
        raxis.histc(raxis.tensor([1.0, float("inf")]))
    with pytest.raises(RuntimeError, match="non-negative"):
        raxis.bincount(raxis.tensor([-1]))
