"""LU and Cholesky factorizations in LLVM IR, in a phase over the matrices of a stack.

Small matrices are done here, large ones by LAPACK, whose functions' addresses are numbers of the routine.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from raxis.dtypes import DType
from raxis_cpu.library.matrices_ir import (
    LapackBody,
    Matrix,
    MatrixBody,
    Running,
    conjugate,
    extent,
    is_zero,
    less_product,
    quotient,
    real_part,
)
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm.ir import I32, I64, Value, Variable
from raxis_cpu.llvm.math.support import sqrt
from raxis_cpu.llvm.registers import Complex, Register, splat

PHASE = "matrices"
"""The one phase of every module."""

_X = ("x_stack", "x_row", "x_column")
LU_NUMBERS = ("rows", "columns", *_X, "getrf")
CHOLESKY_NUMBERS = ("rows", *_X, "potrf")
ORDER_NUMBERS = ("length", "size", "stack", "along")


# ---- LU --------------------------------------------------------------------------------------------------------------


@cache
def elimination(dtype: DType) -> Module:
    """LU of small matrices: x, then packed, pivots and info, which are dense."""
    body = MatrixBody(PHASE, LU_NUMBERS, dtype)
    rows, columns = body.numbers["rows"], body.numbers["columns"]
    count = rows.intrinsic("smin", columns)
    with body.loop(body.begin, body.end) as item:
        packed = body.dense(body.array(1), rows, columns, item)
        body.copy(body.given(0, "x", item), packed, rows, columns)
        info = body.variable(I32, 0)
        with body.loop(0, count) as step:
            pivot = _pivot(body, packed, step, rows)
            body.store((pivot + 1).convert("trunc", "i32"), body.int32_at(2, item * count + step))
            with body.when(pivot.compare("ne", step)):
                _exchange(body, packed, pivot, step, columns)
            _eliminate(body, packed, step, info)
        body.store(info.get(), body.int32_at(3, item))
    return Module("lu", body.text, LU_NUMBERS)


def _pivot(body: MatrixBody, packed: Matrix, step: Value, rows: Value) -> Value:
    """The first row from the diagonal on whose element is greatest, or NaN."""
    first = extent(body.read(body.at(packed, step, step)))
    best, place = body.variable(first.type, first), body.variable(I64, step)
    with body.loop(step + 1, rows) as row:
        found = extent(body.read(body.at(packed, row, step)))
        known = best.get()
        better = found.compare("gt", known) | (found.compare("ne", found) & known.compare("eq", known))
        best.set(better.select(found, known))
        place.set(better.select(row, place.get()))
    return place.get()


def _exchange(body: MatrixBody, packed: Matrix, one: Value, other: Value, columns: Value) -> None:
    def work(column: Value, lanes: int) -> None:
        places = [body.at(packed, row, column) for row in (one, other)]
        values = [body.read(place, lanes) for place in places]
        for place, value in zip(places, reversed(values), strict=True):
            body.write(value, place)

    body.along(0, columns, work)


def _eliminate(body: MatrixBody, packed: Matrix, step: Value, info: Variable) -> None:
    """Subtract multiples of the pivot's row from those below; a pivot of 0 has only zeros below."""
    rows, columns = body.numbers["rows"], body.numbers["columns"]
    pivot = body.read(body.at(packed, step, step))
    singular = is_zero(pivot)
    known = info.get()
    info.set((singular & known.compare("eq", 0)).select((step + 1).convert("trunc", "i32"), known))
    with body.when(~singular), body.loop(step + 1, rows) as row:
        place = body.at(packed, row, step)
        factor = quotient(body.read(place), pivot)
        body.write(factor, place)

        def work(column: Value, lanes: int) -> None:
            here = body.at(packed, row, column)
            above = body.read(body.at(packed, step, column), lanes)
            body.write(less_product(body.read(here, lanes), splat(factor, lanes), above), here)

        body.along(step + 1, columns, work)


