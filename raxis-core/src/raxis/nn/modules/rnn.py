"""Recurrent layers over whole sequences."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.module import Module
from raxis.nn.modules.rnn_steps import GATES, step_of
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.nn.modules.rnn_steps import State
    from raxis.tensor import Tensor

__all__ = ["GRU", "LSTM", "RNN", "RNNBase"]


class RNNBase(Module):
    """What the recurrent layers share: layers, each in one or two directions, of the kind `mode`.

    Arguments as of `RNN`; `mode` is ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``. Only its subclasses
    are called.

    Example:
        >>> from raxis import nn
        >>> isinstance(nn.GRU(10, 20), nn.RNNBase)
        True
    """

    _state_count: ClassVar[int] = 1

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        _check(hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        for layer in range(num_layers):
            for direction in self._directions():
                for name, shape in self._shapes(layer).items():
                    values = raxis.empty(shape, device=device, dtype=dtype)
                    self.register_parameter(f"{name}_l{layer}{direction}", Parameter(values))
        self.reset_parameters()

    def _directions(self) -> tuple[str, ...]:
        """The endings of parameter names, one a direction."""
        return ("", "_reverse") if self.bidirectional else ("",)

    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        rows = GATES[self.mode] * self.hidden_size
        features = self._output_size() * len(self._directions()) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, features),
            "weight_hh": (rows, self._output_size()),
        }
        if self.bias:
            shapes.update(bias_ih=(rows,), bias_hh=(rows,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: parameters are used where they are. Kept because PyTorch's programs call it."""

    def _run(self, input: Tensor, given: State | None) -> tuple[Tensor, State]:
        """Output and last states for an input in the caller's layout."""
        batched = input.dim() == 3
        self._check_input(input)
        sequence = input if batched else input.unsqueeze(1)
        if batched and self.batch_first:
            sequence = sequence.transpose(0, 1)
        states = self._initial_states(sequence, given, batched)
        output, last = self._run_layers(sequence, states)
        if not batched:
            return output.squeeze(1), tuple(part.squeeze(1) for part in last)
        return output.transpose(0, 1) if self.batch_first else output, last

    def _check_input(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _initial_states(self, sequence: Tensor, given: State | None, batched: bool) -> State:
        count = self.num_layers * len(self._directions())
        batch = sequence.shape[1]
        # The first state is the output, the second one (LSTM's cell) is never projected.
        shapes = [
            (count, batch, size) for size in (self._output_size(), self.hidden_size)[: self._state_count]
        ]
        if given is None:
            return tuple(sequence.new_zeros(shape) for shape in shapes)
        states = given if batched else tuple(state.unsqueeze(1) for state in given)
        for state, shape in zip(states, shapes, strict=True):
            if tuple(state.shape) != shape:
                raise RuntimeError(f"Expected hidden size {shape}, got {list(state.shape)}")
        return states

    def _run_layers(self, sequence: Tensor, states: State) -> tuple[Tensor, State]:
        last: list[State] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                sequence = F.dropout(sequence, self.dropout, self.training)
            outputs = []
            for direction in self._directions():
                state = tuple(part[len(last)] for part in states)
                output, state = self._run_direction(sequence, f"_l{layer}{direction}", state)
                outputs.append(output)
                last.append(state)
            sequence = outputs[0] if len(outputs) == 1 else raxis.cat(outputs, dim=-1)
        return sequence, tuple(raxis.stack(parts) for parts in zip(*last, strict=True))

    def _run_direction(self, sequence: Tensor, name: str, state: State) -> tuple[Tensor, State]:
        step = step_of(self.mode)
        weight, bias = getattr(self, "weight_hh" + name), getattr(self, "bias_hh" + name, None)
        projection = getattr(self, "weight_hr" + name, None)
        # The products with the inputs do not depend on the state, so they are computed at once.
        products = F.linear(
            sequence, getattr(self, "weight_ih" + name), getattr(self, "bias_ih" + name, None)
        )
        backwards = name.endswith("_reverse")
        outputs = []
        for from_input in products.flip(0).unbind(0) if backwards else products.unbind(0):
            state = step(from_input, F.linear(state[0], weight, bias), state)
            if projection is not None:
                state = (F.linear(state[0], projection), *state[1:])
            outputs.append(state[0])
        return raxis.stack(outputs[::-1] if backwards else outputs), state

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}", f"{self.hidden_size}"]
        if self.proj_size:
            parts.append(f"proj_size={self.proj_size}")
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        if not self.bias:
            parts.append(f"bias={self.bias}")
        if self.batch_first:
            parts.append(f"batch_first={self.batch_first}")
        if self.dropout:
            parts.append(f"dropout={self.dropout}")
        if self.bidirectional:
            parts.append(f"bidirectional={self.bidirectional}")
        return ", ".join(parts)


class RNN(RNNBase):
    """h = tanh(W x + b + U h + c) for every element x of a sequence; or with ReLU instead of tanh.

    Shapes: input (L, N, input_size), or (N, L, input_size) with `batch_first`, or (L, input_size); states
    (num_layers · directions, N, hidden_size).

    Args:
        input_size: features of the input.
        hidden_size: features of the state.
        num_layers: layers on top of each other.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        bias: whether to add learned vectors.
        batch_first: whether input and output start with the batch.
        dropout: probability with which outputs between layers are set to zero while training.
        bidirectional: whether to go through sequences backwards too.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        ValueError: an argument is outside its range.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> output, state = nn.RNN(10, 20, 2)(raxis.zeros(5, 3, 10))
        >>> tuple(output.shape), tuple(state.shape)
        ((5, 3, 20), (2, 3, 20))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs of the last layer, and the last state of all layers."""
        output, (state,) = self._run(input, None if hx is None else (hx,))
        return output, state


class GRU(RNNBase):
    """Gated recurrent unit; arguments as of `RNN`, without `nonlinearity`.

    Source: K. Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> output, state = nn.GRU(10, 20, bidirectional=True)(raxis.zeros(5, 3, 10))
        >>> tuple(output.shape), tuple(state.shape)
        ((5, 3, 40), (2, 3, 20))
    """

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", input_size, hidden_size, *args, **kwargs)
        if self.proj_size:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Outputs of the last layer, and the last state of all layers."""
        output, (state,) = self._run(input, None if hx is None else (hx,))
        return output, state


class LSTM(RNNBase):
    """Long short-term memory; arguments as of `RNN`, without `nonlinearity`, and `proj_size`.

    With `proj_size` the output of a step is multiplied by one more matrix, to that many features.
    Source: S. Hochreiter, J. Schmidhuber, "Long short-term memory", 1997.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> output, (state, cell) = nn.LSTM(10, 20, batch_first=True)(raxis.zeros(3, 5, 10))
        >>> tuple(output.shape), tuple(cell.shape)
        ((3, 5, 20), (1, 3, 20))
    """

    _state_count = 2

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **kwargs)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Outputs of the last layer, and the last state and cell of all layers."""
        output, (state, cell) = self._run(input, hx)
        return output, (state, cell)


def _check(hidden_size: int, num_layers: int, dropout: float, proj_size: int) -> None:
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if not 0.0 <= dropout <= 1.0:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if not 0 <= proj_size < hidden_size:
        raise ValueError(f"proj_size must be zero or positive and smaller than hidden_size, got {proj_size}")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
