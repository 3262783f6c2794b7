"""Modules as functions: per-example gradients, ensembles, `functional_call` itself; against `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis.func import functional_call, grad, stack_module_state, vmap
from tests.func.agreement import agree, as_raxis, numbers, paired, parameters

ROWS = numbers(0, 5, 3)
IMAGES = numbers(1, 5, 2, 6, 6)
LABELS = torch.tensor([0, 1, 2, 1, 0])

NETS: dict[str, tuple[Callable[[Any], Any], torch.Tensor]] = {
    "mlp": (lambda nn: nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3)), ROWS),
    "cnn": (
        lambda nn: nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, groups=2),
            nn.GroupNorm(2, 4), nn.Flatten(), nn.Linear(4, 3),
        ),
        IMAGES,
    ),
    "transformer": (
        lambda nn: nn.Sequential(
            nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True), nn.Flatten(), nn.Linear(20, 3)
        ),
        numbers(2, 5, 5, 4),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("chunk_size", [None, 2])
@pytest.mark.parametrize("name", NETS)
def test_per_example_gradients(name: str, chunk_size: int | None) -> None:
    make, inputs = NETS[name]
    net = paired(make)

    def body(m: Any, func: Any, x: Any, labels: Any) -> Any:
        def loss(state: Any, x: Any, label: Any) -> Any:
            logits = func.functional_call(net[m], state, (x.unsqueeze(0),))
            return m.nn.functional.cross_entropy(logits, label.unsqueeze(0))

        each = func.vmap(func.grad(loss), in_dims=(None, 0, 0), chunk_size=chunk_size)
        return each(parameters(net[m]), x, labels)

    agree(body, inputs, LABELS)


def test_per_example_gradients_sum_to_the_gradient() -> None:
    lstm = raxis.nn.LSTM(3, 4, batch_first=True).double()
    x = as_raxis(numbers(3, 2, 6, 3))

    def loss(state: Any, x: Any) -> Any:
        return functional_call(lstm, state, (x,))[0].pow(2).sum()

    each = vmap(grad(lambda state, x: loss(state, x.unsqueeze(0))), (None, 0))(parameters(lstm), x)
    whole = grad(loss)(parameters(lstm), x)
    for name, gradient in whole.items():
        np.testing.assert_allclose(each[name].sum(0).numpy(), gradient.numpy(), rtol=1e-9, atol=1e-12)


def test_ensembles() -> None:
    nets = [
        paired(lambda nn: nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2)))
        for _ in range(3)
    ]
    for net in nets:
        for module in net.values():
            module.eval()

    def body(m: Any, func: Any, x: Any) -> Any:
        state, buffers = func.stack_module_state([net[m] for net in nets])
        call = func.vmap(
            lambda state, buffers, x: func.functional_call(nets[0][m], (state, buffers), (x,)), (0, 0, None)
        )
        call(state, buffers, x).sum().backward()
        return state, buffers, call(state, buffers, x), {name: value.grad for name, value in state.items()}

    agree(body, ROWS)


def test_dropout_of_examples() -> None:
    net = raxis.nn.Dropout(0.5)
    found = vmap(lambda x: functional_call(net, {}, (x,)), randomness="different")(raxis.ones(3, 64))
    assert len({tuple(row) for row in found.tolist()}) == 3
    assert set(np.unique(found.numpy())) == {0.0, 2.0}
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(net)(raxis.ones(3, 64))


def test_batch_norm_cannot_update_what_examples_share() -> None:
    net = raxis.nn.BatchNorm1d(3)
    with pytest.raises(RuntimeError, match="inplace"):
        vmap(net)(raxis.ones(2, 4, 3))


def test_functional_call_leaves_the_module_as_it_was() -> None:
    linear = raxis.nn.Linear(2, 2)
    before = dict(linear.named_parameters())
    with pytest.raises(RuntimeError):
        functional_call(linear, {"weight": raxis.ones(2, 2)}, (raxis.ones(3),))
    assert all(value is before[name] for name, value in linear.named_parameters())


class _Tied:
    def __new__(cls, nn: Any) -> Any:
        class Tied(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first = nn.Linear(3, 3, bias=False)
                self.second = nn.Linear(3, 3, bias=False)
                self.second.weight = self.first.weight
                self.register_buffer("shift", (torch if nn is torch.nn else raxis).ones(3))

            def forward(self, x: Any, scale: float = 1.0) -> Any:
                return self.second(self.first(x)) * scale + self.shift

        return Tied()


def test_tied_weights_buffers_and_keyword_arguments() -> None:
    net = paired(_Tied)

    def body(m: Any, func: Any, x: Any, w: Any) -> Any:
        call = func.functional_call
        return (
            call(net[m], {"first.weight": w}, (x,)),
            call(net[m], {"second.weight": w, "shift": x[0]}, x, {"scale": 2.0}),
            call(net[m], {"first.weight": w}, (x,), tie_weights=False),
            call(net[m], [{"first.weight": w}, {"shift": x[1]}], (x,)),
            call(net[m], {"other": w}, (x,)),
            call(net[m], {"first.weight": w, "second.weight": w, "shift": x[0]}, (x,), strict=True),
        )

    agree(body, ROWS, numbers(4, 3, 3))


MODULE_ERRORS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "no dict": lambda m, func, net: func.functional_call(net, 3, (m.ones(3),)),
    "twice": lambda m, func, net: func.functional_call(
        net, ({"shift": m.ones(3)}, {"shift": m.ones(3)}), (m.ones(3),)
    ),
    "strict missing": lambda m, func, net: func.functional_call(net, {}, (m.ones(3),), strict=True),
    "tied differently": lambda m, func, net: func.functional_call(
        net, {"first.weight": m.ones(3, 3), "second.weight": m.zeros(3, 3)}, (m.ones(3),)
    ),
    "no models": lambda m, func, net: func.stack_module_state([]),
    "modes": lambda m, func, net: func.stack_module_state([m.nn.Linear(1, 1), m.nn.Linear(1, 1).eval()]),
    "classes": lambda m, func, net: func.stack_module_state([m.nn.Linear(1, 1), m.nn.ReLU()]),
    "requires grad": lambda m, func, net: func.stack_module_state(
        [m.nn.Linear(1, 1), m.nn.Linear(1, 1).requires_grad_(False)]
    ),
}


@pytest.mark.parametrize("name", MODULE_ERRORS)
def test_errors_have_the_classes_of_pytorch(name: str) -> None:
    net = paired(_Tied)
    with pytest.raises(Exception) as wanted:
        MODULE_ERRORS[name](torch, torch.func, net[torch])
    with pytest.raises(type(wanted.value)):
        MODULE_ERRORS[name](raxis, raxis.func, net[raxis])


def test_stacked_state_is_new() -> None:
    models = [raxis.nn.Linear(2, 1) for _ in range(3)]
    state, buffers = stack_module_state(models)
    assert buffers == {}
    assert state["weight"].is_leaf
    assert state["weight"].requires_grad
    with raxis.no_grad():
        state["weight"].zero_()
    assert any(model.weight.abs().sum().item() > 0 for model in models)
