"""One schedule after the other."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from raxis.optim.lr_scheduler.base import LRScheduler, require_optimizer, set_learning_rate
from raxis.optim.lr_scheduler.plateau import ReduceLROnPlateau

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["SequentialLR"]


class SequentialLR(LRScheduler):
    """Uses each of `schedulers` in turn; the next one takes over, from its step 0, at each of `milestones`.

    Raises:
        ValueError: there are no schedules, there is not one more than milestones, or one belongs to another
            optimizer or cannot be stepped without arguments.

    Example:
        >>> import raxis
        >>> from raxis.optim import lr_scheduler
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> parts = [lr_scheduler.ConstantLR(optimizer, 0.5), lr_scheduler.ExponentialLR(optimizer, 0.9)]
        >>> schedule = lr_scheduler.SequentialLR(optimizer, parts, milestones=[1])
        >>> schedule.get_last_lr()
        [0.5]
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        _check_parts(optimizer, schedulers, milestones)
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each part has set its own first learning rates; only those of the first one are to hold.
        for group in optimizer.param_groups:
            set_learning_rate(group, group["initial_lr"])
        _undo_first_step(schedulers)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def _initial_step(self) -> None:
        self._schedulers[0]._initial_step()

    def step(self) -> None:
        """Step the schedule whose turn it is."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        present = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            present._restart()
        else:
            present.step()
        self._last_lr = present.get_last_lr()

    def _restart(self) -> None:
        self.last_epoch = 0
        self._schedulers[0]._restart()
        self._last_lr = self._schedulers[0].get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """All variables but the optimizer, and the state of every part."""
        return {**super().state_dict(), "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for part, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(saved)


def _check_parts(optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int]) -> None:
    if not schedulers:
        raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
    for index, scheduler in enumerate(schedulers):
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                "SequentialLR does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                f"specified when calling `step`, but got one at index {index} in the given schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                "SequentialLR expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {index} with another {type(scheduler.optimizer).__name__}."
            )
    if len(milestones) != len(schedulers) - 1:
        raise ValueError(
            "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
            f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
            f"{len(milestones)}"
        )


def _undo_first_step(schedulers: list[LRScheduler]) -> None:
    for scheduler in schedulers:
        if isinstance(scheduler, SequentialLR):
            _undo_first_step(scheduler._schedulers)
        else:
            scheduler.last_epoch -= 1
