"""Where a kernel's code finds its run-time numbers.

The *parameters* are int64 numbers in the bytes object that is the built-in's self: sizes, strides and offsets of one
`LoopKernel`. The *context* is an array of 8-byte slots that the entry point fills at every call: addresses, scalars,
and an error record.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from raxis.schedule.loops import Access, Gather, LoopKernel, Position
from raxis_cpu.llvm.elementwise import EXPENSIVE
from raxis_cpu.llvm.plan import GENERAL, Plan, accesses

TABLE, UNITS, PARTS = range(3)
"""The first parameters: address of the runtime table, number of units, into how many parts they are worth splitting."""
_HEADER = 3
CHUNK = 8192
"""Elements of the lane axis that make one unit of an elementwise kernel."""
_CHUNK_OF_SQUARES = 1024
"""As CHUNK, for each row of a row of squares."""
MOST_PARTS = 256
"""Of a row that is reduced in parts."""
_SHORTEST_PART = 1 << 15
_GRAIN = 1 << 15
"""Elementary operations that are worth a thread."""
_COST_OF_FUNCTION = 8

ERROR, ERROR_VALUE, PARAMETERS, COUNT = range(4)
"""The first context slots: error code (0: none), the offending index, address of the parameters, number of parts."""
_FIXED_SLOTS = 4


class Layout:
    """Positions of parameters and slots for one specimen."""

    def __init__(self, plan: Plan, lanes: int) -> None:
        self.plan = plan
        self.lanes = lanes
        kernel = plan.kernel
        self._names: dict[tuple[object, ...], int] = {}
        for name in self._parameter_names(kernel):
            self._names[name] = _HEADER + len(self._names)
        self._partials = _FIXED_SLOTS + len(kernel.buffers) + 2 * len(kernel.scalars)
        self.slots = self._partials
        if plan.split:
            self.slots += 2 * MOST_PARTS * len(plan.reductions(0))

    def _parameter_names(self, kernel: LoopKernel) -> Iterator[tuple[object, ...]]:
        yield from (("size", axis) for axis in range(len(kernel.axes)))
        if self.plan.split:
            yield ("part",)
        for number, access in enumerate(accesses(kernel)):
            yield ("offset", number)
            yield from (("stride", number, axis) for axis, s in enumerate(access.strides) if s == GENERAL)
        for number, node in enumerate(kernel.nodes):
            if isinstance(node.detail, Gather):
                yield ("gather size", number)
                yield ("gather stride", number)

    def parameter(self, *name: object) -> int:
        """The place of a parameter: a size of an axis, offset or stride of the n-th access, ..."""
        return self._names[name]

    def buffer_slot(self, buffer: int) -> int:
        """The context slot of a buffer's address."""
        return _FIXED_SLOTS + buffer

    def scalar_slot(self, scalar: int) -> int:
        """The first of the two context slots of a scalar, in memory form."""
        return _FIXED_SLOTS + len(self.plan.kernel.buffers) + 2 * scalar

    def partial_slot(self, reduction: int, component: int) -> int:
        """The first of the context slots for the results of a reduction, one a part of the row.

        `component` is 1 for imaginary parts.
        """
        return self._partials + (2 * self.plan.reductions(0).index(reduction) + component) * MOST_PARTS

    def parameters(self, kernel: LoopKernel, table: int) -> list[int]:
        """The parameters of a kernel of this specimen."""
        sizes = [axis.size for axis in kernel.axes]
        units = prod(sizes[axis] for axis in self.plan.outer) * self._strips(sizes) * self._chunks(sizes)
        length = _part_length(sizes[0]) if self.plan.split else 0
        if length:
            units = -(-sizes[0] // length)
        numbers = [table, units, min(units, _cost(kernel) // _GRAIN), *sizes]
        if length:
            numbers.append(length)
        for access, bare in zip(accesses(kernel), accesses(self.plan.kernel), strict=True):
            numbers.append(access.offset)
            numbers += _general(access, bare)
        for node in kernel.nodes:
            if isinstance(node.detail, Gather):
                numbers += [node.detail.size, node.detail.stride]
        return numbers

    @property
    def chunk(self) -> int:
        """Elements of the lane axis in one unit, if the lanes are rows."""
        if self.plan.inner:
            return self.lanes
        return CHUNK if self.plan.tile is None else _CHUNK_OF_SQUARES

    def _strips(self, sizes: list[int]) -> int:
        """How many squares lie along the tile axis."""
        return 1 if self.plan.tile is None else -(-sizes[self.plan.tile] // self.lanes)

    def _chunks(self, sizes: list[int]) -> int:
        if not self.plan.lanes_are_rows or self.plan.lane is None:
            return 1
        return -(-sizes[self.plan.lane] // self.chunk)


def _part_length(size: int) -> int:
    """So long that there are at most `MOST_PARTS`; a multiple of any vector's length."""
    return max(_SHORTEST_PART, -(-size // MOST_PARTS) + 1023 & -1024)


def _general(access: Access | Position, bare: Access | Position) -> list[int]:
    return [stride for stride, kind in zip(access.strides, bare.strides, strict=True) if kind == GENERAL]


def _cost(kernel: LoopKernel) -> int:
    """Elementary operations in all, roughly."""
    functions = sum(node.op in EXPENSIVE or node.op in {"random", "gather_load"} for node in kernel.nodes)
    return kernel.size * (1 + functions * _COST_OF_FUNCTION + len(kernel.nodes) // 4)
