"""Masked reductions and normalizations against torch."""

from __future__ import annotations

import pytest
import torch

import raxis
from tests.parity import opinfo

NAMES = [
    f"masked.{name}"
    for name in (
        "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
        "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
    )
]  # fmt: skip
DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int64,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex128,
)


@pytest.mark.parametrize("case", opinfo.cases(*NAMES, dtypes=DTYPES, limit=10), ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


def test_unmarked_elements_have_no_gradient() -> None:
    x = raxis.tensor([3.0, float("inf"), 5.0], requires_grad=True)
    raxis.masked.mean(x, mask=raxis.tensor([True, False, True])).backward()
    assert x.grad.tolist() == [0.5, 0.0, 0.5]


def test_means_of_no_elements() -> None:
    assert raxis.masked.mean(raxis.ones(2), mask=raxis.tensor([False, False])).isnan()
    assert raxis.masked.sum(raxis.empty(0)).tolist() == 0.0
    with pytest.raises(ValueError, match="floating point"):
        raxis.masked.mean(raxis.tensor([1]))


def test_masks_that_do_not_fit() -> None:
    with pytest.raises(IndexError, match="2 dimensions"):
        raxis.masked.sum(raxis.ones(3), mask=raxis.ones(2, 3, dtype=raxis.bool))
    with pytest.raises(RuntimeError):
        raxis.masked.sum(raxis.ones(3), mask=raxis.ones(2, dtype=raxis.bool))
