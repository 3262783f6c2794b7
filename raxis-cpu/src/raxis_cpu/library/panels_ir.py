"""The inner loop of matrix products on panels, in LLVM IR.

A panel is a matrix whose rows are two vectors wide and lie one after another. A tile of the result stays in registers
while the inner dimension is passed over (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
2008); since a row's length is known when the code is written, all rows of a tile are reached from one address.
"""

from __future__ import annotations

from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I1, I64, PTR, Function, Type, Value, Variable, fma

VECTORS = 2
"""Vectors in a row of a panel."""
_UNROLLED = 2
"""Steps of the inner dimension between two tests of the loop."""


def panel_width(vector: Type) -> int:
    """Elements of a row of a panel."""
    return VECTORS * vector.lanes


def tile_rows() -> int:
    """Rows of a tile: with two vectors of the right matrix and an element of the left one, all registers are in use."""
    return 6 if host().vector_bytes == 32 else 12


def product_ir(name: str, vector: Type, *, transposed: bool) -> str:
    """``void name(a, gap, b, c, line, rows, depth, add, count, next_a, next_b, next_c)``: products of `count` matrices.

    Each is c = a @ b, or c += a @ b if `add`; `next_a` elements are between one left matrix and the next, and so on.

    `b` is a panel of `depth` rows, `c` a matrix as wide with `line` elements from one of its `rows` rows to the next.
    `a` are panels, `gap` elements from one to the next, whose columns together are the inner dimension; if `transposed`
    it is one panel of `depth` rows whose first columns are the rows of the product, at most as many as it has columns.
    """
    tiles = [_Tile(name, vector, rows, transposed).text() for rows in range(1, tile_rows() + 1)]
    return "\n".join([*tiles, _rows_ir(name, vector, transposed)])


def intrinsics_ir(vector: Type) -> str:
    """What products call."""
    return f"declare {vector} @llvm.fma.{vector.suffix}({vector}, {vector}, {vector})"


def _rows_ir(name: str, vector: Type, transposed: bool) -> str:
    """All rows, in tiles of about the same size."""
    function = Function(
        f"internal void @{name}(ptr %a, i64 %gap, ptr %b, ptr noalias %c, i64 %line, i64 %rows, i64 %depth, "
        "i1 %add, i64 %count, i64 %next_a, i64 %next_b, i64 %next_c)"
    )
    a, b, c = (function.argument(PTR, item) for item in "abc")
    steps = [function.argument(I64, f"next_{item}") for item in "abc"]
    gap, line, rows, depth = (function.argument(I64, item) for item in ("gap", "line", "rows", "depth"))
    add = function.argument(I1, "add")
    most, row_bytes = tile_rows(), panel_width(vector) * vector.bits // 8
    count = function.emit(I64, f"sdiv {rows + (most - 1)}, {most}")
    done = function.variable(I64, 0)
    with function.loop(0, count) as tile:
        first = done.get()
        size = function.emit(I64, f"sdiv {rows - first + (count - tile) - 1}, {(count - tile).name}")
        start = function.advance(a, first, vector.bits // 8 if transposed else row_bytes)
        target = function.advance(c, first * line, vector.bits // 8)
        for number in range(1, most + 1):
            with (
                function.when(size.compare("eq", number)),
                function.loop(0, function.argument(I64, "count")) as matrix,
            ):
                moved = [
                    function.advance(place, matrix * step, vector.bits // 8)
                    for place, step in zip((start, b, target), steps, strict=True)
                ]
                arguments = ", ".join(map(str, (moved[0], gap, *moved[1:], line, depth, add)))
                function.line(f"call void @{name}_{number}({arguments})")
        done.set(first + size)
    function.line("ret void")
    return function.text


class _Tile:
    """A product of a fixed number of rows."""

    def __init__(self, name: str, vector: Type, rows: int, transposed: bool) -> None:
        self._function = Function(
            f"internal void @{name}_{rows}(ptr %a, i64 %gap, ptr %b, ptr noalias %c, i64 %line, i64 %depth, i1 %add) "
            "noinline"
        )
        self._vector = vector
        self._size = vector.bits // 8
        self._rows = rows
        self._transposed = transposed
        self._width = panel_width(vector)

    def text(self) -> str:
        """The definition."""
        function = self._function
        depth, line = function.argument(I64, "depth"), function.argument(I64, "line")
        places = [
            function.advance(function.argument(PTR, "c"), line * row + part * self._vector.lanes, self._size)
            for row in range(self._rows)
            for part in range(VECTORS)
        ]
        sums = [function.variable(self._vector, 0.0) for _ in places]
        with function.when(function.argument(I1, "add")):
            for place, total in zip(places, sums, strict=True):
                total.set(function.load(self._vector, place))
        left = function.variable(PTR, function.argument(PTR, "a"))
        right = function.variable(PTR, function.argument(PTR, "b"))
        if self._transposed:
            self._steps(depth, left.get(), right, sums)
        else:
            gap = function.argument(I64, "gap")
            with function.loop(0, depth, self._width) as first:
                self._steps((depth - first).intrinsic("smin", self._width), left.get(), right, sums)
                left.set(function.advance(left.get(), gap, self._size))
        for place, total in zip(places, sums, strict=True):
            function.store(total.get(), place)
        function.line("ret void")
        return function.text

    def _steps(self, count: Value, left: Value, right: Variable, sums: list[Variable]) -> None:
        """Add the products of `count` steps of the inner dimension."""
        function = self._function
        step = self._width if self._transposed else 1
        place = function.variable(PTR, left)
        whole = count & -_UNROLLED
        for start, stop, steps in ((function.constant(I64, 0), whole, _UNROLLED), (whole, count, 1)):
            with function.loop(start, stop, steps):
                here, there = place.get(), right.get()
                for number in range(steps):
                    self._step(
                        here, number * step, function.advance(there, number * self._width, self._size), sums
                    )
                place.set(function.advance(here, steps * step, self._size))
                right.set(function.advance(there, steps * self._width, self._size))

    def _step(self, left: Value, offset: int, right: Value, sums: list[Variable]) -> None:
        function, lanes = self._function, self._vector.lanes
        parts = [
            function.load(self._vector, function.advance(right, part * lanes, self._size))
            for part in range(VECTORS)
        ]
        gap = 1 if self._transposed else self._width
        for row in range(self._rows):
            source = function.advance(left, offset + row * gap, self._size)
            factor = function.load(Type(self._vector.element), source).splat(lanes)
            for number, part in enumerate(parts):
                total = sums[row * VECTORS + number]
                total.set(fma(factor, part, total.get()))
