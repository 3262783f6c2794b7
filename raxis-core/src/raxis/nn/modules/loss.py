"""Losses: how far an output is from what was wanted.

All take `reduction`: ``"mean"`` or ``"sum"`` over all elements, or ``"none"``. The older arguments `size_average` and
`reduce` are accepted where PyTorch has them and override `reduction`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.module import Module

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "NLLLoss2d",
    "SmoothL1Loss",
]


def resolved_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction meant by the deprecated pair of flags, or `reduction` when neither is given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        meant = "none"
    else:
        meant = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        stacklevel=4,
    )
    return meant


class ReducedLoss(Module):
    """Holds the reduction."""

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = resolved_reduction(size_average, reduce, reduction)


class WeightedLoss(ReducedLoss):
    """A loss with a weight a class or element, kept as a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(ReducedLoss):
    """The absolute difference.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.L1Loss()(raxis.tensor([1.0, 2.0]), raxis.tensor([0.0, 0.0])).item()
        1.5
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(ReducedLoss):
    """The squared difference.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MSELoss()(raxis.tensor([1.0, 2.0]), raxis.tensor([0.0, 0.0])).item()
        2.5
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(ReducedLoss):
    """0.5 d² / `beta` where the difference d is below `beta` in size, |d| - 0.5 `beta` elsewhere.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.SmoothL1Loss()(raxis.tensor([1.0, 3.0]), raxis.tensor([0.0, 0.0])).item()
        1.5
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(ReducedLoss):
    """0.5 d² where the difference d is below `delta` in size, `delta` · (|d| - 0.5 `delta`) elsewhere.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.HuberLoss()(raxis.tensor([1.0, 3.0]), raxis.tensor([0.0, 0.0])).item()
        1.5
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(WeightedLoss):
    """Binary cross entropy of probabilities; logarithms are limited to at least -100.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.BCELoss()(raxis.tensor([1.0]), raxis.tensor([1.0])).item()
        0.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(WeightedLoss):
    """Binary cross entropy of the sigmoid of the input, computed without overflow.

    `pos_weight` multiplies the part of the loss that belongs to positive targets.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.BCEWithLogitsLoss()(raxis.tensor([0.0]), raxis.tensor([1.0])).item(), 4)
        0.6931
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.binary_cross_entropy_with_logits(
            input, target, weight=self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class NLLLoss(WeightedLoss):
    """The negative of the log-probability of the right class.

    Args:
        weight: one factor a class; ``"mean"`` then divides by the sum of the factors used.
        size_average: deprecated.
        ignore_index: target that contributes nothing.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.NLLLoss()(raxis.tensor([[-0.5, -2.0]]), raxis.tensor([0])).item()
        0.5
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of log-probabilities (N, C, ...) or (C) and classes (N, ...) or ()."""
        return F.nll_loss(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under its former name for images; a FutureWarning says so.

    Example:
        >>> import warnings
        >>> from raxis import nn
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore", FutureWarning)
        ...     nn.NLLLoss2d().reduction
        'mean'
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        warnings.warn("NLLLoss2d is deprecated, NLLLoss does the same.", FutureWarning, stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(WeightedLoss):
    """The negative log-probability of the right class, from unnormalised scores.

    Args:
        weight: one factor a class; ``"mean"`` then divides by the sum of the factors used.
        size_average: deprecated.
        ignore_index: target that contributes nothing; only for targets that are classes.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.
        label_smoothing: part of the target that is spread evenly over all classes.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.CrossEntropyLoss()(raxis.zeros(1, 2), raxis.tensor([0])).item(), 4)
        0.6931
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores (N, C, ...) or (C) and classes, or probabilities of the scores' shape."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class KLDivLoss(ReducedLoss):
    """The Kullback-Leibler divergence of log-probabilities from a target, given as probabilities or their logarithms.

    ``reduction="batchmean"`` divides the sum by the size of the first dimension, which is the divergence as
    mathematics defines it.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.KLDivLoss(reduction="batchmean")(raxis.zeros(1, 1), raxis.ones(1, 1)).item()
        0.0
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class MarginLoss(ReducedLoss):
    """A loss with a margin, which is 0 unless given."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class CosineEmbeddingLoss(MarginLoss):
    """1 - cos where the target is 1, max(0, cos - `margin`) where it is -1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> vectors = raxis.tensor([[3.0, 0.0]])
        >>> nn.CosineEmbeddingLoss()(vectors, vectors, raxis.tensor([-1])).item()
        1.0
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of vectors (N, D) or (D) and targets (N) or ()."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)
