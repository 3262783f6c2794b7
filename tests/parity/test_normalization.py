"""Normalization against torch."""

from __future__ import annotations

import pytest
import torch

import raxis
import raxis.nn.functional as F
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

NAMES = [
    "batch_norm",
    "layer_norm",
    "rms_norm",
    "group_norm",
    "instance_norm",
    "local_response_norm",
    "normalize",
]
CASES = opinfo.cases(
    *[f"nn.functional.{name}" for name in NAMES],
    "native_batch_norm", "native_dropout_backward", "native_group_norm", "native_layer_norm",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 4, 5), (2, 3, 2, 2, 2)])
@pytest.mark.parametrize("momentum", [0.1, 0.0, 1.0])
def test_running_statistics(shape: tuple[int, ...], momentum: float) -> None:
    torch.manual_seed(0)
    x, mean, variance = torch.randn(shape) * 3 + 1, torch.randn(3), torch.rand(3)
    ours = [to_raxis(operand) for operand in (x, mean, variance)]
    expected = torch.nn.functional.batch_norm(x, mean, variance, training=True, momentum=momentum)
    found = F.batch_norm(*ours, training=True, momentum=momentum)
    for got, wanted in zip((found, *ours[1:]), (expected, mean, variance), strict=True):
        torch.testing.assert_close(to_torch(got), wanted)


def test_evaluation_leaves_running_statistics() -> None:
    mean, variance = raxis.zeros(3), raxis.ones(3)
    F.batch_norm(raxis.ones(2, 3), mean, variance)
    assert mean.tolist() == [0.0] * 3
    assert variance.tolist() == [1.0] * 3


def layer_norm(x, weight):
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt() * weight


def rms_norm(x, weight):
    return x / ((x * x).mean(-1, keepdim=True) + 1e-5).sqrt() * weight


@pytest.mark.parametrize("formula", [layer_norm, rms_norm])
def test_third_derivative(formula) -> None:
    """Against the formula in elementary ops (torch's own layer norm is wrong from the third order on)."""
    torch.manual_seed(0)
    x, w = torch.randn(3, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    fused = {layer_norm: F.layer_norm, rms_norm: F.rms_norm}[formula]

    def gradients(library, normalise, x, w):
        loss = normalise(x, w).sin().sum()
        for _ in range(2):
            grads = library.autograd.grad(loss, (x, w), create_graph=True)
            loss = sum((grad * grad).sum() for grad in grads)
        return library.autograd.grad(loss, (x, w))

    expected = gradients(torch, formula, x.requires_grad_(), w.requires_grad_())
    ours = [to_raxis(operand) for operand in (x, w)]
    for tensor in ours:
        tensor.requires_grad = True
    found = gradients(raxis, lambda x, w: fused(x, (4,), w, eps=1e-5), *ours)
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(to_torch(got), wanted)


def test_half_precision_is_rounded_once() -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 64).half() * 30
    found = to_torch(F.layer_norm(to_raxis(x), (64,)))
    exact = torch.nn.functional.layer_norm(x.double(), (64,))
    assert (found.double() - exact).abs().max() <= 2.0**-10 * exact.abs().max()


def test_large_mean_does_not_cancel() -> None:
    x = torch.randn(8, 16, generator=torch.Generator().manual_seed(0)) + 1e4
    found = to_torch(F.layer_norm(to_raxis(x), (16,)))
    torch.testing.assert_close(
        found, torch.nn.functional.layer_norm(x.double(), (16,)).float(), rtol=1e-2, atol=1e-3
    )


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.batch_norm(raxis.ones(1, 3), None, None, training=True), ValueError),
        (lambda: F.batch_norm(raxis.ones(2, 3), None, None), RuntimeError),
        (lambda: F.batch_norm(raxis.ones(2, 3), raxis.ones(4), raxis.ones(4)), RuntimeError),
        (lambda: F.layer_norm(raxis.ones(2, 3), (4,)), RuntimeError),
        (lambda: F.layer_norm(raxis.ones(2, 3), (3,), raxis.ones(2)), RuntimeError),
        (lambda: F.group_norm(raxis.ones(2, 3), 2), RuntimeError),
        (lambda: F.instance_norm(raxis.ones(2, 3, 1)), ValueError),
        (lambda: F.local_response_norm(raxis.ones(2, 3), 2), ValueError),
    ],
)
def test_errors(call, error) -> None:
    with pytest.raises(error):
        call()
