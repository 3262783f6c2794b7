"""Entries of a recording's log."""

from __future__ import annotations

from typing import Any, NamedTuple

from raxis.compiler.memory import Memory, Region
from raxis.ptir.program import Program


class Call(NamedTuple):
    """One noted kernel.

    Attributes:
        program: what it computes.
        operands: regions of memory, or numbers.
        results: regions of memory.
        composite: the op's name, if the device has a kernel of its own for it.
        line: the user's line.
    """

    program: Program
    operands: tuple[tuple[Memory, Region] | Any, ...]
    results: tuple[tuple[Memory, Region], ...]
    composite: str | None
    line: str
