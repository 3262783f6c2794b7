"""Losses that are negative log-likelihoods of a distribution, and losses with a margin between two scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.loss import ReducedLoss

if TYPE_CHECKING:
    from raxis.tensor import Tensor

__all__ = ["GaussianNLLLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "PoissonNLLLoss", "SoftMarginLoss"]


class PoissonNLLLoss(ReducedLoss):
    """The negative log-likelihood of a Poisson distribution whose mean (or its logarithm) is the input.

    Args:
        log_input: whether the input is the logarithm of the mean.
        full: whether to add Stirling's approximation of the constant part.
        size_average: deprecated.
        eps: added to the mean before its logarithm is taken.
        reduce: deprecated.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.PoissonNLLLoss()(raxis.zeros(1), raxis.zeros(1)).item()
        1.0
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(ReducedLoss):
    """The negative log-likelihood of normal distributions whose means and variances are given.

    Source: D. Nix, A. Weigend, "Estimating the mean and variance of the target probability distribution", 1994.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.GaussianNLLLoss()(raxis.zeros(1), raxis.ones(1), raxis.ones(1)).item()
        0.5
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """Compute the loss of means, observations and variances."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class HingeEmbeddingLoss(ReducedLoss):
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
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of two tensors of the same shape."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(ReducedLoss):
    """max(0, `margin` - target · (input1 - input2)): which of two scores is to be higher.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> nn.MarginRankingLoss()(raxis.tensor([1.0]), raxis.tensor([3.0]), raxis.tensor([1.0])).item()
        2.0
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

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
