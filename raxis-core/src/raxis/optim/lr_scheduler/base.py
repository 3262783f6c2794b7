"""What all schedules share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from raxis.optim.optimizer import Optimizer
from raxis.optim.options import number
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.optim.groups import Group


def require_optimizer(optimizer: Any) -> None:
    """Refuse anything that is not an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def require_positive(name: str, value: Any) -> int:
    """`value`, if it is a positive int."""
    if isinstance(value, int) and value > 0:
        return value
    raise ValueError(f"Expected positive integer {name}, but got {value}")


def set_learning_rate(group: Group, value: float) -> None:
    """Change a group's learning rate, in place if it is a tensor."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(value)
    else:
        group["lr"] = value


def learning_rates(optimizer: Optimizer) -> list[float]:
    """The learning rates of all groups, as numbers."""
    return [number(group["lr"]) for group in optimizer.param_groups]


class LRScheduler:
    """Sets the learning rates of an optimizer's groups, step by step.

    Subclasses define `get_lr`, which may use ``self.last_epoch``, the groups' present learning rates and
    ``self.base_lrs``, those at the start. Several schedules of one optimizer multiply their effects.

    Args:
        optimizer: whose learning rates to set.
        last_epoch: number of steps already done when training is resumed, -1 at its start.

    Raises:
        TypeError: `optimizer` is not an Optimizer.
        KeyError: training is resumed, but the optimizer's groups do not contain ``initial_lr``.
    """

    last_epoch: int
    _step_count: int
    _last_lr: list[float]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler with "
                    "last_epoch >= 0. Load the optimizer's state first, or start with last_epoch=-1."
                )
        self.base_lrs = [number(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self.step()

    @property
    def _is_first_step(self) -> bool:
        """Whether the step in progress is the constructor's; on resuming, learning rates are already set then."""
        return self._step_count == 1

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for step ``self.last_epoch``."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr().")

    def _get_closed_form_lr(self) -> list[float]:
        """The learning rates computed from `base_lrs` alone, where a schedule can."""
        return self.get_lr()

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self) -> None:
        """Set the learning rates of the next step; to be called after ``optimizer.step()``."""
        if self._is_first_step and not self.optimizer.was_stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the opposite order; "
                "otherwise the first value of the learning rate schedule is skipped.",
                stacklevel=2,
            )
        self._step_count += 1
        self.last_epoch += 1
        self._set(self.get_lr())

    def _restart(self) -> None:
        """Set the learning rates of step 0, whatever they are now."""
        self.last_epoch = 0
        self._set(self._get_closed_form_lr())

    def _set(self, values: list[float]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_learning_rate(group, value)
        self._last_lr = learning_rates(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """All variables of the schedule but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        self.__dict__.update(state_dict)
