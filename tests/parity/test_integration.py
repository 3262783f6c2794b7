"""Trapezoidal rule, gradients, histograms and segments against torch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import raxis
from tests.parity import opinfo


@pytest.mark.parametrize(
    "case", opinfo.cases("cumulative_trapezoid", "gradient", "trapezoid", "trapz", limit=12), ids=str
)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_are_numpys(rng: np.random.Generator, order: int) -> None:
    values, places = rng.normal(size=(6, 9)), np.sort(rng.normal(size=9))
    found = raxis.gradient(
        raxis.tensor(values, dtype=raxis.float64),
        spacing=[raxis.tensor(places, dtype=raxis.float64)],
        dim=1,
        edge_order=order,
    )
    expected = np.gradient(values, places, axis=1, edge_order=order)
    np.testing.assert_allclose(found[0].numpy(), expected, rtol=1e-9, atol=1e-9)


def test_gradients_of_a_transposed_tensor_and_errors() -> None:
    values = raxis.arange(12.0).reshape(3, 4).T
    assert [part.tolist()[0] for part in raxis.gradient(values)] == [[1.0, 1.0, 1.0], [4.0, 4.0, 4.0]]
    with pytest.raises(RuntimeError, match="edge_order"):
        raxis.gradient(values, edge_order=3)
    with pytest.raises(RuntimeError, match="at least"):
        raxis.gradient(raxis.ones(1))


def test_integrals_are_numpys(rng: np.random.Generator) -> None:
    values, places = rng.normal(size=(5, 7)), np.sort(rng.normal(size=7))
    y, x = (raxis.tensor(array, dtype=raxis.float64) for array in (values, places))
    widths, means = np.diff(places), (values[:, 1:] + values[:, :-1]) / 2
    np.testing.assert_allclose(raxis.trapezoid(y, x).numpy(), (widths * means).sum(1))
    np.testing.assert_allclose(raxis.cumulative_trapezoid(y, x).numpy(), (widths * means).cumsum(1))
    assert raxis.trapezoid(raxis.empty(2, 0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("density", [False, True])
def test_histograms_are_numpys(rng: np.random.Generator, density: bool) -> None:
    points, weights = rng.normal(size=(400, 2)), rng.uniform(size=400)
    ours = raxis.histogramdd(
        raxis.tensor(points, dtype=raxis.float64),
        [5, 3],
        weight=raxis.tensor(weights, dtype=raxis.float64),
        density=density,
    )
    theirs, edges = np.histogramdd(points, [5, 3], weights=weights, density=density)
    np.testing.assert_allclose(ours.hist.numpy(), theirs)
    for our_edges, their_edges in zip(ours.bin_edges, edges, strict=True):
        np.testing.assert_allclose(our_edges.numpy(), their_edges)
    values = points[:, 0]
    found = raxis.histogram(raxis.tensor(values, dtype=raxis.float64), 10, range=(-1.0, 1.0), density=density)
    np.testing.assert_allclose(found.hist.numpy(), np.histogram(values, 10, (-1.0, 1.0), density=density)[0])


def test_histograms_of_nothing_and_of_nan() -> None:
    assert raxis.histogram(raxis.empty(0), 2).hist.tolist() == [0.0, 0.0]
    edges = raxis.tensor([0.0, 1.0, 2.0])
    assert raxis.histogram(raxis.tensor([float("nan"), 2.0, 5.0]), edges).hist.tolist() == [0.0, 1.0]


def test_segments_by_hand() -> None:
    data = raxis.tensor([[1.0, 5.0], [2.0, 4.0], [3.0, 3.0]], requires_grad=True)
    found = raxis.segment_reduce(data, "max", lengths=raxis.tensor([2, 0, 1]), initial=0.0)
    assert found.tolist() == [[2.0, 5.0], [0.0, 0.0], [3.0, 3.0]]
    found.sum().backward()
    assert data.grad.tolist() == [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="sum to"):
        raxis.segment_reduce(data, "sum", lengths=raxis.tensor([2]))
    with pytest.raises(RuntimeError, match="Either"):
        raxis.segment_reduce(data, "sum")
