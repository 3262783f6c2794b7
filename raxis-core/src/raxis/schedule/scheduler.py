"""The scheduler: from a program to loop kernels and library calls.

A value gets memory only if it must: parameters, results, operands and results of library routines, reductions
whose kernel is another, and what is read in an order that is not affine. Everything else is computed
where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from raxis.layout import Strides, contiguous_strides
from raxis.ptir.program import Instruction, Program, Value
from raxis.schedule.affine import VIEWS, identity, linear, through_view
from raxis.schedule.companions import Companions
from raxis.schedule.fusion import costs_of, kept
from raxis.schedule.graph import INDEXED, REDUCES, SEARCHES, UPDATES, Graph, reduced_dims
from raxis.schedule.in_place import written_in_place
from raxis.schedule.nodes import KernelBuilder, Memory, Space
from raxis.schedule.normalise import normalised
from raxis.schedule.reuse import with_reuse
from raxis.schedule.schedule import Buffer, LibraryStep, LoopStep, Number, Schedule, Step
from raxis.schedule.target import EVERYTHING, Target


def schedule(
    program: Program,
    inputs: Sequence[Strides | None],
    outputs: Sequence[Strides],
    *,
    in_place: int = 0,
    disjoint: bool = False,
    target: Target = EVERYTHING,
) -> Schedule:
    """Plan the steps of `program` for operands and results of these strides.

    Args:
        program: what to compute.
        inputs: strides of the parameters in elements; None for by-value ones.
        outputs: strides of the results.
        in_place: so many results are written over as many parameters, the first over the first.
        disjoint: whether no two parameters are the same memory.
        target: what the backend runs in its own way.
    """
    graph = Graph(program, target)
    scheduler = _Scheduler(graph, program.name, inputs, outputs, in_place)
    scheduler.compute_results()
    made = Schedule(tuple(scheduler.buffers), tuple(scheduler.steps), tuple(scheduler.numbers), graph.origins)
    if not in_place:
        return with_reuse(made)
    return written_in_place(made, in_place, disjoint=disjoint)


class _Crop(NamedTuple):
    """The part of an operand that padding keeps: its first element, its shape, where that element lands."""

    start: tuple[int, ...]
    shape: tuple[int, ...]
    landing: tuple[int, ...]


def _kept_by_pad(item: Instruction) -> _Crop | None:
    """What negative padding leaves of the operand; None if nothing."""
    start, shape, landing = [], [], []
    sizes = zip(item.operands[0].type.shape, item.results[0].type.shape, strict=True)
    amounts = zip(sizes, item.attributes["low"], item.attributes["interior"], strict=True)
    for (size, padded), low, interior in amounts:
        step = interior + 1
        first = max(0, -(low // step))
        last = min(size - 1, (padded - 1 - low) // step)
        if last < first:
            return None
        start.append(first)
        shape.append(last - first + 1)
        landing.append(low + first * step)
    return _Crop(tuple(start), tuple(shape), tuple(landing))


class _Scheduler:
    def __init__(
        self,
        graph: Graph,
        name: str,
        inputs: Sequence[Strides | None],
        outputs: Sequence[Strides],
        in_place: int,
    ) -> None:
        self.graph = graph
        self._in_place = in_place
        costs = costs_of(graph)
        self._kept = kept(graph, costs)
        self._companions = Companions(graph, costs, self.held, self.space_of)
        self.name = (
            "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name) or "program"
        )
        self.buffers: list[Buffer] = []
        self.steps: list[Step] = []
        self.numbers: list[Number] = []
        self._temporaries = 0
        self._dense_copies: dict[Value, int] = {}
        self._memory: dict[Value, int] = {}
        self._home: dict[Value, int] = {}
        for position, (value, strides) in enumerate(zip(graph.parameters, inputs, strict=True)):
            if strides is not None:
                self._memory[value] = self._buffer("parameter", position, value, strides)
        self._results = [
            self._result(position, value, tuple(strides))
            for position, (value, strides) in enumerate(zip(graph.results, outputs, strict=True))
        ]
        for result, buffer in self._results:
            if result in graph.producer:
                self._home.setdefault(result, buffer)

    def _result(self, position: int, value: Value, strides: Strides) -> tuple[Value, int]:
        """What a result's memory gets: dense memory takes a value in the shape in which it is computed."""
        while position >= self._in_place and strides == contiguous_strides(value.type.shape):
            operand = self._reshaped(value)
            if operand is None:
                break
            value, strides = operand, contiguous_strides(operand.type.shape)
        return value, self._buffer("result", position, value, strides)

    def _reshaped(self, value: Value) -> Value | None:
        """What a value is a reshape of, if that gets memory in any case; None for other values."""
        item = self.graph.producer.get(value)
        if item is None or item.primitive != "reshape" or self.graph.is_number(item.operands[0]):
            return None
        operand, rank = self.graph.resolve(item.operands[0]), value.type.rank
        if operand in self.graph.producer and not self.graph.is_fusable(operand):
            return operand
        moved = through_view("reshape", item.attributes, operand.type.shape, identity(rank), rank)
        return operand if moved is None else None

    def _buffer(self, role: str, position: int, value: Value, strides: Strides) -> int:
        self.buffers.append(Buffer(role, position, value.type.dtype, value.type.shape, tuple(strides)))
        return len(self.buffers) - 1

    # ---- results ------------------------------------------------------------------------------------

    def compute_results(self) -> None:
        """Give memory to what needs it, in the program's order, and write every result."""
        waiting = [
            value
            for item in self.graph.instructions
            for value in item.results
            if value in self._home or value in self._kept or not self.graph.is_fusable(value)
        ]
        waiting.sort(key=self._overwrites)  # what is written over a parameter comes last
        for place, value in enumerate(waiting):
            if value not in self._memory:
                self._compute(value, waiting[place + 1 :])
        for value, buffer in self._results:
            if self._memory.get(value) != buffer:
                self._loop([(value, buffer)], Space(value.type.shape))
        self._check_indices_of_nothing()

    def _check_indices_of_nothing(self) -> None:
        """Run what computes no element but is to find indices out of range: nobody else asks for it."""
        run = {id(step.instruction) for step in self.steps if isinstance(step, LibraryStep)}
        for item in self.graph.instructions:
            writes_nothing = item.primitive in INDEXED and 0 in item.results[0].type.shape
            if writes_nothing and 0 not in item.operands[1].type.shape and id(item) not in run:
                self._library(item)

    def _compute(self, value: Value, later: Sequence[Value]) -> None:
        """Compute a value, and in the same kernel others that are made of the same elements."""
        if not self.graph.is_fusable(value):
            self.locate(value)
            return
        overwrites = self._overwrites(value)
        fitting = (
            other
            for other in later
            if other not in self._memory
            and self.graph.is_fusable(other)
            and self._overwrites(other) is overwrites
        )
        group, space = self._companions.of(value, fitting)
        self._loop([(member, self._target(member)) for member in group], space)

    def _overwrites(self, value: Value) -> bool:
        """Whether the value is a result that is written over a parameter."""
        home = self._home.get(value)
        return home is not None and self.buffers[home].position < self._in_place

    # ---- memory -------------------------------------------------------------------------------------

    def held(self, value: Value) -> bool:
        return value in self._memory

    def locate(self, value: Value) -> Memory:
        """Where `value` lies; computed first if it lies nowhere."""
        value = self.graph.resolve(value)
        if value not in self._memory:
            self._materialise(value)
        buffer = self._memory[value]
        return Memory(buffer, self.buffers[buffer].strides)

    def _materialise(self, value: Value) -> None:
        item = self.graph.producer.get(value)
        if item is None:
            raise KeyError(f"by-value parameter {value} has no memory.")
        if item.primitive == "concatenate":
            self._concatenate(item, self._target(value))
        elif item.primitive == "pad":
            self._pad(item, self._target(value))
        elif (
            item.primitive == "reshape"
            and value not in self._home
            and not self.graph.is_number(item.operands[0])
        ):
            self._rename(item, value)
        elif self.graph.is_fusable(value):
            space = self.space_of(value)
            self._loop([(value, self._target(value))], space)
        else:
            self._library(item)

    def _target(self, value: Value) -> int:
        """The buffer `value` is to be written to: its result buffer, or a new temporary."""
        home = self._home.get(value)
        return self._temporary(value) if home is None else home

    def _temporary(self, value: Value) -> int:
        self._temporaries += 1
        return self._buffer("temporary", self._temporaries - 1, value, contiguous_strides(value.type.shape))

    def locate_view(self, value: Value) -> int:
        """A buffer that shows `value`: where it lies, or a strided part of what it is a view of."""
        value = self.graph.resolve(value)
        base, index = value, identity(value.type.rank)
        while not self.held(base) and base in self.graph.producer:
            item = self.graph.producer[base]
            moved = None
            if item.primitive in VIEWS and not self.graph.is_number(item.operands[0]):
                shape = item.operands[0].type.shape
                moved = through_view(item.primitive, item.attributes, shape, index, value.type.rank)
            if moved is None:
                break
            base, index = self.graph.resolve(item.operands[0]), moved
        if base is value or self.graph.is_uniform(base):
            return self.locate(value).buffer
        memory = self.locate(base)
        strides, offset = linear(index, memory.strides, value.type.rank)
        if any(stride < 0 for stride in strides):
            return self.locate(value).buffer
        known = self.buffers[memory.buffer]
        shown = known._replace(shape=value.type.shape, strides=strides, offset=known.offset + offset)
        self.buffers.append(shown)
        self._memory[value] = len(self.buffers) - 1
        return self._memory[value]

    def locate_dense(self, value: Value) -> Memory:
        """Where `value` lies in row-major order."""
        value = self.graph.resolve(value)
        memory = self.locate(value)
        dense = contiguous_strides(value.type.shape)
        if memory.strides == dense:
            return memory
        if value not in self._dense_copies:
            copy = self._temporary(value)
            self._loop([(value, copy)], Space(value.type.shape))
            self._dense_copies[value] = copy
        return Memory(self._dense_copies[value], dense)

    def _rename(self, item: Instruction, value: Value) -> None:
        """A reshape of dense memory is the same memory in another shape."""
        buffer = self.locate_dense(item.operands[0]).buffer
        shape = value.type.shape
        self.buffers.append(self.buffers[buffer]._replace(shape=shape, strides=contiguous_strides(shape)))
        self._memory[value] = len(self.buffers) - 1

    # ---- steps --------------------------------------------------------------------------------------

    def _loop(self, targets: Sequence[tuple[Value, int]], space: Space) -> None:
        """One kernel that writes every (value, buffer)."""
        wanted = [(value, buffer) for value, buffer in targets if 0 not in value.type.shape]
        if wanted:
            builder = KernelBuilder(self.graph, space, self)
            for value, buffer in wanted:
                index = space.visit(value.type.shape)
                if index is None:
                    raise ValueError(f"a value of shape {value.type.shape} does not fit the space {space}.")
                builder.store(value, index, Memory(buffer, self.buffers[buffer].strides))
            self._append(builder)
        for value, buffer in targets:
            self._memory.setdefault(value, buffer)

    def _append(self, builder: KernelBuilder) -> None:
        kernel, buffers, scalars = builder.finish(self.name)
        self.steps.append(LoopStep(normalised(kernel), buffers, scalars, builder.values()))

    def _concatenate(self, item: Instruction, buffer: int) -> None:
        strides, dim = self.buffers[buffer].strides, item.attributes["dim"]
        places, start = [], 0
        for operand in item.operands:
            places.append((operand, start * strides[dim]))
            start += operand.type.shape[dim]
        for _, together in groupby(places, key=lambda place: self._company(place[0])):
            self._regions(list(together), Memory(buffer, strides))
        self._memory[item.results[0]] = buffer

    def _company(self, value: Value) -> object:
        """One loop writes neighbours with the same: those computed now, which may share work, by their shape."""
        value = self.graph.resolve(value)
        return value if self.held(value) or not self.graph.is_fusable(value) else value.type.shape

    def _regions(self, places: Sequence[tuple[Value, int]], memory: Memory) -> None:
        """Write values of one shape into parts of memory."""
        shape = places[0][0].type.shape
        if 0 in shape:
            return
        builder = KernelBuilder(self.graph, Space(shape), self)
        for value, offset in places:
            builder.store(value, identity(len(shape)), memory, offset=offset)
        self._append(builder)

    def _pad(self, item: Instruction, buffer: int) -> None:
        """Fill, then write the operand's elements that are not cropped, `interior` apart."""
        operand, fill = item.operands
        result = item.results[0]
        strides = self.buffers[buffer].strides
        self._fill(fill, result, Memory(buffer, strides))
        crop = _kept_by_pad(item)
        if crop is not None:
            spread = tuple(
                stride * (gap + 1) for stride, gap in zip(strides, item.attributes["interior"], strict=True)
            )
            offset = sum(first * stride for first, stride in zip(crop.landing, strides, strict=True))
            self._crop(operand, crop, Memory(buffer, spread), offset)
        self._memory[result] = buffer

    def _fill(self, fill: Value, result: Value, memory: Memory) -> None:
        shape = result.type.shape
        if 0 in shape:
            return
        builder = KernelBuilder(self.graph, Space(shape), self)
        builder.store(fill, (), memory, identity(len(shape)))
        self._append(builder)

    def _crop(self, operand: Value, crop: _Crop, memory: Memory, offset: int) -> None:
        builder = KernelBuilder(self.graph, Space(crop.shape), self)
        axes = identity(len(crop.shape))
        moved = tuple(axis.scaled(1, start) for axis, start in zip(axes, crop.start, strict=True))
        builder.store(operand, moved, memory, axes, offset)
        self._append(builder)

    def _library(self, item: Instruction) -> None:
        results = tuple(self._target(result) for result in item.results)
        if item.primitive in UPDATES and self._is_computed_anew(item.operands[0]):
            others = tuple(self._operand(operand, operand) for operand in item.operands[1:])
            operands = (self._overwritten(item.operands[0], results[0]), *others)
        elif item.primitive == "composite":
            pairs = zip(item.regions[0].parameters, item.operands, strict=True)
            operands = tuple(self._operand(operand, parameter) for parameter, operand in pairs)
        else:
            operands = tuple(self._operand(operand, operand) for operand in item.operands)
        self.steps.append(LibraryStep(item, operands, results))
        self._memory.update(zip(item.results, results, strict=True))

    def _is_computed_anew(self, operand: Value) -> bool:
        """Whether no memory holds the value and a loop kernel can write it."""
        value = self.graph.resolve(operand)
        return value not in self._memory and value not in self._home and self.graph.is_fusable(value)

    def _overwritten(self, operand: Value, buffer: int) -> int:
        """Compute a value in memory that a step will then update."""
        value = self.graph.resolve(operand)
        self._loop([(value, buffer)], self.space_of(value))
        self._memory.pop(value, None)
        return buffer

    def _operand(self, operand: Value, taken: Value) -> int:
        """The buffer of an operand, or below zero a number, if what it is `taken` as is one."""
        number = self.graph.number(operand) if self.graph.is_number(taken) else None
        if number is None:
            return self.locate_view(operand)
        self.numbers.append(number)
        return -len(self.numbers)

    # ---- spaces -------------------------------------------------------------------------------------

    def space_of(self, value: Value) -> Space:
        """The space of the kernel that computes `value`: that of the reduction it is made of, if it fits."""
        reduction = self._nearest_reduction(value)
        if reduction is not None:
            space = Space(reduction.operands[0].type.shape, reduced_dims(reduction))
            if space.visit(value.type.shape) is not None:
                return space
        return Space(value.type.shape)

    def _nearest_reduction(self, value: Value) -> Instruction | None:
        stack, seen = [value], set()
        while stack:
            current = self.graph.resolve(stack.pop())
            if current in seen or self.held(current) or not self.graph.is_fusable(current):
                continue
            seen.add(current)
            item = self.graph.producer[current]
            if item.primitive in REDUCES or item.primitive in SEARCHES:
                return item
            stack.extend(reversed(item.operands))
        return None
