"""Lowering the learning rate when training stops getting better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, SupportsFloat

from raxis.optim.lr_scheduler.base import LRScheduler, learning_rates, require_optimizer, set_learning_rate

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rates by `factor` when a measurement has not improved for `patience` steps.

    Args:
        optimizer: whose learning rates to set.
        mode: ``"min"`` if smaller measurements are better, ``"max"`` if greater ones are.
        factor: what learning rates are multiplied by, below 1.
        patience: number of steps without improvement that are tolerated.
        threshold: how much better a measurement must be to count as an improvement.
        threshold_mode: whether `threshold` is relative (``"rel"``) to the best one or absolute (``"abs"``).
        cooldown: number of steps after a change in which nothing is counted.
        min_lr: lowest learning rate, for all groups or for each.
        eps: smaller changes are not made.

    Raises:
        ValueError: `factor` is 1 or more, a mode is not known, or the number of `min_lr` is not that of the groups.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
        >>> schedule.step(2.0); schedule.step(3.0)
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        _check(factor, mode, threshold_mode)
        require_optimizer(optimizer)
        count = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, Sequence) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self._last_lr = learning_rates(optimizer)

    def step(self, metrics: SupportsFloat) -> None:  # type: ignore[override]
        """Take note of a measurement, a number or a tensor with one element."""
        current = float(metrics)
        self.last_epoch += 1
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = learning_rates(self.optimizer)

    @property
    def in_cooldown(self) -> bool:
        """Whether measurements are not counted at present."""
        return self.cooldown_counter > 0

    def _is_better(self, current: float) -> bool:
        sign = 1.0 if self.mode == "max" else -1.0
        if self.threshold_mode == "rel":
            return sign * current > sign * self.best * (1.0 + sign * self.threshold)
        return sign * current > sign * self.best + self.threshold

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        for group, present, lowest in zip(groups, learning_rates(self.optimizer), self.min_lrs, strict=True):
            reduced = max(present * self.factor, lowest)
            if present - reduced > self.eps:
                set_learning_rate(group, reduced)


def _check(factor: float, mode: str, threshold_mode: str) -> None:
    if factor >= 1.0:
        raise ValueError(f"Factor should be < 1.0, but got {factor}.")
    if mode not in ("min", "max"):
        raise ValueError(f"mode {mode} is unknown! Expected 'min' or 'max'.")
    if threshold_mode not in ("rel", "abs"):
        raise ValueError(f"threshold mode {threshold_mode} is unknown! Expected 'rel' or 'abs'.")
