"""Windows of planes in LLVM IR: places of their greatest elements, means, and what gradients become.

A vector holds neighbouring windows of one row of results. Where windows begin and end comes from tables, so that they
may have any sizes. Elements outside of the plane belong to no window.
"""

from __future__ import annotations

import ctypes
from enum import auto
from functools import cache
from typing import Literal, NamedTuple

from raxis.dtypes import DType
from raxis_cpu.library.bodies_ir import Slots, Writer
from raxis_cpu.library.sliding_ir import vector_of
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Type, Value
from raxis_cpu.threads import keep_for_ever

Work = Literal["places", "maximum_gradient", "average", "average_gradient", "mean"]


_SUMS = 4
"""Sums of a plane's elements that do not wait for each other."""


class Slot(Slots):
    """What stands where in the 64-bit integers that describe the work; strides are in elements."""

    INPUT = auto()  # addresses: the planes, the gradient of the results, the results
    GRADIENT = auto()
    RESULT = auto()
    STARTS = auto()  # three tables one after another: slices, rows, places
    STOPS = auto()
    SLICES = auto()  # sizes of a plane
    ROWS = auto()
    PLACES = auto()
    COUNT_SLICES = auto()  # numbers of windows
    COUNT_ROWS = auto()
    COUNT_PLACES = auto()
    SLICE_SPREAD = auto()  # spacing of a window's elements
    ROW_SPREAD = auto()
    PLACE_SPREAD = auto()
    WIDEST = auto()  # elements of the widest window's row
    COVERED = auto()  # whether every element is in a window
    PLANES = auto()  # how many


Description = ctypes.c_int64 * len(Slot)


class Compiled(NamedTuple):
    """Addresses of a body and of a function ``void (description)`` that runs it on all planes."""

    body: int
    driver: int


def compiled(vector: Type, text: str) -> Compiled:
    """A module with a body ``pool``, compiled."""
    driver = Writer(vector, "void @all_planes(ptr %description)", Slot)
    zero = driver.function.constant(I64, 0)
    driver.run("pool", driver.pointer("description"), zero, driver[Slot.PLANES])
    driver.function.line("ret void")
    module = f'target triple = "{host().triple}"\n{text}\n{driver.function.text}'
    code = Code(compile(module, host()))
    keep_for_ever(code)
    return Compiled(code.address("pool"), code.address("all_planes"))


@cache
def pooling_body(dtype: DType, work: Work) -> Compiled:
    """A body for `parallel_for` whose argument is a `Description`; a task is one plane.

    - places: int64 positions of the greatest elements, NaN counting as greatest, of the first among equals
    - maximum_gradient: the gradient goes to these
    - average: means
    - average_gradient: the gradient is shared among a window's elements
    - mean: of whole planes
    """
    writer = _Pooling(vector_of(dtype), work)
    text = writer.mean() if work == "mean" else writer.text()
    return compiled(vector_of(dtype), text)


