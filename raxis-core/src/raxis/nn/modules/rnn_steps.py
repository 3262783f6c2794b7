"""One time step of the recurrent layers, on inputs and states that are already multiplied by the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import raxis

if TYPE_CHECKING:
    from raxis.tensor import Tensor

    State: TypeAlias = tuple[Tensor, ...]
    Step: TypeAlias = Callable[[Tensor, Tensor, State], State]

GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}
"""How many vectors of the hidden size a step computes, by kind of layer."""


def step_of(mode: str) -> Step:
    """The step of a kind of layer: from both products and the old state to the new state."""
    steps: dict[str, Step] = {
        "RNN_TANH": _tanh_step,
        "RNN_RELU": _relu_step,
        "LSTM": _lstm_step,
        "GRU": _gru_step,
    }
    return steps[mode]


def _tanh_step(from_input: Tensor, from_hidden: Tensor, state: State) -> State:  # noqa: ARG001
    return (raxis.tanh(from_input + from_hidden),)


def _relu_step(from_input: Tensor, from_hidden: Tensor, state: State) -> State:  # noqa: ARG001
    return (raxis.relu(from_input + from_hidden),)


def _lstm_step(from_input: Tensor, from_hidden: Tensor, state: State) -> State:
    entry, forget, candidate, exit_ = (from_input + from_hidden).chunk(4, -1)
    cell = raxis.sigmoid(forget) * state[1] + raxis.sigmoid(entry) * raxis.tanh(candidate)
    return raxis.sigmoid(exit_) * raxis.tanh(cell), cell


def _gru_step(from_input: Tensor, from_hidden: Tensor, state: State) -> State:
    reset_input, update_input, new_input = from_input.chunk(3, -1)
    reset_hidden, update_hidden, new_hidden = from_hidden.chunk(3, -1)
    reset = raxis.sigmoid(reset_input + reset_hidden)
    update = raxis.sigmoid(update_input + update_hidden)
    candidate = raxis.tanh(new_input + reset * new_hidden)
    return (candidate + update * (state[0] - candidate),)
