"""Which steps of a loop are profiled."""

from __future__ import annotations

import enum
from collections.abc import Callable


class ProfilerAction(enum.Enum):
    """What the profiler does in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What is profiled: what the host runs. Kernels of other devices appear as their launches, with or without CUDA."""

    CPU = 0
    CUDA = 2


def supported_activities() -> set[ProfilerActivity]:
    """What is measured."""
    return {ProfilerActivity.CPU}


def always(_: int) -> ProfilerAction:
    """Profile every step."""
    return ProfilerAction.RECORD


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Which steps are profiled: none of the first `skip_first`, then cycles of `wait`, `warmup`, `active` steps.

    Args:
        wait: steps of a cycle in which nothing happens.
        warmup: steps that are profiled and thrown away, so that what is made once does not count.
        active: steps that are profiled; after the last the trace is ready.
        repeat: number of cycles; 0 goes on forever.
        skip_first: steps before the first cycle.

    Raises:
        ValueError: if a number is negative, or `active` is 0.

    Example:
        >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError(
            "schedule: wait, warmup, repeat and skip_first must not be negative and active must be positive, but got "
            f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}."
        )
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        cycle, at = divmod(step - skip_first, length)
        if step < skip_first or (repeat and cycle >= repeat) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action
