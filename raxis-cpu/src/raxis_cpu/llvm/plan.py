"""What is decided about a loop kernel before any code is written: lanes, scopes, passes and what is kept.

The *lane axis* is the one along which vectors run. If it is the last inner axis, a row is reduced within its vectors;
if it is the last outer axis, every lane is a row of its own, and the inner axes are passed over one step at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from raxis.dtypes import HALF, Category
from raxis.schedule.loops import REDUCTIONS, Access, Axis, Gather, LoopKernel, Node, Position, Store
from raxis_cpu.llvm.elementwise import EXPENSIVE

GENERAL = 7
"""Stands for every stride but 0 and 1 in the specimen of a kernel."""
_SOME = 8
"""Stands for every size."""
_FEWEST_ROWS = 8
"""With fewer lanes than this to fill, rows are not worth running side by side."""
_LONG_ROW = 1 << 17
"""Elements that are worth several threads, even if all there is to do is to add them up."""
MOST_NARROW = 16
"""Lanes of the widest register, for float32."""


class Scope(Enum):
    """Where a node is computed."""

    UNIT = "once per outer point, or per chunk of the lane axis, as a scalar"
    BLOCK = "once per vector of rows"
    STEP = "at every step over the inner axes but the lane axis, as a scalar"
    BODY = "at every point, as a vector"


class Specimen(NamedTuple):
    """A kernel without its sizes: all kernels with one specimen share one code."""

    kernel: LoopKernel
    lane: int | None
    tile: int | None
    """The axis that squares extend over beside the lane axis; None if it is all done in rows."""
    narrow: bool
    """Whether one register holds a row."""
    split: bool
    """Whether the one row is reduced in parts, whose results are combined at the end."""


def specimen_of(kernel: LoopKernel) -> Specimen:
    """The specimen of a kernel; strides become 0, 1 or `GENERAL`."""
    nodes = tuple(node._replace(detail=_without_sizes(node.detail)) for node in kernel.nodes)
    stores = tuple(Store(store.node, _access_without_sizes(store.access)) for store in kernel.stores)
    axes = tuple(Axis(_SOME, axis.inner) for axis in kernel.axes)
    bare = LoopKernel(kernel.name, kernel.buffers, axes, nodes, stores, kernel.scalars)
    lane = _lane_axis(kernel)
    inner = [number for number, axis in enumerate(kernel.axes) if axis.inner]
    narrow = lane is not None and lane in inner and kernel.axes[lane].size <= MOST_NARROW
    return Specimen(bare, lane, _tile_axis(kernel, lane), narrow, _is_split(kernel))


def _stride_class(stride: int) -> int:
    return stride if stride in {0, 1} else GENERAL


def _access_without_sizes(access: Access) -> Access:
    return Access(access.buffer, tuple(map(_stride_class, access.strides)))


def _without_sizes(detail: object) -> object:
    if isinstance(detail, Access):
        return _access_without_sizes(detail)
    if isinstance(detail, Position):
        return Position(tuple(map(_stride_class, detail.strides)))
    if isinstance(detail, Gather):
        return Gather(_access_without_sizes(detail.access), _stride_class(detail.stride), _SOME, detail.dim)
    return detail


def accesses(kernel: LoopKernel) -> Iterator[Access | Position]:
    """Every affine position of the kernel: those of the nodes, then those of the stores."""
    for node in kernel.nodes:
        if isinstance(node.detail, Gather):
            yield node.detail.access
        elif isinstance(node.detail, (Access, Position)):
            yield node.detail
    for store in kernel.stores:
        yield store.access


def _lane_axis(kernel: LoopKernel) -> int | None:
    """The axis for the vectors: the last inner one, unless the last outer one suits memory better."""
    inner = [number for number, axis in enumerate(kernel.axes) if axis.inner]
    outer = [number for number, axis in enumerate(kernel.axes) if not axis.inner]
    if not inner or not outer:
        only = outer or inner
        return only[-1] if only else None
    many = kernel.axes[outer[-1]].size >= _FEWEST_ROWS
    suits = many and _unsuitability(kernel, outer[-1]) < _unsuitability(kernel, inner[-1])
    return outer[-1] if suits else inner[-1]


def _unsuitability(kernel: LoopKernel, axis: int) -> tuple[int, int]:
    """How many loads would take one instruction per lane; then, the fewer are contiguous the worse."""
    strides = [node.detail.strides[axis] for node in kernel.nodes if node.op == "load"]
    return sum(stride not in (0, 1) for stride in strides), -strides.count(1)


def _tile_axis(kernel: LoopKernel, lane: int | None) -> int | None:
    """The axis along which a load is dense that is not along the lane axis; None where squares do not help."""
    if lane is None or any(axis.inner for axis in kernel.axes) or kernel.axes[lane].size < _FEWEST_ROWS:
        return None
    for node in kernel.nodes:
        for axis in range(len(kernel.axes)):
            if _is_turned(node, lane, axis) and kernel.axes[axis].size >= _FEWEST_ROWS:
                return axis
    return None


def _is_split(kernel: LoopKernel) -> bool:
    """Whether there is but one row, a long one, that is passed over once."""
    ops = {node.op for node in kernel.nodes}
    return (
        len(kernel.axes) == 1
        and kernel.axes[0].inner
        and kernel.axes[0].size >= _LONG_ROW
        and max(kernel.levels) == 1
        # Every part of a product would pass through subnormal numbers on its way to 0, which takes very long.
        and not ops & {"argmax", "argmin", "reduce_prod"}
        and not any(store.access.strides[0] or not kernel.is_row_value[store.node] for store in kernel.stores)
    )


def _is_turned(node: Node, lane: int, tile: int) -> bool:
    """Whether a node loads along the tile axis what is wanted along the lane axis."""
    return (
        node.op == "load"
        and not node.dtype.is_complex
        and node.detail.strides[tile] == 1
        and node.detail.strides[lane] not in {0, 1}
    )


class Plan:
    """The decisions for one specimen."""

    def __init__(self, specimen: Specimen, *, keeps: bool = True) -> None:
        self._keeps = keeps
        self.kernel = specimen.kernel
        self.lane, self.tile = specimen.lane, specimen.tile
        self.narrow, self.split = specimen.narrow, specimen.split
        self.inner = [number for number, axis in enumerate(self.kernel.axes) if axis.inner]
        self.lanes_are_rows = self.lane is not None and self.lane not in self.inner
        self.outer = [
            number
            for number, axis in enumerate(self.kernel.axes)
            if not axis.inner and number not in {self.lane, self.tile}
        ]
        self.steps = [number for number in self.inner if number != self.lane]
        self.kept: set[int] = set()
        """BODY nodes that an earlier pass stores for a later one."""
        self.passes = self._passes()
        """For every pass over the inner axes, the STEP and BODY nodes it computes, in order."""

    @property
    def rows_are_vectors(self) -> bool:
        """Whether a row fits into one vector of `MOST_NARROW` lanes."""
        return self.narrow and not self.steps

    @cached_property
    def varies_in_lane(self) -> tuple[bool, ...]:
        """For every node, whether it differs along the lane axis."""
        found: list[bool] = []
        for node in self.kernel.nodes:
            if node.op in REDUCTIONS:
                found.append(self.lanes_are_rows)
            else:
                found.append(self._own_variation(node) or any(found[number] for number in node.inputs))
        return tuple(found)

    def _own_variation(self, node: Node) -> bool:
        if self.lane is None:
            return False
        if node.op == "index":
            return bool(node.detail == self.lane)
        position = node.detail.access if isinstance(node.detail, Gather) else node.detail
        return isinstance(position, (Access, Position)) and position.strides[self.lane] != 0

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """For every node, where it is computed."""
        return tuple(
            self._scope(row, lane)
            for row, lane in zip(self.kernel.is_row_value, self.varies_in_lane, strict=True)
        )

    def _scope(self, row: bool, lane: bool) -> Scope:
        if row:
            return Scope.BLOCK if lane else Scope.UNIT
        return Scope.BODY if lane else Scope.STEP

    @property
    def streams(self) -> bool:
        """Whether memory is read and written from one end to the other."""
        return len(self.kernel.axes) == 1 and not self.inner

    @property
    def dense_loads(self) -> list[int]:
        """The loads that are dense along the lane axis."""
        return [
            number
            for number, node in enumerate(self.kernel.nodes)
            if node.op == "load" and self.lane is not None and node.detail.strides[self.lane] == 1
        ]

    def is_full(self, store: Store) -> bool:
        """Whether a store happens at every inner point."""
        varies = any(store.access.strides[axis] for axis in self.inner)
        return varies or not self.kernel.is_row_value[store.node]

    def _passes(self) -> tuple[tuple[int, ...], ...]:
        computed: list[set[int]] = []
        for number in range(self.pass_count):
            earlier = set().union(*computed)
            needed: set[int] = set()
            for root in self._roots(number):
                self._collect(root, earlier, needed)
            computed.append(needed)
        return tuple(tuple(sorted(needed)) for needed in computed)

    @cached_property
    def pass_count(self) -> int:
        """How often the inner axes are passed over."""
        levels = [
            self.kernel.levels[number] - 1
            for number, node in enumerate(self.kernel.nodes)
            if node.op in REDUCTIONS
        ]
        levels += [self.kernel.levels[store.node] for store in self.kernel.stores if self.is_full(store)]
        return max(levels, default=-1) + 1

    def _roots(self, number: int) -> Iterator[int]:
        for reduction in self.reductions(number):
            yield self.kernel.nodes[reduction].inputs[0]
        if number == self.pass_count - 1:
            yield from (store.node for store in self.kernel.stores if self.is_full(store))

    def reductions(self, number: int) -> list[int]:
        """The reductions that happen in a pass."""
        return [
            node
            for node, record in enumerate(self.kernel.nodes)
            if record.op in REDUCTIONS and self.kernel.levels[node] == number + 1
        ]

    def _collect(self, node: int, earlier: set[int], needed: set[int]) -> None:
        if node in needed or self.scopes[node] in {Scope.UNIT, Scope.BLOCK}:
            return
        if self._keeps and node in earlier and self._is_expensive(node):
            self.kept.add(node)
            return
        for number in self.kernel.nodes[node].inputs:
            self._collect(number, earlier, needed)
        needed.add(node)

    def _is_expensive(self, node: int) -> bool:
        op = self.kernel.nodes[node].op
        return self.scopes[node] is Scope.BODY and (op in EXPENSIVE or op in {"gather_load", "random"})

    def width(self, vector_bytes: int) -> int:
        """How many lanes: one register of the widest arithmetic, or a few where that is cheap."""
        if self.lane is None:
            return 1
        one_register = vector_bytes // self._element_bytes
        return min(one_register, 16) if self._has_strided_loads else one_register * self._registers

    @property
    def _element_bytes(self) -> int:
        """The size of the elements that the arithmetic is about."""
        bodies = [node for node, lane in zip(self.kernel.nodes, self.varies_in_lane, strict=True) if lane]
        floats = [node.dtype.to_real() for node in bodies if node.dtype.category >= Category.FLOAT]
        if floats:
            return max(4 if dtype in HALF else dtype.itemsize for dtype in floats)
        data = [node.dtype.itemsize for node in bodies if node.op not in {"index", *REDUCTIONS}]
        return max(data, default=8)

    @property
    def turned(self) -> list[int]:
        """The loads that are dense along the tile axis."""
        if self.lane is None or self.tile is None:
            return []
        nodes = enumerate(self.kernel.nodes)
        return [number for number, node in nodes if _is_turned(node, self.lane, self.tile)]

    @property
    def _registers(self) -> int:
        if self.narrow:
            return 1
        ops = {node.op for node in self.kernel.nodes}
        if "random" in ops:
            return 4
        if ops & EXPENSIVE or any(node.dtype.is_complex for node in self.kernel.nodes):
            return 1
        return 4 if ops & REDUCTIONS and not ops & {"argmax", "argmin"} else 2

    @property
    def _has_strided_loads(self) -> bool:
        """Whether there are strided loads, which take one instruction per lane."""
        if self.lane is None:
            return False
        strided = any(
            isinstance(access, Access) and access.strides[self.lane] == GENERAL
            for access in accesses(self.kernel)
        )
        gathers = [node for node in self.kernel.nodes if node.op == "gather_load"]
        return strided or not all(map(self.gathers_rows, gathers))

    def gathers_rows(self, node: Node) -> bool:
        """Whether one index picks what all lanes load, which lies side by side."""
        if self.lane is None or node.op != "gather_load":
            return False
        return not self.varies_in_lane[node.inputs[0]] and node.detail.access.strides[self.lane] == 1

    @cached_property
    def checked(self) -> list[int]:
        """The nodes whose operand, index or divisor, must be looked at before anything is stored."""
        return [number for number, node in enumerate(self.kernel.nodes) if self._may_fail(node)]

    def _may_fail(self, node: Node) -> bool:
        if node.op == "gather_load":
            return True
        divides = node.op in {"div", "floor_divide", "remainder", "fmod"}
        return divides and node.dtype.category is Category.INTEGER
