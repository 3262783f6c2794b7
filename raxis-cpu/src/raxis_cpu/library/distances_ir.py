"""Distances between rows, in LLVM IR: lanes are rows of the second operand, so that none is reduced across lanes."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.places_ir import intrinsics_ir
from raxis_cpu.library.tiles_ir import lanes_below, lanes_of, masked_store
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, Type, Value, Variable, fma

NUMBERS = ("rows", "others", "width", "row_stride", "column_stride", "other_stride", "other_column_stride")
ORDERS = (0.0, 1.0, 2.0, float("inf"))
"""The norms that are served."""
_VECTORS = 4
_CHUNK = 128
"""Terms that are added one after the other: the sum of a long row is one of such sums, which keeps its error small."""


def panel_rows(dtype: DType) -> int:
    """Rows of the second operand that are worked on at once."""
    return _VECTORS * lanes_of(dtype)


@cache
def distances(dtype: DType, order: float, *, pairs: bool) -> Module:
    """The phase ``measure``: a unit is a panel of rows of the second operand.

    With `pairs` there is one operand, and only places (i, j) with i < j are written, one row behind the other.
    Scratch memory has room for all panels, turned.
    """
    vector = registers.register_type(dtype, lanes_of(dtype))
    text = _Measure(dtype, order, pairs=pairs).text()
    return Module("distances", f"{intrinsics_ir(vector)}\n{text}", NUMBERS)


class _Measure:
    """Writes the phase."""

    def __init__(self, dtype: DType, order: float, *, pairs: bool) -> None:
        self._order = order
        self._pairs = pairs
        self._size = dtype.itemsize
        self._lanes = lanes_of(dtype)
        self._rows = panel_rows(dtype)
        self._vector = registers.register_type(dtype, self._lanes)
        self._body = Body("measure", NUMBERS)
        self._numbers = self._body.numbers

    def text(self) -> str:
        """The definition."""
        body, numbers = self._body, self._numbers
        with body.loop(body.begin, body.end) as panel:
            first = panel * self._rows
            place = body.advance(body.scratch(), first * numbers["width"], self._size)
            self._turn(first, place)
            rows = numbers["rows"]
            with body.loop(0, rows.intrinsic("smin", first + self._rows) if self._pairs else rows) as row:
                self._row(row, first, place)
        return body.text

    def _turn(self, first: Value, place: Value) -> None:
        """Write the panel with its rows as columns; the last row is repeated in lanes that are left."""
        body, numbers = self._body, self._numbers
        element = Type(self._vector.element)
        with body.loop(0, body.constant(I64, self._rows)) as lane:
            row = (first + lane).intrinsic("smin", numbers["others"] - 1)
            start = body.advance(
                body.array(0 if self._pairs else 1), row * numbers["other_stride"], self._size
            )
            read = body.walk(start, numbers["other_column_stride"], self._size)
            write = body.walk(
                body.advance(place, lane, self._size), body.constant(I64, self._rows), self._size
            )
            with body.loop(0, numbers["width"]):
                body.store(body.load(element, read()), write())

    def _row(self, row: Value, first: Value, place: Value) -> None:
        body, numbers = self._body, self._numbers
        totals = [body.variable(self._vector) for _ in range(_VECTORS)]
        for total in totals:
            total.set(0.0)
        start = body.advance(body.array(0), row * numbers["row_stride"], self._size)
        read = body.walk(start, numbers["column_stride"], self._size)
        walked = body.walk(place, body.constant(I64, self._rows), self._size)
        with body.loop(0, numbers["width"], _CHUNK) as begin:
            parts = [body.variable(self._vector) for _ in range(_VECTORS)]
            for part in parts:
                part.set(0.0)
            with body.loop(begin, numbers["width"].intrinsic("smin", begin + _CHUNK)):
                value = body.load(Type(self._vector.element), read()).splat(self._lanes)
                self._step(parts, value, walked())
            for total, part in zip(totals, parts, strict=True):
                total.set(self._joined(total.get(), part.get()))
        self._write(row, first, [total.get() for total in totals])

    def _step(self, parts: list[Variable], value: Value, column: Value) -> None:
        """Take one element of every row into account."""
        for number, part in enumerate(parts):
            place = self._body.advance(column, number * self._lanes, self._size)
            part.set(self._added(part.get(), value - self._body.load(self._vector, place)))

    def _added(self, total: Value, difference: Value) -> Value:
        if self._order == 2:
            return fma(difference, difference, total)
        if self._order == 0:
            return total + difference.compare("ne", 0.0).select(self._constant(1.0), 0.0)
        return self._joined(total, difference.intrinsic("fabs"))

    def _joined(self, total: Value, part: Value) -> Value:
        return total + part if self._order < float("inf") else total.intrinsic("maximum", part)

    def _constant(self, number: float) -> Value:
        return self._body.constant(self._vector, number)

    def _write(self, row: Value, first: Value, totals: list[Value]) -> None:
        body, others = self._body, self._numbers["others"]
        place = body.advance(body.array(1 if self._pairs else 2), row * others + first, self._size)
        if self._pairs:
            # Row i begins behind i rows of N - 1, N - 2, ... places, with that of (i, i + 1).
            place = body.advance(place, -((row + 1) * (row + 2) >> 1), self._size)
        for number, total in enumerate(totals):
            offset = number * self._lanes
            mask = self._below(others - first - offset)
            if self._pairs:
                mask = mask & ~self._below(row + 1 - first - offset)
            value = total.intrinsic("sqrt") if self._order == 2 else total
            masked_store(value, body.advance(place, offset, self._size), mask)

    def _below(self, count: Value) -> Value:
        return lanes_below(count.intrinsic("smax", 0), self._lanes)
