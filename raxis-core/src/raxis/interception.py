"""Whether this thread records its ops instead of running them.

The compiler sets it; layers below only ask. It stands alone so that they need not import the compiler.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording


class _Active(threading.local):
    recording: Recording | None = None


active = _Active()
"""``active.recording`` is the recording of the current thread, or None."""


class _Anyone:
    """Whether any thread records; what every eager call asks first, since reading a thread-local takes much longer.

    Attributes:
        records: kept by `raxis.ops.tables`.
        overrides: whether any thread is in a scope of `raxis.overrides`.
        generation: rises whenever all plans, or the runs of compiled functions, become void.
    """

    __slots__ = ("generation", "overrides", "records")

    def __init__(self) -> None:
        self.records = False
        self.overrides = False
        self.generation = 0


anyone = _Anyone()
