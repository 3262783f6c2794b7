"""LU factorization of large real matrices by panels of columns, in LLVM IR.

A panel is factorized column by column in scratch memory, where its columns are contiguous. Then as many columns after
it as in a recursion by halves (S. Toledo, "Locality of reference in LU decomposition with partial pivoting", 1997) get
the products of as many columns before them: after an odd number of panels of one panel, after two of two, and so on.
"""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.blas import PLAIN
from raxis_cpu.library.matrices_ir import Matrix
from raxis_cpu.library.phases import Module
from raxis_cpu.library.triangular_ir import BlockBody, Stored, System
from raxis_cpu.llvm.ir import I32, I64, PTR, Type, Value, Variable, fma
from raxis_cpu.machine import CACHE_LINE

PHASE = "matrices"
"""The one phase."""
NUMBERS = ("rows", "columns", "x_stack", "x_row", "x_column", "blas", "panel_gap")
"""Sizes, where x is, BLAS's product, and elements from a column of a panel to the next."""
PANEL = 32
"""Columns of a panel."""


@cache
def panels(dtype: DType, long_integers: bool) -> Module:
    """x, then packed, pivots and info, which are dense; scratch memory has room for a panel of every matrix."""
    body = _Body(PHASE, NUMBERS, dtype, I64 if long_integers else I32)
    with body.loop(body.begin, body.end) as item:
        body.factorize(item)
    return Module("lu_panels", body.text, NUMBERS)


