"""Calls on tensors of at most 64 elements, where the framework is all that takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from benchmarks.cases.case import Call, Case, tensor, values

Work = Callable[[ModuleType, Any, Any], object]

CREATE: dict[str, Work] = {
    "zeros(8, 8)": lambda lib, x, y: lib.zeros(8, 8),
    "ones((8, 8))": lambda lib, x, y: lib.ones((8, 8)),
    "zeros of float64": lambda lib, x, y: lib.zeros(8, 8, dtype=lib.float64),
    "ones, requires_grad": lambda lib, x, y: lib.ones(8, 8, requires_grad=True),
    "arange(0, 8, 0.5)": lambda lib, x, y: lib.arange(0, 8, 0.5),
    "linspace": lambda lib, x, y: lib.linspace(0, 1, 64),
    "eye": lambda lib, x, y: lib.eye(8),
    "ones_like": lambda lib, x, y: lib.ones_like(x),
    "full_like": lambda lib, x, y: lib.full_like(x, 3.0),
    "new_zeros": lambda lib, x, y: x.new_zeros(8),
    "tensor of a list": lambda lib, x, y: lib.tensor([1.0, 2.0, 3.0]),
    "tensor of nested lists": lambda lib, x, y: lib.tensor([[1, 2], [3, 4]]),
    "tensor of a number": lambda lib, x, y: lib.tensor(1.5),
}
VIEWS: dict[str, Work] = {
    "x[1, 2]": lambda lib, x, y: x[1, 2],
    "x[..., 0]": lambda lib, x, y: x[..., 0],
    "rows of x": lambda lib, x, y: list(x),
    "unsqueeze": lambda lib, x, y: x.unsqueeze(1),
    "x.T": lambda lib, x, y: x.T,
    "view(-1)": lambda lib, x, y: x.view(-1),
    "flatten": lambda lib, x, y: x.flatten(),
    "chunk": lambda lib, x, y: x.chunk(2),
    "unbind": lambda lib, x, y: x.unbind(0),
    "narrow": lambda lib, x, y: x.narrow(0, 1, 2),
    "detach": lambda lib, x, y: x.detach(),
}
VALUES: dict[str, Work] = {
    "item": lambda lib, x, y: y.item(),
    "float(y)": lambda lib, x, y: float(y),
    "bool(y)": lambda lib, x, y: bool(y),
    "tolist": lambda lib, x, y: x.tolist(),
    "numpy": lambda lib, x, y: x.numpy(),
    "shape": lambda lib, x, y: x.shape,
    "numel": lambda lib, x, y: x.numel(),
}
WRITES: dict[str, Work] = {
    "copy_": lambda lib, x, y: x.copy_(y),
    "fill_": lambda lib, x, y: x.fill_(2.0),
    "zero_": lambda lib, x, y: x.zero_(),
    "x[1:3] = 2": lambda lib, x, y: x.__setitem__(slice(1, 3), 2),
    "x[1] = row": lambda lib, x, y: x.__setitem__(1, x[0]),
    "uniform_": lambda lib, x, y: x.uniform_(),
}
OPERATORS: dict[str, Work] = {
    "x + 1": lambda lib, x, y: x + 1,
    "1 - x": lambda lib, x, y: 1 - x,
    "x ** 2": lambda lib, x, y: x**2,
    "x > 1": lambda lib, x, y: x > 1,
    "x @ x": lambda lib, x, y: x @ x,
    "-x": lambda lib, x, y: -x,
    "max(1)": lambda lib, x, y: x.max(1),
    "to(float64)": lambda lib, x, y: x.to(lib.float64),
    "to(own dtype)": lambda lib, x, y: x.to(lib.float32),
}


def _fresh_slices(lib: ModuleType) -> Call:
    """Slices that were never taken before, as in loops over batches."""
    x, start = lib.zeros(100_000, 2), 0

    def call() -> Any:
        nonlocal start
        start = (start + 1) % 90_000
        return x[start : start + 7]

    return call


def _recorded(work: Work, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, values((8, 8)), grad=True), tensor(lib, values(())))


RECORDED: dict[str, Work] = {
    "x + 1": lambda lib, x, y: x + 1,
    "x * x": lambda lib, x, y: x * x,
    "exp": lambda lib, x, y: x.exp(),
    "sum": lambda lib, x, y: x.sum(),
    "x[1:3]": lambda lib, x, y: x[1:3],
    "view(-1)": lambda lib, x, y: x.view(-1),
}


def _no_grad(lib: ModuleType) -> Call:
    def call() -> None:
        with lib.no_grad():
            pass

    return call


def _on(work: Work, lib: ModuleType) -> Call:
    return partial(work, lib, tensor(lib, values((8, 8))), tensor(lib, values(())))


def cases() -> Iterator[Case]:
    """All small cases."""
    groups = {"create": CREATE, "view": VIEWS, "values": VALUES, "write": WRITES, "operator": OPERATORS}
    for group, works in groups.items():
        for name, work in works.items():
            yield Case(f"small {group}", name, partial(_on, work), 64, compare=name != "uniform_")
    for name, work in RECORDED.items():
        yield Case("small recorded", name, partial(_recorded, work), 64)
    yield Case("small view", "x[i:j], i and j new", _fresh_slices, 14)
    yield Case("small recorded", "no_grad", _no_grad, 0, compare=False)
