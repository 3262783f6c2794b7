"""Transformations of functions: derivatives, and many examples at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.cases.case import Call, Case, tensor, values


class Problem(NamedTuple):
    """A library, a batch (x, y), and weights of a network of one hidden layer."""

    lib: Any
    x: Any
    y: Any
    weights: tuple[Any, Any]

    def loss(self, weights: tuple[Any, Any], x: Any, y: Any) -> Any:
        """The mean squared error of the network."""
        return ((self.outputs(weights[0], x) @ weights[1] - y) ** 2).mean()

    def outputs(self, weight: Any, x: Any) -> Any:
        """The hidden layer's."""
        return self.lib.tanh(x @ weight)


Work = Callable[[Problem], Call]

TRANSFORMS: dict[str, Work] = {
    "vmap of x * x.sum()": lambda p: partial(p.lib.func.vmap(lambda x: x * x.sum()), p.x),
    "vmap of x @ w": lambda p: partial(p.lib.func.vmap(lambda x: x @ p.weights[0]), p.x),
    "grad of a loss": lambda p: partial(p.lib.func.grad(p.loss), p.weights, p.x, p.y),
    "per-sample gradients": lambda p: partial(
        p.lib.func.vmap(p.lib.func.grad(p.loss), in_dims=(None, 0, 0)), p.weights, p.x, p.y
    ),
    "jacrev": lambda p: partial(p.lib.func.jacrev(partial(p.outputs, p.weights[0])), p.x[0]),
    "jacfwd": lambda p: partial(p.lib.func.jacfwd(partial(p.outputs, p.weights[0])), p.x[0]),
    "jvp": lambda p: partial(p.lib.func.jvp, partial(p.outputs, p.weights[0]), (p.x,), (p.x,)),
    "vjp": lambda p: lambda: p.lib.func.vjp(partial(p.outputs, p.weights[0]), p.x)[1](p.outputs(p.weights[0], p.x)),
    "hessian of a loss": lambda p: partial(p.lib.func.hessian(lambda x: p.loss(p.weights, x, p.y[0])), p.x[0]),
    "functional_call": lambda p: _functional_call(p),
}  # fmt: skip


def _functional_call(problem: Problem) -> Call:
    lib, width = problem.lib, problem.x.shape[1]
    model = lib.nn.Linear(width, problem.weights[0].shape[1], bias=False)
    parameters = {"weight": problem.weights[0].t().contiguous()}
    return partial(lib.func.functional_call, model, parameters, (problem.x,))


def _make(work: Work, batch: int, width: int, lib: ModuleType) -> Call:
    small = partial(values, low=-0.3, high=0.3)
    weights = tensor(lib, small((width, 2 * width))), tensor(lib, small((2 * width, 1), seed=1))
    x, y = tensor(lib, small((batch, width), seed=2)), tensor(lib, values((batch, 1)))
    return work(Problem(lib, x, y, weights))


def cases() -> Iterator[Case]:
    """All cases of function transforms."""
    for name, work in TRANSFORMS.items():
        yield Case("transform", f"{name}, batch 64 of 64", partial(_make, work, 64, 64), 64 * 64)
    for name in ("per-sample gradients", "jacfwd"):
        yield Case("transform", f"{name}, batch 8 of 8", partial(_make, TRANSFORMS[name], 8, 8), 64)
