"""Layers that set random parts of their input to zero while training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    """Holds the probability that all dropout layers share."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Sets every element to zero with probability `p` and scales the others by 1/(1-p); identity in evaluation.

    Source: G. Hinton et al., "Improving neural networks by preventing co-adaptation of feature detectors", 2012.

    Raises:
        ValueError: `p` is not between 0 and 1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.Dropout(0.2).eval()(raxis.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Sets whole channels of (N, C, L) or (C, L) to zero with probability `p`, like `Dropout` otherwise.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Dropout1d(0.2)(raxis.ones(2, 3, 4)).shape)
        (2, 3, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Sets whole channels of (N, C, H, W) or (C, H, W) to zero with probability `p`, like `Dropout` otherwise.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Dropout2d(0.2)(raxis.ones(2, 3, 4, 4)).shape)
        (2, 3, 4, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Sets whole channels of (N, C, D, H, W) or (C, D, H, W) to zero with probability `p`, like `Dropout`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.Dropout3d(0.2)(raxis.ones(2, 3, 4, 4, 4)).shape)
        (2, 3, 4, 4, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout for `SELU`: elements are set so that mean and variance of the input are kept.

    Source: G. Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.AlphaDropout(0.2).eval()(raxis.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels of (N, C, ...).

    Source: G. Klambauer et al., "Self-normalizing neural networks", 2017.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> tuple(nn.FeatureAlphaDropout(0.2)(raxis.ones(2, 3, 4, 4)).shape)
        (2, 3, 4, 4)
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply the layer."""
        return F.feature_alpha_dropout(input, self.p, self.training)