class _Body(BlockBody):
    """Writes the phase."""

    def factorize(self, item: Value) -> None:
        """One matrix."""
        rows, columns, gap = (self.numbers[name] for name in ("rows", "columns", "panel_gap"))
        packed, one = self.dense(self.array(1), rows, columns, item), self.constant(I64, 1)
        panel = Matrix(self.advance(self._memory(), item * gap * PANEL, self.size), one, gap)
        self.copy(self.given(0, "x", item), packed, rows, columns)
        info, count = self.variable(I32, 0), rows.intrinsic("smin", columns)
        pivots = self.int32_at(2, item * count)
        with self.loop(0, count, PANEL) as first:
            stop = (first + PANEL).intrinsic("smin", count)
            here = packed._replace(start=self.at(packed, first, first))
            self._clear(panel, rows - first, stop - first)
            self.copy(here, panel, rows - first, stop - first)
            self._factorize_panel(panel, (first, rows - first, stop - first), pivots, info)
            self._exchange_rows(packed, (first, stop), pivots)
            self.copy(panel, here, rows - first, stop - first)
            with self.when(stop.compare("lt", count)):
                self._update(packed, stop, count)
        with self.when(columns.compare("gt", count)):
            self._solve(packed, self.constant(I64, 0), count, columns)
        self.store(info.get(), self.int32_at(3, item))

    def _memory(self) -> Value:
        """The scratch memory from the first whole line of the cache on."""
        inside = self.advance(self.scratch(), CACHE_LINE - 1, 1)
        return self.emit(PTR, f"call ptr @llvm.ptrmask.p0.i64({inside}, i64 -{CACHE_LINE})")

    # ---- the other columns -------------------------------------------------------------------------------------------

    def _update(self, packed: Matrix, done: Value, count: Value) -> None:
        """Columns from `done` on, from as many columns before them."""
        size = done & -done
        first, stop = done - size, (done + size).intrinsic("smin", count)
        self._solve(packed, first, done, stop)
        right, total = (packed._replace(start=self.at(packed, row, done)) for row in (first, done))
        left = self.at(packed, done, first), self._stored()
        self.less_product(total, left, right, (self.numbers["rows"] - done, stop - done, size))

    def _solve(self, packed: Matrix, first: Value, done: Value, stop: Value) -> None:
        """Rows from `first` to `done` of the columns from there to `stop`."""
        a, x = (packed._replace(start=self.at(packed, first, column)) for column in (first, done))
        self.solve(System(a, self._stored(), x, done - first, stop - done, upper=False, unit=True))

    def _stored(self) -> Stored:
        return Stored(self.numbers["columns"], self.constant(I32, PLAIN))

    def _exchange_rows(self, packed: Matrix, steps: tuple[Value, Value], pivots: Value) -> None:
        """All of rows that a panel exchanged: its own columns are written later."""
        with self.loop(*steps) as step:
            pivot = self.load(I32, self.advance(pivots, step, 4)).convert("sext", "i64") - 1
            with self.when(pivot.compare("ne", step)):
                for columns, lanes in self.column_groups(self.constant(I64, 0), self.numbers["columns"]):
                    with columns as places:
                        self._exchange(packed, (step, pivot), places, lanes)

    def _exchange(self, packed: Matrix, rows: tuple[Value, Value], places: list[Value], lanes: int) -> None:
        type = Type(self.element.element, lanes)
        pairs = [[self.at(packed, row, place) for row in rows] for place in places]
        values = [[self.load(type, place) for place in pair] for pair in pairs]
        for pair, (one, other) in zip(pairs, values, strict=True):
            self.store(other, pair[0])
            self.store(one, pair[1])

    # ---- a panel -----------------------------------------------------------------------------------------------------

    def _clear(self, panel: Matrix, rows: Value, columns: Value) -> None:
        """Zeros behind the last rows, which fill up vectors."""
        zero = self.constant(self.element, 0.0)
        with self.loop(0, columns) as column, self.loop(rows, self._whole(rows)) as row:
            self.store(zero, self.at(panel, row, column))

    def _whole(self, rows: Value) -> Value:
        return (rows + (self.lanes - 1)) & -self.lanes

    def _factorize_panel(
        self, panel: Matrix, sizes: tuple[Value, Value, Value], pivots: Value, info: Variable
    ) -> None:
        """A panel, given its first row in the matrix, its rows and its columns."""
        first, rows, columns = sizes
        with self.loop(0, columns) as step:
            pivot = self._pivot(panel, step, rows)
            self.store((pivot + first + 1).convert("trunc", "i32"), self.advance(pivots, first + step, 4))
            with self.when(pivot.compare("ne", step)), self.loop(0, columns) as column:
                self._exchange(panel, (step, pivot), [column], 1)
            divisor = self.load(self.element, self.at(panel, step, step))
            singular, known = divisor.compare("eq", 0.0), info.get()
            place = (first + step + 1).convert("trunc", "i32")
            info.set((singular & known.compare("eq", 0)).select(place, known))
            with self.when(~singular):
                self._eliminate(panel, step, (rows, columns), divisor)

    def _pivot(self, panel: Matrix, step: Value, rows: Value) -> Value:
        """The first row from `step` on whose element is greatest, or NaN: as integers, those are the greatest."""
        integers = Type(f"i{8 * self.size}", self.lanes)
        element = Type(integers.element)
        best, place = self.variable(integers, -1), self.variable(integers, 0)
        with self.loop(step & -self.lanes, rows, self.lanes) as row:
            values = self.load(integers, self.at(panel, row, step)) & ((1 << (8 * self.size - 1)) - 1)
            numbers = self._numbers(row)
            known = numbers.compare("ge", step.convert("trunc", element.element).splat(self.lanes))
            better = known & values.compare("gt", best.get())
            best.set(better.select(values, best.get()))
            place.set(better.select(numbers, place.get()))
        most = self._reduced("smax", best.get())
        none = (1 << (8 * self.size - 1)) - 1
        found = best.get().compare("eq", most.splat(self.lanes)).select(place.get(), none)
        number = self._reduced("smin", found)
        number = number if element == I64 else number.convert("sext", "i64")
        return number.intrinsic("smin", rows - 1)

    def _reduced(self, name: str, values: Value) -> Value:
        element = Type(values.type.element)
        return self.emit(element, f"call {element} @llvm.vector.reduce.{name}.{values.type.suffix}({values})")

    def _numbers(self, first: Value) -> Value:
        """The numbers of a vector's rows."""
        integers = Type(f"i{8 * self.size}", self.lanes)
        counted = ", ".join(f"{integers.element} {lane}" for lane in range(self.lanes))
        start = first if integers.element == "i64" else first.convert("trunc", integers.element)
        return start.splat(self.lanes) + Value(self, integers, f"<{counted}>")

    def _eliminate(self, panel: Matrix, step: Value, sizes: tuple[Value, Value], divisor: Value) -> None:
        """Divide what is below the diagonal, and subtract multiples of it from the columns behind."""
        rows, columns = sizes
        vector, divisors = Type(self.element.element, self.lanes), divisor.splat(self.lanes)
        limit = step if self.size == I64.bits // 8 else step.convert("trunc", "i32")
        with self.loop((step + 1) & -self.lanes, rows, self.lanes) as row:
            below = self._numbers(row).compare("gt", limit.splat(self.lanes))
            place = self.at(panel, row, step)
            known = self.load(vector, place)
            factors = known / divisors
            self.store(below.select(factors, known), place)
            with self.loop(step + 1, columns) as column:
                here = self.at(panel, row, column)
                above = self.load(self.element, self.at(panel, step, column)).splat(self.lanes)
                value = self.load(vector, here)
                self.store(below.select(fma(-factors, above, value), value), here)
