"""Convolution layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import raxis
from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.reset import reset_affine
from raxis.nn.modules.sizes import repeated
from raxis.nn.parameter import Parameter

if TYPE_CHECKING:
    from raxis.device import Device
    from raxis.dtypes import DType
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "Conv3d"]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvolutionLayer(Module):
    """What convolutions and transposed convolutions over the last `_spatial_dims` dimensions share."""

    _spatial_dims: ClassVar[int]

    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    groups: int
    weight: Parameter
    bias: Parameter | None

    def _weight_shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def _register_parameters(self, bias: bool, device: Device | str | None, dtype: DType | None) -> None:
        self.weight = Parameter(raxis.empty(self._weight_shape(), device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(raxis.empty(self.out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        reset_affine(self.weight, self.bias)


class Convolution(ConvolutionLayer):
    """A convolution over the last `_spatial_dims` dimensions."""

    def __init__(
        self,
        in_channels: int,
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
        super().__init__()
        check_channels(in_channels, out_channels, groups)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = repeated(kernel_size, self._spatial_dims)
        self.stride = repeated(stride, self._spatial_dims)
        self.padding = padding if isinstance(padding, str) else repeated(padding, self._spatial_dims)
        self.dilation = repeated(dilation, self._spatial_dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check_padding()
        self._register_parameters(bias, device, dtype)

    def _weight_shape(self) -> tuple[int, ...]:
        return self.out_channels, self.in_channels // self.groups, *self.kernel_size

    def _check_padding(self) -> None:
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {self.padding!r}, should be one of ('same', 'valid')"
                )
            if self.padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {list(_PADDING_MODES)}, but got padding_mode='{self.padding_mode}'"
            )

    def _explicit_padding(self) -> list[int]:
        """Padding before and after every dimension, last dimension first, as `F.pad` takes it."""
        pairs: list[int] = []
        for size, spread, padding in zip(
            self.kernel_size, self.dilation, self._padding_or_zero(), strict=True
        ):
            total = spread * (size - 1)
            before, after = (total // 2, total - total // 2) if self.padding == "same" else (padding, padding)
            pairs = [before, after, *pairs]
        return pairs

    def _padding_or_zero(self) -> tuple[int, ...]:
        return (0,) * self._spatial_dims if isinstance(self.padding, str) else self.padding

    def _padded(self, input: Tensor) -> tuple[Tensor, tuple[int, ...] | str]:
        """The input and the padding that is left for the convolution to do."""
        if self.padding_mode == "zeros":
            return input, self.padding
        return F.pad(input, self._explicit_padding(), mode=self.padding_mode), (0,) * self._spatial_dims

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}", f"{self.out_channels}"]
        parts += [f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if any(self._padding_or_zero()) or isinstance(self.padding, str):
            parts.append(f"padding={self.padding}")
        if any(spread != 1 for spread in self.dilation):
            parts.append(f"dilation={self.dilation}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class Conv1d(Convolution):
    """Cross-correlation of (N, C, L) or (C, L) with `out_channels` filters over L.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: length of the filters.
        stride: step between applications.
        padding: zeros on both sides, or ``"same"`` or ``"valid"``.
        dilation: distance between the elements a filter sees.
        groups: into how many independent parts the channels are divided.
        bias: whether a learned number is added per output channel.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: where the parameters live.
        dtype: their floating dtype.

    Raises:
        ValueError: channels and groups do not fit, or a padding is not known or not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Conv1d(3, 8, 5, padding="same")(raxis.zeros(2, 3, 10)).shape)
        (2, 8, 10)
    """

    _spatial_dims = 1

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        input, padding = self._padded(input)
        return F.conv1d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv2d(Convolution):
    """Cross-correlation of (N, C, H, W) or (C, H, W) with `out_channels` filters over H and W.

    Arguments as of `Conv1d`; `kernel_size`, `stride`, `padding` and `dilation` are one int or two.

    Raises:
        ValueError: channels and groups do not fit, or a padding is not known or not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Conv2d(3, 8, 3, stride=2, padding=1)(raxis.zeros(2, 3, 32, 32)).shape)
        (2, 8, 16, 16)
    """

    _spatial_dims = 2

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        input, padding = self._padded(input)
        return F.conv2d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv3d(Convolution):
    """Cross-correlation of (N, C, D, H, W) or (C, D, H, W) with `out_channels` filters over D, H and W.

    Arguments as of `Conv1d`; `kernel_size`, `stride`, `padding` and `dilation` are one int or three.

    Raises:
        ValueError: channels and groups do not fit, or a padding is not known or not possible.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Conv3d(1, 2, 3)(raxis.zeros(1, 1, 4, 5, 6)).shape)
        (1, 2, 2, 3, 4)
    """

    _spatial_dims = 3

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        input, padding = self._padded(input)
        return F.conv3d(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


def check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    """Refuse channels that cannot be divided into `groups`."""
    if groups <= 0:
        raise ValueError(f"groups must be a positive integer, but got {groups}")
    if in_channels % groups:
        raise ValueError(f"in_channels must be divisible by groups, but got {in_channels} and {groups}")
    if out_channels % groups:
        raise ValueError(f"out_channels must be divisible by groups, but got {out_channels} and {groups}")
