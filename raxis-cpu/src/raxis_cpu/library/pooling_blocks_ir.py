"""Gradients of maxima of windows that do not overlap, in LLVM IR: every element is written once, and read once.

A vector holds the same element of neighbouring windows: what lies in memory one after another is spread over as many
vectors as windows are wide, and put together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.bodies_ir import Writer
from raxis_cpu.library.places_ir import intrinsics_ir
from raxis_cpu.library.pooling_ir import Compiled, Slot, compiled
from raxis_cpu.library.sliding_ir import vector_of
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.ir import Type, Value
from raxis_cpu.llvm.lanes import shuffled

WIDTHS = range(2, 5)
"""Widths of windows that are served."""


@cache
def blocks_body(dtype: DType, width: int) -> Compiled:
    """A body as `pooling_ir.pooling_body` has them, for windows of this width, one beside the other."""
    vector = vector_of(dtype)
    return compiled(vector, _Blocks(vector, width).text())


def picked(vectors: Sequence[Value], chosen: Sequence[tuple[int, int]]) -> Value:
    """A vector of some lanes: the number of a vector and a lane there for each."""
    result, lanes = vectors[0], vectors[0].type.lanes
    for number, vector in enumerate(vectors[1:], 1):
        taken = [
            lanes + lane if source == number else lane if number == 1 else place
            for place, (source, lane) in enumerate(chosen)
        ]
        result = shuffled(result, vector, taken)
    return result


class _Blocks(Writer):
    """Writes the body."""

    def __init__(self, vector: Type, width: int) -> None:
        super().__init__(vector, "void @pool(ptr %description, i64 %begin, i64 %end)", Slot)
        self._columns = width
        self._index = vector.integer

    def text(self) -> str:
        """The definition."""
        function = self.function
        size = self[Slot.SLICES] * self[Slot.ROWS] * self[Slot.PLACES]
        count = self[Slot.COUNT_SLICES] * self[Slot.COUNT_ROWS] * self[Slot.COUNT_PLACES]
        zero = function.constant(self.vector, 0)
        with function.loop(self.integer("begin"), self.integer("end")) as plane:
            with (
                function.when(self[Slot.COVERED].compare("eq", 0)),
                function.loop(0, size, self.vector.lanes) as place,
            ):
                self._store(zero, plane * size + place, lanes_below(size - place, self.vector.lanes))
            with function.loop(0, self[Slot.COUNT_PLACES], self.vector.lanes) as right:
                masks = self._masks(self[Slot.COUNT_PLACES] - right)
                with (
                    function.loop(0, self[Slot.COUNT_SLICES]) as far,
                    function.loop(0, self[Slot.COUNT_ROWS]) as down,
                ):
                    window = (far * self[Slot.COUNT_ROWS] + down) * self[Slot.COUNT_PLACES] + right
                    first = plane * size + right * self._columns
                    self._windows(first, plane * count + window, (far, down), masks)
        function.line("ret void")
        return f"{intrinsics_ir(self.vector)}\n{function.text}"

    def _masks(self, count: Value) -> list[Value]:
        """Which elements of a row belong to `count` windows, vector by vector; then which windows there are."""
        lanes = self.vector.lanes
        masks = [lanes_below(count * self._columns - part * lanes, lanes) for part in range(self._columns)]
        return [*masks, lanes_below(count, lanes)]

    def _windows(
        self, first: Value, window: Value, place: tuple[Value, Value], masks: Sequence[Value]
    ) -> None:
        """As many windows as a vector has lanes."""
        function, lanes, (*masks, exists) = self.function, self.vector.lanes, masks
        indices = (place[0], place[1] + self[Slot.COUNT_SLICES])
        bounds = [self.number_at(slot, index) for index in indices for slot in (Slot.STARTS, Slot.STOPS)]
        best, where = function.variable(self.vector, 0.0), function.variable(self._index, -1)
        with self._rows(bounds, first) as (start, number):
            found = [masked_load(self.vector, self.address(Slot.INPUT, start + part * lanes), mask)
                     for part, mask in enumerate(masks)]  # fmt: skip
            for column, value in enumerate(self._spread(found)):
                old = best.get()
                # What is not less or equal is greater, or NaN; the first NaN stays.
                beats = function.emit(value.type.of("i1"), f"fcmp ugt {value}, {old.name}")
                better = beats & ~old.compare("ne", old) | where.get().compare("lt", 0)
                best.set(better.select(value, old))
                where.set(better.select(number + column, where.get()))
        given = masked_load(self.vector, self.address(Slot.GRADIENT, window), exists)
        with self._rows(bounds, first) as (start, number):
            shares = [
                where.get().compare("eq", number + column).select(given, 0.0)
                for column in range(self._columns)
            ]
            for part, (value, mask) in enumerate(zip(self._joined(shares), masks, strict=True)):
                self._store(value, start + part * lanes, mask)

    def _spread(self, found: Sequence[Value]) -> list[Value]:
        """Every element of the windows in a row."""
        lanes = range(self.vector.lanes)
        return [
            picked(found, [divmod(lane * self._columns + column, len(lanes)) for lane in lanes])
            for column in range(self._columns)
        ]

    def _joined(self, shares: Sequence[Value]) -> list[Value]:
        """The way back."""
        lanes = self.vector.lanes
        places = [divmod(place, self._columns) for place in range(lanes * self._columns)]
        return [
            picked(shares, [(column, lane) for lane, column in places[first : first + lanes]])
            for first in range(0, len(places), lanes)
        ]

    @contextmanager
    def _rows(self, bounds: Sequence[Value], first: Value) -> Iterator[tuple[Value, Value]]:
        """Rows of the windows: where one begins, and the number of its first element in all lanes."""
        function = self.function
        far_start, far_stop, down_start, down_stop = bounds
        number = function.variable(self._index, 0)
        with function.loop(far_start, far_stop) as slice_, function.loop(down_start, down_stop) as row:
            yield first + (slice_ * self[Slot.ROWS] + row) * self[Slot.PLACES], number.get()
            number.set(number.get() + self._columns)

    def _store(self, value: Value, place: Value, mask: Value) -> None:
        masked_store(value, self.address(Slot.RESULT, place), mask)
