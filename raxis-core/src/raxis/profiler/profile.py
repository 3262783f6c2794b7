"""The profiler's interface, which is PyTorch's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from pathlib import Path
from types import TracebackType
from typing import Any

from raxis.interception import observer
from raxis.profiler.averages import EventList
from raxis.profiler.event import FunctionEvent
from raxis.profiler.export import METRICS, chrome_trace, folded_stacks, write_trace
from raxis.profiler.observer import Collector
from raxis.profiler.schedules import ProfilerAction, ProfilerActivity, always

_KEPT = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile:
    """Collects what the thread runs inside of a ``with`` block: ops, backward nodes, compiled calls, kernels.

    Only the thread that began it is profiled; others run as ever, a little slower. Profiles may be nested.

    Args:
        activities: members of `ProfilerActivity`; they make no difference.
        schedule: what to do in each step, see `raxis.profiler.schedule`; by default all is profiled.
        on_trace_ready: called with the profile when a cycle of the schedule, or the block, ends.
        record_shapes: keep the operands' shapes.
        profile_memory: keep how much the default device allocated.
        with_stack: keep the user's frames; `export_stacks` needs them.

    Raises:
        ValueError: for anything else among `activities`.

    Example:
        >>> import raxis
        >>> from raxis.profiler import profile
        >>> x = raxis.ones(4, 4)
        >>> with profile(record_shapes=True) as profiled:
        ...     y = x @ x + x
        >>> [(group.key, group.count) for group in profiled.key_averages() if group.key in ("matmul", "add")]
        [('matmul', 1), ('add', 1)]
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
    ) -> None:
        unknown = set(activities or ()) - set(ProfilerActivity)
        if unknown:
            given = ", ".join(sorted(map(repr, unknown)))
            raise ValueError(f"profile: activities holds members of ProfilerActivity, but got {given}.")
        self.schedule = schedule or always
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.step_num = 0
        self._has_steps = schedule is not None
        self._action = ProfilerAction.NONE
        self._collector: Collector | None = None
        self._step: FunctionEvent | None = None
        self._metadata: dict[str, Any] = {}
        self._events: list[FunctionEvent] | None = None

    # ---- beginning, steps, end ---------------------------------------------------------------------

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with step 0."""
        self.step_num = 0
        self._enter(self.schedule(0))

    def step(self) -> None:
        """The next step begins."""
        before = self._action
        self._end_step()
        self.step_num += 1
        following = self.schedule(self.step_num)
        if before is not ProfilerAction.RECORD or following not in _KEPT:
            self._finish(before is ProfilerAction.RECORD_AND_SAVE)
        self._has_steps = True
        self._enter(following)

    def stop(self) -> None:
        """End; a trace that is being collected is ready then."""
        self._end_step()
        self._finish(True)
        self._action = ProfilerAction.NONE

    def _enter(self, action: ProfilerAction) -> None:
        self._action = action
        if action is ProfilerAction.NONE:
            return
        if self._collector is None:
            self._collector = Collector(self.record_shapes, self.with_stack, self.profile_memory)
            self._collector.start()
        observing = observer()
        if self._has_steps and observing is not None:
            self._step = observing.begin(f"ProfilerStep#{self.step_num}", "step")

    def _end_step(self) -> None:
        observing = observer()
        if self._step is not None and observing is not None:
            observing.end(self._step)
        self._step = None

    def _finish(self, is_ready: bool) -> None:
        if self._collector is None:
            return
        collected = self._collector
        collected.stop()
        self._collector = None
        if self._action not in _KEPT:
            return
        self._events = collected.events
        if is_ready and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- what was collected ------------------------------------------------------------------------

    def events(self) -> EventList:
        """All events, in the order in which they began.

        Raises:
            RuntimeError: before the first trace is ready.
        """
        if self._events is None:
            raise RuntimeError(
                "the profile has no events yet; leave its block, or reach the end of a cycle, first."
            )
        return EventList(self._events, profile_memory=self.profile_memory)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Events of the same name taken together; its `table` is the usual way to look at a profile.

        Raises:
            RuntimeError: before the first trace is ready.
        """
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def add_metadata(self, key: str, value: str) -> None:
        """A note for the trace's file."""
        self._metadata[key] = value

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write a trace for chrome://tracing or https://ui.perfetto.dev; compressed if `path` ends with ``.gz``.

        Raises:
            RuntimeError: before the first trace is ready.
        """
        write_trace(path, chrome_trace(self.events(), self._metadata))

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write folded stacks, the input of flame graphs: the user's frames, then events down to kernels.

        Raises:
            RuntimeError: without ``with_stack=True``, or before the first trace is ready.
            ValueError: if `metric` is not "self_cpu_time_total".
        """
        if metric not in METRICS:
            raise ValueError(f"export_stacks: metric must be 'self_cpu_time_total', but got {metric!r}.")
        if not self.with_stack:
            raise RuntimeError("export_stacks needs the stacks; pass with_stack=True to profile.")
        Path(path).write_text("".join(f"{line}\n" for line in folded_stacks(self.events())), encoding="utf-8")


class record_function(ContextDecorator):
    """An event of the user's own: a ``with`` block, or a decorated function. Costs next to nothing unless profiled.

    Args:
        name: of the event.
        args: shown with it.

    Example:
        >>> import raxis
        >>> from raxis.profiler import profile, record_function
        >>> with profile() as profiled, record_function("my part"):
        ...     y = raxis.ones(2) + 1
        >>> [group.count for group in profiled.key_averages() if group.key == "my part"]
        [1]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._event: FunctionEvent | None = None

    def _recreate_cm(self) -> record_function:
        return record_function(self.name, self.args)  # calls of a decorated function may be nested

    def __enter__(self) -> record_function:
        observing = observer()
        self._event = (
            None if observing is None else observing.begin(self.name, "user", detail=self.args or "")
        )
        return self

    def __exit__(self, *exception: object) -> None:
        observing = observer()
        if self._event is not None and observing is not None:
            observing.end(self._event)
