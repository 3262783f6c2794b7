"""Executables that tell the thread's observer of each step; made only while somebody profiles."""

from __future__ import annotations

from raxis.backends.api import Executable
from raxis.interception import active
from raxis.schedule import LoopKernel, LoopStep
from raxis.schedule.graph import composite_program
from raxis.schedule.schedule import Step
from raxis_cpu.executable import Assembler

_SHOWN = 6
"""How many of a kernel's primitives its name lists."""

_QUIET = frozenset({"load", "constant", "scalar", "cast", "index"})
"""Nodes that are no arithmetic."""


class ObservedAssembler(Assembler):
    """Writes the Python function that runs several steps, with an event around each."""

    def function(self, name: str) -> Executable:
        self._names["_active"] = active
        self._lines.append("observer = _active.observer")
        return super().function(name)

    def _run(self, step: Step) -> None:
        super()._run(step)
        call = self._lines.pop()
        name, detail = described(step)
        values = self._bind("values", self._schedule.values(step))
        begin = f"event = observer.begin_kernel({name!r}, {detail!r}, {values})"
        self._lines += [begin, call, "observer.end(event)"]


def described(step: Step) -> tuple[str, str]:
    """A step's name, and what it computes."""
    if isinstance(step, LoopStep):
        return _summary(step.kernel), step.kernel.text
    instruction = step.instruction
    if instruction.primitive == "composite":
        return composite_program(instruction).name, "composite"
    operands = ", ".join(str(value.type) for value in instruction.operands)
    results = ", ".join(str(value.type) for value in instruction.results)
    return instruction.primitive, f"({operands}) -> ({results})"


def _summary(kernel: LoopKernel) -> str:
    """The primitives of a kernel in order, each once."""
    names = list(dict.fromkeys(node.op for node in kernel.nodes if node.op not in _QUIET))
    more = ["..."] if len(names) > _SHOWN else []
    return "+".join([*names[:_SHOWN], *more]) or "copy"
