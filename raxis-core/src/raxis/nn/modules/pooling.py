"""Layers that take the maximum or the mean over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]


class _MaxPool(Module):
    """Holds what both maximum pooling layers share."""

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


class AdaptiveAvgPool1d(Module):
    """The mean over windows of the last dimension, chosen so that `output_size` results come out.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.AdaptiveAvgPool1d(2)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist()
        [[2.0, 1.0]]
    """

    def __init__(self, output_size: int) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool1d(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool2d(Module):
    """The mean over windows of the last two dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveAvgPool2d((5, None))(raxis.zeros(1, 64, 10, 9)).shape)
        (1, 64, 5, 9)
    """

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size: Any = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool3d(Module):
    """The mean over windows of the last three dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveAvgPool3d((5, None, 1))(raxis.zeros(1, 64, 10, 9, 8)).shape)
        (1, 64, 5, 9, 1)
    """

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size: Any = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool3d(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(Module):
    """Holds what both adaptive maximum pooling layers share."""

    def __init__(self, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size: Any = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maximum over windows of the last dimension, chosen so that `output_size` results come out.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.AdaptiveMaxPool1d(2)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist()
        [[3.0, 2.0]]
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maximum over windows of the last two dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveMaxPool2d(3)(raxis.zeros(1, 64, 10, 9)).shape)
        (1, 64, 3, 3)
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)
