"""Events: what ran from when to when, inside of what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class Interval(NamedTuple):
    """A span of time, in microseconds."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """Its length."""
        return self.end - self.start


@dataclass(eq=False)
class FunctionEvent:
    """One op, node of the backward pass, compiled call, kernel or `record_function` block.

    Times that are properties are in microseconds.

    Attributes:
        name: what ran.
        kind: "op", "backward", "compiled", "compile", "kernel", "user" or "step".
        start_ns: when it began, by `time.perf_counter_ns`.
        thread: identifier of the Python thread.
        line: the user's line, as ``file:line``; for a backward node that of the forward op, if that was profiled.
        stack: the user's frames, innermost first; empty without ``with_stack``.
        input_shapes: of the operands, ``[]`` for numbers; empty without ``record_shapes``.
        detail: what a kernel computes.
        lines: for a kernel of a compiled function, the lines of all that it computes; `line` is the last of them.
        cpu_parent: the event that it ran in.
        cpu_children: the events that ran in it.
        forward: for a backward node, the event of the forward op.
        end_ns: when it ended; None while it runs.
        cpu_memory_usage: bytes that were allocated and not freed meanwhile; 0 without ``profile_memory``.
    """

    name: str
    kind: str
    start_ns: int
    thread: int
    line: str
    stack: Sequence[str] = ()
    input_shapes: Sequence[Sequence[int]] = ()
    detail: str = ""
    lines: Sequence[str] = ()
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    forward: FunctionEvent | None = field(default=None, repr=False)
    end_ns: int | None = None
    cpu_memory_usage: int = 0

    count = 1

    @property
    def key(self) -> str:
        """What events are grouped by."""
        return self.name

    @property
    def duration_ns(self) -> int:
        """How long it took, in nanoseconds; 0 while it runs."""
        return 0 if self.end_ns is None else self.end_ns - self.start_ns

    @property
    def self_ns(self) -> int:
        """The part of it that no event inside of it took."""
        return self.duration_ns - sum(child.duration_ns for child in self.cpu_children)

    @property
    def time_range(self) -> Interval:
        """From when to when."""
        return Interval(self.start_ns / 1e3, (self.start_ns + self.duration_ns) / 1e3)

    @property
    def cpu_time_total(self) -> float:
        """How long it took."""
        return self.duration_ns / 1e3

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """How long it took without the events inside of it."""
        return self.self_ns / 1e3

    @property
    def self_cpu_memory_usage(self) -> int:
        """Its memory without that of the events inside of it."""
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def chain(self) -> Iterator[FunctionEvent]:
        """The event, the one around it, and so on."""
        event: FunctionEvent | None = self
        while event is not None:
            yield event
            event = event.cpu_parent
