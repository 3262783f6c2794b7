"""Transformed functions in compiled functions: recorded once, repeated as one program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raxis
from raxis.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vmap
from raxis.ptir import capture

W = raxis.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 0.25], [2.0, 1.0, -1.0]])


def _scalar(x: Any) -> Any:
    return (W @ x).sin().sum()


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "vmap": vmap(_scalar),
    "vmap of grad": vmap(grad(_scalar)),
    "grad of vmap": grad(lambda x: vmap(_scalar)(x).sum()),
    "jacobian": vmap(jacrev(lambda x: (W @ x).sin())),
    "forward": vmap(jacfwd(lambda x: (W @ x).sin())),
    "jvp": lambda x: jvp(vmap(_scalar), (x,), (x,))[1],
    "hessian": vmap(hessian(_scalar)),
    "writes": vmap(lambda x: x.new_zeros(3).add_(x).mul_(2)),
    "scan": vmap(lambda x: raxis.scan(lambda carry, x: (carry + x, carry * x), raxis.zeros(()), x)[1]),
    "random": vmap(lambda x: x + raxis.rand(3), randomness="different"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_repeat(name: str) -> None:
    function = FUNCTIONS[name]
    compiled = raxis.compile(function)
    inputs = [raxis.arange(6.0).reshape(2, 3) * scale for scale in (0.1, 0.2, 0.3)]
    raxis.manual_seed(0)
    wanted = [function(x) for x in inputs]
    raxis.manual_seed(0)
    found = [compiled(x) for x in inputs]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)
    assert [miss.kept for miss in compiled.misses()] == [None]


def test_per_example_gradients_of_a_module_are_one_program() -> None:
    net = raxis.nn.Sequential(raxis.nn.Linear(3, 4), raxis.nn.Tanh(), raxis.nn.Linear(4, 2))
    state = {name: value.detach() for name, value in net.named_parameters()}

    def each(state: Any, x: Any) -> Any:
        return vmap(grad(lambda state, x: functional_call(net, state, (x,)).pow(2).sum()), (None, 0))(
            state, x
        )

    compiled = raxis.compile(each)
    for scale in (1.0, 2.0):
        x = raxis.arange(6.0).reshape(2, 3) * scale
        found, wanted = compiled(state, x), each(state, x)
        for name, value in wanted.items():
            np.testing.assert_allclose(found[name].numpy(), value.numpy(), rtol=1e-5, atol=1e-6)
    assert [miss.kept for miss in compiled.misses()] == [None]


def test_backward_through_a_compiled_vmap() -> None:
    compiled = raxis.compile(vmap(lambda x: (W @ x).sin().sum()))
    for _ in range(2):
        x = raxis.ones(2, 3, requires_grad=True)
        compiled(x).sum().backward()
        y = raxis.ones(2, 3, requires_grad=True)
        vmap(_scalar)(y).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)


def test_compiled_functions_inside_of_vmap() -> None:
    compiled = raxis.compile(lambda x: (W @ x).sin())
    x = raxis.arange(6.0).reshape(2, 3)
    for _ in range(2):
        np.testing.assert_allclose(
            vmap(compiled)(x).numpy(), np.sin(x.numpy() @ W.numpy().T), rtol=1e-5, atol=1e-6
        )


def test_the_program_of_a_vmap_is_batched() -> None:
    program = capture(vmap(lambda x, w: w @ x, (0, None)), raxis.ones(5, 3), raxis.ones(4, 3))
    assert "dot_general" in program.text()
    assert [value.type.shape for value in program.results] == [(5, 4)]


def test_asking_for_elements_in_a_compiled_vmap() -> None:
    with pytest.raises(RuntimeError):
        raxis.compile(vmap(lambda x: x * x.sum().item()))(raxis.ones(2, 3))
