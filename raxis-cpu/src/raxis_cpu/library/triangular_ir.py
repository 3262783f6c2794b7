"""Triangular systems in LLVM IR: small ones by substitution, large ones by blocks, or by BLAS.

The addresses of BLAS's functions are numbers of the routine.
"""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.blas import LEFT, NON_UNIT, PLAIN, ROW_MAJOR, UNIT
from raxis_cpu.library.matrices_ir import (
    Matrix,
    MatrixBody,
    Running,
    is_zero,
    less_product,
    quotient,
)
from raxis_cpu.library.phases import Module
from raxis_cpu.library.tiles_ir import lanes_of
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I32, I64, Type, Value, fma
from raxis_cpu.llvm.registers import Complex, splat

PHASE = "systems"
"""The one phase of every module."""
TRIANGULAR_NUMBERS = (
    "rows", "columns", "a_stack", "a_row", "a_column", "b_stack", "b_row", "b_column",
    "blas", "uplo", "transpose", "gap", "parts", "part_columns",
)  # fmt: skip
"""Sizes, where A and B are, BLAS's function and its words for A, and parts of B's columns."""
BLOCK = 32
"""Rows that are solved without products of matrices."""
_TOGETHER = 4
"""Vectors of a row whose sums wait for each other's results."""


@cache
def substitution(dtype: DType, upper: bool, unit: bool) -> Module:
    """X with A X = B for small matrices: a and b, then x, which is dense."""
    body = MatrixBody(PHASE, TRIANGULAR_NUMBERS, dtype)
    with body.loop(body.begin, body.end) as item:
        a, x = _given(body, item)
        _substitute(body, a, x, upper, unit)
    return Module("substitution", body.text, TRIANGULAR_NUMBERS)


def _given(body: MatrixBody, item: Value) -> tuple[Matrix, Matrix]:
    """A, and X with B's elements."""
    rows, columns = body.numbers["rows"], body.numbers["columns"]
    x = body.dense(body.array(2), rows, columns, item)
    body.copy(body.given(1, "b", item), x, rows, columns)
    return body.given(0, "a", item), x


def _substitute(body: MatrixBody, a: Matrix, x: Matrix, upper: bool, unit: bool) -> None:
    """Row by row, from the one that has one unknown on."""
    rows, columns = body.numbers["rows"], body.numbers["columns"]

    def work(column: Value, lanes: int) -> None:
        with body.loop(0, rows) as step:
            row = rows - 1 - step if upper else step
            place = body.at(x, row, column)
            rest = Running(body, body.read(place, lanes))
            with body.loop(0, step) as number:
                other = rows - 1 - number if upper else number
                factor = splat(body.read(body.at(a, row, other)), lanes)
                rest.set(less_product(rest.get(), factor, body.read(body.at(x, other, column), lanes)))
            if not unit:
                divisor = splat(body.read(body.at(a, row, row)), lanes)
                rest.set(quotient(rest.get(), divisor))
            body.write(rest.get(), place)

    body.along(0, columns, work)


@cache
def trsm(dtype: DType, upper: bool, unit: bool, long_integers: bool) -> Module:
    """X with A X = B for large matrices by BLAS, but by substitution where a 0 on the diagonal gives infinities."""
    body, integer = MatrixBody(PHASE, TRIANGULAR_NUMBERS, dtype), I64 if long_integers else I32
    numbers = body.numbers
    one = body.number(1.0)
    alpha = body.room(Type("[2 x double]"))
    body.write(one, alpha)
    factor = alpha if isinstance(one, Complex) else one
    sizes = [numbers[name].convert("trunc", integer.element) for name in ("rows", "columns", "gap")]
    options = [numbers[name].convert("trunc", "i32") for name in ("uplo", "transpose")]
    layout, side, diagonal = (
        body.constant(I32, word) for word in (ROW_MAJOR, LEFT, UNIT if unit else NON_UNIT)
    )
    with body.loop(body.begin, body.end) as item:
        a, x = _given(body, item)
        regular = body.constant(Type("i1"), True) if unit else _is_regular(body, a)
        with body.when(regular):
            body.void_call("blas", layout, side, *options, diagonal, *sizes[:2], factor, a.start, sizes[2], x.start,
                           sizes[1])  # fmt: skip
        with body.when(~regular):
            _substitute(body, a, x, upper, unit)
    return Module("trsm", body.text, TRIANGULAR_NUMBERS)


def _is_regular(body: MatrixBody, a: Matrix) -> Value:
    found = body.variable(Type("i1"), True)
    with body.loop(0, body.numbers["rows"]) as row:
        found.set(found.get() & ~is_zero(body.read(body.at(a, row, row))))
    return found.get()


