"""Layers that multiply by a matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.lazy import LazyModuleMixin
from raxis.nn.modules.module import Module
from raxis.nn.modules.reset import reset_affine
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Returns its input; takes and ignores any arguments.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Identity(54, unused=True)(raxis.ones(2)).tolist()
        [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """`input`, unchanged."""
        return input


class Linear(Module):
    """``input @ weight.T + bias``, from shape (..., in_features) to (..., out_features).

    Weight (out_features, in_features) and bias (out_features) start uniform in ±1/√in_features.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Linear(20, 30)(raxis.zeros(128, 20)).shape)
        (128, 30)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self._register_parameters(bias, device, dtype)

    def _register_parameters(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        shape = (self.out_features, self.in_features)
        self.weight = Parameter(raxis.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(raxis.empty(self.out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` layer that takes `in_features` from its first input.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> layer = nn.LazyLinear(30)
        >>> tuple(layer(raxis.zeros(128, 20)).shape)
        (128, 30)
        >>> layer
        Linear(in_features=20, out_features=30, bias=True)
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, out_features, bias, device, dtype)

    def _register_parameters(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        self._register_uninitialized({"weight": True, "bias": bias}, device, dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Take the number of features from `input`."""
        if self.has_uninitialized_params():
            self._materialize(weight=(self.out_features, input.shape[-1]), bias=(self.out_features,))
        self.in_features = self.weight.shape[-1]


class Bilinear(Module):
    """``input1 @ weight[k] @ input2 + bias[k]`` for every output feature k.

    Shapes: (..., in1_features) and (..., in2_features) to (..., out_features). Weight and bias start uniform in
    ±1/√in1_features.

    Raises:
        ValueError: `in1_features` is not positive.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Bilinear(3, 4, 5)(raxis.zeros(2, 3), raxis.zeros(2, 4)).shape)
        (2, 5)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(raxis.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(raxis.empty(out_features, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        bound = 1.0 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Apply the layer."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
