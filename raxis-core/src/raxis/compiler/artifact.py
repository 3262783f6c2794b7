"""Compiled programs with their bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raxis.compiler.derived_weights import DerivedWeights, result_strides
from raxis.compiler.linking import Linked
from raxis.compiler.memory import Held, Memory
from raxis.compiler.numbers import Invocation, Source
from raxis.interception import observer
from raxis.ptir.passes import Report, optimise, pipeline
from raxis.ptir.passes.derived import Split, split
from raxis.ptir.passes.stages import passes_for

if TYPE_CHECKING:
    from raxis.backends.api import Backend
    from raxis.storage import Place, Storage


class Artifact:
    """A program that leaves the contents of some memory: linked, optimised, compiled.

    Attributes:
        linked: the program as linked, with its bindings.
        report: what the passes did.
        program: after the passes; the derived weights are further parameters.
        weights: the derived weights; None if there are none.
        execute: the backend's executable.

    Args:
        linked: the program.
        compiler: what compiles it.
        place: where it runs.
        weights_are_fixed: whether tensors from outside that it does not write change seldom.
    """

    def __init__(self, linked: Linked, compiler: Backend, place: Place, *, weights_are_fixed: bool = False) -> None:
        self.linked = linked
        frozen = _frozen(linked) if weights_are_fixed else {}
        own = passes_for(place.device.type, compiler)
        self.report = Report()
        whole = optimise(linked.program, passes=pipeline(own), frozen=frozen, report=self.report)
        parts = split(whole, frozen)
        self.program = parts.main
        self.weights = self._derived(parts, frozen, compiler, place) if parts.prologue.results else None
        self.execute = compiler.compile(
            self.program,
            [*linked.input_strides, *result_strides(parts.prologue)],
            linked.output_strides,
            in_place=linked.in_place,
            disjoint=True,
        )

    def _derived(
        self, parts: Split, frozen: Mapping[int, tuple[Storage, int]], compiler: Backend, place: Place
    ) -> DerivedWeights:
        inputs = self.linked.input_strides
        prologue = compiler.compile(
            parts.prologue,
            [inputs[source] for source in parts.sources],
            result_strides(parts.prologue),
        )
        storages, offsets = zip(*(frozen[source] for source in parts.sources), strict=True)
        return DerivedWeights(parts, prologue, storages, offsets, place)

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
        if self.weights is not None:
            arguments += self.weights()
        for memory, region in self.linked.outputs:
            arguments += given(memory) if memory.is_outside else (made(memory), region.offset)
        observing = observer()
        if observing is None:
            self.execute(*arguments)
        else:
            observing.execute(self.execute, *arguments)


def _frozen(linked: Linked) -> dict[int, tuple[Storage, int]]:
    """Where parameters lie that are outside tensors, which the program does not write and the host cannot."""
    written = {memory for memory, _ in linked.outputs}
    found = {}
    for position, known in enumerate(linked.inputs):
        if isinstance(known, Source) or known[0] in written:
            continue
        source = known[0].source
        if isinstance(source, Held) and not getattr(source.storage, "shared", False):
            found[position] = (source.storage, known[1].offset)
    return found
