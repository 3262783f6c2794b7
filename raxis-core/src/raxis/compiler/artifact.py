"""Compiled programs with their bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from raxis.compiler.derived_weights import DerivedWeights, result_strides
from raxis.compiler.dumps import Dump
from raxis.compiler.linking import Linked
from raxis.compiler.memory import Held, Memory
from raxis.compiler.numbers import Invocation, Source
from raxis.interception import observer
from raxis.logs import listener
from raxis.ptir.passes import Report, optimise, pipeline
from raxis.ptir.passes.derived import Split, split
from raxis.ptir.passes.stages import passes_for

if TYPE_CHECKING:
    from raxis.backends.api import Backend, Description, Executable
    from raxis.storage import Place, Storage


class Artifact:
    """A program that leaves the contents of some memory: linked, optimised, compiled.

    Attributes:
        linked: the program as linked, with its bindings.
        report: what the passes did.
        program: after the passes; the derived weights are further parameters.
        weights: the derived weights; None if there are none.
        execute: the backend's executable.
        place: where it runs.

    Args:
        linked: the program.
        compiler: what compiles it.
        place: where it runs.
        weights_are_fixed: whether tensors from outside that it does not write change seldom.
    """

    def __init__(
        self, linked: Linked, compiler: Backend, place: Place, *, weights_are_fixed: bool = False
    ) -> None:
        self.linked = linked
        self.place = place
        self._compiler = compiler
        frozen = _frozen(linked) if weights_are_fixed else {}
        self.report = Report()
        dump = Dump(linked.program, self.report)
        with dump.step("passes"):
            own = pipeline(passes_for(place.device.type, compiler))
            whole = optimise(linked.program, passes=own, frozen=frozen, report=self.report, dump=dump.note)
            parts = split(whole, frozen)
        self.program = parts.main
        self._input_strides = [*linked.input_strides, *result_strides(parts.prologue)]
        dump.note("99-compiled", self.program)
        with dump.step("schedule and kernels"):
            self.weights = self._derived(parts, frozen) if parts.prologue.results else None
            self.execute = self._compiled()
            if hasattr(self.execute, "observed"):
                vars(self.execute)["lines"] = linked.lines
        if dump.has_everything:
            dump.describe(self.describe(sources=True))
        self._log()

    def _compiled(self) -> Executable:
        return self._compiler.compile(
            self.program,
            self._input_strides,
            self.linked.output_strides,
            in_place=self.linked.in_place,
            disjoint=True,
        )

    def describe(self, *, sources: bool = False) -> Description:
        """What the backend runs, with the kernels' sources if wanted."""
        return self._compiler.describe(
            self.program,
            self._input_strides,
            self.linked.output_strides,
            in_place=self.linked.in_place,
            disjoint=True,
            sources=sources,
        )

    def _log(self) -> None:
        log = listener("passes")
        if log is not None:
            report, before = self.report, len(self.linked.program.instructions)
            log.info(
                "%s: %d instructions became %d in %.2f ms, by %d rewrites",
                self.program.name, before, len(self.program.instructions), report.seconds * 1e3, report.rewrites,
            )  # fmt: skip
            log.debug("%s", report)

    def _derived(self, parts: Split, frozen: Mapping[int, tuple[Storage, int]]) -> DerivedWeights:
        inputs = self.linked.input_strides
        prologue = self._compiler.compile(
            parts.prologue,
            [inputs[source] for source in parts.sources],
            result_strides(parts.prologue),
        )
        storages, offsets = zip(*(frozen[source] for source in parts.sources), strict=True)
        return DerivedWeights(parts, prologue, storages, offsets, self.place)

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
