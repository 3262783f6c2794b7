"""Distances between all rows, from differences and from a product of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
SHAPES = (
    ((30, 4), (26, 4)),
    ((2, 1, 30, 3), (4, 5, 3)),
    ((0, 4), (30, 4)),
    ((30, 0), (26, 0)),
    ((1, 2), (3, 2)),
)


def _distances(library: Any, mode: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The distances, and gradients by both operands."""
    x, y = (library.from_numpy(array.copy()).requires_grad_() for array in arrays)
    found = library.cdist(x, y, compute_mode=mode)
    (found * found.detach().cos()).sum().backward()
    return [tensor.detach().numpy() for tensor in (found, x.grad, y.grad)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_euclidean_distances(mode: str, shapes: Any, rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal(shape) for shape in shapes]
    for found, expected in zip(
        _distances(raxis, mode, *arrays), _distances(torch, mode, *arrays), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_equal_rows_and_nan(mode: str) -> None:
    x = np.arange(60.0).reshape(30, 2)
    found, by_x, by_y = _distances(raxis, mode, x, x)
    assert found.diagonal().tolist() == [0] * 30
    assert np.isfinite([by_x, by_y]).all()
    x[3, 0] = np.nan
    assert np.isnan(_distances(raxis, mode, x, x)[0]).sum() == 59


def test_rows_close_together_without_products() -> None:
    x = raxis.tensor([[1e4, 1.0]])
    assert raxis.cdist(x, x + raxis.tensor([0.0, 0.5]), compute_mode=MODES[2]).item() == 0.5


def test_second_derivative_with_products(rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal((26, 3)) for _ in range(2)]
    results = []
    for library in (raxis, torch):
        x, y = (library.from_numpy(array.copy()).requires_grad_() for array in arrays)
        first = library.autograd.grad(library.cdist(x, y).cos().sum(), x, create_graph=True)[0]
        results.append(library.autograd.grad((first**2).sum(), (x, y)))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-8, atol=1e-8)


def test_unknown_mode() -> None:
    with pytest.raises(ValueError, match="fast is not a valid value for compute_mode"):
        raxis.cdist(raxis.ones(1, 1), raxis.ones(1, 1), compute_mode="fast")
