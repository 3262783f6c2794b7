"""Programs on a device: the scheduler's steps as launches of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raxis.backends.api import Description, Executable, Strides
from raxis.codegen.launching import Memory, Part, Scalars, loop_part, without_checks
from raxis.codegen.library import library_step
from raxis.codegen.rendered import Rendered
from raxis.interception import active
from raxis.ptir.program import Instruction, Program, Value
from raxis.schedule import Buffer, LoopStep, schedule
from raxis.schedule.arena import plan
from raxis.schedule.schedule import Step

if TYPE_CHECKING:
    from raxis.codegen.backend import KernelBackend


class DeviceProgram:
    """An executable: called with a buffer and an offset for each tensor, and a number for each by-value scalar."""

    def __init__(
        self,
        backend: KernelBackend,
        program: Program,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        *,
        in_place: int = 0,
        disjoint: bool = False,
    ) -> None:
        _check_claims(backend, program.instructions)
        self._backend = backend
        self._schedule = schedule(program, inputs, outputs, in_place=in_place, disjoint=disjoint)
        self._arena = plan(self._schedule)
        self._roles = _roles(program)
        self._places = [self._place(buffer) for buffer in self._schedule.buffers]
        steps = [self._prepared(step) for step in self._schedule.steps]
        pairs = [without_checks(step, self._reads_parameters) for step in steps]
        self._checks = [check for checks, _ in pairs for check in checks]
        self._steps = [step for _, step in pairs]

    def _reads_parameters(self, check: Part) -> bool:
        """Whether a check can run before all steps, so that none has written anything when it raises."""
        return all(self._schedule.buffers[slot].role == "parameter" for slot in check.reads or ())

    @property
    def rendered(self) -> list[Rendered]:
        """Its kernels, in order."""
        return [rendered for step in (*self._checks, *self._steps) for rendered in step.rendered]

    def _prepared(self, step: Step) -> Part:
        buffers = self._schedule.buffers
        if isinstance(step, LoopStep):
            return loop_part(self._backend, step.kernel, step.buffers, step.scalars)
        return library_step(self._backend, step, buffers, self._schedule.numbers)

    def _place(self, buffer: Buffer) -> tuple[str, int, int]:
        """Role, position, and the first element within what the caller passes or the arena."""
        offset = buffer.offset
        if buffer.role == "temporary":
            offset += self._arena.places[buffer.position].offset // buffer.dtype.itemsize
            return "arena", 0, offset
        return buffer.role, buffer.position, offset

    def __call__(self, *arguments: Any) -> None:
        self._run(self._steps, arguments)

    def observed(self) -> Executable:
        """The same executable, which waits for each step and tells the thread's observer of it."""
        values = map(self._schedule.values, self._schedule.steps)
        pairs = zip(self._steps, values, strict=True)
        steps = [_ObservedPart(self._backend, step, computed) for step, computed in pairs]
        return lambda *arguments: self._run(steps, arguments)

    def _run(self, steps: Sequence[Part], arguments: Sequence[Any]) -> None:
        tensors, scalars, index = self._sorted(arguments)
        if self._arena.places:
            tensors["arena", 0] = self._backend.allocate(self._arena.nbytes, index), 0
        memory: list[Memory] = []
        for role, position, offset in self._places:
            buffer, start = tensors[role, position]
            memory.append((buffer, start + offset))
        for step in (*self._checks, *steps):
            step(memory, scalars)

    def _sorted(self, arguments: Sequence[Any]) -> tuple[dict[tuple[str, int], Memory], dict[int, Any], int]:
        tensors: dict[tuple[str, int], Memory] = {}
        scalars: dict[int, Any] = {}
        given = iter(arguments)
        index = 0
        for role, position in self._roles:
            if role == "scalar":
                scalars[position] = next(given)
            else:
                buffer = next(given)
                tensors[role, position] = (buffer, next(given))
                index = self._backend.index_of(buffer)
        return tensors, scalars, index

    def description(self, *, sources: bool) -> Description:
        """The steps, and the kernels' sources."""
        kernels: Mapping[str, str] = {}
        if sources:
            kernels = {f"{number}-{each.name}": each.source for number, each in enumerate(self.rendered)}
        return Description(str(self._schedule), len(self._steps), self._arena.nbytes, None, kernels)


class _ObservedPart(Part):
    """A step as an event: its kernels' names, and the program's values that it computes."""

    def __init__(self, backend: KernelBackend, step: Part, values: Sequence[Value]) -> None:
        self._backend, self._step, self._values = backend, step, values
        self._name = "+".join(rendered.name for rendered in step.rendered) or type(step).__name__

    def __call__(self, memory: Sequence[Memory], scalars: Scalars) -> None:
        observer = active.observer
        if observer is None:
            self._step(memory, scalars)
            return
        event = observer.begin_kernel(self._name, "", self._values)
        self._step(memory, scalars)
        for index in range(self._backend.device_count()):
            self._backend.synchronize(index)
        observer.end(event)


def _roles(program: Program) -> list[tuple[str, int]]:
    parameters = [
        ("scalar" if parameter.by_value else "parameter", position)
        for position, parameter in enumerate(program.parameters)
    ]
    return [*parameters, *(("result", position) for position, _ in enumerate(program.results))]


def _check_claims(backend: KernelBackend, instructions: Sequence[Instruction]) -> None:
    """Refuse what the backend says it does not run."""
    for item in instructions:
        for value in (*item.operands, *item.results):
            answer = backend.supports(item.primitive, value.type.dtype)
            if answer is not True:
                raise NotImplementedError(answer)
        for region in item.regions:
            _check_claims(backend, region.instructions)
