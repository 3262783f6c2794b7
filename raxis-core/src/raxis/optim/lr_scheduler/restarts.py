"""Cosine annealing that starts again and again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from raxis.optim.lr_scheduler.base import LRScheduler, require_positive

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingWarmRestarts"]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the learning rates to `eta_min` along half a cosine, then starts anew, each period `T_mult` times longer.

    Source: I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016.

    Args:
        optimizer: whose learning rates to set.
        T_0: steps of the first period.
        T_mult: length of a period divided by that of the one before.
        eta_min: lowest learning rate.
        last_epoch: number of steps already done when training is resumed.

    Raises:
        ValueError: `T_0` or `T_mult` is not a positive int.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> optimizer.step(); schedule.step()
        >>> round(schedule.get_last_lr()[0], 4)
        0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_0 = require_positive("T_0", T_0)
        self.T_mult = require_positive("T_mult", T_mult)
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        done, period = self.last_epoch, self.T_0
        while done >= period:
            done, period = done - period, period * self.T_mult
        height = (1.0 + math.cos(math.pi * done / period)) / 2.0
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]
