"""Softmax, losses and similarity against torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import raxis
import raxis.nn.functional as F
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

LOSSES = [
    "softmin", "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss",
    "gaussian_nll_loss", "margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss",
    "cosine_embedding_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "triplet_margin_loss", "cosine_similarity", "pairwise_distance", "ctc_loss",
]  # fmt: skip

CASES = opinfo.cases(
    "softmax",
    "log_softmax",
    "cdist",
    "nn.functional.linear_cross_entropy",
    "nn.functional.pdist",
    *[f"nn.functional.{name}" for name in LOSSES],
    limit=12,
)


@pytest.mark.filterwarnings(
    "ignore:Using a target size", "ignore:reduction. 'mean' divides", "ignore:Casting complex"
)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


def losses_and_gradients(library, function, inputs, **options):
    """The loss, and its gradients by the first operand and by the tensors among the options."""
    operand = inputs[0]
    operand.requires_grad = True
    loss = function(*inputs, **options)
    return loss, library.autograd.grad(loss.sum(), operand)[0]


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("space", [(), (3,), (2, 3)])
def test_cross_entropy(reduction: str, smoothing: float, weighted: bool, space: tuple[int, ...]) -> None:
    torch.manual_seed(7)
    x, target = torch.randn(4, 5, *space, dtype=torch.float64), torch.randint(0, 5, (4, *space))
    target.view(-1)[1] = 2
    weight = torch.rand(5, dtype=torch.float64) if weighted else None
    options = {"reduction": reduction, "label_smoothing": smoothing, "ignore_index": 2}
    ours = [to_raxis(x), to_raxis(target), to_raxis(weight)]
    expected = losses_and_gradients(torch, torch.nn.functional.cross_entropy, [x, target, weight], **options)
    found = losses_and_gradients(raxis, F.cross_entropy, ours, **options)
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(to_torch(got), wanted.detach())


def test_everything_ignored_is_nan() -> None:
    loss = F.cross_entropy(raxis.ones(2, 3), raxis.tensor([-100, -100]))
    assert to_torch(loss).isnan()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits"])
def test_gradients_of_gradients_by_input_and_target(name: str, reduction: str) -> None:
    torch.manual_seed(0)
    operands = [torch.randn(3, 4, dtype=torch.float64), torch.rand(3, 4, dtype=torch.float64)]

    def derivatives(library, leaves):
        leaves = [leaf.requires_grad_() for leaf in leaves]
        loss = getattr(library.nn.functional, name)(*leaves, reduction=reduction)
        first = library.autograd.grad((loss * loss).sum(), leaves, create_graph=True)
        return [loss, *first, *library.autograd.grad(sum((grad * grad).sum() for grad in first), leaves)]

    ours = derivatives(raxis, [to_raxis(operand) for operand in operands])
    for got, wanted in zip(ours, derivatives(torch, operands), strict=True):
        torch.testing.assert_close(to_torch(got), wanted.detach())


@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits"])
def test_mean_of_no_losses_is_nan(name: str) -> None:
    operands = [raxis.ones(0, 3, requires_grad=True), raxis.ones(0, 3)]
    loss = getattr(F, name)(*operands)
    loss.backward()
    assert to_torch(loss).isnan()
    assert operands[0].grad.shape == (0, 3)


def test_ignored_infinity_does_not_count() -> None:
    loss = F.nll_loss(raxis.tensor([[float("inf"), -1.0], [0.0, -3.0]]), raxis.tensor([0, 1]), ignore_index=0)
    assert loss.item() == 3.0


@pytest.mark.parametrize("magnitude", [1e4, 1e30, -1e30])
def test_softmax_of_huge_values(magnitude: float) -> None:
    x = torch.tensor([magnitude, magnitude, 0.0])
    for ours, theirs in ((raxis.softmax, torch.softmax), (raxis.log_softmax, torch.log_softmax)):
        torch.testing.assert_close(to_torch(ours(to_raxis(x), 0)), theirs(x, 0))


def test_softmax_of_infinities_and_nan() -> None:
    x = torch.tensor([[-float("inf")] * 2, [float("nan"), 0.0], [-float("inf"), 0.0]])
    torch.testing.assert_close(to_torch(raxis.softmax(to_raxis(x), 1)), torch.softmax(x, 1), equal_nan=True)


def test_softmax_rejects_integers() -> None:
    with pytest.raises(RuntimeError, match="not implemented for int64"):
        raxis.softmax(raxis.tensor([1, 2]), 0)


def test_functional_softmax_warns_without_dim() -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        assert F.softmax(raxis.zeros(2, 2)).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_gumbel_softmax_is_one_hot_with_soft_gradient() -> None:
    raxis.manual_seed(0)
    logits = raxis.zeros(50, 4, requires_grad=True)
    chosen = F.gumbel_softmax(logits, tau=0.5, hard=True)
    assert to_torch(chosen).sum(1).allclose(torch.ones(50))
    (chosen * raxis.arange(4.0)).sum().backward()
    assert to_torch(logits.grad).any()


@pytest.mark.parametrize(
    ("old", "new"),
    [({"reduce": False}, "none"), ({"size_average": False}, "sum"), ({"size_average": True}, "mean")],
)
def test_old_reduction_arguments(old: dict[str, bool], new: str) -> None:
    x, y = raxis.tensor([1.0, 2.0]), raxis.tensor([2.0, 4.0])
    with pytest.warns(UserWarning, match="will be deprecated"):
        found = F.mse_loss(x, y, **old)
    assert found.tolist() == F.mse_loss(x, y, reduction=new).tolist()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("concatenated", [False, True])
def test_ctc_of_impossible_repeated_and_empty_targets(reduction: str, concatenated: bool) -> None:
    torch.manual_seed(0)
    logits = torch.randn(4, 4, 3, dtype=torch.float64)
    targets = torch.tensor([[1, 2, -1], [1, 1, 1], [2, 2, -1], [-1, -1, -1]])
    lengths, inputs = torch.tensor([2, 3, 2, 0]), torch.tensor([4, 4, 3, 2])
    labels = targets[targets > 0] if concatenated else targets.clamp(min=1)
    options = {"reduction": reduction, "zero_infinity": True}

    def loss_and_gradient(library, loss, x, *rest):
        x.requires_grad = True
        value = loss(x.log_softmax(2), *rest, **options)
        return value, library.autograd.grad(value.sum(), x)[0]

    expected = loss_and_gradient(torch, torch.nn.functional.ctc_loss, logits, labels, inputs, lengths)
    ours = [to_raxis(operand) for operand in (logits, labels, inputs, lengths)]
    for found, wanted in zip(loss_and_gradient(raxis, F.ctc_loss, *ours), expected, strict=True):
        torch.testing.assert_close(to_torch(found), wanted.detach())


@pytest.mark.parametrize("distance", [None, lambda x, y: (x - y).abs().sum(-1)])
def test_triplet_with_distance(distance) -> None:
    torch.manual_seed(0)
    operands = [torch.randn(5, 3) for _ in range(3)]
    options = {"distance_function": distance, "margin": 0.5, "swap": True}
    found = F.triplet_margin_with_distance_loss(*map(to_raxis, operands), **options)
    expected = torch.nn.functional.triplet_margin_with_distance_loss(*operands, **options)
    torch.testing.assert_close(to_torch(found), expected)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.nll_loss(raxis.ones(2, 3), raxis.tensor([0, 3])), IndexError),
        (lambda: F.nll_loss(raxis.ones(2, 3), raxis.tensor([0])), ValueError),
        (lambda: F.nll_loss(raxis.ones(2, 3), raxis.tensor([0.0, 1.0])), RuntimeError),
        (lambda: F.cross_entropy(raxis.ones(2, 3), raxis.tensor([0, 1]), label_smoothing=2.0), RuntimeError),
        (lambda: F.cross_entropy(raxis.ones(2, 3), raxis.tensor([0, 1]), weight=raxis.ones(2)), RuntimeError),
        (lambda: F.mse_loss(raxis.ones(2), raxis.ones(2), reduction="median"), ValueError),
        (lambda: F.binary_cross_entropy(raxis.ones(2), raxis.ones(3)), ValueError),
        (lambda: F.huber_loss(raxis.ones(2), raxis.ones(2), delta=0.0), RuntimeError),
        (lambda: F.triplet_margin_loss(raxis.ones(2), raxis.ones(2), raxis.ones(2), margin=0.0), ValueError),
    ],
)
def test_errors(call, error) -> None:
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("shape", [(32, 1), (4, 1, 3), (1, 1), (3, 4), ()], ids=str)
@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits", "l1_loss"])
def test_losses_of_operands_with_dims_of_size_1(
    name: str, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    scores, targets = rng.standard_normal(shape), rng.random(shape)
    expected = getattr(torch.nn.functional, name)(torch.tensor(scores), torch.tensor(targets))
    found = getattr(raxis.nn.functional, name)(raxis.tensor(scores), raxis.tensor(targets))
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
