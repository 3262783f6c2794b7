"""How losses are reduced: the ``reduction`` argument and its deprecated predecessors."""

from __future__ import annotations

import warnings

from raxis.frames import user_stacklevel
from raxis.tensor import Tensor

LOSS_TAIL = "bool? size_average=None, bool? reduce=None, str reduction='mean'"
"""The last parameters of most losses."""


def chosen_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """``reduction``, or what the deprecated arguments say.

    Raises:
        ValueError: if it is not "none", "mean" or "sum".
    """
    if size_average is not None or reduce is not None:
        if reduce is False:
            reduction = "none"
        else:
            reduction = "sum" if size_average is False else "mean"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; expected 'none', 'mean' or 'sum'.")
    return reduction


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The losses themselves, their mean or their sum."""
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def warn_if_sizes_differ(input: Tensor, target: Tensor) -> None:
    """Warn that broadcasting a loss is rarely meant."""
    if input._layout.shape != target._layout.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
