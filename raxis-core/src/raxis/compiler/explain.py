"""Explanations: what `raxis.compile` made of a function, for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raxis.compiler.machine import measured
from raxis.compiler.memory import Argument
from raxis.layout import Layout
from raxis.ptir.passes import Cost, Machine, Report, cost
from raxis.ptir.program import Instruction, Program

if TYPE_CHECKING:
    from raxis.backends.api import Description
    from raxis.compiler.artifact import Artifact
    from raxis.compiler.compiled import Compiled, Miss
    from raxis.compiler.guards import Guards
    from raxis.compiler.replay import Replay
    from raxis.tensor import Tensor


@dataclass(frozen=True)
class ExplainedProgram:
    """One program of a recording.

    Attributes:
        role: "call", or "forward" and "backward" if results require grad.
        recorded: the program before passes.
        program: the program after passes.
        report: what the passes did.
        description: what the backend runs; its sources are empty unless asked for.
        cost: bytes, operations and kernels at least.
        machine: the limits that the cost is compared with.
        lines: the user's line of each instruction after passes; None if a pass made it.
        derived_weights: the programs that compute what is kept between calls.
        derived_bytes: the memory of what is kept.
    """

    role: str
    recorded: Program
    program: Program
    report: Report
    description: Description
    cost: Cost
    machine: Machine
    lines: Sequence[str | None]
    derived_weights: Sequence[Program]
    derived_bytes: int

    @property
    def launches(self) -> int:
        """How many kernels are started: as the backend says, else as the cost model does."""
        return self.cost.kernels if self.description.arena_bytes is None else self.description.steps

    @property
    def seconds(self) -> float:
        """The least time that the machine needs for a call."""
        return self.cost._replace(kernels=self.launches).seconds(self.machine)

    def __str__(self) -> str:
        return "\n\n".join(
            f"{title}\n{_indented(text)}"
            for title, text in (
                (f"Program ({self.role}, after passes)", self.program.text()),
                ("Lines", _sources(self)),
                ("Passes", str(self.report)),
                ("Kernels", self.description.text),
                *((f"Source {name}", text) for name, text in self.description.sources.items()),
                ("Memory", _memory(self)),
                ("Cost", _cost(self)),
                ("Derived weights", _derived(self)),
            )
        )


@dataclass(frozen=True)
class ExplainedRecording:
    """One recording.

    Attributes:
        signature: the arguments that it is for.
        guards: what else must hold for it to be repeated.
        programs: one, or forward and backward.
    """

    signature: str
    guards: Sequence[str]
    programs: Sequence[ExplainedProgram]

    def __str__(self) -> str:
        guards = "\n".join(self.guards) or "none"
        return "\n\n".join([f"Guards\n{_indented(guards)}", *map(str, self.programs)])


@dataclass(frozen=True)
class Explanation:
    """What was made of a compiled function; as text, all of it can be read.

    Attributes:
        name: the function's.
        recordings: those that calls can repeat.
        misses: the calls that were recorded, with the reasons.
        rows: with ``dynamic=True``, sentences on whether calls with other numbers of rows share programs.
    """

    name: str
    recordings: Sequence[ExplainedRecording]
    misses: Sequence[Miss]
    rows: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [f"{self.name}: recorded calls: {len(self.misses)}, kept: {len(self.recordings)}"]
        lines += [f"  ({miss.arguments}): {miss.reason}{_kept(miss)}" for miss in self.misses]
        if not self.misses:
            lines.append("  It was not called yet.")
        lines += [f"  Rows: {sentence}." for sentence in self.rows]
        parts = ["\n".join(lines)]
        for number, each in enumerate(self.recordings):
            parts.append(f"Recording {number}: ({each.signature})\n\n{_indented(str(each))}")
        return "\n\n".join(parts)


def explain(compiled: Compiled, *, kernels: bool, machine: Machine | None) -> Explanation:
    """The explanation of a compiled function; see `Compiled.explain`."""
    recordings = [
        ExplainedRecording(
            _signature(key), tuple(_guards(replay.guards)), tuple(_programs(replay, kernels, machine))
        )
        for key, replay in compiled.replays_by_signature()
    ]
    return Explanation(compiled.name, tuple(recordings), tuple(compiled.misses()), compiled.rows())


def _programs(replay: Replay, kernels: bool, machine: Machine | None) -> Iterator[ExplainedProgram]:
    if replay.backward is None:
        yield _explained("call", replay.artifact, kernels, machine)
    else:
        yield _explained("forward", replay.artifact, kernels, machine)
        yield _explained("backward", replay.backward.artifact, kernels, machine)


def _explained(role: str, artifact: Artifact, kernels: bool, machine: Machine | None) -> ExplainedProgram:
    weights = artifact.weights
    return ExplainedProgram(
        role,
        artifact.linked.program,
        artifact.program,
        artifact.report,
        artifact.describe(sources=kernels),
        cost(artifact.program),
        machine or measured(artifact.place.device),
        [_line(artifact, item) for item in artifact.program.instructions],
        () if weights is None else weights.programs,
        0 if weights is None else weights.nbytes,
    )


# ---- signature and guards ------------------------------------------------------------------------------


def _signature(key: Any) -> str:
    _, leaves, (grad, inference, *_) = key
    modes = [text for text, holds in (("no_grad", not grad), ("inference_mode", inference)) if holds]
    return ", ".join([*map(_leaf, leaves), *modes])


def _leaf(described: Any) -> str:
    if isinstance(described, type):
        return described.__name__
    if isinstance(described[0], Layout):
        return _tensor(described[0]) + (" requires_grad" if described[1] else "")
    kind, value = described
    return str(value) if kind in (int, float) else repr(value)


def _tensor(layout: Layout) -> str:
    strides = "" if layout.is_contiguous else f" strides {list(layout.strides)}"
    return f"{layout.dtype.name}{list(layout.shape)}{strides}"


def _guards(guards: Guards) -> Iterator[str]:
    """Sentences, those that hold of several things once."""
    return (
        text if count == 1 else f"{text} ({count} times)"
        for text, count in Counter(_each_guard(guards)).items()
    )


def _each_guard(guards: Guards) -> Iterator[str]:
    for outside in guards.tensors:
        kept = f"keeps its memory and requires_grad={outside.requires_grad}"
        yield f"{_tensor(outside.tensor._layout)} from outside {kept}"
    for gradient in guards.gradients:
        before = "None" if gradient.layout is None else _tensor(gradient.layout)
        yield f"the grad of {_leaf_name(gradient.leaf)} is {before} before the call"
    for known in guards.modules:
        yield f"{type(known.module).__name__} is as it was, training={known.training}"
    for stepped in guards.optimizers:
        yield f"{type(stepped.optimizer).__name__} has the same options"


def _leaf_name(leaf: Tensor | Argument) -> str:
    return f"argument {leaf.position}" if isinstance(leaf, Argument) else _tensor(leaf._layout)


def _line(artifact: Artifact, item: Instruction) -> str | None:
    return next(
        (artifact.linked.lines[value] for value in item.results if value in artifact.linked.lines), None
    )


# ---- text ----------------------------------------------------------------------------------------------


def _sources(explained: ExplainedProgram) -> str:
    """The user's lines, each with the primitives that are left of it."""
    found: dict[str, list[str]] = {}
    for item, line in zip(explained.program.instructions, explained.lines, strict=True):
        if line is not None:
            found.setdefault(line, []).append(item.primitive)
    return "\n".join(f"{line}: {', '.join(primitives)}" for line, primitives in found.items()) or "none"


