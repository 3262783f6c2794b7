"""Pooling with random windows and its inverse agree with PyTorch; the other pooling layers are in test_layers."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_module_matches, assert_same, build_pair, to_raxis

UNPOOLING = [
    ("1d", (2,), {}, (2, 3, 8), None),
    ("1d", (3,), {"stride": 2, "padding": 1}, (3, 9), (9,)),
    ("2d", ((2, 3),), {}, (2, 3, 5, 7), (5, 7)),
    ("3d", (2,), {"stride": (2, 2, 2)}, (2, 4, 4, 6), None),
]


@pytest.mark.parametrize(("dims", "args", "kwargs", "shape", "size"), UNPOOLING)
def test_unpooling_matches_torch(
    dims: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    shape: tuple[int, ...],
    size: tuple[int, ...] | None,
) -> None:
    module, reference = build_pair(f"MaxUnpool{dims}", *args, **kwargs)
    assert repr(module) == repr(reference)
    pool = getattr(torch.nn, f"MaxPool{dims}")(*args, **kwargs, return_indices=True)
    maxima, indices = pool(torch.randn(shape, dtype=torch.float64))
    given = maxima.clone().requires_grad_()
    expected = reference(given, indices, output_size=size)
    copied = to_raxis(given)
    actual = module(copied, to_raxis(indices), output_size=size)
    assert_same(actual, expected)
    seed = torch.rand_like(expected)
    expected.backward(seed)
    actual.backward(to_raxis(seed))
    assert_same(copied.grad, given.grad)


@pytest.mark.parametrize(
    ("name", "options", "shape"),
    [
        ("FractionalMaxPool2d", {"output_size": (3, 4)}, (2, 3, 7, 9)),
        ("FractionalMaxPool2d", {"output_ratio": (0.5, 0.7), "return_indices": True}, (2, 3, 8, 10)),
        ("FractionalMaxPool3d", {"output_size": 3}, (2, 3, 6, 7, 8)),
        ("FractionalMaxPool3d", {"output_ratio": 0.5, "return_indices": True}, (2, 3, 6, 6, 8)),
    ],
)
def test_fractional_pooling_matches_torch(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    samples = torch.rand(*shape[:2], len(shape) - 2, dtype=torch.float64)
    reference = getattr(torch.nn, name)(2, _random_samples=samples, **options)
    module = getattr(nn, name)(2, _random_samples=to_raxis(samples), **options)
    assert repr(module) == repr(reference)
    assert list(module.state_dict()) == list(reference.state_dict())
    assert_module_matches(module, reference, torch.randn(shape, dtype=torch.float64, requires_grad=True))


def test_fractional_windows_differ_between_calls() -> None:
    pool = nn.FractionalMaxPool2d(2, output_ratio=0.6)
    image = raxis.randn(1, 1, 50, 50)
    assert not pool(image).equal(pool(image))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "requires either output_size or output_ratio"),
        ({"output_size": 2, "output_ratio": 0.5}, "only one of output_size and output_ratio"),
        ({"output_ratio": 1.5}, "output_ratio must be between 0 and 1"),
        ({"kernel_size": (2, 0, 2), "output_size": 2}, "kernel_size must be greater than 0"),
    ],
)
def test_fractional_pooling_refuses(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        nn.FractionalMaxPool3d(**{"kernel_size": 2, **options})
