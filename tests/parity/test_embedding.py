"""Embeddings, one-hot vectors and dropout against torch."""

from __future__ import annotations

import pytest
import torch

import raxis
import raxis.nn.functional as F
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

RANDOM = ["dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"]
CASES = [
    *opinfo.cases(
        "nn.functional.embedding", "nn.functional.embedding_bag", "nn.functional.one_hot", limit=16
    ),
    *opinfo.cases(*[f"nn.functional.{name}" for name in RANDOM], aspects=("values", "errors"), limit=12),
]


@pytest.mark.filterwarnings("ignore:dropout.d. Received")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("padding", [None, 1, -1])
def test_repeated_rows(scaled: bool, padding: int | None) -> None:
    torch.manual_seed(0)
    table, rows = (
        torch.randn(4, 3, dtype=torch.float64, requires_grad=True),
        torch.tensor([[0, 1, 1], [3, 1, 0]]),
    )
    ours = to_raxis(table)
    ours.requires_grad = True
    options = {"padding_idx": padding, "scale_grad_by_freq": scaled}
    torch.nn.functional.embedding(rows, table, **options).sin().sum().backward()
    F.embedding(to_raxis(rows), ours, **options).sin().sum().backward()
    torch.testing.assert_close(to_torch(ours.grad), table.grad)


def test_norms_are_limited_in_place() -> None:
    table = raxis.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    F.embedding(raxis.tensor([0, 1, 0]), table, max_norm=1.0)
    expected = torch.tensor([[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]])
    torch.testing.assert_close(to_torch(table), expected)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_with_offsets_and_padding(mode: str) -> None:
    torch.manual_seed(0)
    table = torch.randn(6, 3)
    rows, offsets = torch.tensor([0, 2, 2, 5, 1, 0]), torch.tensor([0, 2, 2, 4])
    options = {"mode": mode, "padding_idx": 5}
    expected = torch.nn.functional.embedding_bag(rows, table, offsets, **options)
    found = F.embedding_bag(to_raxis(rows), to_raxis(table), to_raxis(offsets), **options)
    torch.testing.assert_close(to_torch(found), expected)


@pytest.mark.parametrize("inplace", [False, True])
def test_dropout_scales_what_it_keeps(inplace: bool) -> None:
    raxis.manual_seed(1)
    x = raxis.ones(10_000)
    dropped = F.dropout(x, 0.25, inplace=inplace)
    assert (dropped is x) is inplace
    values = to_torch(dropped)
    assert set(values.unique().tolist()) == {0.0, torch.tensor(4 / 3).item()}
    assert abs((values == 0).float().mean().item() - 0.25) < 0.02


def test_dropout_gradient_uses_the_same_mask() -> None:
    x = raxis.ones(100, requires_grad=True)
    dropped = F.dropout(x, 0.5)
    dropped.sum().backward()
    assert x.grad.tolist() == dropped.tolist()


def test_channels_are_dropped_whole() -> None:
    dropped = to_torch(F.dropout2d(raxis.ones(16, 16, 3, 3), 0.5))
    assert torch.equal(dropped.amin((2, 3)), dropped.amax((2, 3)))
    assert len(dropped.unique()) == 2


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    raxis.manual_seed(0)
    values = to_torch(F.alpha_dropout(raxis.randn(100_000), 0.3, training=True))
    assert abs(values.mean().item()) < 0.02
    assert abs(values.var().item() - 1) < 0.03


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.embedding(raxis.tensor([4]), raxis.ones(4, 2)), IndexError),
        (lambda: F.embedding(raxis.tensor([-1]), raxis.ones(4, 2)), IndexError),
        (lambda: F.embedding(raxis.tensor([1.0]), raxis.ones(4, 2)), RuntimeError),
        (lambda: F.one_hot(raxis.tensor([-1])), RuntimeError),
        (lambda: F.one_hot(raxis.tensor([3]), 3), RuntimeError),
        (lambda: F.one_hot(raxis.tensor([1.0])), RuntimeError),
        (lambda: F.dropout(raxis.ones(2), 1.5), ValueError),
        (lambda: F.dropout1d(raxis.ones(2)), RuntimeError),
    ],
)
def test_errors(call, error) -> None:
    with pytest.raises(error):
        call()
