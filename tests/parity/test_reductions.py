"""Reductions against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0:UserWarning"),
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized:UserWarning"),
]


CASES = opinfo.cases(
    "_segment_reduce", "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "corrcoef", "count_nonzero", "cov",
    "dist",
    "linalg.matrix_norm", "linalg.norm", "linalg.vector_norm", "logsumexp", "max", "mean", "median", "min", "mode",
    "nanmean", "nanmedian", "nanquantile", "nansum", "norm", "prod", "quantile", "renorm", "std", "std_mean", "sum",
    "sum_to_size", "var", "var_mean",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


ZEROS_IN_ROWS = [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 0.0]]


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_gradient_of_prod_is_exact_where_elements_are_zero(dim: int | None) -> None:
    theirs = torch.tensor(ZEROS_IN_ROWS, dtype=torch.float64, requires_grad=True)
    ours = to_raxis(theirs.detach())
    ours.requires_grad = True
    arguments = () if dim is None else (dim,)
    theirs.prod(*arguments).sum().backward()
    ours.prod(*arguments).sum().backward()
    torch.testing.assert_close(to_torch(ours.grad), theirs.grad)


@pytest.mark.parametrize(
    ("reduce", "gradient"),
    [
        (lambda x: x.max(), [[0, 0.5, 0.5], [0, 0, 0]]),
        (lambda x: x.amax(1).sum(), [[0, 0.5, 0.5], [1 / 3] * 3]),
        (lambda x: x.max(1)[0].sum(), [[0, 1, 0], [1, 0, 0]]),
        (lambda x: x.min(0)[0].sum(), [[1, 0, 0], [0, 1, 1]]),
    ],
)
def test_extrema_share_or_select_the_gradient(reduce: Any, gradient: list[list[float]]) -> None:
    x = raxis.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], requires_grad=True)
    reduce(x).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), gradient, rtol=1e-6)


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "logsumexp", "std"])
def test_half_precision_accumulates_in_float32(name: str, rng: np.random.Generator) -> None:
    values = rng.standard_normal((4, 1000)).astype(np.float16)
    wide = to_torch(getattr(raxis.from_numpy(values.astype(np.float32)), name)(1))
    half = to_torch(getattr(raxis.from_numpy(values), name)(1))
    torch.testing.assert_close(half, wide.to(torch.float16), rtol=2e-3, atol=0)


def test_sum_of_half_precision_beyond_its_integers() -> None:
    assert raxis.ones(4096, dtype=raxis.bfloat16).sum().item() == 4096


def test_overloads_of_max_and_min() -> None:
    x = raxis.tensor([[1, 5], [4, 2]])
    assert x.max().item() == 5
    assert x.max(0).values.tolist() == [4, 5]
    assert x.max(dim=1, keepdim=True).indices.tolist() == [[1], [0]]
    assert raxis.min(x, raxis.tensor(3)).tolist() == [[1, 3], [3, 2]]
    assert raxis.max(x, other=raxis.tensor(3)).tolist() == [[3, 5], [4, 3]]
    assert type(x.max(0)).__name__ == "max"
    with pytest.raises(TypeError):
        x.max(2.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: x.max(),
            RuntimeError,
            r"max\(\): Expected reduction dim to be specified for input.numel\(\) == 0",
        ),
        (lambda x: x.amin(1), IndexError, r"amin\(\): Expected reduction dim 1 to have non-zero size"),
        (lambda x: x.min(1), IndexError, r"min\(\): Expected reduction dim 1 to have non-zero size"),
        (lambda x: x.argmax(), IndexError, r"argmax\(\): Expected reduction dim to be specified"),
        (lambda x: x.median(1), IndexError, r"median\(\): Expected reduction dim 1 to have non-zero size"),
        (lambda x: x.sum(5), IndexError, "Dimension out of range"),
        (lambda x: x.sum((0, 0)), RuntimeError, "dim 0 appears multiple times"),
        (lambda x: x.long().mean(), RuntimeError, "could not infer output dtype"),
        (lambda x: x.sum_to_size(3), RuntimeError, "is not expandable"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(raxis.ones(2, 0))


def test_empty_reductions() -> None:
    empty = raxis.ones(2, 0)
    assert empty.sum(1).tolist() == [0.0, 0.0]
    assert empty.prod().item() == 1.0
    assert empty.all().item() is True
    assert empty.any(1).tolist() == [False, False]
    assert np.isnan(empty.mean().item())
    assert np.isnan(empty.median().item())
    assert empty.logsumexp(1).tolist() == [float("-inf")] * 2
    assert empty.max(0).values.shape == (0,)


def test_nan_wins_extrema() -> None:
    x = raxis.tensor([1.0, float("nan"), 3.0])
    assert np.isnan(x.max().item())
    assert x.argmin().item() == 1
    assert x.max(0).indices.item() == 1
    assert x.nanmedian().item() == 1.0


def test_views_reduce_like_copies(rng: np.random.Generator) -> None:
    values = rng.standard_normal((4, 5, 6))
    ours, theirs = raxis.from_numpy(values), torch.from_numpy(values)
    for name in ("sum", "amax", "var", "logsumexp"):
        result = getattr(ours.transpose(0, 2)[::2, 1:], name)((0, -1))
        torch.testing.assert_close(to_torch(result), getattr(theirs.transpose(0, 2)[::2, 1:], name)((0, -1)))


def test_huge_values_do_not_overflow_logsumexp() -> None:
    x = raxis.tensor([1e30, 1e30], dtype=raxis.float64)
    assert x.logsumexp(0).item() == 1e30
    assert raxis.tensor([float("inf"), 0.0]).logsumexp(0).item() == float("inf")


def test_mode_points_at_a_value_it_gives() -> None:
    x = raxis.tensor([3, 1, 3, 1, 2])
    found = x.mode()
    assert found.values.item() == 1
    assert x[found.indices.item()].item() == 1
