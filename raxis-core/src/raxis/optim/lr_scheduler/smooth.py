"""Schedules that change the learning rate at every step."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raxis.optim.lr_scheduler.base import LRScheduler, learning_rates

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LambdaLR", "LinearLR", "PolynomialLR"]


class LambdaLR(LRScheduler):
    """Multiplies the initial learning rates by a function of the step, or by one function a group.

    Raises:
        ValueError: the number of functions is not that of the groups.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (step + 1))
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, Sequence) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        return [
            lr * factor(self.last_epoch) for factor, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """All variables but the optimizer; of the functions, the variables of those that are objects."""
        saved = [
            None if isinstance(function, types.FunctionType) else dict(vars(function))
            for function in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": saved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned; functions that are not objects stay as they are."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if saved is not None:
                vars(function).update(saved)


class ExponentialLR(LRScheduler):
    """Multiplies the learning rates by `gamma` every step.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        factor = 1.0 if self._is_first_step else self.gamma
        return [lr * factor for lr in learning_rates(self.optimizer)]

    def _get_closed_form_lr(self) -> list[float]:
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class LinearLR(LRScheduler):
    """Moves a factor of the learning rates evenly from `start_factor` to `end_factor` in `total_iters` steps.

    Raises:
        ValueError: `start_factor` is not in (0, 1] or `end_factor` not in [0, 1].

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.75]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0.0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1, "
                f"got {start_factor}."
            )
        if not 0.0 <= end_factor <= 1.0:
            raise ValueError(
                f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}."
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        factor = self._factor()
        return [lr * factor for lr in learning_rates(self.optimizer)]

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_first_step or self.last_epoch > self.total_iters:
            return 1.0
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)

    def _get_closed_form_lr(self) -> list[float]:
        change = self.end_factor - self.start_factor
        factor = self.start_factor + change * min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * factor for lr in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rates to `eta_min` along half a cosine in `T_max` steps, then raises them again.

    Source: I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", 2016.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> optimizer.step(); schedule.step()
        >>> round(schedule.get_last_lr()[0], 4)
        0.5
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        if self._is_first_step:
            return learning_rates(self.optimizer)
        present = zip(learning_rates(self.optimizer), self.base_lrs, strict=True)
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # At the bottom both sides of the ratio below vanish.
            return [lr + (base - self.eta_min) * (1.0 - self._cosine(1)) / 2.0 for lr, base in present]
        ratio = (1.0 + self._cosine(self.last_epoch)) / (1.0 + self._cosine(self.last_epoch - 1))
        return [ratio * (lr - self.eta_min) + self.eta_min for lr, _ in present]

    def _cosine(self, step: int) -> float:
        return math.cos(math.pi * step / self.T_max)

    def _get_closed_form_lr(self) -> list[float]:
        height = (1.0 + self._cosine(self.last_epoch)) / 2.0
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Lowers the learning rates to zero in `total_iters` steps, as the power `power` of the part that is left.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> schedule = raxis.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step."""
        factor = 1.0
        if not self._is_first_step and self.last_epoch <= self.total_iters:
            factor = self._left(self.last_epoch) / self._left(self.last_epoch - 1)
        return [lr * factor**self.power for lr in learning_rates(self.optimizer)]

    def _left(self, step: int) -> float:
        return 1.0 - step / self.total_iters

    def _get_closed_form_lr(self) -> list[float]:
        factor = self._left(min(self.total_iters, self.last_epoch)) ** self.power
        return [lr * factor for lr in self.base_lrs]
