"""Look-up tables agree with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_module_matches, assert_same, build_pair, to_raxis


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}], ids=str
)
def test_embedding_matches_torch(options: dict[str, Any]) -> None:
    module, reference = build_pair("Embedding", 7, 3, **options)
    assert repr(module) == repr(reference)
    assert_module_matches(module, reference, torch.tensor([[1, 2, 6], [6, 1, 1]]))


def test_embedding_starts_with_zeros_at_padding() -> None:
    table = nn.Embedding(4, 3, padding_idx=-2).weight
    assert table[2].tolist() == [0.0, 0.0, 0.0]
    assert bool((table[1] != 0).all())


def test_embedding_from_pretrained() -> None:
    table = raxis.tensor([[1.0, 2.0], [3.0, 4.0]])
    module = nn.Embedding.from_pretrained(table, padding_idx=0)
    assert not module.weight.requires_grad
    assert module.weight.tolist() == table.tolist()
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    with pytest.raises(ValueError, match="2-dimensional"):
        nn.Embedding.from_pretrained(raxis.zeros(3))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "sum", "norm_type": 1.0},
        {"mode": "max", "padding_idx": -2},
        {"padding_idx": 1, "max_norm": 0.7},
    ],
    ids=str,
)
def test_bags_match_torch(options: dict[str, Any]) -> None:
    module, reference = build_pair("EmbeddingBag", 7, 3, **options)
    assert repr(module) == repr(reference)
    assert list(module.state_dict()) == list(reference.state_dict())
    assert_module_matches(module, reference, torch.tensor([[1, 2, 6], [6, 1, 5]]))
    # The second bag is empty.
    assert_module_matches(module, reference, torch.tensor([1, 2, 5, 3]), torch.tensor([0, 3, 3]))


def test_bags_with_weights_and_a_last_offset() -> None:
    module, reference = build_pair("EmbeddingBag", 7, 3, mode="sum", include_last_offset=True)
    factors = torch.tensor([0.5, 2.0, -1.0], dtype=torch.float64, requires_grad=True)
    assert_module_matches(module, reference, torch.tensor([1, 2, 2]), torch.tensor([0, 1, 3]), factors)


def test_gradients_of_bags_by_frequency() -> None:
    # Not compared with PyTorch, which divides by the counts of other rows.
    module = nn.EmbeddingBag(4, 1, mode="sum", scale_grad_by_freq=True)
    assert repr(module) == repr(torch.nn.EmbeddingBag(4, 1, mode="sum", scale_grad_by_freq=True))
    module(raxis.tensor([[1, 3, 3], [1, 2, 3]])).backward(raxis.tensor([[1.0], [10.0]]))
    assert module.weight.grad.tolist() == [[0.0], [5.5], [10.0], [4.0]]


def test_bags_start_with_zeros_at_padding() -> None:
    table = nn.EmbeddingBag(4, 3, padding_idx=-2).weight
    assert table[2].tolist() == [0.0, 0.0, 0.0]
    assert bool((table[1] != 0).all())


def test_bags_from_pretrained() -> None:
    table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [8.0, 6.0]])
    options: dict[str, Any] = {"mode": "sum", "padding_idx": 0}
    module = nn.EmbeddingBag.from_pretrained(to_raxis(table), **options)
    reference = torch.nn.EmbeddingBag.from_pretrained(table, **options)
    bags = torch.tensor([[0, 1], [1, 2]])
    assert not module.weight.requires_grad
    assert_same(module(to_raxis(bags)), reference(bags))
    assert nn.EmbeddingBag.from_pretrained(to_raxis(table), freeze=False).weight.requires_grad


@pytest.mark.parametrize(
    ("error", "build", "text"),
    [
        (ValueError, lambda: nn.EmbeddingBag(3, 2, padding_idx=3), "Padding_idx must be within"),
        (
            ValueError,
            lambda: nn.EmbeddingBag(3, 2, _weight=raxis.zeros(2, 3)),
            "does not match num_embeddings",
        ),
        (ValueError, lambda: nn.EmbeddingBag.from_pretrained(raxis.zeros(3)), "2-dimensional"),
        (NotImplementedError, lambda: nn.EmbeddingBag(3, 2, sparse=True), "sparse=False"),
    ],
)
def test_bags_refuse(error: type[Exception], build: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        build()
