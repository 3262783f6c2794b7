"""Recurrent layers and cells agree with PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_same, build_pair, to_raxis

LENGTH, BATCH, FEATURES, HIDDEN = 4, 3, 5, 6


def check(module: Any, reference: Any, given: torch.Tensor, state: Any) -> None:
    assert repr(module) == repr(reference)
    assert list(module.state_dict()) == list(reference.state_dict())
    copied = to_raxis(given)
    expected, expected_state = reference(given, state)
    actual, actual_state = module(copied, to_raxis(state))
    assert_same(actual, expected)
    assert_same(actual_state, expected_state)
    expected.sum().backward()
    actual.sum().backward()
    assert_same(copied.grad, given.grad)
    for name, parameter in module.named_parameters():
        assert_same(parameter.grad, reference.get_parameter(name).grad)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 2, "bias": False, "batch_first": True},
        {"num_layers": 2, "bidirectional": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("with_state", [False, True])
@pytest.mark.parametrize("batched", [False, True])
def test_layers(name: str, options: dict[str, Any], with_state: bool, batched: bool) -> None:
    module, reference = build_pair(name, FEATURES, HIDDEN, **options)
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shape: tuple[int, ...] = (LENGTH, FEATURES)
    state_shape: tuple[int, ...] = (count, HIDDEN)
    if batched:
        shape = (BATCH, LENGTH, FEATURES) if options.get("batch_first") else (LENGTH, BATCH, FEATURES)
        state_shape = (count, BATCH, HIDDEN)
    state: Any = None
    if with_state:
        state = torch.randn(state_shape, dtype=torch.float64)
        state = (state, torch.randn(state_shape, dtype=torch.float64)) if name == "LSTM" else state
    check(module, reference, torch.randn(shape, dtype=torch.float64, requires_grad=True), state)


def test_relu_and_projection() -> None:
    given = torch.randn(LENGTH, BATCH, FEATURES, dtype=torch.float64, requires_grad=True)
    module, reference = build_pair("RNN", FEATURES, HIDDEN, nonlinearity="relu")
    check(module, reference, given, None)
    given.grad = None
    module, reference = build_pair("LSTM", FEATURES, HIDDEN, num_layers=2, proj_size=3)
    check(module, reference, given, None)


@pytest.mark.parametrize(
    ("name", "options"), [("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu"}), ("GRUCell", {})]
)
def test_cells(name: str, options: dict[str, Any]) -> None:
    module, reference = build_pair(name, FEATURES, HIDDEN, **options)
    assert repr(module) == repr(reference)
    for shape in ((BATCH,), ()):
        given = torch.randn(*shape, FEATURES, dtype=torch.float64)
        state = torch.randn(*shape, HIDDEN, dtype=torch.float64)
        assert_same(module(to_raxis(given)), reference(given))
        assert_same(module(to_raxis(given), to_raxis(state)), reference(given, state))


def test_lstm_cell() -> None:
    module, reference = build_pair("LSTMCell", FEATURES, HIDDEN, bias=False)
    assert repr(module) == repr(reference)
    given = torch.randn(BATCH, FEATURES, dtype=torch.float64)
    states = (
        torch.randn(BATCH, HIDDEN, dtype=torch.float64),
        torch.randn(BATCH, HIDDEN, dtype=torch.float64),
    )
    assert_same(module(to_raxis(given)), reference(given))
    assert_same(module(to_raxis(given), to_raxis(states)), reference(given, states))


def test_base_classes() -> None:
    assert issubclass(nn.LSTM, nn.RNNBase)
    assert issubclass(nn.GRUCell, nn.RNNCellBase)
    module, reference = (library.RNNCellBase(2, 3, False, num_chunks=2) for library in (nn, torch.nn))
    assert repr(module) == repr(reference)
    assert tuple(module.weight_ih.shape) == tuple(reference.weight_ih.shape) == (6, 2)


def test_dropout_between_layers() -> None:
    module = nn.GRU(FEATURES, HIDDEN, num_layers=2, dropout=0.5)
    given = raxis.ones(LENGTH, BATCH, FEATURES)
    assert not raxis.equal(module(given)[0], module(given)[0])
    module.eval()
    assert raxis.equal(module(given)[0], module(given)[0])
    with pytest.warns(UserWarning, match="expects num_layers greater than 1"):
        nn.GRU(FEATURES, HIDDEN, dropout=0.5)


@pytest.mark.parametrize(
    "build",
    [
        lambda: nn.RNN(2, 3, nonlinearity="sine"),
        lambda: nn.RNNCell(2, 3, nonlinearity="sine"),
        lambda: nn.RNN(2, 0),
        lambda: nn.LSTM(2, 3, 0),
        lambda: nn.LSTM(2, 3, 2, dropout=1.5),
        lambda: nn.LSTM(2, 3, proj_size=3),
        lambda: nn.GRU(2, 3, proj_size=1),
        lambda: nn.GRU(2, 3)(raxis.zeros(2)),
        lambda: nn.GRUCell(2, 3)(raxis.zeros(1, 1, 2)),
    ],
)
def test_refuses_values(build: Any) -> None:
    with pytest.raises(ValueError):
        build()


def test_refuses_shapes() -> None:
    with pytest.raises(RuntimeError, match="Expected 2, got 3"):
        nn.GRU(2, 3)(raxis.zeros(4, 1, 3))
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(1, 5, 3\), got \[1, 4, 3\]"):
        nn.GRU(2, 3)(raxis.zeros(4, 5, 2), raxis.zeros(1, 4, 3))
