"""Memory reuse: a temporary that dies where a result is born becomes that result's memory."""

from __future__ import annotations

from collections.abc import Iterator

from raxis.schedule.loops import LoopKernel
from raxis.schedule.schedule import Buffer, LibraryStep, LoopStep, Schedule, Step


def with_reuse(made: Schedule) -> Schedule:
    """The same steps; where a kernel reads a dying temporary exactly where it writes, both are one memory."""
    buffers = list(made.buffers)
    for number, step in enumerate(made.steps):
        if isinstance(step, LoopStep):
            for dying, born in _pairs(made, number, step):
                memory = buffers[born]
                buffers[dying] = buffers[dying]._replace(role=memory.role, position=memory.position)
    return made._replace(buffers=tuple(buffers))


def _pairs(made: Schedule, number: int, step: LoopStep) -> Iterator[tuple[int, int]]:
    """Buffers (read for the last time, written for the first time) of equal type that the step visits alike."""
    used: set[int] = set()
    for store in step.kernel.stores:
        born = step.buffers[store.access.buffer]
        if _mentions(made, made.buffers[born]) != [number]:
            continue
        for slot, dying in enumerate(step.buffers):
            if dying in used or not _fits(made, dying, born) or not _dies(made, dying, number):
                continue
            if _reads_only(step.kernel, slot, store.access[1:]):
                used.add(dying)
                yield dying, born
                break


def _fits(made: Schedule, dying: int, born: int) -> bool:
    one, other = made.buffers[dying], made.buffers[born]
    return one.role == "temporary" and dying != born and one[2:] == other[2:]


def _dies(made: Schedule, buffer: int, number: int) -> bool:
    """Whether step `number` is the last use of the buffer's memory, which nothing reads in another shape."""
    memory = made.buffers[buffer]
    names = [
        other for other in made.buffers if (other.role, other.position) == (memory.role, memory.position)
    ]
    return len(names) == 1 and _mentions(made, memory)[-1] == number


def _mentions(made: Schedule, memory: Buffer) -> list[int]:
    """The steps that touch the buffer's memory."""
    key = (memory.role, memory.position)
    same = {place for place, other in enumerate(made.buffers) if (other.role, other.position) == key}
    return [number for number, step in enumerate(made.steps) if same & set(_touched(step))]


def _touched(step: Step) -> tuple[int, ...]:
    return (*step.operands, *step.results) if isinstance(step, LibraryStep) else step.buffers


def _reads_only(kernel: LoopKernel, slot: int, place: tuple[object, ...]) -> bool:
    """Whether the slot is loaded at `place` and nowhere else, and never gathered from or written."""
    if any(store.access.buffer == slot for store in kernel.stores):
        return False
    loads = [node.detail for node in kernel.nodes if node.op == "load" and node.detail.buffer == slot]
    gathers = any(node.op == "gather_load" and node.detail.access.buffer == slot for node in kernel.nodes)
    return not gathers and all(access[1:] == place for access in loads)
