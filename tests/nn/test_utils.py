"""Gradient clipping and parameter vectors agree with PyTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import raxis
from raxis.nn.utils import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)
from raxis.nn.utils.rnn import pad_sequence, unpad_sequence
from tests.nn.parity import assert_same, to_raxis


def pairs() -> tuple[list[raxis.nn.Parameter], list[torch.nn.Parameter]]:
    ours, theirs = [], []
    for shape in [(3, 2), (4,), ()]:
        reference = torch.nn.Parameter(torch.randn(shape, dtype=torch.float64))
        reference.grad = torch.randn(shape, dtype=torch.float64)
        parameter = raxis.nn.Parameter(to_raxis(reference.detach()))
        parameter.grad = to_raxis(reference.grad)
        ours.append(parameter)
        theirs.append(reference)
    ours.append(raxis.nn.Parameter(raxis.zeros(2)))
    theirs.append(torch.nn.Parameter(torch.zeros(2)))
    return ours, theirs


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3, math.inf, "inf", 0.0])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
def test_clip_grad_norm(norm_type: float, max_norm: float) -> None:
    ours, theirs = pairs()
    total = clip_grad_norm_(iter(ours), max_norm, norm_type)
    assert_same(total, torch.nn.utils.clip_grad_norm_(theirs, max_norm, norm_type))
    for parameter, reference in zip(ours, theirs, strict=True):
        assert_same(parameter.grad, reference.grad)


def test_clip_grad_norm_of_one_tensor_and_of_none() -> None:
    (ours, *_), (theirs, *_) = pairs()
    assert_same(clip_grad_norm_(ours, 1.0), torch.nn.utils.clip_grad_norm_(theirs, 1.0))
    assert clip_grad_norm_([], 1.0).item() == 0.0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_error_if_nonfinite_leaves_gradients(bad: float) -> None:
    parameter = raxis.nn.Parameter(raxis.zeros(2))
    parameter.grad = raxis.tensor([bad, 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        clip_grad_norm_([parameter], 1.0, error_if_nonfinite=True)
    assert parameter.grad[1].item() == 1.0
    assert not math.isfinite(clip_grad_norm_([parameter], 1.0).item())


def test_clip_in_two_steps() -> None:
    ours, theirs = pairs()
    gradients = [parameter.grad for parameter in ours if parameter.grad is not None]
    total = get_total_norm(gradients)
    clip_grads_with_norm_(ours, 0.5, total)
    torch.nn.utils.clip_grad_norm_(theirs, 0.5)
    for parameter, reference in zip(ours, theirs, strict=True):
        assert_same(parameter.grad, reference.grad)


def test_clip_grad_value() -> None:
    ours, theirs = pairs()
    clip_grad_value_(ours, 0.3)
    torch.nn.utils.clip_grad_value_(theirs, 0.3)
    for parameter, reference in zip(ours, theirs, strict=True):
        assert_same(parameter.grad, reference.grad)


def test_parameter_vectors() -> None:
    ours, theirs = pairs()
    vector = parameters_to_vector(ours[:3])
    assert_same(vector, torch.nn.utils.parameters_to_vector(theirs[:3]).detach())
    assert vector.requires_grad
    new = raxis.arange(float(vector.numel()), dtype=raxis.float64)
    vector_to_parameters(new, ours[:3])
    assert ours[0].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert ours[2].item() == 10.0
    assert ours[0].requires_grad
    with pytest.raises(TypeError, match=r"expected raxis\.Tensor"):
        vector_to_parameters(np.zeros(3), ours)  # type: ignore[arg-type]


def test_parameter_vectors_of_two_devices() -> None:
    with pytest.raises(TypeError, match="cpu, meta"):
        parameters_to_vector([raxis.zeros(1), raxis.zeros(1, device="meta")])


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_pad_sequence(batch_first: bool, side: str) -> None:
    sequences = [torch.randn(length, 2) for length in (3, 1, 0, 4)]
    expected = torch.nn.utils.rnn.pad_sequence(sequences, batch_first, 7.0, side)
    padded = pad_sequence(iter(to_raxis(sequences)), batch_first, 7.0, side)
    assert_same(padded, expected)
    if side == "right":
        parts = unpad_sequence(padded, raxis.tensor([3, 1, 0, 4]), batch_first)
        assert_same(parts, sequences)


def test_pad_sequence_refuses() -> None:
    with pytest.raises(RuntimeError, match="empty list"):
        pad_sequence([])
    with pytest.raises(ValueError, match="'right' or 'left'"):
        pad_sequence([raxis.zeros(1)], padding_side="top")
