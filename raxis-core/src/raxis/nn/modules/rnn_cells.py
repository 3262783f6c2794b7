"""Recurrent layers for one time step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

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

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """The parameters of a step that computes `num_chunks` vectors of the hidden size. Only subclasses are called.

    Example:
        >>> from raxis import nn
        >>> isinstance(nn.GRUCell(10, 20), nn.RNNCellBase)
        True
    """

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        for name, shape in shapes.items():
            self.register_parameter(name, Parameter(raxis.empty(shape, device=device, dtype=dtype)))
        for name in ("bias_ih", "bias_hh"):
            values = raxis.empty(rows, device=device, dtype=dtype) if bias else None
            self.register_parameter(name, None if values is None else Parameter(values))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from ±1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class _Cell(RNNCellBase):
    """One step of the kind `_mode`."""

    _mode: str
    _state_count: ClassVar[int] = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, GATES[self._mode], device, dtype)

    def _step(self, input: Tensor, given: State | None) -> State:
        if input.dim() not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        state = given or (input.new_zeros((*input.shape[:-1], self.hidden_size)),) * self._state_count
        from_input = F.linear(input, self.weight_ih, self.bias_ih)
        return step_of(self._mode)(from_input, F.linear(state[0], self.weight_hh, self.bias_hh), state)


class RNNCell(_Cell):
    """One step of `RNN`: input (N, input_size) or (input_size) and state to the new state.

    Raises:
        ValueError: `nonlinearity` is not known.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.RNNCell(10, 20)(raxis.zeros(3, 10)).shape)
        (3, 20)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self._mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The new state."""
        (state,) = self._step(input, None if hx is None else (hx,))
        return state

    def extra_repr(self) -> str:
        shown = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        return super().extra_repr() + shown


class GRUCell(_Cell):
    """One step of `GRU`: input (N, input_size) or (input_size) and state to the new state.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.GRUCell(10, 20)(raxis.zeros(3, 10)).shape)
        (3, 20)
    """

    _mode = "GRU"

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The new state."""
        (state,) = self._step(input, None if hx is None else (hx,))
        return state


class LSTMCell(_Cell):
    """One step of `LSTM`: input (N, input_size) or (input_size) and states to the new state and cell.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> state, cell = nn.LSTMCell(10, 20)(raxis.zeros(3, 10))
        >>> tuple(cell.shape)
        (3, 20)
    """

    _mode = "LSTM"
    _state_count = 2

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The new state and cell."""
        state, cell = self._step(input, hx)
        return state, cell
