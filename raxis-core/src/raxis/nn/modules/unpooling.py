"""Layers that put maxima back where maximum pooling found them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from raxis.nn import functional as F
from raxis.nn.modules.module import Module
from raxis.nn.modules.sizes import repeated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raxis.nn.modules.sizes import SizeLike
    from raxis.tensor import Tensor

__all__ = ["MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d"]


class _MaxUnpool(Module):
    """Holds the windows over the last `_spatial_dims` dimensions that the maxima are from."""

    _spatial_dims: ClassVar[int]

    def __init__(self, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self._spatial_dims)
        self.stride = self.kernel_size if stride is None else repeated(stride, self._spatial_dims)
        self.padding = repeated(padding, self._spatial_dims)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The opposite of `MaxPool1d`: maxima (N, C, L) or (C, L) at their places, zeros elsewhere.

    Args:
        kernel_size: length of the window of the pooling.
        stride: its step; `kernel_size` when omitted.
        padding: its padding.

    A call takes the maxima, their places as `MaxPool1d` returns them with ``return_indices=True``, and the
    `output_size` where several would give the same number of windows.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> maxima, indices = nn.MaxPool1d(2, return_indices=True)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]]))
        >>> nn.MaxUnpool1d(2)(maxima, indices).tolist()
        [[0.0, 3.0, 2.0, 0.0]]
    """

    _spatial_dims = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_MaxUnpool):
    """The opposite of `MaxPool2d`; arguments as of `MaxUnpool1d`, one int or two.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> maxima, indices = nn.MaxPool2d(2, return_indices=True)(raxis.zeros(1, 4, 7))
        >>> tuple(nn.MaxUnpool2d(2)(maxima, indices, output_size=(4, 7)).shape)
        (1, 4, 7)
    """

    _spatial_dims = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_MaxUnpool):
    """The opposite of `MaxPool3d`; arguments as of `MaxUnpool1d`, one int or three.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> maxima, indices = nn.MaxPool3d(2, return_indices=True)(raxis.zeros(1, 4, 6, 8))
        >>> tuple(nn.MaxUnpool3d(2)(maxima, indices).shape)
        (1, 4, 6, 8)
    """

    _spatial_dims = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Apply the layer."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)
