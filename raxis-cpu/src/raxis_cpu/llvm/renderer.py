"""Loop kernels as LLVM IR.

A kernel's work is a row of *units* (outer points, or chunks of the lane axis); ``@part`` computes units [begin, end)
and is what threads share. ``@check`` looks at all indices and divisors before anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from raxis_cpu.llvm.compile import Target
from raxis_cpu.llvm.frame import Frame, KeptValues, Lanes
from raxis_cpu.llvm.ir import I64, PTR, Value, Variable, is_null
from raxis_cpu.llvm.layout import Layout
from raxis_cpu.llvm.memory import first_lanes
from raxis_cpu.llvm.plan import GENERAL, Scope
from raxis_cpu.llvm.reductions import Accumulator
from raxis_cpu.llvm.runtime import FREE, MALLOC, function_pointer
from raxis_cpu.llvm.values import Values
from raxis_cpu.machine import CACHE_LINE

OUT_OF_MEMORY = 1
"""Error code; code 2 + n is a failed check of node n."""
_STREAM_DISTANCE = 2048
"""How many bytes ahead of the arithmetic memory is fetched."""


class Renderer(Values):
    """Writes ``@part`` or ``@check`` of one plan."""

    def __init__(self, layout: Layout, target: Target, *, checks: bool = False) -> None:
        super().__init__("@check" if checks else "@part", layout, target, checks=checks)
        self._kept = KeptValues(
            self.function, self._plan, layout.lanes, lambda axis: self._parameter("size", axis)
        )

    # The loop nest, from the outside in.

    def render(self) -> str:
        """The text of the function and its helpers."""
        function = self.function
        frame = Frame()
        begin, end = function.argument(I64, "begin"), function.argument(I64, "end")
        with self._scratch():
            counters = self._start_counters(begin)
            with function.loop(begin, end):
                self._unit(frame, counters)
                self._advance(counters)
        function.line("ret void")
        return function.text

    @contextmanager
    def _scratch(self) -> Iterator[None]:
        """Memory for kept values, for one unit; an error if there is none."""
        if not self._plan.kept:
            yield
            return
        function = self.function
        malloc = function_pointer(function, self._parameters, MALLOC)
        memory = function.call(PTR, malloc, self._kept.nbytes() + 64)
        with function.when(is_null(memory)):
            self._fail(OUT_OF_MEMORY, function.constant(I64, 0))
        self._kept.memory = function.emit(
            PTR, f"call ptr @llvm.ptrmask.p0.i64({function.advance(memory, 63, 1)}, i64 -64)"
        )
        yield
        free = function_pointer(function, self._parameters, FREE)
        function.line(f"call void {free}({memory})")

    def _extents(self) -> list[Value]:
        """How many units there are along every outer axis, along the tile axis, along the lane axis in chunks."""
        extents = [self._parameter("size", axis) for axis in self._plan.outer]
        if self._plan.split:
            extents.append(self._units())
        if self._plan.tile is not None:
            extents.append(self._pieces(self._plan.tile, self._lane_count))
        if self._plan.lanes_are_rows and self._plan.lane is not None:
            extents.append(self._pieces(self._plan.lane, self._layout.chunk))
        return extents

    def _pieces(self, axis: int, length: int) -> Value:
        """An axis in so many pieces; the length is a power of two."""
        return (self._parameter("size", axis) + (length - 1)) >> (length.bit_length() - 1)

    def _start_counters(self, begin: Value) -> list[Variable]:
        """Indices of unit `begin`, last one fastest."""
        function, rest = self.function, begin
        counters: list[Variable] = []
        extents = self._extents()
        for number, extent in reversed(list(enumerate(extents))):
            if number == 0:
                counters.append(function.variable(I64, rest))
                break
            # Empty kernels have no units, but this division comes first.
            divisor = extent.compare("eq", 0).select(1, extent)
            quotient = function.emit(I64, f"udiv {rest}, {divisor.name}")
            counters.append(function.variable(I64, rest - quotient * divisor))
            rest = quotient
        return counters[::-1]

    def _advance(self, counters: Sequence[Variable]) -> None:
        """Step to the next unit."""
        if not counters:
            return
        last, extent = counters[-1], self._extents()[len(counters) - 1]
        following = last.get() + 1
        last.set(following)
        if len(counters) > 1:
            with self.function.when(following.compare("ge", extent)):
                last.set(0)
                self._advance(counters[:-1])

    def _unit(self, frame: Frame, counters: Sequence[Variable]) -> None:
        indices = [counter.get() for counter in counters]
        unit = frame.inside()
        unit.indices = dict(zip(self._plan.outer, indices, strict=False))
        if self._plan.tile is None:
            self._compute(unit, self._nodes_in(Scope.UNIT, 0))
        if self._plan.tile is not None:
            first = indices[-2] * self._lane_count
            self._blocks_of_rows(unit, indices[-1], lambda block: self._square(block, first))
        elif self._plan.lanes_are_rows:
            self._blocks_of_rows(unit, indices[-1], self._block_of_rows)
        elif self._plan.split:
            self._part(unit, indices[-1])
        else:
            self._passes(unit, Scope.UNIT)

    def _blocks_of_rows(self, unit: Frame, chunk: Value, body: Callable[[Frame], None]) -> None:
        lane = self._plan.lane
        if lane is None:
            raise TypeError("rows need a lane axis.")
        size = self._parameter("size", lane)
        start = chunk * self._layout.chunk
        stop = (start + self._layout.chunk).intrinsic("smin", size)
        self._blocks(unit, start, stop, body)

    def _block_of_rows(self, block: Frame) -> None:
        if self._plan.streams and not self._checks and block.vector.valid is None:
            self._fetch_stream(block)
        self._compute(block, self._nodes_in(Scope.BLOCK, 0))
        self._passes(block, Scope.BLOCK)

    def _square(self, block: Frame, first: Value) -> None:
        """As many rows from `first` on as there are lanes: what lies across them is turned before."""
        tile = self._plan.tile
        if tile is None:
            raise TypeError("squares need a tile axis.")
        count = (self._parameter("size", tile) - first).intrinsic("smin", self._lane_count)
        block.indices[tile] = first
        rooms = {number: self._turn(block, number, count) for number in self._plan.turned}
        with self.function.loop(0, count) as row:
            frame = block.inside()
            frame.indices[tile] = first + row
            frame.turned = {
                number: self.function.advance(room, row, self._vector_bytes(number))
                for number, room in rooms.items()
            }
            self._compute(frame, self._nodes_in(Scope.UNIT, 0))
            self._block_of_rows(frame)

    def _blocks(self, frame: Frame, start: Value | int, stop: Value, body: Callable[[Frame], None]) -> None:
        """Write the body for the vectors that cover [start, stop) of the lane axis: whole ones, then the rest."""
        function, count = self.function, self._lane_count
        whole = (stop - start) & -count
        if not isinstance(start, int) or start:
            whole = whole + start
        with function.loop(start, whole, count) as first:
            body(self._at_lanes(frame, first, None))
        with function.when(whole.compare("lt", stop)):
            body(self._at_lanes(frame, whole, stop - whole))

    def _at_lanes(self, frame: Frame, first: Value, rest: Value | None) -> Frame:
        """The frame of a vector; of the first `rest` lanes of one."""
        count = self._lane_count
        block = frame.inside()
        if rest is None:
            block.lanes = Lanes(first, self.function.constant(I64, count), None, self._ladder())
        else:
            numbers = self._ladder().intrinsic("smin", (rest - 1).splat(count))
            block.lanes = Lanes(first, rest, first_lanes(rest, count), numbers)
        if self._plan.lane is not None:
            block.indices[self._plan.lane] = first
        return block

    def _part(self, frame: Frame, number: Value) -> None:
        """Reduce one part of a row that is reduced in parts."""
        if self._plan.lane is None:
            raise TypeError("a row needs a lane axis.")
        length = self._parameter("part")
        start = number * length
        stop = (start + length).intrinsic("smin", self._parameter("size", self._plan.lane))
        reductions = [] if self._checks else self._plan.reductions(0)
        accumulators = {node: self._accumulator(node, self._lane_count) for node in reductions}
        self._blocks(frame, start, stop, lambda block: self._body(block, 0, accumulators))
        for node, accumulated in accumulators.items():
            accumulated.settle()
            self._store_partial(node, number, accumulated.combined(across=True))

    def _passes(self, frame: Frame, scope: Scope) -> None:
        """All passes over the inner axes, and the row values after each."""
        for number in range(self._plan.pass_count):
            self._pass(frame, number)
            self._compute(frame, self._nodes_in(scope, number + 1))
        if not self._checks:
            for number, store in enumerate(self._kernel.stores):
                if not self._plan.is_full(store):
                    self._store(frame, number, store)

    def _pass(self, frame: Frame, number: int) -> None:
        reductions = [node for node in self._plan.reductions(number) if node in self._needed]
        writes = number == self._plan.pass_count - 1 and not self._checks and self._has_full_stores
        if not reductions and not writes and not self._needed.intersection(self._plan.passes[number]):
            return
        lanes = self._lane_count if self._plan.lane is not None else 1
        accumulators = {node: self._accumulator(node, lanes) for node in reductions}
        with ExitStack() as stack:
            inner = frame.inside()
            for axis in self._plan.steps:
                size = self._parameter("size", axis)
                inner.indices[axis] = stack.enter_context(self.function.loop(0, size))
            self._compute(inner, [node for node in self._plan.passes[number] if self._at(node, Scope.STEP)])
            if self._plan.lanes_are_rows or self._plan.lane is None:
                self._body(inner, number, accumulators)
            else:
                stop = self._parameter("size", self._plan.lane)
                self._blocks(inner, 0, stop, lambda block: self._body(block, number, accumulators))
        for node, accumulated in accumulators.items():
            accumulated.settle()
            frame.values[node] = accumulated.result(across=not self._plan.lanes_are_rows)

    @property
    def _has_full_stores(self) -> bool:
        """Whether a store happens at every inner point, be it of a row value."""
        return any(map(self._plan.is_full, self._kernel.stores))

    def _body(self, frame: Frame, number: int, accumulators: dict[int, Accumulator]) -> None:
        """One step of a pass: the nodes, the reductions, and in the last pass the stores."""
        earlier = {node for nodes in self._plan.passes[:number] for node in nodes}
        for node in sorted(self._plan.kept & earlier):
            frame.values[node] = self._kept.recall(frame, node)
        self._compute(frame, [node for node in self._plan.passes[number] if self._at(node, Scope.BODY)])
        for node in sorted(self._plan.kept & set(self._plan.passes[number]) - earlier):
            self._kept.keep(frame, node)
        in_row = frame.lanes is not None and not self._plan.lanes_are_rows
        valid = frame.vector.valid if in_row else None
        for node, accumulated in accumulators.items():
            (operand,) = self._kernel.nodes[node].inputs
            accumulated.take(self._vector(frame, operand), self._flat_position(frame, node), valid)
        if 0 < number == self._plan.pass_count - 2:
            self._fetch_ahead(frame)
        if number == self._plan.pass_count - 1 and not self._checks:
            for index, store in enumerate(self._kernel.stores):
                if self._plan.is_full(store):
                    self._store(frame, index, store)

    def _fetch_stream(self, frame: Frame) -> None:
        """Bring the lines that the vectors after the next ones read and write into the cache, during the arithmetic."""
        for node in self._plan.dense_loads:
            access = self._kernel.nodes[node].detail
            address = self._address(frame, access, self._access_numbers["node", node])
            self._fetch_lines(address, self._vector_bytes(node), write=False)
        for address, nbytes in self._dense_stores(frame):
            self._fetch_lines(address, nbytes, write=True)

    def _dense_stores(self, frame: Frame) -> Iterator[tuple[Value, int]]:
        """Where results that are dense along the lane axis are written, and how many bytes of each."""
        for number, store in enumerate(self._kernel.stores):
            if self._lane_stride(store.access) == 1:
                itemsize = self._kernel.buffers[store.access.buffer].itemsize
                yield (
                    self._address(frame, store.access, self._access_numbers["store", number]),
                    itemsize * self._lane_count,
                )

    def _fetch_lines(self, address: Value, nbytes: int, *, write: bool) -> None:
        for line in range(0, nbytes, CACHE_LINE):
            self._fetch(self.function.advance(address, _STREAM_DISTANCE + line, 1), write=write)

    def _fetch(self, address: Value, *, write: bool) -> None:
        self.function.line(f"call void @llvm.prefetch.p0({address}, i32 {int(write)}, i32 3, i32 1)")

    def _fetch_ahead(self, frame: Frame) -> None:
        """During the arithmetic of a row, bring what the next pass writes and the next row reads into the cache."""
        if self._plan.lanes_are_rows or not self._plan.outer:
            return
        outer = self._plan.outer[-1]
        for number in self._plan.dense_loads:
            node = self._kernel.nodes[number]
            if node.detail.strides[outer] == GENERAL:
                access = self._access_numbers["node", number]
                stride = self._parameter("stride", access, outer)
                address = self._address(frame, node.detail, access)
                self._fetch(self.function.advance(address, stride, node.dtype.itemsize), write=False)
        for address, _ in self._dense_stores(frame):
            self._fetch(address, write=True)

    def _flat_position(self, frame: Frame, node: int) -> Value | None:
        """Position within the inner axes, for argmax and argmin."""
        if self._kernel.nodes[node].op not in {"argmax", "argmin"}:
            return None
        flat = self.function.constant(I64, 0)
        for axis in self._plan.inner:
            flat = flat * self._parameter("size", axis) + frame.indices[axis]
        vector = flat.splat(self._lane_count)
        return vector if self._plan.lanes_are_rows or frame.lanes is None else vector + self._ladder()
