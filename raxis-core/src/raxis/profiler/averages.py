"""Events grouped by name, and their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from raxis.backends.messages import nearest
from raxis.profiler.event import FunctionEvent

SORT_KEYS = (
    "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count",
)  # fmt: skip
"""What a table can be sorted by."""


@dataclass
class FunctionEventAvg:
    """Events of one name (and shapes, and innermost frames) taken together; times are in microseconds.

    Attributes:
        key: the name.
        count: how many events there are.
        cpu_time_total: how long they took; an event inside of another of the group counts once.
        self_cpu_time_total: how long they took without the events inside of them.
        cpu_memory_usage: bytes allocated and not freed.
        self_cpu_memory_usage: the same without the events inside of them.
        input_shapes: of the operands; empty unless grouped by them.
        stack: innermost frames; empty unless grouped by them.
    """

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    cpu_memory_usage: int = 0
    self_cpu_memory_usage: int = 0
    input_shapes: Sequence[Sequence[int]] = ()
    stack: Sequence[str] = field(default=(), repr=False)

    @property
    def cpu_time(self) -> float:
        """How long one took on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent) -> None:
        """One more."""
        self.count += 1
        self.self_cpu_time_total += event.self_cpu_time_total
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        outer = event.cpu_parent
        if outer is None or all(around.name != event.name for around in outer.chain()):
            self.cpu_time_total += event.cpu_time_total
            self.cpu_memory_usage += event.cpu_memory_usage


class EventList(list[Any]):
    """Events, or groups of them, that can be shown as a table.

    Args:
        items: the events or groups.
        profile_memory: whether the table shows memory.
    """

    def __init__(self, items: Iterable[Any], *, profile_memory: bool = False) -> None:
        super().__init__(items)
        self.profile_memory = profile_memory

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events without counting any twice, in microseconds."""
        return sum(item.self_cpu_time_total for item in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0) -> EventList:
        """Groups of events of the same name, in the order of their first event."""
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else ()
            stack = tuple(event.stack[:group_by_stack_n])
            key = event.name, str(shapes), stack
            groups.setdefault(key, FunctionEventAvg(event.name, input_shapes=shapes, stack=stack)).add(event)
        return EventList(groups.values(), profile_memory=self.profile_memory)

    def total_average(self) -> FunctionEventAvg:
        """Everything as one group."""
        total = FunctionEventAvg("Total")
        for item in self:
            total.count += item.count
            total.self_cpu_time_total += item.self_cpu_time_total
            total.self_cpu_memory_usage += item.self_cpu_memory_usage
        total.cpu_time_total = total.self_cpu_time_total
        total.cpu_memory_usage = total.self_cpu_memory_usage
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """The events as text.

        Args:
            sort_by: one of `SORT_KEYS`, the greatest first; None keeps the order.
            row_limit: how many rows to show at most; -1 shows all.
            max_src_column_width: of the last column, the innermost frames.
            max_name_column_width: of the first column.
            max_shapes_column_width: of the shapes.
            header: a line above.
            top_level_events_only: leave out events that ran inside of others.

        Raises:
            ValueError: if `sort_by` is none of `SORT_KEYS`.
        """
        rows = [item for item in self if not (top_level_events_only and getattr(item, "cpu_parent", None))]
        if sort_by is not None:
            rows.sort(key=lambda item: getattr(item, _sort_key(sort_by)), reverse=True)
        total = self.self_cpu_time_total
        columns = {
            "Name": [_cut(item.key, max_name_column_width) for item in rows],
            "Self CPU %": [_percent(item.self_cpu_time_total, total) for item in rows],
            "Self CPU": [time_text(item.self_cpu_time_total) for item in rows],
            "CPU total %": [_percent(item.cpu_time_total, total) for item in rows],
            "CPU total": [time_text(item.cpu_time_total) for item in rows],
            "CPU time avg": [time_text(item.cpu_time) for item in rows],
        }
        if self.profile_memory:
            columns["CPU Mem"] = [memory_text(item.cpu_memory_usage) for item in rows]
            columns["Self CPU Mem"] = [memory_text(item.self_cpu_memory_usage) for item in rows]
        columns["# of Calls"] = [str(item.count) for item in rows]
        if any(item.input_shapes for item in rows):
            columns["Input Shapes"] = [_cut(str(item.input_shapes), max_shapes_column_width) for item in rows]
        if any(item.stack for item in rows):
            columns["Source Location"] = [_cut("; ".join(item.stack), max_src_column_width) for item in rows]
        lines = _aligned(columns, len(rows) if row_limit < 0 else row_limit)
        return "\n".join(
            [*([header] if header else []), *lines, f"Self CPU time total: {time_text(total)}", ""]
        )


def _sort_key(name: str) -> str:
    if name not in SORT_KEYS:
        close = nearest(name, SORT_KEYS)
        offer = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(
            f"sort_by must be one of {', '.join(map(repr, SORT_KEYS))}, but got {name!r}.{offer}"
        )
    return name


def _aligned(columns: dict[str, list[str]], limit: int) -> list[str]:
    shown = {title: cells[:limit] for title, cells in columns.items()}
    widths = [max(map(len, (title, *cells))) for title, cells in shown.items()]
    rule = "  ".join("-" * width for width in widths)
    rows = [tuple(shown), *zip(*shown.values(), strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in enumerate(pairs)
        )
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    return [rule, lines[0], rule, *lines[1:], rule]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


def time_text(microseconds: float) -> str:
    """A duration with its unit."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"


def memory_text(nbytes: int) -> str:
    """A size with its unit."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(nbytes) >= 1024**power:
            return f"{nbytes / 1024**power:.2f} {unit}"
    return f"{nbytes} B"
