"""Losses that are negative log-likelihoods of a distribution or of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raxis.nn import functional as F
from raxis.nn.modules.loss import ReducedLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from raxis.tensor import Tensor

__all__ = ["CTCLoss", "GaussianNLLLoss", "PoissonNLLLoss"]


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


class CTCLoss(ReducedLoss):
    """The negative log-likelihood of a sequence of labels, summed over all ways to align it with the input.

    Source: A. Graves et al., "Connectionist temporal classification", 2006.

    Args:
        blank: the class between labels.
        reduction: ``"mean"`` (each loss first divided by the length of its target), ``"sum"`` or ``"none"``.
        zero_infinity: whether losses of targets too long for their input, and their gradients, are zero.

    Example:
        >>> import raxis
        >>> from raxis import nn
        >>> logs = raxis.full((2, 1, 2), 0.5).log()
        >>> lengths = raxis.tensor([2]), raxis.tensor([1])
        >>> round(nn.CTCLoss()(logs, raxis.tensor([[1]]), *lengths).exp().item(), 4)
        1.3333
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """Compute the loss of log-probabilities (T, N, C) or (T, C) and labels (N, S) or all in one dimension."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
