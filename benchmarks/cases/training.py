"""Gradients of small expressions, and optimizer steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.cases.case import Call, Case, side, tensor, values

EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "(x * 2).sum()": lambda x, y: (x * 2).sum(),
    "(x + y).sum()": lambda x, y: (x + y).sum(),
    "(x * y).mean()": lambda x, y: (x * y).mean(),
    "(x / y).sum()": lambda x, y: (x / y).sum(),
    "x.exp().sum()": lambda x, y: x.exp().sum(),
    "(x @ y).sum()": lambda x, y: (x @ y).sum(),
    "x.tanh().mean()": lambda x, y: x.tanh().mean(),
    "(x - y).pow(2).mean()": lambda x, y: (x - y).pow(2).mean(),
    "x.t()[1:].sum()": lambda x, y: x.t()[1:].sum(),
    "x.sigmoid().log().sum()": lambda x, y: x.sigmoid().log().sum(),
}


def _gradient(expression: Callable[[Any, Any], Any], size: int, lib: ModuleType) -> Call:
    shape = (side(size), side(size))
    x, y = tensor(lib, values(shape), grad=True), tensor(lib, values(shape, seed=1), grad=True)

    def step() -> Any:
        x.grad = y.grad = None
        expression(x, y).backward()
        return x.grad

    return step


def _clipping(name: str, limit: float, count: int, size: int, lib: ModuleType) -> Call:
    parameters = [tensor(lib, values((size,), seed=seed), grad=True) for seed in range(count)]
    for parameter in parameters:
        parameter.grad = tensor(lib, values((size,), seed=99))
    return partial(getattr(lib.nn.utils, name), parameters, limit)


def _optimizer(name: str, options: dict[str, Any], count: int, size: int, lib: ModuleType) -> Call:
    parameters = [tensor(lib, values((size,), seed=seed), grad=True) for seed in range(count)]
    for parameter in parameters:
        parameter.grad = tensor(lib, values((size,), seed=99))
    optimizer = getattr(lib.optim, name)(parameters, **options)
    return optimizer.step  # type: ignore[no-any-return]


def _mlp(lib: ModuleType) -> Call:
    nn = lib.nn
    model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
    x, y = tensor(lib, values((64, 784))), tensor(lib, values((64,), "int64", 0, 10))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def cases() -> Iterator[Case]:
    """All gradient and optimizer cases."""
    for size in (64, 4096, 1 << 18):
        for name, expression in EXPRESSIONS.items():
            yield Case("gradient", f"{name} {size}", partial(_gradient, expression, size), size)
    for name, options in (
        ("SGD", {"lr": 1e-6}),
        ("SGD", {"lr": 1e-6, "momentum": 0.9}),
        ("Adam", {"lr": 1e-6}),
        ("AdamW", {"lr": 1e-6}),
        ("RMSprop", {"lr": 1e-6}),
    ):
        for count, size in ((50, 64), (50, 16384)):
            momentum = " with momentum" if "momentum" in options else ""
            label = f"{name}{momentum} {count} parameters of {size}"
            yield Case(
                "optimizer",
                label,
                partial(_optimizer, name, options, count, size),
                count * size,
                compare=False,
            )
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        for size in (64, 16384):
            work = partial(_clipping, name, 1e3, 50, size)
            yield Case("optimizer", f"{name} 50 gradients of {size}", work, 50 * size, compare=False)
    yield Case("step", "MLP 784-128-64-10, batch 64, Adam", _mlp, 64 * 784, compare=False)
