"""Normalisation over features, the same in training and evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import raxis
from raxis.nn import functional as F
from raxis.nn import init
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.tensor import Tensor

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _ScaleAndShift(Module):
    """A learned scale and shift that start as one and zero."""

    weight: Parameter | None
    bias: Parameter | None

    def _register(
        self, name: str, wanted: bool, shape: Sequence[int], device: Device | str | None, dtype: DType | None
    ) -> None:
        values = raxis.empty(tuple(shape), device=device, dtype=dtype) if wanted else None
        self.register_parameter(name, None if values is None else Parameter(values))

    def reset_parameters(self) -> None:
        """Set scale and shift to one and zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_ScaleAndShift):
    """Normalises the last dimensions to zero mean and unit variance, then scales and shifts their elements.

    Source: J. Ba et al., "Layer normalization", 2016.

    Args:
        normalized_shape: sizes of the dimensions to normalise, the last ones of the input.
        eps: added to the variance.
        elementwise_affine: whether to learn scale and shift.
        bias: whether to learn the shift; only with `elementwise_affine`.
        device: where the parameters live.
        dtype: their floating dtype.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LayerNorm(2, eps=0.0)(raxis.tensor([1.0, 3.0])).tolist()
        [-1.0, 1.0]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = repeated(normalized_shape, 1)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self._register("weight", elementwise_affine, self.normalized_shape, device, dtype)
        self._register("bias", elementwise_affine and bias, self.normalized_shape, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root of the mean square of the last dimensions, then scales their elements.

    Source: B. Zhang, R. Sennrich, "Root mean square layer normalization", 2019.

    Args:
        normalized_shape: sizes of the dimensions to normalise, the last ones of the input.
        eps: added to the mean square; the machine epsilon of the input's dtype when omitted.
        elementwise_affine: whether to learn the scale.
        device: where the parameter lives.
        dtype: its floating dtype.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.RMSNorm(2, eps=0.0)(raxis.tensor([3.0, 3.0])).tolist()
        [1.0, 1.0]
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = repeated(normalized_shape, 1)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        values = (
            raxis.empty(self.normalized_shape, device=device, dtype=dtype) if elementwise_affine else None
        )
        self.register_parameter("weight", None if values is None else Parameter(values))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the scale to one."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_ScaleAndShift):
    """Normalises groups of channels of (N, C, ...) in every example, then scales and shifts each channel.

    Source: Y. Wu, K. He, "Group normalization", 2018.

    Raises:
        ValueError: `num_channels` is not divisible by `num_groups`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.GroupNorm(1, 2, eps=0.0)(raxis.tensor([[1.0, 3.0]])).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._register("weight", affine, (num_channels,), device, dtype)
        self._register("bias", affine and bias, (num_channels,), device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides every channel of (N, C, ...) by (`k` + `alpha` · the mean square of `size` neighbouring channels)^`beta`.

    Source: A. Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LocalResponseNorm(1, alpha=1.0, beta=1.0)(raxis.tensor([[[1.0], [7.0]]])).tolist()
        [[[0.5], [0.14000000059604645]]]
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
