"""Losses that ask for a margin between scores or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.distance import PairwiseDistance
from raxis.nn.modules.loss import MarginLoss, ReducedLoss, WeightedLoss

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = [
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class HingeEmbeddingLoss(MarginLoss):
    """x where the target is 1, max(0, `margin` - x) where it is -1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.HingeEmbeddingLoss()(raxis.tensor([0.25]), raxis.tensor([-1.0])).item()
        0.75
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(MarginLoss):
    """max(0, `margin` - target · (input1 - input2)): which of two scores is to be higher.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MarginRankingLoss()(raxis.tensor([1.0]), raxis.tensor([3.0]), raxis.tensor([1.0])).item()
        2.0
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two scores and a target of 1 or -1."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(ReducedLoss):
    """log(1 + exp(-target · x)), the target being 1 or -1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.SoftMarginLoss()(raxis.zeros(1), raxis.ones(1)).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(WeightedLoss):
    """The mean over all other classes of max(0, `margin` - (score of the right class - theirs))^`p`.

    Args:
        p: 1 or 2.
        margin: by how much the right class is to be ahead.
        weight: one factor a class.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        ValueError: `p` is neither 1 nor 2, or `weight` has not one dimension.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MultiMarginLoss()(raxis.tensor([[0.5, 0.0]]), raxis.tensor([0])).item()
        0.25
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"MultiMarginLoss: only p == 1 and p == 2 are supported, got {p} instead")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores (N, C) or (C) and classes (N) or ()."""
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(ReducedLoss):
    """How much closer than by 1 the scores of other classes are to those of the right ones, of which there are several.

    A row of the target lists the right classes and ends with -1.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MultiLabelMarginLoss()(raxis.tensor([[0.5, 0.0]]), raxis.tensor([[0, -1]])).item()
        0.25
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores (N, C) or (C) and classes of the same shape."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """Binary cross entropy of the sigmoid of each class's score, the mean over classes; `weight` has a factor a class.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> round(nn.MultiLabelSoftMarginLoss()(raxis.zeros(1, 2), raxis.ones(1, 2)).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of scores (N, C) and targets of 0 or 1, of the same shape."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class TripletMarginLoss(ReducedLoss):
    """How much closer than by `margin` the negative is to the anchor, compared with the positive.

    With `swap` the distance between positive and negative is used where it is smaller than the anchor's.
    Source: V. Balntas et al., "Learning shallow convolutional feature descriptors with triplet losses", 2016.

    Raises:
        ValueError: `margin` is not positive.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> anchor, negative = raxis.zeros(1, 2), raxis.tensor([[3.0, 4.0]])
        >>> nn.TripletMarginLoss()(anchor, anchor, negative).item()
        0.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = _positive(self._get_name(), margin)
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss of three tensors (N, D) or (D)."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(ReducedLoss):
    """`TripletMarginLoss` with any distance: a function of two tensors, `PairwiseDistance` when omitted.

    Raises:
        ValueError: `margin` is not positive.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> loss = nn.TripletMarginWithDistanceLoss(distance_function=lambda x, y: (x - y).abs().amax(-1))
        >>> loss(raxis.zeros(1, 2), raxis.zeros(1, 2), raxis.tensor([[0.0, 0.25]])).item()
        0.75
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = _positive(self._get_name(), margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Compute the loss of three tensors (N, D) or (D)."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


def _positive(name: str, margin: float) -> float:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
    return margin
