"""Several small copies as one built-in: what `cat`, `stack` and `repeat` of small tensors come to."""

from __future__ import annotations

from collections.abc import Sequence

from raxis.backends.api import Executable
from raxis.schedule import LoopStep, Schedule
from raxis.schedule.loops import Access, LoopKernel
from raxis_cpu.library.copies_ir import AXES, copying
from raxis_cpu.library.phases import Phase

_SMALL = 1 << 15
"""Elements up to which a copy is not worth threads."""


def small_copies(made: Schedule, arguments: Sequence[tuple[str, int]]) -> Executable | None:
    """The built-in of a schedule that consists of small copies; None if it is another.

    Args:
        made: the schedule.
        arguments: role and position of every argument of the executable.
    """
    places = {key: place for place, key in enumerate(arguments)}
    numbers: list[int] = []
    sizes = set()
    for step in made.steps:
        if not isinstance(step, LoopStep) or not _is_small_copy(step.kernel):
            return None
        memory = [made.buffers[number] for number in step.buffers]
        keys = [(buffer.role, buffer.position) for buffer in memory]
        if not all(key in places for key in keys):
            return None
        numbers += _record(step.kernel, [places[key] for key in keys])
        sizes.add(memory[0].dtype.itemsize)
    if len(sizes) != 1 or any(role == "scalar" for role, _ in arguments):
        return None
    dtypes = {(buffer.role, buffer.position): buffer.dtype for buffer in made.buffers}
    phase = Phase("copy", len(made.steps), 0)
    return copying(sizes.pop()).bind([dtypes[key] for key in arguments], [phase], {}, more=numbers)


def _is_small_copy(kernel: LoopKernel) -> bool:
    """Whether a kernel copies a few elements from one buffer to another, along few axes."""
    return (
        kernel.size <= _SMALL
        and len(kernel.axes) <= AXES
        and len(kernel.nodes) == len(kernel.stores) == 1
        and kernel.nodes[0].op == "load"
    )


def _record(kernel: LoopKernel, slots: Sequence[int]) -> list[int]:
    """The numbers of one copy, in the order of `copies_ir.Field`."""
    itemsize = kernel.buffers[0].itemsize
    source, target = kernel.nodes[0].detail, kernel.stores[0].access
    missing = AXES - len(kernel.axes)
    sizes = [1] * missing + [axis.size for axis in kernel.axes]
    strides = [_strides(access, missing, itemsize) for access in (source, target)]
    ends = [slots[source.buffer], slots[target.buffer], source.offset * itemsize, target.offset * itemsize]
    return [*ends, *sizes, *strides[0], *strides[1]]


def _strides(access: Access, missing: int, itemsize: int) -> list[int]:
    return [0] * missing + [stride * itemsize for stride in access.strides]
