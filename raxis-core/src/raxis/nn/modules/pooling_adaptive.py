"""Layers that pool over windows chosen by the size of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raxis.tensor import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]


class _AdaptivePool(Module):
    """Holds the size of the result."""

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size: Any = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    """The mean over windows of the last dimension, chosen so that `output_size` results come out.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.AdaptiveAvgPool1d(2)(raxis.tensor([[1.0, 3.0, 2.0, 0.0]])).tolist()
        [[2.0, 1.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePool):
    """The mean over windows of the last two dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveAvgPool2d((5, None))(raxis.zeros(1, 64, 10, 9)).shape)
        (1, 64, 5, 9)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptivePool):
    """The mean over windows of the last three dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveAvgPool3d((5, None, 1))(raxis.zeros(1, 64, 10, 9, 8)).shape)
        (1, 64, 5, 9, 1)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPool(_AdaptivePool):
    """Holds whether the places of maxima are returned too."""

    def __init__(self, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


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


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maximum over windows of the last three dimensions, chosen so that `output_size` results come out.

    A size of None keeps the input's.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.AdaptiveMaxPool3d((5, None, 1))(raxis.zeros(1, 64, 10, 9, 8)).shape)
        (1, 64, 5, 9, 1)
    """

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Apply the layer."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
