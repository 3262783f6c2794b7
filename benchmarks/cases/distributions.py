"""Probability distributions, and random numbers of other than uniform and normal ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.cases.case import Call, Case, tensor, values

Make = Callable[[Any, Any], Any]
Draw = Callable[[ModuleType, Any], Any]

DISTRIBUTIONS: dict[str, Make] = {
    "Normal": lambda d, x: d.Normal(x, x),
    "Bernoulli": lambda d, x: d.Bernoulli(x / 3),
    "Beta": lambda d, x: d.Beta(x, x + 1),
    "Gamma": lambda d, x: d.Gamma(x, x + 1),
    "Dirichlet": lambda d, x: d.Dirichlet(x.reshape(-1, 16)),
    "Categorical": lambda d, x: d.Categorical(x.reshape(-1, 16)),
}
DRAWS: dict[str, Draw] = {
    "poisson": lambda lib, x: lib.poisson(x * 4),
    "exponential_": lambda lib, x: x.clone().exponential_(),
    "geometric_": lambda lib, x: x.clone().geometric_(0.3),
    "cauchy_": lambda lib, x: x.clone().cauchy_(),
    "log_normal_": lambda lib, x: x.clone().log_normal_(),
    "bernoulli of a tensor": lambda lib, x: lib.bernoulli(x / 3),
    "randperm of all": lambda lib, x: lib.randperm(x.numel()),
    "multinomial": lambda lib, x: lib.multinomial(x.reshape(-1, 64), 8, replacement=True),
    "multinomial without replacement": lambda lib, x: lib.multinomial(x.reshape(-1, 64), 8),
}


def _value(name: str, x: Any) -> Any:
    """A value in a distribution's support."""
    if name == "Dirichlet":
        rows = x.reshape(-1, 16)
        return rows / rows.sum(-1, keepdim=True)
    if name == "Categorical":
        return x.reshape(-1, 16)[:, 0].long()
    return x / 3 if name == "Beta" else x.floor() if name == "Bernoulli" else x


def _log_prob(name: str, size: int, lib: ModuleType) -> Call:
    x = tensor(lib, values((size,)))
    value = _value(name, x)

    def call() -> Any:
        return DISTRIBUTIONS[name](lib.distributions, x).log_prob(value)

    return call


def _sample(name: str, size: int, lib: ModuleType) -> Call:
    return DISTRIBUTIONS[name](lib.distributions, tensor(lib, values((size,)))).sample  # type: ignore[no-any-return]


def _entropy_and_divergence(name: str, size: int, lib: ModuleType) -> Call:
    make = partial(DISTRIBUTIONS[name], lib.distributions)
    one, other = make(tensor(lib, values((size,)))), make(tensor(lib, values((size,), seed=1)))
    return lambda: lib.distributions.kl_divergence(one, other) + other.entropy()


def _draw(draw: Draw, size: int, lib: ModuleType) -> Call:
    return partial(draw, lib, tensor(lib, values((size,))))


def cases() -> Iterator[Case]:
    """All cases of distributions and random draws."""
    size = 1 << 16
    for name in DISTRIBUTIONS:
        yield Case("distribution", f"{name}(...).log_prob {size}", partial(_log_prob, name, size), size)
        yield Case("distribution", f"{name}.sample {size}", partial(_sample, name, size), size, compare=False)
    for name in ("Normal", "Beta", "Categorical"):
        make = partial(_entropy_and_divergence, name, size)
        yield Case("distribution", f"kl_divergence and entropy, {name} {size}", make, size)
    for name, draw in DRAWS.items():
        yield Case("draw", f"{name} {1 << 20}", partial(_draw, draw, 1 << 20), 1 << 20, compare=False)
