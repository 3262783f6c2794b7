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


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
def test_margins_of_classes(reduction: str, weighted: bool) -> None:
    weight = class_weights() if weighted else None
    for p in (1, 2):
        module, reference = build_pair("MultiMarginLoss", p, 0.7, weight, reduction=reduction)
        assert_module_matches(module, reference, scores(3, 4), classes(3))
    module, reference = build_pair("MultiLabelSoftMarginLoss", weight, reduction=reduction)
    assert_module_matches(module, reference, scores(3, 4), classes(3, 4, count=2).double())
    module, reference = build_pair("MultiLabelMarginLoss", reduction=reduction)
    assert_module_matches(module, reference, scores(2, 4), torch.tensor([[3, 0, -1, 1], [-1, 0, 0, 0]]))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("swap", [False, True])
def test_triplet_margin_with_distance(reduction: str, swap: bool) -> None:
    options: dict[str, Any] = {"margin": 0.7, "swap": swap, "reduction": reduction}
    for distance in (None, lambda x, y: (x - y).abs().sum(-1)):
        module, reference = build_pair("TripletMarginWithDistanceLoss", distance_function=distance, **options)
        assert repr(module).splitlines()[0] == repr(reference).splitlines()[0]
        assert_module_matches(module, reference, scores(4, 3), scores(4, 3), scores(4, 3))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_sequences(reduction: str, zero_infinity: bool) -> None:
    module, reference = build_pair("CTCLoss", 1, reduction, zero_infinity)
    logs = torch.log_softmax(scores(7, 2, 4), -1).detach().requires_grad_()
    targets, lengths = torch.tensor([[2, 3, 3], [0, 2, 0]]), torch.tensor([3, 2])
    assert_module_matches(module, reference, logs, targets, torch.tensor([7, 6]), lengths)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("bias", [False, True])
def test_linear_cross_entropy(reduction: str, bias: bool) -> None:
    options: dict[str, Any] = {"bias": bias, "reduction": reduction, "label_smoothing": 0.1}
    module, reference = build_pair(
        "LinearCrossEntropyLoss", 5, 4, weight=class_weights(), ignore_index=2, **options
    )
    assert repr(module) == repr(reference)
    assert list(module.state_dict()) == list(reference.state_dict())
    assert_module_matches(module, reference, scores(3, 5), torch.tensor([2, 0, 3]))
    module, reference = build_pair("LinearCrossEntropyLoss", 5, 4, out_features=(2, 3), **options)
    assert repr(module) == repr(reference)
    assert_module_matches(module, reference, scores(3, 5), classes(3, 2, 3))


def test_former_name_of_the_likelihood() -> None:
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        module, reference = build_pair("NLLLoss2d", class_weights(), ignore_index=1)
    assert_module_matches(module, reference, scores(2, 4, 3, 3), classes(2, 3, 3))


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


@pytest.mark.parametrize(
    ("error", "build", "text"),
    [
        (ValueError, lambda: nn.TripletMarginLoss(margin=0.0), "greater than 0"),
        (ValueError, lambda: nn.TripletMarginWithDistanceLoss(margin=-1.0), "greater than 0"),
        (ValueError, lambda: nn.MultiMarginLoss(p=3), "p == 1 and p == 2"),
        (ValueError, lambda: nn.MultiMarginLoss(weight=raxis.ones(2, 2)), "1D tensor, got 2D"),
        (
            RuntimeError,
            lambda: nn.LinearCrossEntropyLoss(3, 2, weight=raxis.ones(3)),
            "expected weight shape",
        ),
        (RuntimeError, lambda: nn.LinearCrossEntropyLoss(3, 2, label_smoothing=1.5), "in range"),
    ],
)
def test_losses_refuse(error: type[Exception], build: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        build()


def test_empty_batch() -> None:
    assert (
        nn.CrossEntropyLoss(reduction="sum")(raxis.zeros(0, 3), raxis.zeros(0, dtype=raxis.int64)).item()
        == 0.0
    )
