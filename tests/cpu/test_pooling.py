"""Pooling and its gradients against torch in float64: positions of maxima, bins, windows of all kinds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import raxis
from raxis_cpu import threads

EPSILONS = {"float32": 1e-6, "float64": 1e-14}


class Case(NamedTuple):
    """A function of `nn.functional`, the shape of the input, and the other arguments."""

    function: str
    shape: tuple[int, ...]
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.function}-{self.shape}-{'-'.join(f'{name}{value}' for name, value in self.arguments.items())}"


MAXIMA = (
    Case("max_pool2d", (2, 3, 8, 8), {"kernel_size": 2}),
    Case("max_pool2d", (2, 3, 37, 41), {"kernel_size": 3, "stride": 2, "padding": 1}),
    Case("max_pool2d", (1, 2, 9, 40), {"kernel_size": (2, 3), "stride": 1, "padding": (0, 1)}),
    Case("max_pool2d", (2, 2, 13, 17), {"kernel_size": 3, "stride": 2, "dilation": 2, "padding": 1}),
    Case("max_pool2d", (2, 2, 8, 9), {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
    Case("max_pool2d", (3, 7, 7), {"kernel_size": 9, "stride": 1, "padding": 4}),
    Case("max_pool1d", (2, 3, 50), {"kernel_size": 4, "stride": 3, "padding": 2}),
    Case(
        "max_pool3d", (2, 2, 5, 6, 19), {"kernel_size": (2, 3, 2), "stride": (2, 1, 2), "padding": (1, 1, 0)}
    ),
    # Windows that do not overlap, with elements behind the last one and without.
    Case("max_pool2d", (2, 3, 37, 41), {"kernel_size": 2}),
    Case("max_pool2d", (2, 3, 9, 51), {"kernel_size": 3}),
    Case("max_pool2d", (2, 2, 7, 80), {"kernel_size": (1, 4), "stride": (2, 4)}),
    Case("max_pool2d", (2, 2, 9, 12), {"kernel_size": (3, 2), "stride": (3, 2), "padding": (1, 0)}),
    Case("max_pool1d", (2, 3, 70), {"kernel_size": 4}),
    Case("max_pool3d", (2, 2, 4, 6, 34), {"kernel_size": 2}),
    Case("adaptive_max_pool2d", (2, 3, 13, 29), {"output_size": (5, 4)}),
    Case("adaptive_max_pool1d", (2, 3, 50), {"output_size": 50}),
    Case("adaptive_max_pool3d", (2, 2, 5, 6, 7), {"output_size": (2, 3, 5)}),
)
MEANS = (
    Case("adaptive_avg_pool2d", (2, 3, 13, 29), {"output_size": (5, 4)}),
    Case("adaptive_avg_pool2d", (2, 3, 12, 20), {"output_size": (3, 4)}),
    Case("adaptive_avg_pool2d", (2, 40, 7, 7), {"output_size": 1}),
    Case("adaptive_avg_pool2d", (2, 3, 23, 29), {"output_size": 1}),
    Case("adaptive_avg_pool1d", (2, 3, 50), {"output_size": 70}),
    Case("adaptive_avg_pool3d", (2, 2, 5, 6, 7), {"output_size": (2, 4, 5)}),
    Case("avg_pool2d", (2, 3, 8, 8), {"kernel_size": 2}),
    Case("avg_pool2d", (2, 3, 9, 11), {"kernel_size": 2}),
    Case("avg_pool2d", (2, 3, 9, 11), {"kernel_size": (2, 3), "ceil_mode": True}),
    Case(
        "avg_pool2d", (2, 3, 9, 11), {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}
    ),
    Case("avg_pool2d", (2, 3, 9, 11), {"kernel_size": 3, "stride": 3, "divisor_override": 5}),
    Case("avg_pool1d", (2, 3, 50), {"kernel_size": 7}),
    Case("avg_pool3d", (2, 2, 5, 6, 7), {"kernel_size": (2, 3, 2)}),
)


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def thread_count(request: pytest.FixtureRequest) -> Iterator[int]:
    """So many threads during the test."""
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(before)


def _both(case: Case, x: np.ndarray, dtype: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Result and gradient of the input, of raxis and of torch in float64."""
    found = []
    for library, name in ((raxis, dtype), (torch, "float64")):
        leaf = library.from_numpy(x.copy()).to(getattr(library, name)).requires_grad_()
        result = getattr(library.nn.functional, case.function)(leaf, **case.arguments)
        given = np.random.default_rng(1).standard_normal(tuple(result.shape)).astype(np.float32)
        result.backward(library.from_numpy(given).to(result.dtype))
        found.append([result.detach().numpy(), leaf.grad.numpy()])
    return found[0], found[1]


