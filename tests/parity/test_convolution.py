"""Convolutions against torch."""

from __future__ import annotations

import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

CASES = opinfo.cases(
    *[f"nn.functional.{name}{n}d" for name in ("conv", "conv_transpose") for n in (1, 2, 3)], limit=8
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_derivatives_of_every_order(transposed: bool, stride: int, groups: int) -> None:
    """Up to third order, where the two ops derive into each other."""
    torch.manual_seed(stride)
    x = torch.randn(2, 4, 9, dtype=torch.float64)
    w = torch.randn(4, 4 // groups, 3, dtype=torch.float64)

    def gradients(library, x, w):
        convolve = library.conv_transpose1d if transposed else library.conv1d
        loss = convolve(x, w, stride=stride, padding=1, groups=groups).sin().sum()
        for _ in range(2):
            grads = (torch if library is torch else raxis).autograd.grad(loss, (x, w), create_graph=True)
            loss = sum((grad * grad).sum() for grad in grads)
        return (torch if library is torch else raxis).autograd.grad(loss, (x, w))

    expected = gradients(torch, x.requires_grad_(), w.requires_grad_())
    ours = [to_raxis(t) for t in (x, w)]
    for tensor in ours:
        tensor.requires_grad = True
    for found, wanted in zip(gradients(raxis, *ours), expected, strict=True):
        torch.testing.assert_close(to_torch(found), wanted)


def test_channels_last_and_strided_operands() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 6, 5, 3).permute(0, 3, 1, 2)
    w = torch.randn(4, 6, 3, 3)[:, ::2]
    expected = torch.nn.functional.conv2d(x, w, padding="same")
    found = raxis.nn.functional.conv2d(to_raxis(x), to_raxis(w), padding="same")
    torch.testing.assert_close(to_torch(found), expected)


def test_empty_batch_has_gradients() -> None:
    x, w = raxis.ones(0, 3, 5, 5, requires_grad=True), raxis.ones(2, 3, 3, 3, requires_grad=True)
    raxis.nn.functional.conv2d(x, w).sum().backward()
    assert x.grad.shape == (0, 3, 5, 5)
    assert not to_torch(w.grad).any()


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (((1, 4, 5, 5), (2, 3, 3, 3)), {}, "expected input.*to have 3 channels, but got 4 channels"),
        (((5, 5), (2, 3, 3, 3)), {}, "Expected 3D .unbatched. or 4D .batched. input to conv2d"),
        (((1, 3, 2, 2), (2, 3, 3, 3)), {}, "Kernel size can't be greater than actual input size"),
        (((1, 3, 5, 5), (2, 3, 3, 3)), {"stride": 0}, "non-positive stride"),
        (((1, 3, 5, 5), (2, 3, 3, 3)), {"padding": "same", "stride": 2}, "not supported for strided"),
        (((1, 3, 5, 5), (2, 3, 3, 3)), {"padding": "full"}, "'full'"),
        (((1, 3, 5, 5), (2, 3, 3, 3)), {"groups": 2}, "divisible|channels"),
    ],
)
def test_messages(arguments, options, words) -> None:
    operands = [raxis.ones(*shape) for shape in arguments]
    with pytest.raises(RuntimeError, match=words):
        raxis.nn.functional.conv2d(*operands, **options)


def test_dtypes_must_agree() -> None:
    with pytest.raises(RuntimeError, match="should be the same"):
        raxis.conv1d(raxis.ones(1, 1, 3), raxis.ones(1, 1, 2, dtype=raxis.float64))