# ---- by blocks -------------------------------------------------------------------------------------------------------


@cache
def blocked(dtype: DType, upper: bool, unit: bool, long_integers: bool) -> Module:
    """X with A X = B of real numbers; a unit of the phase is a part of the columns of a system.

    Blocks are solved one after another. Products of a solved part are subtracted from as many rows after it, as in a
    recursion by halves: after an odd number of blocks from one block, after two from two, and so on.
    """
    body = _Blocked(dtype, upper, unit, I64 if long_integers else I32)
    numbers = body.numbers
    with body.loop(body.begin, body.end) as number:
        item, part = body.divided(number, numbers["parts"])
        first = part * numbers["part_columns"]
        columns = numbers["part_columns"].intrinsic("smin", numbers["columns"] - first)
        body.solve(item, first, columns)
    return Module("blocked", body.text, TRIANGULAR_NUMBERS)


class _Blocked(MatrixBody):
    """Writes the phase."""

    def __init__(self, dtype: DType, upper: bool, unit: bool, integer: Type) -> None:
        super().__init__(PHASE, TRIANGULAR_NUMBERS, dtype)
        self._upper, self._unit, self._integer = upper, unit, integer
        self._element, self._lanes = registers.register_type(dtype), lanes_of(dtype)

    def solve(self, item: Value, first: Value, columns: Value) -> None:
        """So many columns from `first` on."""
        rows, a = self.numbers["rows"], self.given(0, "a", item)
        b, x = self.given(1, "b", item), self.dense(self.array(2), rows, self.numbers["columns"], item)
        b, x = (matrix._replace(start=self.at(matrix, 0, first)) for matrix in (b, x))
        self.copy(b, x, rows, columns)
        with self.loop(0, rows, BLOCK) as start:
            stop = (start + BLOCK).intrinsic("smin", rows)
            self._substitute(a, x, (start, stop), columns)
            with self.when(stop.compare("lt", rows)):
                self._subtract(a, x, stop, columns)

    def _row(self, step: Value | int) -> Value:
        """The row that is solved after so many."""
        return self.numbers["rows"] - 1 - step if self._upper else self.lifted(step)

    def _subtract(self, a: Matrix, x: Matrix, done: Value, columns: Value) -> None:
        """The products of the last rows that are done, from the next ones."""
        rows = self.numbers["rows"]
        count = done & -done
        ahead = count.intrinsic("smin", rows - done)
        known, next_ = (rows - done, rows - done - ahead) if self._upper else (done - count, done)
        sizes = [value.convert("trunc", self._integer.element) for value in (ahead, columns, count)]
        gaps = [value.convert("trunc", self._integer.element) for value in (self.numbers["gap"], x.row)]
        words = [
            self.constant(I32, ROW_MAJOR),
            self.numbers["transpose"].convert("trunc", "i32"),
            self.constant(I32, PLAIN),
        ]
        minus, one = (self.constant(self._element, number) for number in (-1.0, 1.0))
        self.void_call("blas", *words, *sizes, minus, self.at(a, next_, known), gaps[0], self.at(x, known, 0), gaps[1],
                       one, self.at(x, next_, 0), gaps[1])  # fmt: skip

    def _substitute(self, a: Matrix, x: Matrix, steps: tuple[Value, Value], columns: Value) -> None:
        """Solve the rows of a block, several vectors of columns at once."""
        place = self.constant(I64, 0)
        for vectors, lanes in ((_TOGETHER, self._lanes), (1, self._lanes), (1, 1)):
            width = vectors * lanes
            stop = place + ((columns - place) & -width)
            with self.loop(place, stop, width) as column, self.loop(*steps) as step:
                self._solve_row(
                    a, x, steps[0], step, [(column + number * lanes, lanes) for number in range(vectors)]
                )
            place = stop

    def _solve_row(
        self, a: Matrix, x: Matrix, first: Value, step: Value, places: list[tuple[Value, int]]
    ) -> None:
        row = self._row(step)
        here = [self.at(x, row, column) for column, _ in places]
        types = [Type(self._element.element, lanes) for _, lanes in places]
        rests = [self.variable(type, self.load(type, place)) for type, place in zip(types, here, strict=True)]
        with self.loop(first, step) as number:
            other = self._row(number)
            factor = -self.load(self._element, self.at(a, row, other))
            for rest, type, (column, lanes) in zip(rests, types, places, strict=True):
                rest.set(fma(factor.splat(lanes), self.load(type, self.at(x, other, column)), rest.get()))
        divisor = self.load(self._element, self.at(a, row, row))
        for rest, place, (_, lanes) in zip(rests, here, places, strict=True):
            self.store(rest.get() if self._unit else rest.get() / divisor.splat(lanes), place)
