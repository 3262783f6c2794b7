"""Schedules that change the learning rate at some steps only."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from raxis.optim.lr_scheduler.base import LRScheduler, learning_rates

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["ConstantLR", "MultiStepLR", "StepLR"]


class _Piecewise(LRScheduler):
    """Multiplies all learning rates by a factor that depends on the step."""

    def _factor(self) -> float:
        """The learning rate of this step divided by that of the step before."""
        raise NotImplementedError

    def _total_factor(self) -> float:
        """The learning rate of this step divided by that at the start."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        factor = self._factor()
        return [lr * factor for lr in learning_rates(self.optimizer)]

    def _get_closed_form_lr(self) -> list[float]:
        factor = self._total_factor()
        return [lr * factor for lr in self.base_lrs]


class StepLR(_Piecewise):
    """Multiplies the learning rates by `gamma` every `step_size` steps.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        changes = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self.gamma if changes else 1.0

    def _total_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Piecewise):
    """Multiplies the learning rates by `gamma` at each of the steps `milestones`.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]

    def _total_factor(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(_Piecewise):
    """Multiplies the learning rates by `factor` until step `total_iters`.

    Raises:
        ValueError: `factor` is not between 0 and 1.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> raxis.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5).get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0.0 <= factor <= 1.0:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1, got {factor}.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _total_factor(self) -> float:
        return self.factor if self.last_epoch < self.total_iters else 1.0
