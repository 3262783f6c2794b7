"""Convolution layers that learn the number of channels from their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.nn.modules.conv import Conv1d, Conv2d, Conv3d, Convolution, ConvolutionLayer, check_channels
from raxis.nn.modules.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    TransposedConvolution,
)
from raxis.nn.modules.lazy import LazyModuleMixin

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConvolutionLayer(LazyModuleMixin, ConvolutionLayer):
    """Weight and bias that wait for `in_channels`."""

    def _register_parameters(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        self._register_uninitialized({"weight": True, "bias": bias}, device, dtype)

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from `input`."""
        channels = self._channels_of(input)
        check_channels(channels, self.out_channels, self.groups)
        self.in_channels = channels
        if self.has_uninitialized_params():
            self._materialize(weight=self._weight_shape(), bias=(self.out_channels,))

    def _channels_of(self, input: Tensor) -> int:
        unbatched = self._spatial_dims + 1
        if input.dim() not in (unbatched, unbatched + 1):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to {self._get_name()}, "
                f"but got input of size: {tuple(input.shape)}"
            )
        return input.shape[-unbatched]


class _LazyConvolution(_LazyConvolutionLayer, Convolution):
    """A convolution without `in_channels`."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: SizeLike,
        stride: SizeLike = 1,
        padding: SizeLike | str = 0,
        dilation: SizeLike = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            0, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )


class _LazyTransposedConvolution(_LazyConvolutionLayer, TransposedConvolution):
    """A transposed convolution without `in_channels`."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: SizeLike,
        stride: SizeLike = 1,
        padding: SizeLike = 0,
        output_padding: SizeLike = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: SizeLike = 1,
        padding_mode: str = "zeros",
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(
            0,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            bias,
            dilation,
            padding_mode,
            device,
            dtype,
        )


class LazyConv1d(_LazyConvolution, Conv1d):
    """A `Conv1d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConv1d(8, 3)(raxis.zeros(2, 3, 10)).shape)
        (2, 8, 8)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvolution, Conv2d):
    """A `Conv2d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConv2d(8, 3)(raxis.zeros(2, 3, 8, 9)).shape)
        (2, 8, 6, 7)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvolution, Conv3d):
    """A `Conv3d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConv3d(8, 3)(raxis.zeros(1, 3, 4, 5, 6)).shape)
        (1, 8, 2, 3, 4)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposedConvolution, ConvTranspose1d):
    """A `ConvTranspose1d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConvTranspose1d(8, 2, stride=2)(raxis.zeros(2, 3, 10)).shape)
        (2, 8, 20)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposedConvolution, ConvTranspose2d):
    """A `ConvTranspose2d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConvTranspose2d(8, 2, stride=2)(raxis.zeros(2, 3, 8, 9)).shape)
        (2, 8, 16, 18)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposedConvolution, ConvTranspose3d):
    """A `ConvTranspose3d` that takes `in_channels` from its first input; the other arguments are the same.

    Raises:
        RuntimeError: on the first call, when the input has another number of dimensions.
        ValueError: channels and groups do not fit.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LazyConvTranspose3d(8, 2, stride=2)(raxis.zeros(1, 3, 4, 5, 6)).shape)
        (1, 8, 8, 10, 12)
    """

    cls_to_become = ConvTranspose3d