def _check(case: Case, x: np.ndarray, dtype: str = "float32") -> None:
    for one, other in zip(*_both(case, x, dtype), strict=True):
        np.testing.assert_allclose(one, other, rtol=EPSILONS[dtype], atol=8 * EPSILONS[dtype])


@pytest.mark.parametrize("case", [*MAXIMA, *MEANS], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_and_gradients(case: Case, dtype: str, thread_count: int) -> None:
    _check(case, np.random.default_rng(thread_count).standard_normal(case.shape).astype(np.float32), dtype)


@pytest.mark.parametrize("case", MAXIMA, ids=str)
def test_the_first_of_equal_elements_wins(case: Case) -> None:
    _check(case, np.random.default_rng(2).integers(0, 2, case.shape).astype(np.float32))


@pytest.mark.parametrize("case", MAXIMA, ids=str)
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_strange_elements(case: Case, strange: float) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal(case.shape).astype(np.float32)
    if np.isnan(strange):
        # One alone: among several torch takes the last, not the first.
        x[tuple(size // 2 for size in x.shape)] = strange
    else:
        x[rng.random(case.shape) < 0.2] = strange
    _check(case, x)


def test_windows_of_the_lowest_number() -> None:
    _check(MAXIMA[1], np.full(MAXIMA[1].shape, -np.inf, np.float32))


@pytest.mark.parametrize("case", MAXIMA, ids=str)
def test_positions(case: Case, thread_count: int) -> None:
    x = np.random.default_rng(thread_count).standard_normal(case.shape).astype(np.float32)
    results = [
        getattr(library.nn.functional, case.function)(
            library.from_numpy(x), **case.arguments, return_indices=True
        )
        for library in (raxis, torch)
    ]
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("case", [MAXIMA[1], MAXIMA[8], MAXIMA[14], MEANS[0], MEANS[7]], ids=str)
def test_inputs_that_are_not_contiguous(case: Case) -> None:
    x = np.random.default_rng(4).standard_normal(case.shape[::-1]).astype(np.float32)
    results = []
    for library in (raxis, torch):
        leaf = library.from_numpy(x.copy()).requires_grad_()
        turned = leaf.permute(*reversed(range(x.ndim)))
        # The gradient of a sum is one element that is everywhere.
        getattr(library.nn.functional, case.function)(turned, **case.arguments).sum().backward()
        results.append(leaf.grad.numpy())
    np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", [MAXIMA[0], MAXIMA[14], MEANS[0], MEANS[6]], ids=str)
def test_no_images(case: Case) -> None:
    _check(case._replace(shape=(0, *case.shape[1:])), np.zeros((0, *case.shape[1:]), np.float32))


def test_gradients_of_gradients() -> None:
    x = np.random.default_rng(5).standard_normal((1, 2, 7, 8)).astype(np.float64)
    results = []
    for library in (raxis, torch):
        leaf = library.from_numpy(x.copy()).requires_grad_()
        result = library.nn.functional.max_pool2d(leaf.tanh(), 3, 2, 1)
        (first,) = library.autograd.grad(result.square().sum(), leaf, create_graph=True)
        first.square().sum().backward()
        results.append(leaf.grad.numpy())
    np.testing.assert_allclose(*results, rtol=1e-12, atol=1e-12)
