"""Losses give PyTorch's values and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_module_matches, build_pair

REDUCTIONS = ["mean", "sum", "none"]


def scores(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def chances(*shape: int) -> torch.Tensor:
    return torch.rand(shape, dtype=torch.float64).requires_grad_()


def classes(*shape: int, count: int = 4) -> torch.Tensor:
    return torch.randint(count, shape)


def class_weights() -> torch.Tensor:
    return torch.tensor([0.2, 1.0, 2.0, 0.5], dtype=torch.float64)


ELEMENTWISE = [
    ("L1Loss", {}),
    ("MSELoss", {}),
    ("SmoothL1Loss", {"beta": 0.5}),
    ("HuberLoss", {"delta": 0.5}),
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(("name", "options"), ELEMENTWISE)
def test_elementwise(name: str, options: dict[str, Any], reduction: str) -> None:
    module, reference = build_pair(name, reduction=reduction, **options)
    assert_module_matches(module, reference, scores(3, 4), scores(3, 4))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_binary(reduction: str, weighted: bool) -> None:
    weight = class_weights() if weighted else None
    target = torch.rand(3, 4, dtype=torch.float64)
    module, reference = build_pair("BCELoss", weight, reduction=reduction)
    assert_module_matches(module, reference, chances(3, 4), target)
    module, reference = build_pair(
        "BCEWithLogitsLoss", weight, reduction=reduction, pos_weight=class_weights()
    )
    assert_module_matches(module, reference, scores(3, 4), target)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5,), (5, 3), (5, 3, 2)])
def test_classes(reduction: str, weighted: bool, shape: tuple[int, ...]) -> None:
    weight = class_weights() if weighted else None
    target = classes(*shape)
    target.view(-1)[0] = 2
    module, reference = build_pair("NLLLoss", weight, ignore_index=2, reduction=reduction)
    assert_module_matches(module, reference, scores(shape[0], 4, *shape[1:]), target)
    module, reference = build_pair(
        "CrossEntropyLoss", weight, ignore_index=2, reduction=reduction, label_smoothing=0.1
    )
    assert_module_matches(module, reference, scores(shape[0], 4, *shape[1:]), target)


def test_cross_entropy_of_probabilities_and_single_example() -> None:
    module, reference = build_pair("CrossEntropyLoss")
    assert_module_matches(module, reference, scores(5, 4), torch.softmax(scores(5, 4), 1).detach())
    assert_module_matches(module, reference, scores(4), torch.tensor(3))


@pytest.mark.parametrize("reduction", [*REDUCTIONS, "batchmean"])
@pytest.mark.parametrize("log_target", [False, True])
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
def test_kl_div(reduction: str, log_target: bool) -> None:
    module, reference = build_pair("KLDivLoss", reduction=reduction, log_target=log_target)
    target = torch.rand(3, 4, dtype=torch.float64)
    assert_module_matches(module, reference, scores(3, 4), target.log() if log_target else target)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cosine_embedding(reduction: str) -> None:
    module, reference = build_pair("CosineEmbeddingLoss", margin=0.2, reduction=reduction)
    assert_module_matches(module, reference, scores(4, 3), scores(4, 3), torch.tensor([1, -1, -1, 1]))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("swap", [False, True])
def test_triplet_margin(reduction: str, swap: bool) -> None:
    module, reference = build_pair("TripletMarginLoss", margin=0.7, swap=swap, reduction=reduction)
    assert_module_matches(module, reference, scores(4, 3), scores(4, 3), scores(4, 3))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_two_classes_and_ranks(reduction: str) -> None:
    signs = torch.tensor([[1.0], [-1.0], [1.0]], dtype=torch.float64).expand(3, 4)
    for name, options in (("HingeEmbeddingLoss", {"margin": 0.5}), ("SoftMarginLoss", {})):
        module, reference = build_pair(name, reduction=reduction, **options)
        assert_module_matches(module, reference, scores(3, 4), signs)
    module, reference = build_pair("MarginRankingLoss", margin=0.5, reduction=reduction)
    assert_module_matches(module, reference, scores(3, 4), scores(3, 4), signs)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("full", [False, True])
def test_likelihoods(reduction: str, full: bool) -> None:
    counts = torch.tensor([[0.0, 1.0, 5.0]], dtype=torch.float64)
    for log_input in (True, False):
        module, reference = build_pair("PoissonNLLLoss", log_input=log_input, full=full, reduction=reduction)
        assert_module_matches(module, reference, chances(1, 3), counts)
    module, reference = build_pair("GaussianNLLLoss", full=full, reduction=reduction)
    assert_module_matches(module, reference, scores(2, 3), scores(2, 3), chances(2, 3))


def test_weights_are_buffers() -> None:
    module, reference = build_pair("CrossEntropyLoss", class_weights())
    assert list(module.state_dict()) == list(reference.state_dict()) == ["weight"]


@pytest.mark.parametrize(
    ("flags", "meant"),
    [
        ({"size_average": True}, "mean"),
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"reduce": True}, "mean"),
    ],
)
def test_deprecated_flags(flags: dict[str, bool], meant: str) -> None:
    with pytest.warns(UserWarning, match=f"reduction='{meant}'"):
        assert nn.MSELoss(**flags).reduction == meant


def test_triplet_margin_refuses() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        nn.TripletMarginLoss(margin=0.0)


def test_empty_batch() -> None:
    assert (
        nn.CrossEntropyLoss(reduction="sum")(raxis.zeros(0, 3), raxis.zeros(0, dtype=raxis.int64)).item()
        == 0.0
    )
