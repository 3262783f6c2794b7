"""`jacrev`, `jacfwd` and `hessian` against `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import raxis
from raxis.func import jacrev
from tests.func.agreement import agree, numbers, paired, parameters

x0 = numbers(0, 3)
X = numbers(1, 4, 3)
W = numbers(2, 3, 3)

CASES: dict[str, Callable[..., Any]] = {
    "vector": lambda m, jacobian, x, rows, w: jacobian(lambda x: w @ x.sin())(x),
    "scalar": lambda m, jacobian, x, rows, w: jacobian(lambda x: x.prod())(x),
    "of a number": lambda m, jacobian, x, rows, w: jacobian(lambda x: w * x)(x[0]),
    "matrix": lambda m, jacobian, x, rows, w: jacobian(lambda x: (w @ x.T).softmax(0))(rows),
    "integers besides": lambda m, jacobian, x, rows, w: jacobian(lambda x: x[m.tensor([1, 1, 0])] ** 2)(x),
    "no elements": lambda m, jacobian, x, rows, w: jacobian(lambda x: x * 2)(x[:0]),
    "constant": lambda m, jacobian, x, rows, w: jacobian(lambda x: w)(x),
    "several arguments": lambda m, jacobian, x, rows, w: jacobian(lambda x, w: w @ x, argnums=(1, 0))(x, w),
    "trees": lambda m, jacobian, x, rows, w: jacobian(
        lambda state, y: {"out": (state["a"] * y, state["b"][0].sum())}, argnums=(1, 0)
    )({"a": x, "b": [rows]}, x),
    "aux": lambda m, jacobian, x, rows, w: jacobian(lambda x: (x * 2, {"kept": x}), has_aux=True)(x),
    "twice": lambda m, jacobian, x, rows, w: jacobian(jacobian(lambda x: (w @ x.sin()).exp()))(x),
    "three times": lambda m, jacobian, x, rows, w: jacobian(jacobian(jacobian(lambda x: x.sin().prod())))(x),
    "over vmap": lambda m, jacobian, x, rows, w: jacobian(m.func.vmap(lambda x: (w @ x.sin()).exp()))(rows),
    "in vmap": lambda m, jacobian, x, rows, w: m.func.vmap(jacobian(lambda x: (w @ x.sin()).exp()))(rows),
    "solve": lambda m, jacobian, x, rows, w: m.func.vmap(
        jacobian(lambda x: m.linalg.solve(m.outer(x, x) + m.eye(3, dtype=x.dtype), x))
    )(rows),
    "convolution": lambda m, jacobian, x, rows, w: jacobian(
        lambda w: m.nn.functional.conv1d(rows.reshape(1, 3, 4), w.reshape(3, 3, 1)).sum(2)
    )(w),
}


@pytest.mark.parametrize("mode", ["jacrev", "jacfwd"])
@pytest.mark.parametrize("name", CASES)
def test_jacobians(name: str, mode: str) -> None:
    """Against PyTorch's reverse mode: its forward mode of `linalg.solve` in vmap is wrong (2.13)."""

    def body(m: Any, func: Any, *given: Any) -> Any:
        return CASES[name](m, func.jacrev if m is torch else getattr(func, mode), *given)

    agree(body, x0, X, W)


def test_mixed_modes_and_hessians() -> None:
    def body(m: Any, w: Any) -> Any:
        return lambda x: (w @ x.sin()).exp().sum()

    agree(lambda m, func, x, w: func.jacrev(func.jacfwd(body(m, w)))(x), x0, W)
    agree(lambda m, func, x, w: func.jacfwd(func.jacrev(body(m, w)))(x), x0, W)
    agree(lambda m, func, x, w: func.hessian(body(m, w))(x), x0, W)
    agree(lambda m, func, x, w: func.vmap(func.hessian(body(m, w)))(x), X, W)
    agree(lambda m, func, x, w: func.hessian(lambda x: func.vmap(body(m, w))(x).sum())(x), X, W)
    agree(lambda m, func, x, w: func.hessian(lambda x, w: (w @ x.sin()).sum(), argnums=(0, 1))(x, w), x0, W)
    agree(
        lambda m, func, x: func.hessian(lambda x: m.linalg.det(m.outer(x, x) + m.eye(3, dtype=x.dtype)))(x),
        x0,
    )


@pytest.mark.parametrize("chunk_size", [1, 2, 100])
def test_chunks(chunk_size: int) -> None:
    agree(lambda m, func, x: func.jacrev(lambda x: (x * x).sin(), chunk_size=chunk_size)(x), X)


def test_hessian_of_a_small_net() -> None:
    net = paired(lambda nn: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))

    def body(m: Any, func: Any, x: Any) -> Any:
        def loss(state: Any) -> Any:
            return (func.functional_call(net[m], state, (x,)) ** 2).mean()

        return func.hessian(loss)(parameters(net[m]))

    agree(body, X)


def test_hessian_vector_products() -> None:
    def body(m: Any, func: Any, x: Any, v: Any) -> Any:
        def scalar(x: Any) -> Any:
            return (x.sin() ** 3).prod()

        return func.jvp(func.grad(scalar), (x,), (v,))[1], func.vjp(func.grad(scalar), x)[1](v)[0]

    agree(body, x0, x0.flip(0))


def test_jacobians_are_on_the_tape_where_it_leads_outside() -> None:
    def body(m: Any, func: Any, x: Any, w: Any) -> Any:
        (func.jacrev(lambda x: w @ x**3)(x).sum() + func.jacfwd(lambda x: w @ x**3)(x).prod()).backward()
        return x.grad, w.grad

    agree(body, x0.clone().requires_grad_(), W.clone().requires_grad_())


def test_jacobian_of_cdist_row_by_row() -> None:
    x = raxis.from_numpy(X.numpy())
    found = jacrev(lambda x: raxis.cdist(x, x + 1))(x)
    wanted = torch.autograd.functional.jacobian(lambda x: torch.cdist(x, x + 1), X)
    torch.testing.assert_close(torch.from_numpy(found.numpy()), wanted)


ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "number returned": lambda m, func: func.jacrev(lambda x: 3.0)(m.ones(2)),
    "nothing returned": lambda m, func: func.jacfwd(lambda x: None)(m.ones(2)),
    "argnums": lambda m, func: func.jacrev(lambda x: x, argnums=3)(m.ones(2)),
    "integers": lambda m, func: func.jacrev(lambda x: x * 2)(m.arange(3)),
    "no tensor": lambda m, func: func.jacrev(lambda x: x)(3.0),
    "integers forward": lambda m, func: func.jacfwd(lambda x: x * 2)(m.arange(3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_have_the_classes_of_pytorch(name: str) -> None:
    with pytest.raises(Exception) as wanted:
        ERRORS[name](torch, torch.func)
    with pytest.raises(type(wanted.value)):
        ERRORS[name](raxis, raxis.func)
