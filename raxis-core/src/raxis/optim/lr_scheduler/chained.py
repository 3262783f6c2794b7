"""Several schedules at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raxis.optim.lr_scheduler.base import LRScheduler, learning_rates

if TYPE_CHECKING:
    from raxis.optim.optimizer import Optimizer

__all__ = ["ChainedScheduler"]


class ChainedScheduler(LRScheduler):
    """Steps several schedules of one optimizer together, so that their effects multiply.

    Raises:
        ValueError: there are no schedules, or they belong to different optimizers.

    Example:
        >>> import raxis
        >>> from raxis.optim import lr_scheduler
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0)
        >>> parts = [lr_scheduler.ConstantLR(optimizer, 0.5), lr_scheduler.ExponentialLR(optimizer, 0.5)]
        >>> schedule = lr_scheduler.ChainedScheduler(parts)
        >>> optimizer.step(); schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no scheduler."
            )
        self.optimizer = optimizer or schedulers[0].optimizer
        for index, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(
                    "ChainedScheduler expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {index} with another {type(scheduler.optimizer).__name__}."
                )
        self._schedulers = list(schedulers)
        self._last_lr = learning_rates(self.optimizer)

    def step(self) -> None:
        """Step all schedules."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = learning_rates(self.optimizer)

    def state_dict(self) -> dict[str, Any]:
        """All variables but the optimizer, and the state of every part."""
        return {**super().state_dict(), "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for part, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            part.load_state_dict(saved)
