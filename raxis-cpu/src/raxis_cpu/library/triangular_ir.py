"""Triangular systems in LLVM IR: small ones by substitution, large ones by blocks, or by BLAS.

The addresses of BLAS's functions are numbers of the routine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import NamedTuple

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
    body = BlockBody(PHASE, TRIANGULAR_NUMBERS, dtype, I64 if long_integers else I32)
    numbers = body.numbers
    rows, all_columns = numbers["rows"], numbers["columns"]
    stored = Stored(numbers["gap"], numbers["transpose"].convert("trunc", "i32"))
    with body.loop(body.begin, body.end) as number:
        item, part = body.divided(number, numbers["parts"])
        first = part * numbers["part_columns"]
        columns = numbers["part_columns"].intrinsic("smin", all_columns - first)
        b, x = body.given(1, "b", item), body.dense(body.array(2), rows, all_columns, item)
        b, x = (matrix._replace(start=body.at(matrix, 0, first)) for matrix in (b, x))
        body.copy(b, x, rows, columns)
        body.solve(System(body.given(0, "a", item), stored, x, rows, columns, upper, unit))
    return Module("blocked", body.text, TRIANGULAR_NUMBERS)


class Stored(NamedTuple):
    """What BLAS is told of A: elements between its lines, and whether these are columns."""

    gap: Value
    transpose: Value


class System(NamedTuple):
    """A X = B of a triangular A, where X has B's elements at first."""

    a: Matrix
    stored: Stored
    x: Matrix
    rows: Value
    columns: Value
    upper: bool
    unit: bool

    def row(self, step: Value) -> Value:
        """The row that is solved after so many."""
        return self.rows - 1 - step if self.upper else step


class BlockBody(MatrixBody):
    """A phase that works on real matrices by blocks; the number ``blas`` is the address of BLAS's product."""

    def __init__(self, name: str, numbers: Sequence[str], dtype: DType, integer: Type) -> None:
        super().__init__(name, numbers, dtype)
        self._integer = integer
        self.element, self.lanes = registers.register_type(dtype), lanes_of(dtype)

    def less_product(
        self, total: Matrix, left: tuple[Value, Stored], right: Matrix, sizes: tuple[Value, Value, Value]
    ) -> None:
        """Subtract left · right from `total`, all of which but the left one lie row by row.

        Args:
            total: where the result is.
            left: the start of the left matrix, and how it is stored.
            right: the right matrix.
            sizes: rows and columns of the result, and the inner dimension.
        """
        start, stored = left
        gaps = [value.convert("trunc", self._integer.element) for value in (stored.gap, right.row, total.row)]
        counts = [value.convert("trunc", self._integer.element) for value in sizes]
        minus, one = (self.constant(self.element, number) for number in (-1.0, 1.0))
        self.void_call("blas", self.constant(I32, ROW_MAJOR), stored.transpose, self.constant(I32, PLAIN), *counts,
                       minus, start, gaps[0], right.start, gaps[1], one, total.start, gaps[2])  # fmt: skip

    def solve(self, system: System) -> None:
        """Solve a system."""
        with self.loop(0, system.rows, BLOCK) as start:
            stop = (start + BLOCK).intrinsic("smin", system.rows)
            self._substitute(system, start, stop)
            with self.when(stop.compare("lt", system.rows)):
                self._subtract(system, stop)

    def _subtract(self, system: System, done: Value) -> None:
        """The products of the last rows that are done, from the next ones."""
        rows, (a, x) = system.rows, (system.a, system.x)
        count = done & -done
        ahead = count.intrinsic("smin", rows - done)
        known, after = (rows - done, rows - done - ahead) if system.upper else (done - count, done)
        right, total = (x._replace(start=self.at(x, row, 0)) for row in (known, after))
        left = self.at(a, after, known), system.stored
        self.less_product(total, left, right, (ahead, system.columns, count))

    def _substitute(self, system: System, first: Value, stop: Value) -> None:
        """Solve the rows of a block, several vectors of columns at once."""
        for columns, lanes in self.column_groups(self.constant(I64, 0), system.columns):
            with columns as places, self.loop(first, stop) as step:
                self._solve_row(system, first, step, places, lanes)

    def column_groups(
        self, start: Value, stop: Value
    ) -> Iterator[tuple[AbstractContextManager[list[Value]], int]]:
        """Loops that together run over all columns, as groups of vectors; every loop with the lanes of a vector."""
        for vectors, lanes in ((_TOGETHER, self.lanes), (1, self.lanes), (1, 1)):
            end = start + ((stop - start) & -(vectors * lanes))
            yield self._groups(start, end, vectors, lanes), lanes
            start = end

    @contextmanager
    def _groups(self, start: Value, stop: Value, vectors: int, lanes: int) -> Iterator[list[Value]]:
        with self.loop(start, stop, vectors * lanes) as column:
            yield [column + number * lanes for number in range(vectors)]

    def _solve_row(self, system: System, first: Value, step: Value, places: list[Value], lanes: int) -> None:
        a, x, row = system.a, system.x, system.row(step)
        type = Type(self.element.element, lanes)
        here = [self.at(x, row, column) for column in places]
        rests = [self.variable(type, self.load(type, place)) for place in here]
        with self.loop(first, step) as number:
            other = system.row(number)
            factor = (-self.load(self.element, self.at(a, row, other))).splat(lanes)
            for rest, column in zip(rests, places, strict=True):
                rest.set(fma(factor, self.load(type, self.at(x, other, column)), rest.get()))
        divisor = self.load(self.element, self.at(a, row, row)).splat(lanes)
        for rest, place in zip(rests, here, strict=True):
            self.store(rest.get() if system.unit else rest.get() / divisor, place)
