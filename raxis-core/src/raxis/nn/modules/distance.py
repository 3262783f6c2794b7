"""Layers that compare two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`; norms below `eps` count as `eps`.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.CosineSimilarity(dim=0)(raxis.tensor([1.0, 0.0]), raxis.tensor([0.0, 2.0])).item()
        0.0
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The `p`-norm of the difference of vectors along the last dimension, `eps` added to every element.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.PairwiseDistance()(raxis.tensor([[3.0, 4.0]]), raxis.zeros(1, 2)).item(), 4)
        5.0
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Compare."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
