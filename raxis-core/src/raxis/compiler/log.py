"""Entries of a recording's log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from raxis.compiler.memory import Memory, Region
from raxis.ptir.program import Program

if TYPE_CHECKING:
    from raxis.compiler.backend import RecordedKernel


class Call(NamedTuple):
    """One noted kernel.

    Attributes:
        kernel: what was called.
        operands: regions of memory, or numbers.
        results: regions of memory.
        line: the user's line.
    """

    kernel: RecordedKernel
    operands: tuple[tuple[Memory, Region] | Any, ...]
    results: tuple[tuple[Memory, Region], ...]
    line: str

    @property
    def program(self) -> Program:
        """What the kernel computes."""
        return self.kernel.program

    @property
    def memories(self) -> Iterator[Memory]:
        """The memory it reads and writes."""
        for item in (*self.operands, *self.results):
            if isinstance(item, tuple):
                yield item[0]

    def run(self, buffer: Callable[[Memory], Any]) -> None:
        """Do now what was noted; `buffer` gives the real buffer of memory."""
        arguments: list[Any] = []
        for item in (*self.operands, *self.results):
            if isinstance(item, tuple):
                arguments += [buffer(item[0]), item[1].offset]
            else:
                arguments.append(item)
        self.kernel.real(*arguments)
