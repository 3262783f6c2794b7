"""What a profiled thread tells what it runs; it hands the events to the profiles that are open on this thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from raxis.autograd.node import Node
from raxis.frames import user_frame
from raxis.interception import active
from raxis.ops import tables
from raxis.placement import get_default_device, place_of
from raxis.profiler.event import FunctionEvent
from raxis.tensor import Tensor

if TYPE_CHECKING:
    from raxis.backends.api import Executable
    from raxis.ptir.program import Value

_NOTHING = object()


@dataclass(eq=False)
class Collector:
    """The events of one profile.

    Attributes:
        shapes: keep the operands' shapes.
        stacks: keep the user's frames.
        memory: keep how many bytes were allocated.
        events: in the order in which they began.
    """

    shapes: bool = False
    stacks: bool = False
    memory: bool = False
    events: list[FunctionEvent] = field(default_factory=list)

    def start(self) -> None:
        """Collect what this thread runs from now on; plans are set aside, so that every call asks."""
        tables.set_aside()
        if active.observer is None:
            active.observer = Observer()
        active.observer.collectors.append(self)

    def stop(self) -> None:
        """Collect no more; events that still run end now.

        Raises:
            RuntimeError: on another thread than that of `start`.
        """
        observer = active.observer
        if observer is None or self not in observer.collectors:
            raise RuntimeError("a profile must be stopped on the thread that started it.")
        now = perf_counter_ns()
        for event in self.events:
            event.end_ns = event.end_ns or now
        observer.collectors.remove(self)
        if not observer.collectors:
            active.observer = None
        tables.restore()


class Observer:
    """Makes the events of one thread.

    Attributes:
        collectors: the profiles that are open.
        current: the innermost event that runs.
    """

    def __init__(self) -> None:
        self.collectors: list[Collector] = []
        self.current: FunctionEvent | None = None
        self._lines: Mapping[Value, str] = {}
        self._made: dict[int, FunctionEvent] = {}
        self._rebound: dict[Any, Callable[..., Any]] = {}

    def begin(self, name: str, kind: str, operands: Sequence[Any] = (), detail: str = "") -> FunctionEvent:
        """An event that begins now."""
        frame, _ = user_frame()
        event = FunctionEvent(
            name,
            kind,
            0,
            threading.get_ident(),
            f"{frame.f_code.co_filename}:{frame.f_lineno}",
            tuple(_frames(frame)) if self._any("stacks") else (),
            _shapes(operands) if self._any("shapes") else (),
            detail,
            cpu_parent=self.current,
        )
        if self.current is not None:
            self.current.cpu_children.append(event)
        for collector in self.collectors:
            collector.events.append(event)
        self.current = event
        event.cpu_memory_usage = -self._allocated()
        event.start_ns = perf_counter_ns()
        return event

    def end(self, event: FunctionEvent) -> None:
        """The event ends now, with all that still run in it."""
        now = perf_counter_ns()
        while self.current is not None and event in self.current.chain():
            inner, self.current = self.current, self.current.cpu_parent
            inner.end_ns = inner.end_ns or now
            inner.cpu_memory_usage += self._allocated()

    def begin_kernel(self, name: str, detail: str = "", values: Sequence[Value] = ()) -> FunctionEvent:
        """The event of a kernel, or of a library's routine, that begins now and computes values of its program."""
        lines = tuple(dict.fromkeys(self._lines[value] for value in values if value in self._lines))
        event = self.begin(f"kernel {name}", "kernel", detail=detail)
        if lines:
            event.lines, event.line = lines, lines[-1]
        return event

    def run(
        self,
        name: str,
        kind: str,
        function: Callable[..., Any],
        operands: Sequence[Any],
        void: Any = _NOTHING,
    ) -> Any:
        """``function(*operands)`` as an event; none if it returns `void`."""
        observed = self._observed(function)
        event = self.begin(name, kind, operands)
        try:
            result = observed(*operands)
        finally:
            self.end(event)
        if result is void:
            self._drop(event)
        else:
            self._note_nodes(event, result)
        return result

    def bound(self, name: str, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, as an event when it is called."""
        return lambda *operands: self.run(name, kind, function, operands)

    def run_node(self, node: Node, step: Callable[..., Any], gradients: Sequence[Any]) -> Any:
        """``step(node, gradients)`` as the event of a backward node."""
        event = self.begin(node.name(), "backward", gradients)
        event.forward = self._made.get(node.number)
        if event.forward is not None:
            event.line = event.forward.line
        try:
            return step(node, gradients)
        finally:
            self.end(event)

    def execute(self, executable: Executable, *arguments: Any) -> None:
        """Run an executable, each of its kernels as an event."""
        self._executable(executable)(*arguments)

    def _executable(self, executable: Executable) -> Executable:
        """`executable` with events; what it takes to make that is no part of any event."""
        observed: Callable[[], Executable] | None = getattr(executable, "observed", None)
        if observed is None:
            return partial(self._single, executable)
        return partial(self._several, observed(), getattr(executable, "lines", {}))

    def _several(self, observed: Executable, lines: Mapping[Value, str], *arguments: Any) -> None:
        before, self._lines = self._lines, lines
        try:
            observed(*arguments)
        finally:
            self._lines = before

    def _single(self, executable: Executable, *arguments: Any) -> None:
        event = self.begin_kernel(getattr(executable, "__name__", type(executable).__name__))
        try:
            executable(*arguments)
        finally:
            self.end(event)

    def _observed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`; what is generated code around an executable gets the observed one."""
        if isinstance(function, partial):
            return partial(self._observed(function.func), *function.args, **function.keywords)
        if not isinstance(function, FunctionType) or "_execute" not in function.__globals__:
            return function
        if function not in self._rebound:
            names = dict(function.__globals__)
            names["_execute"] = self._executable(names["_execute"])
            self._rebound[function] = FunctionType(function.__code__, names, function.__name__)
        return self._rebound[function]

    def _note_nodes(self, event: FunctionEvent, result: Any) -> None:
        for item in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(item, Tensor) and item._edge is not None:
                self._made.setdefault(item._edge[0].number, event)

    def _drop(self, event: FunctionEvent) -> None:
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_children.remove(event)
        for collector in self.collectors:
            collector.events.remove(event)

    def _any(self, option: str) -> bool:
        return any(getattr(collector, option) for collector in self.collectors)

    def _allocated(self) -> int:
        if not self._any("memory"):
            return 0
        place = place_of(get_default_device())
        return place.backend.memory_stats(place.index).get("allocated_bytes.all.current", 0)


def _frames(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        yield f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}"
        frame = frame.f_back


def _shapes(operands: Sequence[Any]) -> list[list[int]]:
    items = [item for value in operands for item in (value if isinstance(value, (tuple, list)) else (value,))]
    return [list(item._layout.shape) if isinstance(item, Tensor) else [] for item in items]
