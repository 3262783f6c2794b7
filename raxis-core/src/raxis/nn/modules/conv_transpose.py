"""Transposed convolution layers: the gradient of a convolution with respect to its input, as a layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.conv import ConvolutionLayer, check_channels
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class TransposedConvolution(ConvolutionLayer):
    """A transposed convolution over the last `_spatial_dims` dimensions."""

    def __init__(
        self,
        in_channels: int,
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__()
        check_channels(in_channels, out_channels, groups)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = repeated(kernel_size, self._spatial_dims)
        self.stride = repeated(stride, self._spatial_dims)
        self.padding = repeated(padding, self._spatial_dims)
        self.output_padding = repeated(output_padding, self._spatial_dims)
        self.dilation = repeated(dilation, self._spatial_dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._register_parameters(bias, device, dtype)

    def _weight_shape(self) -> tuple[int, ...]:
        return self.in_channels, self.out_channels // self.groups, *self.kernel_size

    def _padding_for(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What to add to one side of the result so that it has the size `output_size`."""
        if output_size is None:
            return self.output_padding
        wanted = tuple(output_size)[-self._spatial_dims :]
        given = tuple(input.shape)[-self._spatial_dims :]
        smallest = [
            (size - 1) * step - 2 * padding + spread * (kernel - 1) + 1
            for size, step, padding, spread, kernel in zip(
                given, self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        for size, low, step in zip(wanted, smallest, self.stride, strict=True):
            if not low <= size < low + step:
                raise ValueError(
                    f"requested an output size of {wanted}, but valid sizes range from {smallest} to "
                    f"{[low + step - 1 for low, step in zip(smallest, self.stride, strict=True)]} "
                    f"(for an input of {given})"
                )
        return tuple(size - low for size, low in zip(wanted, smallest, strict=True))

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}", f"{self.out_channels}"]
        parts += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if any(self.padding):
            parts.append(f"padding={self.padding}")
        if any(spread != 1 for spread in self.dilation):
            parts.append(f"dilation={self.dilation}")
        if any(self.output_padding):
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        return ", ".join(parts)


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution of (N, C, L) or (C, L).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: length of the filters.
        stride: step between the places where filters are added.
        padding: elements cut off on both sides.
        output_padding: elements added on one side.
        groups: into how many independent parts the channels are divided.
        bias: whether a learned number is added per output channel.
        dilation: distance between the elements of a filter.
        padding_mode: must be ``"zeros"``.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        ValueError: channels and groups do not fit, or on a call an `output_size` is not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ConvTranspose1d(3, 8, 4, stride=2)(raxis.zeros(2, 3, 10)).shape)
        (2, 8, 22)
    """

    _spatial_dims = 1

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        added = self._padding_for(input, output_size)
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution of (N, C, H, W) or (C, H, W); arguments as of `ConvTranspose1d`.

    Raises:
        ValueError: channels and groups do not fit, or on a call an `output_size` is not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ConvTranspose2d(3, 8, 2, stride=2)(raxis.zeros(2, 3, 5, 6)).shape)
        (2, 8, 10, 12)
    """

    _spatial_dims = 2

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        added = self._padding_for(input, output_size)
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W); arguments as of `ConvTranspose1d`.

    Raises:
        ValueError: channels and groups do not fit, or on a call an `output_size` is not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.ConvTranspose3d(1, 2, 2, stride=2)(raxis.zeros(1, 1, 2, 3, 4)).shape)
        (1, 2, 4, 6, 8)
    """

    _spatial_dims = 3

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        added = self._padding_for(input, output_size)
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation
        )
