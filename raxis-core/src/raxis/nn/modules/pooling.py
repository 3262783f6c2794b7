"""Layers that take the maximum, the mean or a norm over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPool(Module):
    """Holds what maximum pooling layers share."""

    def __init__(
        self,
        kernel_size: SizeLike,
        stride: SizeLike | None = None,
        padding: SizeLike = 0,
        dilation: SizeLike = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The maximum over windows of the last dimension of (N, C, L) or (C, L).

    Args:
        kernel_size: length of the window.
        stride: step between windows; `kernel_size` when omitted.
        padding: elements of negative infinity on both sides.
        dilation: distance between the elements of a window.
        return_indices: whether to return the places of the maxima too.
        ceil_mode: whether a window may start inside and end outside.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MaxPool1d(2)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist()
        [[3.0, 2.0]]
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.max_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool2d(_MaxPool):
    """The maximum over windows of the last two dimensions; arguments as of `MaxPool1d`, one int or two.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.MaxPool2d(3, stride=2)(raxis.zeros(2, 4, 9, 7)).shape)
        (2, 4, 4, 3)
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.max_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool3d(_MaxPool):
    """The maximum over windows of the last three dimensions; arguments as of `MaxPool1d`, one int or three.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.MaxPool3d(2)(raxis.zeros(1, 4, 6, 8)).shape)
        (1, 2, 3, 4)
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.max_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class _AvgPool(Module):
    """What ``repr`` shows of both mean pooling layers."""

    kernel_size: SizeLike
    stride: SizeLike
    padding: SizeLike
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The mean over windows of the last dimension of (N, C, L) or (C, L).

    Args:
        kernel_size: length of the window.
        stride: step between windows; `kernel_size` when omitted.
        padding: zeros on both sides.
        ceil_mode: whether a window may start inside and end outside.
        count_include_pad: whether the zeros of the padding count as elements.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.AvgPool1d(2)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist()
        [[2.0, 1.0]]
    """

    def __init__(
        self,
        kernel_size: SizeLike,
        stride: SizeLike | None = None,
        padding: SizeLike = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else repeated(stride, 1)
        self.padding = repeated(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class _SpatialAvgPool(_AvgPool):
    """Holds what mean pooling over two and three dimensions share."""

    def __init__(
        self,
        kernel_size: SizeLike,
        stride: SizeLike | None = None,
        padding: SizeLike = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class AvgPool2d(_SpatialAvgPool):
    """The mean over windows of the last two dimensions; arguments as of `AvgPool1d`, one int or two.

    `divisor_override` divides the sum of a window by another number than its size.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AvgPool2d(3, stride=2)(raxis.zeros(2, 4, 9, 7)).shape)
        (2, 4, 4, 3)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d(_SpatialAvgPool):
    """The mean over windows of the last three dimensions; arguments as of `AvgPool2d`, one int or three.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AvgPool3d(2)(raxis.zeros(1, 4, 6, 8)).shape)
        (1, 2, 3, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class _LPPool(Module):
    """Holds what the layers that take a norm share."""

    def __init__(
        self,
        norm_type: float,
        kernel_size: SizeLike,
        stride: SizeLike | None = None,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The `norm_type`-norm of windows of the last dimension of (N, C, L) or (C, L).

    Args:
        norm_type: the exponent p of (Σ x^p)^(1/p).
        kernel_size: length of the window.
        stride: step between windows; `kernel_size` when omitted.
        ceil_mode: whether a window may start inside and end outside.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.LPPool1d(2, 2)(raxis.tensor([[3.0, 4.0, 0.0, 0.0]])).tolist()
        [[5.0, 0.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPool):
    """The `norm_type`-norm of windows of the last two dimensions; arguments as of `LPPool1d`, one int or two.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LPPool2d(2, 3, stride=2)(raxis.zeros(2, 4, 9, 7)).shape)
        (2, 4, 4, 3)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPool):
    """The `norm_type`-norm of windows of the last three dimensions; arguments as of `LPPool1d`, one int or three.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.LPPool3d(2, 2)(raxis.zeros(1, 4, 6, 8)).shape)
        (1, 2, 3, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
