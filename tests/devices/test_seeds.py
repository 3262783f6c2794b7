"""One seed gives the same numbers on every device, eager and compiled; so whole trainings agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import raxis
import raxis.nn.functional as F
from raxis import nn
from raxis.utils.checkpoint import checkpoint
from tests.devices.places import THIRD_PARTY

DRAWS: dict[str, Callable[[str], raxis.Tensor]] = {
    "rand": lambda place: raxis.rand(1000, device=place),
    "rand of halves": lambda place: raxis.rand(50, device=place, dtype=raxis.float16),
    "randn": lambda place: raxis.randn(1001, device=place),
    "randint": lambda place: raxis.randint(0, 10**9, (33,), device=place),
    "randperm": lambda place: raxis.randperm(100, device=place),
    "bernoulli": lambda place: raxis.full((77,), 0.3, device=place).bernoulli(),
    "multinomial": lambda place: raxis.multinomial(raxis.ones(50, device=place), 20),
    "normal": lambda place: raxis.normal(1.0, 2.0, (50,), device=place),
    "exponential_": lambda place: raxis.empty(50, device=place).exponential_(),
    "dropout": lambda place: F.dropout(raxis.ones(500, device=place)),
    "compiled dropout": lambda place: _dropped(raxis.ones(500, device=place)),
    "trunc_normal_": lambda place: nn.init.trunc_normal_(raxis.empty(20, 20, device=place)),
    "nothing": lambda place: raxis.rand(0, 3, device=place),
}
_dropped = raxis.compile(lambda x: F.dropout(x.sin()))


@pytest.mark.parametrize("name", DRAWS)
def test_one_seed_gives_the_same_numbers_everywhere(name: str) -> None:
    def draws(place: str) -> list[np.ndarray]:
        raxis.manual_seed(7)
        return [DRAWS[name](place).cpu().numpy() for _ in range(2)]

    expected = draws("cpu")
    for place in THIRD_PARTY:
        for found, right in zip(draws(place), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)


def test_every_device_has_a_stream_of_its_own() -> None:
    """As in PyTorch: drawing on one device leaves the others' numbers as they are."""
    raxis.manual_seed(3)
    expected = [raxis.rand(3).tolist() for _ in range(2)]
    raxis.manual_seed(3)
    found = [[raxis.rand(3, device=place).tolist() for place in THIRD_PARTY] for _ in range(2)]
    assert found == [[row] * len(THIRD_PARTY) for row in expected]


def test_a_generator_draws_on_any_device() -> None:
    def draw(place: str) -> list[float]:
        return raxis.rand(4, device=place, generator=raxis.Generator().manual_seed(5)).tolist()

    assert all(draw(place) == draw("cpu") for place in THIRD_PARTY)


def losses(place: str) -> list[float]:
    raxis.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    model.to(place)
    raxis.manual_seed(1)
    optimizer = raxis.optim.AdamW(model.parameters(), lr=0.02)
    inputs = raxis.randn(16, 4, device=place)
    targets = raxis.randint(0, 2, (16,), device=place)
    found = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_training_with_dropout_agrees_on_every_device() -> None:
    expected = losses("cpu")
    assert expected[-1] < expected[0]
    for place in THIRD_PARTY:
        np.testing.assert_allclose(losses(place), expected, rtol=1e-4)


def test_meta_draws_nothing_from_cpu() -> None:
    """As in PyTorch, making a model on meta leaves the numbers of cpu as they are."""
    raxis.manual_seed(4)
    expected = raxis.rand(3).tolist()
    raxis.manual_seed(4)
    F.dropout(nn.Linear(3, 3, device="meta")(raxis.rand(2, 3, device="meta")))
    assert raxis.rand(3).tolist() == expected


@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("place", ["cpu", *THIRD_PARTY])
def test_checkpointed_dropout_is_recomputed_with_the_same_numbers(place: str, use_reentrant: bool) -> None:
    x = raxis.ones(64, device=place, requires_grad=True)
    raxis.manual_seed(6)
    result = checkpoint(lambda t: F.dropout(t * 3), x, use_reentrant=use_reentrant)
    after = raxis.rand(2, device=place).tolist()
    result.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == result.tolist()  # both 6 where kept, else 0
    raxis.manual_seed(6)
    F.dropout(x)
    assert raxis.rand(2, device=place).tolist() == after