@cache
def getrf(dtype: DType, long_integers: bool) -> Module:
    """LU of large matrices by LAPACK, on a transposed copy in scratch memory, behind which are the pivots."""
    body = LapackBody(PHASE, LU_NUMBERS, dtype, long_integers)
    rows, columns = body.numbers["rows"], body.numbers["columns"]
    m, n = body.integer_of("rows"), body.integer_of("columns")
    count, nbytes = rows.intrinsic("smin", columns), scratch_bytes(rows, columns, dtype)
    with body.loop(body.begin, body.end) as item:
        memory = body.advance(body.scratch(), item * nbytes, 1)
        exchanged = body.advance(memory, rows * columns, dtype.itemsize)
        turned = body.by_columns(memory, rows)
        body.copy(body.given(0, "x", item), turned, rows, columns)
        body.lapack("getrf", m, n, memory, m, exchanged)
        body.copy(turned, body.dense(body.array(1), rows, columns, item), rows, columns)
        with body.loop(0, count) as step:
            pivot = body.load(body.integer, body.advance(exchanged, step, body.integer.bits // 8))
            body.store(pivot.convert("trunc", "i32"), body.int32_at(2, item * count + step))
        body.store(body.info.get().convert("trunc", "i32"), body.int32_at(3, item))
    return Module("getrf", body.text, LU_NUMBERS)


Size = TypeVar("Size", int, Value)


def scratch_bytes(rows: Size, columns: Size, dtype: DType) -> Size:
    """Memory that `getrf` needs for a matrix: a copy and at most as many pivots as rows."""
    return rows * columns * dtype.itemsize + rows * 8


# ---- Cholesky --------------------------------------------------------------------------------------------------------


@cache
def cholesky(dtype: DType) -> Module:
    """L of small matrices, row by row: x, then the factor and info, which are dense."""
    body = MatrixBody(PHASE, CHOLESKY_NUMBERS, dtype)
    rows = body.numbers["rows"]
    with body.loop(body.begin, body.end) as item:
        x, factor = body.given(0, "x", item), body.dense(body.array(1), rows, rows, item)
        with body.loop(0, rows) as row:
            with body.loop(0, row) as column:
                rest = _without_products(body, factor, row, column, body.read(body.at(x, row, column)))
                pivot = real_part(body.read(body.at(factor, column, column)))
                body.write(_by_real(rest, pivot), body.at(factor, row, column))
            own = body.read(body.at(x, row, row))
            square = real_part(_without_products(body, factor, row, row, _real(own)))
            body.write(_real(sqrt(square), own), body.at(factor, row, row))
            _clear(body, factor, row)
        _report(body, factor, item, body.constant(I32, 0))
    return Module("cholesky", body.text, CHOLESKY_NUMBERS)


def _real(x: Register, model: Register | None = None) -> Register:
    """A real number in the form of `model`, which is x itself unless given."""
    model = x if model is None else model
    real = real_part(x)
    return Complex(real, real.function.constant(real.type, 0.0)) if isinstance(model, Complex) else real


def _by_real(x: Register, y: Value) -> Register:
    return Complex(x.real / y, x.imag / y) if isinstance(x, Complex) else x / y


def _without_products(
    body: MatrixBody, factor: Matrix, row: Value, column: Value, start: Register
) -> Register:
    """What is left of an element of x without the products of two rows before `column`."""
    rest = Running(body, start)
    with body.loop(0, column) as k:
        left = body.read(body.at(factor, row, k))
        right = conjugate(body.read(body.at(factor, column, k)))
        rest.set(less_product(rest.get(), left, right))
    return rest.get()


def _clear(body: MatrixBody, factor: Matrix, row: Value) -> None:
    """Zeros behind the diagonal."""
    with body.loop(row + 1, body.numbers["rows"]) as column:
        body.write(body.number(0.0), body.at(factor, row, column))


def _report(body: MatrixBody, factor: Matrix, item: Value, broken: Value) -> None:
    """Write info: where LAPACK broke down, or the first place of the diagonal that is not positive.

    Zeros are the factor where there is none.
    """
    rows, info = body.numbers["rows"], body.variable(I32, broken)
    with body.loop(0, rows) as row:
        known = info.get()
        bad = ~real_part(body.read(body.at(factor, row, row))).compare("gt", 0.0)
        info.set((bad & known.compare("eq", 0)).select((row + 1).convert("trunc", "i32"), known))
    body.store(info.get(), body.int32_at(2, item))
    with body.when(info.get().compare("ne", 0)), body.loop(0, rows) as row, body.loop(0, rows) as column:
        body.write(body.number(0.0), body.at(factor, row, column))


@cache
def potrf(dtype: DType, long_integers: bool) -> Module:
    """L of large matrices by LAPACK: the rows of L are the columns of the upper triangle that LAPACK writes."""
    body = LapackBody(PHASE, CHOLESKY_NUMBERS, dtype, long_integers)
    rows, size, upper = body.numbers["rows"], body.integer_of("rows"), body.letter("U")
    with body.loop(body.begin, body.end) as item:
        factor = body.dense(body.array(1), rows, rows, item)
        body.copy(body.given(0, "x", item), factor, rows, rows)
        with body.loop(0, rows) as row:
            _clear(body, factor, row)
        body.lapack("potrf", upper, size, factor.start, size, letters=1)
        _report(body, factor, item, body.info.get().convert("trunc", "i32"))
    return Module("potrf", body.text, CHOLESKY_NUMBERS)


# ---- permutations ----------------------------------------------------------------------------------------------------


@cache
def exchanges() -> Module:
    """Where each row comes from after exchanges: int32 pivots, then the dense int64 order."""
    body = Body(PHASE, ORDER_NUMBERS)
    numbers = body.numbers
    size, last = numbers["size"], numbers["size"] - 1
    with body.loop(body.begin, body.end) as item:
        order = body.advance(body.array(1), item * size, 8)
        with body.loop(0, size) as row:
            body.store(row, body.advance(order, row, 8))
        next_pivot = body.walk(body.advance(body.array(0), item * numbers["stack"], 4), numbers["along"], 4)
        with body.loop(0, numbers["length"]) as step:
            pivot = body.load(I32, next_pivot()).convert("sext", "i64") - 1
            other = pivot.intrinsic("smax", 0).intrinsic("smin", last)
            places = [body.advance(order, place, 8) for place in (step, other)]
            rows = [body.load(I64, place) for place in places]
            for place, row in zip(places, reversed(rows), strict=True):
                body.store(row, place)
    return Module("exchanges", body.text, ORDER_NUMBERS)