class _Pooling(Writer):
    """Writes the body."""

    def __init__(self, vector: Type, work: Work) -> None:
        super().__init__(vector, "void @pool(ptr %description, i64 %begin, i64 %end)", Slot)
        self._work = work
        self._index = Type(f"i{vector.bits}", vector.lanes)
        self._room = self.function.room(vector)
        self._where = self.function.room(self._index)

    def text(self) -> str:
        """The definition."""
        function = self.function
        size = self[Slot.SLICES] * self[Slot.ROWS] * self[Slot.PLACES]
        count = self[Slot.COUNT_SLICES] * self[Slot.COUNT_ROWS] * self[Slot.COUNT_PLACES]
        spreads = self._work.endswith("gradient")
        with function.loop(self.integer("begin"), self.integer("end")) as plane:
            if spreads:
                with function.loop(0, size) as place:
                    zero = function.constant(self.element, 0)
                    function.store(zero, self.address(Slot.RESULT, plane * size + place))
            with (
                function.loop(0, self[Slot.COUNT_SLICES]) as far,
                function.loop(0, self[Slot.COUNT_ROWS]) as down,
                function.loop(0, self[Slot.COUNT_PLACES], self.vector.lanes) as right,
            ):
                window = (
                    plane * count + (far * self[Slot.COUNT_ROWS] + down) * self[Slot.COUNT_PLACES] + right
                )
                self._windows(plane * size, window, far, down, right)
        function.line("ret void")
        return function.text + self._intrinsics()

    def mean(self) -> str:
        """The definition of the body for whole planes."""
        function, lanes = self.function, self.vector.lanes
        size = self[Slot.SLICES] * self[Slot.ROWS] * self[Slot.PLACES]
        count = size.convert("sitofp", self.vector.element)
        with function.loop(self.integer("begin"), self.integer("end")) as plane:
            sums = [function.variable(self.vector, 0.0) for _ in range(_SUMS)]
            whole = size & -(_SUMS * lanes)
            with function.loop(0, whole, _SUMS * lanes) as place:
                for part, one in enumerate(sums):
                    address = self.address(Slot.INPUT, plane * size + place + part * lanes)
                    one.set(one.get() + function.load(self.vector, address))
            with function.loop(whole, size, lanes) as place:
                address = self.address(Slot.INPUT, plane * size + place)
                rest = masked_load(self.vector, address, lanes_below(size - place, lanes))
                sums[0].set(sums[0].get() + rest)
            total = sum((one.get() for one in sums[1:]), sums[0].get())
            name = f"@llvm.vector.reduce.fadd.{self.vector.suffix}"
            zero = function.constant(self.element, 0)
            added = function.emit(self.element, f"call reassoc {self.element} {name}({zero}, {total})")
            function.store(added / count, self.address(Slot.RESULT, plane))
        function.line("ret void")
        scalar = self.vector.element
        return f"{function.text}{self._intrinsics()}\ndeclare {scalar} {name}({scalar}, {self.vector})"

    def _intrinsics(self) -> str:
        vector, index, mask = self.vector, self._index, f"<{self.vector.lanes} x i1>"
        gather = f"declare {vector} @llvm.masked.gather.{vector.suffix}.v{vector.lanes}p0"
        loads = [
            f"declare {type} @llvm.masked.load.{type.suffix}.p0(ptr, i32, {mask}, {type})"
            for type in (vector, index)
        ]
        return "\n".join([
            "", *loads, "declare i64 @llvm.smin.i64(i64, i64)",
            f"{gather}(<{vector.lanes} x ptr>, i32, {mask}, {vector})",
            f"declare void @llvm.masked.store.{vector.suffix}.p0({vector}, ptr, i32, {mask})",
        ])  # fmt: skip

    def _windows(self, plane: Value, window: Value, far: Value, down: Value, right: Value) -> None:
        """As many windows as a vector has lanes."""
        count = self[Slot.COUNT_PLACES] - right
        mask = lanes_below(count, self.vector.lanes)
        far_bounds = self._bounds(far)
        down_bounds = self._bounds(down + self[Slot.COUNT_SLICES])
        first = right + self[Slot.COUNT_SLICES] + self[Slot.COUNT_ROWS]
        starts, stops = (self._columns(slot, first, mask) for slot in (Slot.STARTS, Slot.STOPS))
        bounds = (far_bounds, down_bounds, (starts, stops))
        count = count.intrinsic("smin", self.vector.lanes)
        if self._work in {"places", "maximum_gradient"}:
            self._greatest(plane, window, bounds, mask, count)
        else:
            self._averages(plane, window, bounds, mask, count)

    def _bounds(self, index: Value) -> tuple[Value, Value]:
        start, stop = (self.number_at(slot, index) for slot in (Slot.STARTS, Slot.STOPS))
        return start, stop

    def _columns(self, slot: Slot, first: Value, mask: Value) -> Value:
        """Table entries of neighbouring windows, as integers as wide as elements."""
        function, wide = self.function, Type("i64", self.vector.lanes)
        table = function.emit(PTR, f"inttoptr {self[slot]} to ptr")
        # Entries behind the last one exist: see `pooling`.
        found = function.load(wide, function.advance(table, first, 8), 8)
        return found if self._index == wide else found.convert("trunc", self._index.element)

    def _elements(
        self, plane: Value, bounds: tuple[tuple[Value, Value], ...], mask: Value, visit: object
    ) -> None:
        """Run `visit(row, column, inside)` for every element of the windows; `row` is where a row begins."""
        function = self.function
        (far_start, far_stop), (down_start, down_stop), (starts, stops) = bounds
        with (
            function.loop(far_start, far_stop, self[Slot.SLICE_SPREAD]) as slice_,
            function.loop(down_start, down_stop, self[Slot.ROW_SPREAD]) as row,
            function.loop(0, self[Slot.WIDEST]) as step,
        ):
            along = step * self[Slot.PLACE_SPREAD]
            offset = along if self._index.bits == 64 else along.convert("trunc", self._index.element)
            column = starts + offset.splat(self.vector.lanes)
            inside = mask & column.compare("lt", stops)
            start = (slice_ * self[Slot.ROWS] + row) * self[Slot.PLACES]
            visit(start, column, inside)  # type: ignore[operator]

    def _gathered(self, start: Value, column: Value, inside: Value) -> Value:
        """Elements of the input."""
        function, vector = self.function, self.vector
        address = self.address(Slot.INPUT, start)
        pointers = function.emit(
            Type("ptr", vector.lanes), f"getelementptr {vector.element}, {address}, {column}"
        )
        name = f"@llvm.masked.gather.{vector.suffix}.v{vector.lanes}p0"
        text = f"call {vector} {name}({pointers}, i32 {self.size}, {inside}, {vector} zeroinitializer)"
        return function.emit(vector, text)

    def _greatest(
        self, plane: Value, window: Value, bounds: tuple[tuple[Value, Value], ...], mask: Value, count: Value
    ) -> None:
        function = self.function
        best = function.variable(self.vector, 0.0)
        where = function.variable(self._index, -1)

        def visit(start: Value, column: Value, inside: Value) -> None:
            value, old = self._gathered(plane + start, column, inside), best.get()
            beats = function.emit(inside.type, f"fcmp ugt {value}, {old.name}")
            better = (beats & ~old.compare("ne", old) | where.get().compare("lt", 0)) & inside
            best.set(better.select(value, old))
            place = start if self._index.bits == 64 else start.convert("trunc", self._index.element)
            where.set(better.select(column + place.splat(self.vector.lanes), where.get()))

        self._elements(plane, bounds, mask, visit)
        found = where.get()
        # A window that has no element at all points to the first.
        function.store(found.compare("lt", 0).select(0, found), self._where, 64)
        if self._work == "places":
            with function.loop(0, count) as lane:
                place = self._place(lane)
                table = function.emit(PTR, f"inttoptr {self[Slot.RESULT]} to ptr")
                function.store(place, function.advance(table, window + lane, 8))
            return
        self._store_gradient(window, mask)
        with function.loop(0, count) as lane:
            self._add(plane + self._place(lane), self._share(lane))

    def _place(self, lane: Value) -> Value:
        index = self.function.load(
            Type(self._index.element), self.function.advance(self._where, lane, self.size)
        )
        return index.convert("sext", "i64") if self._index.bits < 64 else index

    def _share(self, lane: Value) -> Value:
        return self.function.load(self.element, self.moved(self._room, lane))

    def _add(self, place: Value, share: Value) -> None:
        address = self.address(Slot.RESULT, place)
        self.function.store(self.function.load(self.element, address) + share, address)

    def _store_gradient(self, window: Value, mask: Value) -> None:
        given = masked_load(self.vector, self.address(Slot.GRADIENT, window), mask)
        self.function.store(given, self._room, 64)

    def _averages(
        self, plane: Value, window: Value, bounds: tuple[tuple[Value, Value], ...], mask: Value, count: Value
    ) -> None:
        function = self.function
        size = self._size_of(bounds)
        if self._work == "average":
            total = function.variable(self.vector, 0.0)

            def visit(start: Value, column: Value, inside: Value) -> None:
                total.set(total.get() + self._gathered(plane + start, column, inside))

            self._elements(plane, bounds, mask, visit)
            masked_store(total.get() / size, self.address(Slot.RESULT, window), mask)
            return
        given = masked_load(self.vector, self.address(Slot.GRADIENT, window), mask)
        function.store(given / size, self._room, 64)
        function.store(bounds[2][0], self._where, 64)
        self._spread(plane, bounds, count)

    def _size_of(self, bounds: tuple[tuple[Value, Value], ...]) -> Value:
        """Elements of windows whose elements are neighbours."""
        (far_start, far_stop), (down_start, down_stop), (starts, stops) = bounds
        rows = ((far_stop - far_start) * (down_stop - down_start)).convert("sitofp", self.vector.element)
        return (stops - starts).convert("sitofp", self.vector.element) * rows.splat(self.vector.lanes)

    def _spread(self, plane: Value, bounds: tuple[tuple[Value, Value], ...], count: Value) -> None:
        """Add the windows' shares to all of their elements."""
        function = self.function
        (far_start, far_stop), (down_start, down_stop), (_, stops) = bounds
        ends = function.room(self._index)
        function.store(stops, ends, 64)
        with (
            function.loop(far_start, far_stop) as slice_,
            function.loop(down_start, down_stop) as row,
            function.loop(0, count) as lane,
        ):
            start = plane + (slice_ * self[Slot.ROWS] + row) * self[Slot.PLACES]
            end = function.load(Type(self._index.element), function.advance(ends, lane, self.size))
            end = end.convert("sext", "i64") if self._index.bits < 64 else end
            with function.loop(self._place(lane), end) as column:
                self._add(start + column, self._share(lane))
