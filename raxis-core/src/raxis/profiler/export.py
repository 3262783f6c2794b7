"""Events as files: traces for Chrome and Perfetto, folded stacks for flame graphs."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raxis.profiler.event import FunctionEvent

if TYPE_CHECKING:
    from raxis.profiler.profile import profile

METRICS = ("self_cpu_time_total",)
"""What folded stacks can count."""


def chrome_trace(events: Sequence[FunctionEvent], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The events in the trace event format, which chrome://tracing and https://ui.perfetto.dev open.

    Backward nodes are joined by arrows to the forward ops they belong to.

    Source: Trace Event Format, Google, 2016.
    """
    process = os.getpid()
    named = {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": "python"}}
    spans = [_span(event, process) for event in events]
    arrows = [part for number, event in enumerate(events) for part in _arrow(event, number, process)]
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "metadata": dict(metadata),
        "traceEvents": [named, *spans, *arrows],
    }


def _span(event: FunctionEvent, process: int) -> dict[str, Any]:
    arguments = {
        "Line": event.line,
        "Lines": list(event.lines),
        "Input Dims": event.input_shapes,
        "Call stack": list(event.stack),
        "Computes": event.detail,
        "Bytes": event.cpu_memory_usage,
    }
    return {
        "ph": "X",
        "cat": event.kind,
        "name": event.name,
        "pid": process,
        "tid": event.thread,
        "ts": event.start_ns / 1e3,
        "dur": event.duration_ns / 1e3,
        "args": {name: value for name, value in arguments.items() if value},
    }


def _arrow(event: FunctionEvent, number: int, process: int) -> Iterator[dict[str, Any]]:
    if event.forward is not None:
        for phase, at in (("s", event.forward), ("f", event)):
            yield {
                "ph": phase, "id": number, "name": "fwdbwd", "cat": "fwdbwd", "bp": "e",
                "pid": process, "tid": at.thread, "ts": at.start_ns / 1e3,
            }  # fmt: skip


def write_trace(path: str | os.PathLike[str], trace: Mapping[str, Any]) -> None:
    """Write a trace; compressed if the name ends with ``.gz``."""
    data = json.dumps(trace).encode()
    Path(path).write_bytes(gzip.compress(data) if str(path).endswith(".gz") else data)


def folded_stacks(events: Sequence[FunctionEvent]) -> Iterator[str]:
    """One line for each stack: frames and events, outermost first, and microseconds spent there and nowhere below.

    Source: the format of flamegraph.pl, Brendan Gregg, 2011.
    """
    totals: dict[str, int] = {}
    for event in events:
        frames = [*reversed(event.stack), *reversed([around.name for around in event.chain()])]
        key = ";".join(part.replace(";", ":").replace(" ", "_") for part in frames)
        totals[key] = totals.get(key, 0) + event.self_ns
    return (f"{key} {-(-nanoseconds // 1000)}" for key, nanoseconds in totals.items() if nanoseconds > 0)


def tensorboard_trace_handler(
    dir_name: str | os.PathLike[str], worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """For ``on_trace_ready``: write each trace into a folder, under the names that TensorBoard's plugin looks for.

    Args:
        dir_name: the folder; it is made.
        worker_name: begins the files' names; by default the host's name and the process's number.
        use_gzip: compress the files.
    """

    def handle(profiled: profile) -> None:
        import socket
        import time

        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        profiled.export_chrome_trace(
            folder / f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        )

    return handle
