"""Cost of one eager op on tiny tensors: what the framework adds to the arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType

import torch

import raxis
from benchmarks.timing import Comparison, compare

Case = tuple[str, Callable[[ModuleType], Callable[[], object]]]


def _binary(lib: ModuleType, grad: bool) -> Callable[[], object]:
    left = lib.ones(8, 8, requires_grad=grad)
    right = lib.ones(8, 8)
    return lambda: left + right


def _training(lib: ModuleType) -> Callable[[], object]:
    x = lib.ones(8, 8, requires_grad=True)

    def step() -> None:
        x.grad = None
        (x * 2).sum().backward()

    return step


def _unary(name: str) -> Callable[[ModuleType], Callable[[], object]]:
    def make(lib: ModuleType) -> Callable[[], object]:
        x = lib.ones(8, 8)
        return getattr(x, name)

    return make


def _views(lib: ModuleType) -> Callable[[], object]:
    x = lib.ones(8, 8)
    return lambda: x[2:5].t()


def _inplace(lib: ModuleType) -> Callable[[], object]:
    x, y = lib.ones(8, 8), lib.zeros(8, 8)
    return lambda: x.add_(y)


CASES: tuple[Case, ...] = (
    ("a + b, 8x8 float32", lambda lib: _binary(lib, False)),
    ("a + b, 8x8 float32, recorded", lambda lib: _binary(lib, True)),
    ("a.add_(b), 8x8", _inplace),
    ("exp, 8x8", _unary("exp")),
    ("sum, 8x8", _unary("sum")),
    ("x[2:5].t()", _views),
    ("(x * 2).sum().backward(), 8x8", _training),
)


def run(calls: int = 2000, rounds: int = 15) -> Iterator[Comparison]:
    """Every case, with one thread."""
    torch.set_num_threads(1)
    for name, make in CASES:
        yield compare(name, make(raxis), make(torch), calls=calls, rounds=rounds)