def _memory(explained: ExplainedProgram) -> str:
    arena, parts = explained.description.arena_bytes, explained.description.temporary_bytes
    lines = [
        f"parameters   {explained.cost.parameter_bytes} B",
        f"results      {explained.cost.result_bytes} B",
    ]
    if arena is None or parts is None:
        lines.append(f"temporaries  {explained.cost.peak_bytes} B at most, by the cost model")
    else:
        shared = max(parts - arena, 0)
        lines.append(f"arena        {arena} B for temporaries of {parts} B in all, {shared} B are shared")
    return "\n".join(lines)


def _cost(explained: ExplainedProgram) -> str:
    found, machine = explained.cost, explained.machine
    moved = found.bytes_read + found.bytes_written
    rows = {
        f"{found.operations} operations at {machine.operations_per_second:.3g}/s": (
            found.operations / machine.operations_per_second
        ),
        f"{moved} B at {machine.bytes_per_second:.3g} B/s": moved / machine.bytes_per_second,
        f"{explained.launches} kernels at {machine.launch_seconds:.3g} s": explained.launches
        * machine.launch_seconds,
    }
    width = max(map(len, rows))
    lines = [f"{text:<{width}}  {seconds * 1e6:.3f} us" for text, seconds in rows.items()]
    return "\n".join([*lines, f"{'at least':<{width}}  {explained.seconds * 1e6:.3f} us"])


def _derived(explained: ExplainedProgram) -> str:
    if not explained.derived_weights:
        return "none"
    lines = [f"{len(explained.derived_weights)}, {explained.derived_bytes} B, computed once and kept"]
    return "\n".join([*lines, *(program.text() for program in explained.derived_weights)])


def _kept(miss: Miss) -> str:
    return "" if miss.kept is None else f"; not kept, since {miss.kept}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in _lines(text))


def _lines(text: str) -> Iterable[str]:
    return text.rstrip("\n").split("\n")
