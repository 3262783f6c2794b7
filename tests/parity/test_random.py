"""Random functions: the generator's known answers, distributions, arguments, repeatability.

Bounds on statistics are five standard errors wide; seeds are fixed, so that nothing here is flaky.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch

import raxis
from raxis import dtypes
from tests.parity import opinfo

NAMES = (
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "uniform",
)  # fmt: skip
CASES = opinfo.cases(*NAMES, aspects=("values", "out", "errors"), limit=10)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


@pytest.fixture(autouse=True)
def fixed_seed(seed: int) -> None:
    raxis.manual_seed(seed % 1000)


# Salmon et al. (2011) publish these with Random123: Philox 4x32-10 of counter 0 under key 0.
ZERO_BLOCK = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_the_first_numbers_are_philox_of_counter_zero() -> None:
    raxis.manual_seed(0)
    assert raxis.rand(4).tolist() == [(word >> 8) * 2.0**-24 for word in ZERO_BLOCK]
    raxis.manual_seed(0)
    pairs = [ZERO_BLOCK[0] | ZERO_BLOCK[1] << 32, ZERO_BLOCK[2] | ZERO_BLOCK[3] << 32]
    assert raxis.rand(2, dtype=raxis.float64).tolist() == [(pair >> 11) * 2.0**-53 for pair in pairs]
    many = (1 << 24) + 1
    raxis.manual_seed(0)
    assert raxis.randint(0, many, (2,)).tolist() == [(pair & (2**63 - 1)) % many for pair in pairs]
    for few in (1000, 1 << 24):
        raxis.manual_seed(0)
        assert raxis.randint(-7, few - 7, (4,)).tolist() == [(word * few >> 32) - 7 for word in ZERO_BLOCK]
        raxis.manual_seed(0)
        assert raxis.empty(4).long().random_(0, few).tolist() == [word * few >> 32 for word in ZERO_BLOCK]


@pytest.mark.parametrize(
    ("low", "high"), [(-(1 << 63), (1 << 63) - 1), (-(1 << 62) - 5, 1 << 62), (-5, (1 << 63) - 5)]
)
def test_integers_of_more_than_half_of_all(low: int, high: int) -> None:
    raxis.manual_seed(0)
    pairs = [ZERO_BLOCK[0] | ZERO_BLOCK[1] << 32, ZERO_BLOCK[2] | ZERO_BLOCK[3] << 32]
    expected = [low + pair % (high - low) for pair in pairs]
    assert raxis.randint(low, high, (2,)).tolist() == expected
    raxis.manual_seed(0)
    assert raxis.empty(2).long().random_(low, high).tolist() == expected


def test_all_integers() -> None:
    raxis.manual_seed(0)
    pairs = [ZERO_BLOCK[0] | ZERO_BLOCK[1] << 32, ZERO_BLOCK[2] | ZERO_BLOCK[3] << 32]
    assert raxis.empty(2).long().random_(-(1 << 63), None).tolist() == [pair - (1 << 63) for pair in pairs]


@pytest.mark.parametrize("bounds", [(0.5,), (0, 2.0), ("a", 2)])
def test_bounds_of_integers_are_integers(bounds: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="must be int, not"):
        raxis.randint(*bounds, (2,))


def test_normal_numbers_are_box_muller_of_uniform_ones() -> None:
    raxis.manual_seed(3)
    got = raxis.randn(10, dtype=raxis.float64).numpy()
    raxis.manual_seed(3)
    first = raxis.rand(5, dtype=raxis.float64).numpy()
    second = raxis.rand(5, dtype=raxis.float64).numpy()
    radius = np.sqrt(-2 * np.log(1 - first))
    expected = np.concatenate([radius * np.cos(2 * np.pi * second), radius * np.sin(2 * np.pi * second)])
    # Every draw begins on a Philox block of its own, within an op as well as between ops.
    np.testing.assert_allclose(got, expected, rtol=1e-12)


DRAWS: dict[str, Callable[..., Any]] = {
    "rand": lambda generator: raxis.rand(7, generator=generator),
    "randn": lambda generator: raxis.randn(7, generator=generator),
    "randint": lambda generator: raxis.randint(100, (7,), generator=generator),
    "randperm": lambda generator: raxis.randperm(20, generator=generator),
    "uniform_": lambda generator: raxis.empty(7).uniform_(generator=generator),
    "normal_": lambda generator: raxis.empty(7).normal_(generator=generator),
    "normal": lambda generator: raxis.normal(0.0, 1.0, (7,), generator=generator),
    "bernoulli": lambda generator: raxis.bernoulli(raxis.full((50,), 0.5), generator=generator),
    "multinomial": lambda generator: raxis.multinomial(raxis.ones(50), 10, generator=generator),
    "exponential_": lambda generator: raxis.empty(7).exponential_(generator=generator),
    "random_": lambda generator: raxis.empty(7).random_(generator=generator),
}


@pytest.mark.parametrize("name", DRAWS)
def test_seeds_repeat_and_generators_are_streams(name: str) -> None:
    draw = DRAWS[name]
    raxis.manual_seed(5)
    first, second = draw(None).tolist(), draw(None).tolist()
    assert first != second
    raxis.manual_seed(5)
    assert draw(None).tolist() == first
    generator = raxis.Generator().manual_seed(5)
    assert draw(generator).tolist() == first
    assert draw(generator).tolist() == second
    assert draw(raxis.Generator().manual_seed(6)).tolist() != first
    assert draw(None).tolist() == second


def test_state_can_be_kept() -> None:
    raxis.rand(3)
    state = raxis.get_rng_state()
    first = raxis.rand(5).tolist()
    raxis.set_rng_state(state)
    assert raxis.rand(5).tolist() == first


def test_forked_streams_leave_no_trace() -> None:
    first = raxis.rand(3).tolist()
    raxis.manual_seed(9)
    with pytest.raises(RuntimeError, match="negative dimension"), raxis.random.fork_rng():
        raxis.rand(raxis.rand(100).numel(), -1)
    with raxis.random.fork_rng(enabled=False):
        after = raxis.rand(3).tolist()
    raxis.manual_seed(9)
    assert raxis.rand(3).tolist() == after != first
    with pytest.raises(RuntimeError, match="16 bytes"):
        raxis.set_rng_state(raxis.zeros(3, dtype=raxis.uint8))
    with pytest.raises(ValueError, match="64 bits"):
        raxis.manual_seed(1 << 64)
    assert (
        raxis.Generator().manual_seed(-1).initial_seed() == torch.Generator().manual_seed(-1).initial_seed()
    )


COUNT = 40_000


def moments(values: np.ndarray, mean: float, deviation: float) -> None:
    """Mean and variance within five standard errors."""
    count = values.size
    assert abs(values.mean() - mean) < 5 * deviation / math.sqrt(count)
    kurtosis = scipy.stats.kurtosis(values, fisher=False)
    assert abs(values.var() - deviation**2) < 5 * deviation**2 * math.sqrt((kurtosis - 1) / count)


CONTINUOUS = {
    "rand": (lambda dtype: raxis.rand(COUNT, dtype=dtype), scipy.stats.uniform()),
    "uniform_": (lambda dtype: raxis.empty(COUNT, dtype=dtype).uniform_(-2, 3), scipy.stats.uniform(-2, 5)),
    "randn": (lambda dtype: raxis.randn(COUNT, dtype=dtype), scipy.stats.norm()),
    "normal_": (lambda dtype: raxis.empty(COUNT, dtype=dtype).normal_(3, 0.5), scipy.stats.norm(3, 0.5)),
    "exponential_": (
        lambda dtype: raxis.empty(COUNT, dtype=dtype).exponential_(2.0),
        scipy.stats.expon(0, 0.5),
    ),
    "log_normal_": (
        lambda dtype: raxis.empty(COUNT, dtype=dtype).log_normal_(0.2, 0.3),
        scipy.stats.lognorm(0.3, 0, math.exp(0.2)),
    ),
    "cauchy_": (lambda dtype: raxis.empty(COUNT, dtype=dtype).cauchy_(1.0, 2.0), scipy.stats.cauchy(1, 2)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_continuous_distributions(name: str, dtype: str) -> None:
    draw, law = CONTINUOUS[name]
    values = draw(getattr(raxis, dtype)).numpy()
    assert values.dtype == dtype
    assert scipy.stats.kstest(values.astype(np.float64), law.cdf).pvalue > 1e-4
    if name != "cauchy_":
        moments(values.astype(np.float64), law.mean(), law.std())


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16])
def test_half_precision_stays_below_the_upper_end(dtype: dtypes.DType) -> None:
    values = raxis.rand(COUNT, dtype=dtype).float().numpy()
    assert values.max() < 1
    assert values.min() >= 0
    moments(values.astype(np.float64), 0.5, math.sqrt(1 / 12))
    values = raxis.empty(COUNT, dtype=dtype).uniform_(1, 3).float().numpy()
    assert values.max() < 3
    assert values.min() >= 1
    moments(raxis.randn(COUNT, dtype=dtype).double().numpy(), 0, 1)


def test_uniform_never_reaches_its_end_by_rounding() -> None:
    narrow = raxis.empty(COUNT).uniform_(1.0, 1.0 + 2.0**-22).numpy()
    assert narrow.max() < np.float32(1.0 + 2.0**-22)
    assert raxis.empty(3).uniform_(2, 2).tolist() == [2.0] * 3


def test_complex_normal_has_variance_one() -> None:
    values = raxis.randn(COUNT, dtype=raxis.complex64).numpy()
    moments(values.real.astype(np.float64), 0, math.sqrt(0.5))
    moments(values.imag.astype(np.float64), 0, math.sqrt(0.5))
    assert abs(np.corrcoef(values.real, values.imag)[0, 1]) < 0.03


def chi_square(values: np.ndarray, probabilities: dict[int, float]) -> None:
    found, counts = np.unique(values, return_counts=True)
    assert set(found) <= set(probabilities)
    observed = [dict(zip(found, counts, strict=True)).get(value, 0) for value in probabilities]
    assert scipy.stats.chisquare(observed, np.array(list(probabilities.values())) * values.size).pvalue > 1e-4


def test_discrete_distributions() -> None:
    chi_square(raxis.randint(-3, 4, (COUNT,)).numpy(), dict.fromkeys(range(-3, 4), 1 / 7))
    chi_square(raxis.empty(COUNT).random_(2, 6).numpy(), dict.fromkeys(range(2, 6), 0.25))
    chi_square(raxis.empty(COUNT, dtype=raxis.bool).random_().numpy(), {0: 0.5, 1: 0.5})
    chi_square(raxis.bernoulli(raxis.full((COUNT,), 0.3)).numpy(), {0: 0.7, 1: 0.3})
    chi_square(raxis.empty(COUNT, dtype=raxis.int64).bernoulli_(0.8).numpy(), {0: 0.2, 1: 0.8})
    geometric = raxis.empty(COUNT).geometric_(0.25).numpy()
    chi_square(np.minimum(geometric, 20), {**{k: 0.25 * 0.75 ** (k - 1) for k in range(1, 20)}, 20: 0.75**19})


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_follows_its_weights(replacement: bool) -> None:
    weights = raxis.tensor([1.0, 0.0, 2.0, 5.0])
    drawn = raxis.multinomial(weights.expand(COUNT, 4), 1, replacement=replacement)
    assert drawn.shape == (COUNT, 1)
    assert drawn.dtype is raxis.int64
    chi_square(drawn.numpy().ravel(), {0: 1 / 8, 2: 2 / 8, 3: 5 / 8})
    without = raxis.multinomial(raxis.tensor([1.0, 2.0, 3.0]).expand(COUNT, 3), 2).numpy()
    assert (without[:, 0] != without[:, 1]).all()
    chi_square(
        without[:, 1],
        {
            0: 2 / 6 * 1 / 4 + 3 / 6 * 1 / 3,
            1: 1 / 6 * 2 / 5 + 3 / 6 * 2 / 3,
            2: 1 / 6 * 3 / 5 + 2 / 6 * 3 / 4,
        },
    )


@pytest.mark.parametrize(
    ("weights", "count", "replacement"),
    [([1.0, 2.0], 3, False), ([1.0, -1.0], 1, True), ([math.nan, 1.0], 1, True), ([math.inf, 1.0], 1, False),
     ([0.0, 0.0], 1, True),     ([1.0], 0, True), ([[[1.0]]], 1, True), ([1, 2], 1, True)],
)  # fmt: skip
def test_multinomial_errors(weights: Any, count: int, replacement: bool) -> None:
    for library in (torch, raxis):
        with pytest.raises(RuntimeError):
            library.multinomial(library.tensor(weights), count, replacement)


def test_permutations_are_uniform() -> None:
    for count in (0, 1, 2, 1000):
        assert sorted(raxis.randperm(count).tolist()) == list(range(count))
    seen = np.stack([raxis.randperm(3).numpy() for _ in range(1200)])
    chi_square(
        seen @ [9, 3, 1],
        {
            a * 9 + b * 3 + c: 1 / 6
            for a, b, c in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
        },
    )
    with pytest.raises(RuntimeError, match="too large"):
        raxis.randperm(300, dtype=raxis.uint8)


def test_normal_broadcasts_and_is_no_part_of_the_tape() -> None:
    mean = raxis.zeros(3, 1, requires_grad=True)
    made = raxis.normal(mean, raxis.ones(4))
    assert made.shape == (3, 4)
    assert not made.requires_grad
    assert raxis.normal(2.0, raxis.zeros(3)).tolist() == [2.0] * 3
    assert raxis.normal(raxis.tensor([1.0, 2.0]), 0.0).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match=r"std >= 0\.0"):
        raxis.normal(0.0, -1.0, (2,))


WRONG: list[Callable[[Any], Any]] = [
    lambda library: library.empty(2).uniform_(1, 0),
    lambda library: library.empty(2, dtype=library.int64).uniform_(),
    lambda library: library.empty(2).normal_(0, -1),
    lambda library: library.empty(2, dtype=library.int64).normal_(),
    lambda library: library.empty(2).exponential_(0),
    lambda library: library.empty(2).geometric_(1.5),
    lambda library: library.empty(2).cauchy_(0, 0),
    lambda library: library.empty(2).log_normal_(0, 0),
    lambda library: library.empty(2).bernoulli_(1.5),
    lambda library: library.bernoulli(library.tensor([1])),
    lambda library: library.empty(2).random_(3, 3),
    lambda library: library.empty(2, dtype=library.uint8).random_(0, 300),
    lambda library: library.randint(3, 3, (2,)),
    lambda library: library.randperm(-1),
    lambda library: library.rand(2, dtype=library.int64),
    lambda library: library.randn(2, dtype=library.bool),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_parameters(wrong: Callable[[Any], Any]) -> None:
    with pytest.raises((RuntimeError, NotImplementedError, ValueError)) as expected:
        wrong(torch)
    with pytest.raises(RuntimeError) as raised:
        wrong(raxis)
    assert issubclass(expected.type, raised.type) or issubclass(raised.type, expected.type)


def test_in_place_draws_are_recorded_as_constants() -> None:
    leaf = raxis.ones(3, requires_grad=True)
    value = leaf * 2
    value.uniform_()
    value.sum().backward()
    assert leaf.grad.tolist() == [0.0] * 3
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf.normal_()


def test_draws_into_views_leave_the_rest_alone() -> None:
    base = raxis.zeros(4, 4)
    base.t().as_strided((4,), (1,), 4).uniform_(1, 2)
    assert (base.numpy()[1] >= 1).all()
    assert base.numpy()[[0, 2, 3]].sum() == 0


def test_dropout_mask_and_scale() -> None:
    output, mask = raxis.native_dropout(raxis.ones(COUNT), 0.25, True)
    assert mask.dtype is raxis.bool
    chi_square(mask.numpy(), {0: 0.25, 1: 0.75})
    np.testing.assert_allclose(output.numpy(), mask.numpy() / np.float32(0.75), rtol=1e-6)
    leaf = raxis.ones(100, requires_grad=True)
    output, mask = raxis.native_dropout(leaf, 0.5, True)
    output.sum().backward()
    assert leaf.grad.tolist() == (mask.numpy() * 2.0).tolist()
    assert raxis.native_dropout(raxis.ones(3), 1.0, True)[0].tolist() == [0.0] * 3
    assert raxis.native_dropout(raxis.ones(3), 0.9, False)[0].tolist() == [1.0] * 3


def test_meta_draws_have_shapes() -> None:
    assert raxis.randn(2, 3, device="meta").shape == (2, 3)
    assert raxis.empty(5, device="meta").normal_().is_meta


@pytest.mark.parametrize("bounds", [(0, 65506), (-65505, 1)])
def test_randint_beyond_half_precision(bounds: tuple[int, int]) -> None:
    """They would become infinity."""
    with pytest.raises(RuntimeError, match="out of bounds for float16"):
        raxis.randint(*bounds, (3,), dtype=raxis.float16)
    assert raxis.randint(65503, 65505, (3,), dtype=raxis.float16).isfinite().all()


@pytest.mark.parametrize("bounds", [(0.5, 3), (2.0,), ("a",)], ids=str)
def test_bounds_of_random_are_integers(bounds: tuple[object, ...]) -> None:
    for lib in (raxis, torch):
        x = lib.ones(2)
        with pytest.raises(TypeError, match="int"):
            x.random_(*bounds)
        assert x.tolist() == [1.0, 1.0]
