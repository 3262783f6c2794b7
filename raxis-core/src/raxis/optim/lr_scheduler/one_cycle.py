"""One rise and one fall of the learning rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.optim.lr_scheduler.base import LRScheduler, require_optimizer, require_positive

if TYPE_CHECKING:
    from raxis.optim.groups import Group
    from raxis.optim.optimizer import Optimizer

__all__ = ["OneCycleLR"]


class Phase(NamedTuple):
    """A part of the cycle: where it ends, and between which options of a group values move."""

    end_step: float
    start_lr: str
    end_lr: str
    start_momentum: str
    end_momentum: str


class OneCycleLR(LRScheduler):
    """Raises the learning rates to `max_lr`, then lowers them far below their start; momentum goes the other way.

    Source: L. Smith, N. Topin, "Super-convergence: very fast training of neural networks using large learning
    rates", 2017.

    Args:
        optimizer: whose learning rates to set.
        max_lr: highest learning rate, for all groups or for each.
        total_steps: steps of the cycle; or give `epochs` and `steps_per_epoch`.
        epochs: see `total_steps`.
        steps_per_epoch: see `total_steps`.
        pct_start: part of the cycle in which learning rates rise.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        cycle_momentum: whether to change momentum (or the first of `betas`) too.
        base_momentum: lowest momentum, reached at `max_lr`.
        max_momentum: highest momentum.
        div_factor: `max_lr` divided by the learning rate at the start.
        final_div_factor: learning rate at the start divided by that at the end.
        three_phase: whether the fall ends at the learning rate of the start, and a third phase goes below.
        last_epoch: number of steps already done when training is resumed.

    Raises:
        ValueError: the number of steps is not given or not positive, an option is outside its range, the optimizer
            has no momentum to change, or `step` is called more often than there are steps.

    Example:
        >>> import raxis
        >>> optimizer = raxis.optim.SGD([raxis.nn.Parameter(raxis.zeros(1))], lr=1.0, momentum=0.9)
        >>> schedule = raxis.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> round(schedule.get_last_lr()[0], 4), optimizer.param_groups[0]["momentum"]
        (0.04, 0.95)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not 0.0 <= pct_start <= 1.0:
            raise ValueError(f"Expected pct_start between 0 and 1, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self.cycle_momentum = cycle_momentum
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum and not self.use_beta1 and "momentum" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        if last_epoch == -1:
            _set_learning_rate_range(optimizer, max_lr, div_factor, final_div_factor)
            if cycle_momentum:
                _set_momentum_range(optimizer, base_momentum, max_momentum)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The learning rates of all groups for this step; their momentum is set as well.

        Raises:
            ValueError: the cycle is over.
        """
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        phase, part = self._place()
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                self._set_momentum(
                    group, self._between(group[phase.start_momentum], group[phase.end_momentum], part)
                )
        return [self._between(group[phase.start_lr], group[phase.end_lr], part) for group in groups]

    def _place(self) -> tuple[Phase, float]:
        """The phase of this step, and the part of it that is over."""
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if self.last_epoch <= phase.end_step:
                break
            start = phase.end_step
        else:
            phase = self._schedule_phases[-1]
        return phase, (self.last_epoch - start) / (phase.end_step - start)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1.0)

    def _set_momentum(self, group: Group, value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def state_dict(self) -> dict[str, Any]:
        """All variables of the schedule but the optimizer."""
        return {
            **super().state_dict(),
            "_schedule_phases": [phase._asdict() for phase in self._schedule_phases],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` returned."""
        phases = [Phase(**phase) for phase in state_dict["_schedule_phases"]]
        super().load_state_dict({**state_dict, "_schedule_phases": phases})


def _total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        return require_positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return require_positive("epochs", epochs) * require_positive("steps_per_epoch", steps_per_epoch)


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[Phase]:
    rise = pct_start * total_steps - 1.0
    last = float(total_steps - 1)
    rising = Phase(rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three_phase:
        return [rising, Phase(last, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    fall = 2.0 * pct_start * total_steps - 2.0
    return [
        rising,
        Phase(fall, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
        Phase(last, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
    ]


def _for_groups(name: str, value: float | Sequence[float], optimizer: Optimizer) -> list[float]:
    """`value` as one number a group."""
    count = len(optimizer.param_groups)
    if not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: {count}, got {len(value)}"
        )
    return list(value)


def _set_learning_rate_range(
    optimizer: Optimizer, max_lr: float | Sequence[float], div_factor: float, final_div_factor: float
) -> None:
    for group, highest in zip(optimizer.param_groups, _for_groups("max_lr", max_lr, optimizer), strict=True):
        group["initial_lr"] = highest / div_factor
        group["max_lr"] = highest
        group["min_lr"] = group["initial_lr"] / final_div_factor


def _set_momentum_range(
    optimizer: Optimizer, base_momentum: float | Sequence[float], max_momentum: float | Sequence[float]
) -> None:
    lowest = _for_groups("base_momentum", base_momentum, optimizer)
    highest = _for_groups("max_momentum", max_momentum, optimizer)
    for group, low, high in zip(optimizer.param_groups, lowest, highest, strict=True):
        group["base_momentum"], group["max_momentum"] = low, high
