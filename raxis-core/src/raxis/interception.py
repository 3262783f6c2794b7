"""Whether this thread records its ops instead of running them, or is observed while it runs them.

The compiler and the profiler set it; layers below only ask. It stands alone so that they need not import either.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording
    from raxis.profiler.observer import Observer


class _Active(threading.local):
    recording: Recording | None = None
    observer: Observer | None = None


active = _Active()
"""``active.recording`` is the recording of the current thread, ``active.observer`` what profiles it; or None."""


def recording() -> Recording | None:
    """What this thread's ops are noted in instead of being run; None while it runs them."""
    return active.recording if anyone.records else None


def observer() -> Observer | None:
    """What is told of each op that this thread runs; None while nobody profiles it, or while it records."""
    return active.observer if anyone.records and active.recording is None else None


class _Anyone:
    """Whether any thread records or is observed; asked first, since reading a thread-local takes much longer.

    Attributes:
        records: how many threads do; kept by `raxis.ops.tables`.
        overrides: whether any thread is in a scope of `raxis.overrides`.
        generation: rises whenever all plans, or the runs of compiled functions, become void.
        changes: rises whenever a module gets other attributes, or any hook is registered or removed.
    """

    __slots__ = ("changes", "generation", "overrides", "records")

    def __init__(self) -> None:
        self.records = 0
        self.overrides = False
        self.generation = 0
        self.changes = 0


anyone = _Anyone()
