"""Results written over parameters: which writes are safe where they are, and what to do with the others.

A write is safe if every element of the parameter is read for the last time where it is written.
"""

from __future__ import annotations

from collections import defaultdict

from raxis.dtypes import DType
from raxis.layout import Strides
from raxis.schedule.graph import UPDATES
from raxis.schedule.loops import Access, Axis, LoopKernel, Node, Store
from raxis.schedule.normalise import normalised
from raxis.schedule.schedule import Buffer, LibraryStep, LoopStep, Schedule, Step


def written_in_place(made: Schedule, count: int, *, disjoint: bool) -> Schedule:
    """The schedule for calls that pass one memory for result i and parameter i, for i below `count`.

    Args:
        made: the schedule for memory that is all different.
        count: how many results are written over parameters.
        disjoint: whether all parameters are different memory; else those of equal type and strides may be the same.
    """
    traffic = _Traffic(made)
    for position in range(count):
        if not traffic.is_safe(position, disjoint=disjoint):
            made = _through_temporary(made, position)
    return made


class _Traffic:
    """The steps that read each parameter and write each result."""

    def __init__(self, made: Schedule) -> None:
        self._made = made
        self._reads: dict[int, list[int]] = defaultdict(list)
        self._writes: dict[int, list[int]] = defaultdict(list)
        self._declared: dict[tuple[str, int], Buffer] = {}
        for buffer in made.buffers:
            self._declared.setdefault((buffer.role, buffer.position), buffer)
        for number, step in enumerate(made.steps):
            for read in _read_by(step):
                if made.buffers[read].role == "parameter":
                    self._reads[made.buffers[read].position].append(number)
            for written in _written_by(step):
                if made.buffers[written].role == "result":
                    self._writes[made.buffers[written].position].append(number)

    def is_safe(self, position: int, *, disjoint: bool) -> bool:
        """Whether result `position` may be written over its parameter as the steps are."""
        writes = self._writes[position]
        if not writes:
            return True
        shared = {position} if disjoint else self._alike(position)
        reads = [number for parameter in shared for number in self._reads[parameter]]
        if any(number > writes[0] for number in reads):
            return False
        return writes[0] not in reads or self._reads_where_it_writes(writes[0], position, shared)

    def _alike(self, position: int) -> set[int]:
        """Parameters of the result's type and strides."""
        result = self._declared["result", position]
        return {
            number
            for (role, number), buffer in self._declared.items()
            if role == "parameter" and buffer[2:] == result[2:]
        }

    def _reads_where_it_writes(self, number: int, position: int, shared: set[int]) -> bool:
        step, buffers = self._made.steps[number], self._made.buffers
        same = {
            at for at in _read_by(step) if buffers[at].role == "parameter" and buffers[at].position in shared
        }
        if any(buffers[at].offset for at in same):
            return False
        if isinstance(step, LibraryStep):
            updated, result = buffers[step.operands[0]], buffers[step.results[0]]
            return (
                step.instruction.primitive in UPDATES
                and step.operands[0] in same
                and (updated.shape, updated.strides) == (result.shape, result.strides)
            )
        loads = [node.detail for node in step.kernel.nodes if node.op == "load"]
        reads = {access[1:] for access in loads if step.buffers[access.buffer] in same}
        gathers = {node.detail.access.buffer for node in step.kernel.nodes if node.op == "gather_load"}
        writes = {
            store.access[1:]
            for store in step.kernel.stores
            if buffers[step.buffers[store.access.buffer]][:2] == ("result", position)
        }
        gathered = any(step.buffers[slot] in same for slot in gathers)
        return not gathered and len(writes) == 1 and reads == writes


def _read_by(step: Step) -> list[int]:
    if isinstance(step, LibraryStep):
        return [operand for operand in step.operands if operand >= 0]
    slots = [node.detail.buffer for node in step.kernel.nodes if node.op == "load"]
    slots += [node.detail.access.buffer for node in step.kernel.nodes if node.op == "gather_load"]
    return [step.buffers[slot] for slot in dict.fromkeys(slots)]


def _written_by(step: Step) -> list[int]:
    if isinstance(step, LibraryStep):
        return list(step.results)
    return [step.buffers[store.access.buffer] for store in step.kernel.stores]


def _through_temporary(made: Schedule, position: int) -> Schedule:
    """The same steps with a result written to a temporary, then copied."""
    buffers = list(made.buffers)
    number = 1 + max((buffer.position for buffer in buffers if buffer.role == "temporary"), default=-1)
    places = [at for at, buffer in enumerate(buffers) if buffer[:2] == ("result", position)]
    final = buffers[places[0]]
    for at in places:
        buffers[at] = buffers[at]._replace(role="temporary", position=number)
    buffers.append(final)
    copy = _copy(final.dtype, final.shape, buffers[places[0]].strides, final.strides)
    step = LoopStep(normalised(copy), (places[0], len(buffers) - 1), ())
    return made._replace(buffers=tuple(buffers), steps=(*made.steps, step))


def _copy(dtype: DType, shape: tuple[int, ...], source: Strides, target: Strides) -> LoopKernel:
    axes = tuple(Axis(size) for size in shape)
    nodes = (Node("load", (), dtype, Access(0, tuple(source))),)
    return LoopKernel("copy", (dtype, dtype), axes, nodes, (Store(0, Access(1, tuple(target))),))
