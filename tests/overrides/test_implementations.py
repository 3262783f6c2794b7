"""Every implementation gives what torch gives, values and gradients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import raxis
import raxis.nn.functional as F
from raxis import overrides


def both(array: np.ndarray) -> tuple[Any, Any]:
    """Equal leaves of raxis and torch."""
    return raxis.tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)


def check(ours: Any, theirs: Any, inputs: list[tuple[Any, Any]], tolerance: float = 1e-10) -> None:
    weights = np.cos(np.arange(theirs.numel(), dtype=np.float64)).reshape(theirs.shape)
    (ours * raxis.tensor(weights)).sum().backward()
    (theirs * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), tolerance, tolerance)
    for own, other in inputs:
        np.testing.assert_allclose(own.grad.numpy(), other.grad.numpy(), tolerance, tolerance)


@pytest.mark.parametrize("functional", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(functional: str, dim: int, seed: int) -> None:
    array = np.random.default_rng(seed).normal(size=(3, 4, 5)) * 300
    ours, theirs = both(array)
    with overrides.use({functional: "composed"}):
        result = getattr(F, functional)(ours, dim)
    check(result, getattr(torch.nn.functional, functional)(theirs, dim), [(ours, theirs)])


def test_softmax_of_nan_and_infinities() -> None:
    array = np.array([[1.0, np.nan, 2.0], [-np.inf, -np.inf, -np.inf], [0.0, -np.inf, 1.0]])
    with overrides.use(softmax="composed"):
        result = raxis.softmax(raxis.tensor(array), 1)
    np.testing.assert_allclose(result.numpy(), torch.softmax(torch.tensor(array), 1).numpy(), 1e-12)


def test_half_precision_sums_in_float32(seed: int) -> None:
    array = np.random.default_rng(seed).normal(size=(2, 4000)).astype(np.float16)
    with overrides.use(softmax="composed", layer_norm="composed"):
        soft, normal = raxis.softmax(raxis.tensor(array), -1), F.layer_norm(raxis.tensor(array), (4000,))
    assert soft.dtype is normal.dtype is raxis.float16
    wide = torch.tensor(array).double()
    np.testing.assert_allclose(soft.double().numpy(), torch.softmax(wide, -1).numpy(), 2e-3, 1e-6)
    expected = torch.nn.functional.layer_norm(wide, (4000,))
    np.testing.assert_allclose(normal.double().numpy(), expected.numpy(), 2e-3, 2e-3)


@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(affine: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = [both(generator.normal(size=size)) for size in [(3, 4, 5), (4, 5), (4, 5)][: 3 if affine else 1]]
    ours, theirs = zip(*pairs, strict=True)
    with overrides.use(layer_norm="composed"):
        result = F.layer_norm(ours[0], (4, 5), *ours[1:])
    check(result, torch.nn.functional.layer_norm(theirs[0], (4, 5), *theirs[1:]), pairs)


def test_linear(seed: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = [both(generator.normal(size=size)) for size in [(2, 3, 4), (5, 4), (5,)]]
    ours, theirs = zip(*pairs, strict=True)
    with overrides.use(linear="composed"):
        result = F.linear(*ours)
    check(result, torch.nn.functional.linear(*theirs), pairs)


@pytest.mark.parametrize("name", ["decomposed", "blocked"])
@pytest.mark.parametrize("mask", ["none", "causal", "bool", "float"])
def test_attention(name: str, mask: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    sizes = [(2, 3, 5, 4), (2, 3, 300, 4), (2, 3, 300, 6)]  # three blocks of keys
    pairs = [both(generator.normal(size=size)) for size in sizes]
    ours, theirs = zip(*pairs, strict=True)
    options: dict[str, Any] = {"is_causal": mask == "causal"}
    given: dict[str, Any] = {}
    if mask in ("bool", "float"):
        array = generator.random((5, 300)) < 0.5 if mask == "bool" else generator.normal(size=(5, 300))
        options["attn_mask"], given["attn_mask"] = raxis.tensor(array), torch.tensor(array)
    with overrides.use(attention=name):
        result = F.scaled_dot_product_attention(*ours, **options)
    expected = torch.nn.functional.scaled_dot_product_attention(*theirs, **given, is_causal=mask == "causal")
    check(result, expected, pairs)


@pytest.mark.parametrize("name", ["decomposed", "blocked"])
def test_queries_that_see_no_key(name: str) -> None:
    ones = raxis.ones(1, 2, 3)
    with overrides.use(attention=name):
        for mask in (
            raxis.tensor([[False, False], [True, True]]),
            raxis.tensor([[-math.inf] * 2, [0.0] * 2]),
        ):
            assert F.scaled_dot_product_attention(ones, ones, ones, mask).tolist() == [[[0.0] * 3, [1.0] * 3]]


@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), ((1, 2), (2, 0), (2, 1))])
def test_convolution(stride: Any, padding: Any, dilation: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    pairs = [both(generator.normal(size=size)) for size in [(2, 3, 8, 9), (4, 3, 3, 2), (4,)]]
    ours, theirs = zip(*pairs, strict=True)
    with overrides.use(conv2d="gemm"):
        results = F.conv2d(*ours, stride, padding, dilation), raxis.conv2d(*ours, stride, padding, dilation)
    assert (results[0] == results[1]).all()
    check(results[0], torch.nn.functional.conv2d(*theirs, stride, padding, dilation), pairs)
