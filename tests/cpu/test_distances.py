"""Distances between rows against SciPy's in float64, and gradients against PyTorch's."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial import distance

import raxis

ORDERS = (0.0, 1.0, 2.0, 3.5, inf)


def _expected(x: np.ndarray, y: np.ndarray, p: float) -> np.ndarray:
    difference = np.abs(x[:, None].astype(np.float64) - y[None])
    if p == 0:
        return (difference != 0).sum(-1).astype(np.float64)
    if p == inf:
        return difference.max(-1, initial=0.0)
    return (difference**p).sum(-1) ** (1 / p)


def _check(found: Any, expected: np.ndarray, dtype: type[np.floating]) -> None:
    tolerance = 1e-13 if dtype is np.float64 else 2e-6
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (2, 1), (17, 5), (64, 3), (65, 3), (131, 300)])
def test_pairs(p: float, dtype: type[np.floating], shape: tuple[int, int], rng: np.random.Generator) -> None:
    x = rng.integers(-9, 9, shape).astype(dtype) / dtype(8)
    first, second = np.triu_indices(shape[0], 1)
    _check(raxis.pdist(raxis.tensor(x), p), _expected(x, x, p)[first, second], dtype)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [(3, 7, 4), (70, 65, 3), (5, 64, 200), (0, 5, 3), (33, 1, 1)])
def test_rows(p: float, dtype: type[np.floating], sizes: Any, rng: np.random.Generator) -> None:
    rows, others, width = sizes
    x, y = (rng.standard_normal((count, width)).astype(dtype) for count in (rows, others))
    mode = "donot_use_mm_for_euclid_dist"
    _check(raxis.cdist(raxis.tensor(x), raxis.tensor(y), p, mode), _expected(x, y, p), dtype)
    turned = raxis.cdist(raxis.tensor(x.T.copy()).T, raxis.tensor(y[::-1].copy()).flip(0), p, mode)
    _check(turned, _expected(x, y, p), dtype)


def test_rows_without_columns() -> None:
    assert raxis.pdist(raxis.zeros(4, 0)).tolist() == [0] * 6


def test_as_scipy(rng: np.random.Generator) -> None:
    x = rng.standard_normal((90, 6))
    found = raxis.pdist(raxis.tensor(x.repeat(2, 1))[:, ::2])
    np.testing.assert_allclose(found.numpy(), distance.pdist(x), rtol=1e-12)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, inf])
def test_nan_infinite_and_huge(p: float) -> None:
    x = torch.tensor([[0.0, 1.0], [0.0, float("nan")], [inf, 1.0], [1e30, -1e30], [0.0, 1.0]])
    own = raxis.tensor(x.numpy())
    whole = raxis.cdist(own, own, p, "donot_use_mm_for_euclid_dist").isnan().numpy()
    np.testing.assert_array_equal(raxis.pdist(own, p).isnan().numpy(), whole[np.triu_indices(5, 1)])
    expected = torch.pdist(x, p).numpy()
    if p:
        np.testing.assert_allclose(raxis.pdist(own, p).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, inf])
def test_gradients(p: float, rng: np.random.Generator) -> None:
    x = rng.standard_normal((20, 4))
    x[3] = x[5]
    weights = rng.standard_normal(190)
    results = []
    for library in (raxis, torch):
        operand = library.tensor(x, requires_grad=True)
        (library.pdist(operand, p) * library.tensor(weights)).sum().backward()
        results.append(operand.grad.numpy())
    np.testing.assert_allclose(*results, rtol=1e-10, atol=1e-12)


def test_sums_of_long_rows_are_exact_to_float32(rng: np.random.Generator) -> None:
    x = rng.random((4, 100_000)).astype(np.float32)
    _check(raxis.pdist(raxis.tensor(x), 1.0), _expected(x, x, 1.0)[np.triu_indices(4, 1)], np.float32)


def test_several_threads(rng: np.random.Generator) -> None:
    x = rng.standard_normal((600, 33))
    np.testing.assert_allclose(raxis.pdist(raxis.tensor(x)).numpy(), distance.pdist(x), rtol=1e-12)
