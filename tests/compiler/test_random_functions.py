"""Random functions: compiled calls equal eager ones in results, gradients, writes, state and random numbers."""

from __future__ import annotations

import warnings

import pytest

from tests.compiler.agreement import agree
from tests.compiler.random_functions import random_case

FEW, MANY, PARTS = 40, 3000, 60


def _agrees(seed: int) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "An output with one or more elements was resized")
        agree(lambda: random_case(seed), calls=3)


@pytest.mark.parametrize("number", range(FEW))
def test_agrees(number: int, request: pytest.FixtureRequest) -> None:
    _agrees(number + 1_000_000 * request.config.getoption("--raxis-seed"))


@pytest.mark.slow
@pytest.mark.rotating
@pytest.mark.parametrize("part", range(PARTS))
def test_many_agree(part: int, request: pytest.FixtureRequest) -> None:
    first = FEW + part * MANY // PARTS + 1_000_000 * request.config.getoption("--raxis-seed")
    for seed in range(first, first + MANY // PARTS):
        print("seed", seed)
        _agrees(seed)
