"""Layers that change the order of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Divides the channels of (N, C, ...) into `groups` and takes one of each group in turn.

    Source: X. Zhang et al., "ShuffleNet: an extremely efficient convolutional neural network for mobile devices", 2018.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.ChannelShuffle(2)(raxis.arange(4.0).reshape(1, 4, 1)).flatten().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
