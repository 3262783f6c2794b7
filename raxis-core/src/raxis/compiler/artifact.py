"""Compiled programs with their bindings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from raxis.compiler.linking import Linked
from raxis.compiler.numbers import Invocation, Source
from raxis.ptir.passes import optimise

if TYPE_CHECKING:
    from raxis.backends.api import Backend
    from raxis.compiler.memory import Memory


class Artifact:
    """A program that leaves the contents of some memory: linked, optimised, compiled.

    Attributes:
        linked: the program as linked, with its bindings.
        program: after the passes.
        execute: the backend's executable.
    """

    def __init__(self, linked: Linked, compiler: Backend) -> None:
        self.linked = linked
        self.program = optimise(linked.program)
        self.execute = compiler.compile(
            self.program,
            linked.input_strides,
            linked.output_strides,
            in_place=linked.in_place,
            disjoint=True,
        )

    def run(
        self,
        call: Invocation,
        given: Callable[[Memory], tuple[Any, int]],
        made: Callable[[Memory], Any],
    ) -> None:
        """Execute.

        Args:
            call: what numbers are read from.
            given: buffer and offset of a parameter's memory.
            made: the buffer of memory that nobody outside holds.
        """
        arguments: list[Any] = []
        for known in self.linked.inputs:
            if isinstance(known, Source):
                arguments.append(known.read(call))
            else:
                arguments += given(known[0])
        for memory, region in self.linked.outputs:
            arguments += given(memory) if memory.is_outside else (made(memory), region.offset)
        self.execute(*arguments)
