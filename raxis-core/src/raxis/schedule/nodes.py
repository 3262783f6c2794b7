"""Building the nodes of one loop kernel: values are computed where they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from raxis.dtypes import DType, int64
from raxis.layout import contiguous_strides
from raxis.ptir.program import Instruction, Value
from raxis.schedule.affine import VIEWS, Affine, Index, constant, identity, linear, through_view
from raxis.schedule.graph import ELEMENTWISE, LOOKUPS, REDUCES, SEARCHES, Graph, reduced_dims
from raxis.schedule.loops import Access, Axis, Gather, LoopKernel, Node, Position, Store


class Space(NamedTuple):
    """What a kernel iterates over: all points of `shape`; `inner` are the reduced dimensions."""

    shape: tuple[int, ...]
    inner: tuple[int, ...] = ()

    @property
    def outer(self) -> tuple[int, ...]:
        """The dimensions that are not reduced."""
        return tuple(dim for dim in range(len(self.shape)) if dim not in self.inner)

    def axes(self) -> tuple[Axis, ...]:
        """Outer axes, then inner ones."""
        outer = [Axis(self.shape[dim]) for dim in self.outer]
        return (*outer, *(Axis(self.shape[dim], inner=True) for dim in self.inner))

    def visit(self, shape: tuple[int, ...]) -> Index | None:
        """How a value of `shape` is visited: at every point, or once per outer point; None if neither."""
        axes = identity(len(self.shape))
        order = (*self.outer, *self.inner)
        if shape == self.shape:
            return tuple(axes[order.index(dim)] for dim in range(len(shape)))
        return self._row_index(shape, axes)

    def _row_index(self, shape: tuple[int, ...], axes: Index) -> Index | None:
        sizes = [self.shape[dim] for dim in self.outer]
        if [size for size in shape if size != 1] != [size for size in sizes if size != 1] or not self.inner:
            return None
        moving = iter([axis for axis, size in zip(axes, sizes, strict=False) if size != 1])
        still = constant(len(self.shape))
        return tuple(still if size == 1 else next(moving) for size in shape)


class Memory(NamedTuple):
    """Where a value lies: buffer number and strides."""

    buffer: int
    strides: tuple[int, ...]


class Placement(Protocol):
    """What a kernel builder asks the scheduler."""

    def held(self, value: Value) -> bool:
        """Whether the value lies in memory already."""
        ...

    def locate(self, value: Value) -> Memory:
        """Where the value lies; it is computed first if it lies nowhere yet."""
        ...

    def locate_dense(self, value: Value) -> Memory:
        """Where the value lies in row-major order; it is copied there if need be."""
        ...

    def space_of(self, value: Value) -> Space:
        """The space of the kernel that would compute the value."""
        ...


class KernelBuilder:
    """Collects the nodes and stores of one kernel over `space`."""

    def __init__(self, graph: Graph, space: Space, placement: Placement) -> None:
        self.space = space
        self._graph = graph
        self._placement = placement
        self._rank = len(space.shape)
        self._nodes: list[Node] = []
        self._numbers: dict[tuple[Node, str], int] = {}
        self._made: dict[tuple[Value, Index], int] = {}
        self._stores: list[Store] = []
        self._slots: dict[int, int] = {}
        self._slot_dtypes: list[DType] = []
        self._scalars: dict[int, int] = {}
        self._scalar_dtypes: list[DType] = []

    def store(
        self, value: Value, index: Index, memory: Memory, at: Index | None = None, offset: int = 0
    ) -> None:
        """Compute `value` at `index` of it; write it to `at` (default: the same) in `memory`, `offset` further on."""
        number = self.node(value, index)
        access = self._access(value.type.dtype, memory, index if at is None else at)
        self._stores.append(Store(number, access._replace(offset=access.offset + offset)))

    def finish(self, name: str) -> tuple[LoopKernel, tuple[int, ...], tuple[int, ...]]:
        """The kernel, the buffers in its slots, and the by-value parameters it takes."""
        kernel = LoopKernel(
            name,
            tuple(self._slot_dtypes),
            self.space.axes(),
            tuple(self._nodes),
            tuple(self._stores),
            tuple(self._scalar_dtypes),
        )
        return kernel, tuple(self._slots), tuple(self._scalars)

    def values(self) -> tuple[Value, ...]:
        """The values that the kernel computes, each after those it is made of."""
        made = dict.fromkeys(value for value, _ in self._made)
        return tuple(
            value for value in made if value in self._graph.producer and not self._placement.held(value)
        )

    def node(self, value: Value, index: Index) -> int:
        """The number of the node that is `value` at `index`."""
        value = self._graph.resolve(value)
        key = (value, index)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._make(value, index)
        return found

    def _make(self, value: Value, index: Index) -> int:
        item = self._graph.producer.get(value)
        if self._graph.is_number(value):
            return self._scalar(value)
        if item is None or self._placement.held(value) or not self._graph.is_fusable(value):
            return self._load(value, index)
        name = item.primitive
        if name in VIEWS:
            return self._view(item, value, index)
        if name in ELEMENTWISE:
            return self._add(name, [self.node(operand, index) for operand in item.operands], value.type.dtype)
        if name in REDUCES or name in SEARCHES:
            return self._reduction(item, value, index)
        if name in LOOKUPS:
            return self._lookup(item, value, index)
        return self._source(item, value, index)

    def _add(self, op: str, inputs: Sequence[int], dtype: DType, detail: Any = None) -> int:
        node = Node(op, tuple(inputs), dtype, detail)
        key = (node, str(detail) if op == "constant" else "")  # 0.0 and -0.0 are equal
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._nodes)
            self._nodes.append(node)
        return found

    def _slot(self, buffer: int, dtype: DType) -> int:
        if buffer not in self._slots:
            self._slots[buffer] = len(self._slots)
            self._slot_dtypes.append(dtype)
        return self._slots[buffer]

    def _scalar(self, value: Value) -> int:
        position = self._graph.position(value)
        if position not in self._scalars:
            self._scalars[position] = len(self._scalars)
            self._scalar_dtypes.append(value.type.dtype)
        return self._add("scalar", (), value.type.dtype, self._scalars[position])

    def _access(self, dtype: DType, memory: Memory, index: Index) -> Access:
        position = linear(index, memory.strides, self._rank)
        return Access(self._slot(memory.buffer, dtype), position.coefficients, position.offset)

    def _load(self, value: Value, index: Index) -> int:
        dtype = value.type.dtype
        return self._add("load", (), dtype, self._access(dtype, self._placement.locate(value), index))

    def _view(self, item: Instruction, value: Value, index: Index) -> int:
        operand = item.operands[0]
        moved = through_view(item.primitive, item.attributes, operand.type.shape, index, self._rank)
        return self._reshaped(operand, value, index) if moved is None else self.node(operand, moved)

    def _reshaped(self, operand: Value, value: Value, index: Index) -> int:
        """Merged dimensions have no affine index, but dense memory reads the same in either shape."""
        dtype, buffer = value.type.dtype, self._placement.locate_dense(operand).buffer
        reshaped = Memory(buffer, contiguous_strides(value.type.shape))
        return self._add("load", (), dtype, self._access(dtype, reshaped, index))

    def _reduction(self, item: Instruction, value: Value, index: Index) -> int:
        operand = item.operands[0]
        if not self._reduces_here(item, index):
            return self._load(value, index)
        full = self.space.visit(operand.type.shape)
        assert full is not None  # _reduces_here compared the shapes
        inner = self._placement.space_of(operand)
        if inner.inner and inner != self.space:
            # The operand is made of reductions over other axes: one kernel of its own for all of them.
            self._placement.locate(operand)
        return self._add(item.primitive, [self.node(operand, full)], value.type.dtype)

    def _reduces_here(self, item: Instruction, index: Index) -> bool:
        """Whether the reduction goes over this kernel's inner axes and is wanted once per outer point."""
        space = self.space
        if not space.inner or item.operands[0].type.shape != space.shape or reduced_dims(item) != space.inner:
            return False
        axes = identity(self._rank)
        sizes = [space.shape[dim] for dim in space.outer]
        return all(size == 1 or found == axis for found, axis, size in zip(index, axes, sizes, strict=False))

    def _lookup(self, item: Instruction, value: Value, index: Index) -> int:
        data, indices = item.operands
        dim = item.attributes["dim"]
        memory, still = self._placement.locate(data), constant(self._rank)
        if item.primitive == "take":
            inner = indices.type.rank
            place = self.node(indices, index[dim : dim + inner])
            rest = (*index[:dim], still, *index[dim + inner :])
        else:
            place = self.node(indices, index)
            rest = (*index[:dim], still, *index[dim + 1 :])
        access = self._access(data.type.dtype, memory, rest)
        detail = Gather(access, memory.strides[dim], data.type.shape[dim], dim)
        return self._add("gather_load", [place], value.type.dtype, detail)

    def _source(self, item: Instruction, value: Value, index: Index) -> int:
        dtype = value.type.dtype
        if item.primitive == "constant":
            return self._add("constant", (), dtype, item.attributes["value"])
        if item.primitive == "iota":
            number = self._affine(index[item.attributes["dim"]])
            return number if dtype is int64 else self._add("cast", [number], dtype)
        key, offset = (self.node(operand, ()) for operand in item.operands)
        position = linear(index, contiguous_strides(value.type.shape), self._rank)
        return self._add("random", [key, offset], dtype, Position(position.coefficients, position.offset))

    def _affine(self, expression: Affine) -> int:
        total = self._add("constant", (), int64, expression.offset)
        for axis, coefficient in enumerate(expression.coefficients):
            if coefficient:
                term = self._add("index", (), int64, axis)
                if coefficient != 1:
                    term = self._add("mul", [term, self._add("constant", (), int64, coefficient)], int64)
                total = self._add("add", [total, term], int64)
        return total
