"""QR, singular values and Hermitian eigenvalues by LAPACK in LLVM IR, in a phase over groups of a stack's matrices.

Every group works in memory of its own, whose parts begin at bytes that are numbers of the routine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.matrices_ir import LANES, LapackBody, Matrix
from raxis_cpu.library.phases import Module
from raxis_cpu.llvm.ir import I64, Type, Value, fma
from raxis_cpu.llvm.math.support import any_lane
from raxis_cpu.llvm.registers import register_type

PHASE = "groups"
"""The one phase of every module."""
PARTS = ("matrix", "tau", "work", "real_work", "integer_work")
"""Parts of a group's memory."""
NUMBERS = (
    "rows", "columns", "inner", "left", "right", "x_stack", "x_row", "x_column", "count", "groups", "group_bytes",
    "first", "second", "work_size", "real_work_size", "integer_work_size", *(f"{part}_place" for part in PARTS),
)  # fmt: skip
"""Sizes, where x is, the groups and their memory, the functions that are called, and the sizes of work arrays."""


class _Body(LapackBody):
    """A phase that calls LAPACK for every matrix."""

    def __init__(self, dtype: DType, long_integers: bool) -> None:
        super().__init__(PHASE, NUMBERS, dtype, long_integers)
        self._group = self.variable(I64)

    @contextmanager
    def items(self) -> Iterator[Value]:
        """Every matrix of the groups."""
        with self.loop(self.begin, self.end) as group:
            self._group.set(group * self.numbers["group_bytes"])
            with self.loop(group, self.numbers["count"], self.numbers["groups"]) as item:
                yield item

    def part(self, name: str) -> Value:
        """Where a part of the group's memory begins."""
        offset = self._group.get() + self.numbers[f"{name}_place"]
        return self.advance(self.scratch(), offset, 1)

    @contextmanager
    def when_finite(self, start: Value, count: Value) -> Iterator[None]:
        """If so many elements from `start` on are finite; else info is 1: LAPACK may never end."""
        sums = [self.variable(Type(self._part.element, lanes), 0.0) for lanes in (LANES, 1)]
        count = count * (2 if self._is_complex else 1)
        width = self.size // (2 if self._is_complex else 1)
        whole = count & -LANES
        starts, stops = (self.constant(I64, 0), whole), (whole, count)
        for total, first, stop, step in zip(sums, starts, stops, (LANES, 1), strict=True):
            with self.loop(first, stop, step) as place:
                part = self.load(total.type, self.advance(start, place, width))
                total.set(fma(part, 0.0, total.get()))
        self.info.set(1)
        strange = [any_lane(total.get().compare("ne", 0.0)) for total in sums]
        with self.when(~(strange[0] | strange[1])):
            yield

    def fill(self, number: int, item: Value, count: Value, dtype: DType) -> None:
        """NaN for all `count` elements of a result of one matrix."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        count = count * (2 if dtype.is_complex else 1)
        nan = self.constant(register_type(dtype.to_real()), float("nan"))
        with self.loop(0, count) as place:
            self.store(nan, self.advance(self.array(number), item * count + place, width))


@cache
def qr(dtype: DType, long_integers: bool, alone: bool) -> Module:
    """Q and R: x, then both, which are dense; R `alone`, or it is the last.

    The number `inner` is that of Q's columns, `left` that of reflections.
    """
    body = _Body(dtype, long_integers)
    rows, columns, inner = (body.numbers[name] for name in ("rows", "columns", "inner"))
    names = ("rows", "columns", "inner", "left", "work_size")
    m, n, kept, reflections, size = (body.integer_of(name) for name in names)
    with body.items() as item:
        matrix, tau, work = (body.part(name) for name in ("matrix", "tau", "work"))
        turned = body.by_columns(matrix, rows)
        body.copy(body.given(0, "x", item), turned, rows, columns)
        body.lapack("first", m, n, matrix, m, tau, work, size)
        triangle = body.dense(body.array(1 if alone else 2), inner, columns, item)
        body.copy(turned, triangle, inner, columns)
        with body.loop(0, inner) as row, body.loop(0, row.intrinsic("smin", columns)) as column:
            body.write(body.number(0.0), body.at(triangle, row, column))
        if not alone:
            body.lapack("second", m, kept, reflections, matrix, m, tau, work, size)
            body.copy(turned, body.dense(body.array(1), rows, inner, item), rows, inner)
    return Module("qr", body.text, NUMBERS)


@cache
def svd(dtype: DType, long_integers: bool, job: str) -> Module:
    """U, S and V^H by ``gesdd``: x, then the three, which are dense; for the job ``N`` S alone.

    A matrix row by row is to LAPACK the transposed one, whose factors it writes just where those of x belong.
    """
    body = _Body(dtype, long_integers)
    rows, columns, inner, left, right = (
        body.numbers[name] for name in ("rows", "columns", "inner", "left", "right")
    )
    m, n, left_gap, size = (body.integer_of(name) for name in ("columns", "rows", "left", "work_size"))
    real = dtype.to_real()
    letter = body.letter(job)
    with body.items() as item:
        matrix, work = body.part("matrix"), body.part("work")
        body.copy(body.given(0, "x", item), Matrix(matrix, columns, body.constant(I64, 1)), rows, columns)
        values = body.advance(body.array(1 if job == "N" else 2), item * inner, real.itemsize)
        vectors = [work, work]
        if job != "N":
            vectors = [body.dense(body.array(3), right, columns, item).start]
            vectors.append(body.dense(body.array(1), rows, left, item).start)
        more = [body.part("real_work")] if dtype.is_complex else []
        with body.when_finite(matrix, rows * columns):
            body.lapack("first", letter, m, n, matrix, m, values, vectors[0], m, vectors[1], left_gap, work, size,
                        *more, body.part("integer_work"), letters=1)  # fmt: skip
        with body.when(body.info.get().compare("ne", 0)):
            if job == "N":
                body.fill(1, item, inner, real)
            else:
                body.fill(1, item, rows * left, dtype)
                body.fill(2, item, inner, real)
                body.fill(3, item, right * columns, dtype)
    return Module("svd", body.text, NUMBERS)


@cache
def eigh(dtype: DType, long_integers: bool, vectors: bool) -> Module:
    """Eigenvalues and perhaps vectors by ``syevd`` or ``heevd``: x, then results, which are dense."""
    body = _Body(dtype, long_integers)
    rows, real = body.numbers["rows"], dtype.to_real()
    names = ("rows", "work_size", "real_work_size", "integer_work_size")
    n, size, real_size, integer_size = (body.integer_of(name) for name in names)
    job, triangle = body.letter("V" if vectors else "N"), body.letter("L")
    with body.items() as item:
        matrix = body.part("matrix")
        turned = body.by_columns(matrix, rows)
        body.copy(body.given(0, "x", item), turned, rows, rows)
        values = body.advance(body.array(1), item * rows, real.itemsize)
        more = [body.part("real_work"), real_size] if dtype.is_complex else []
        with body.loop(0, rows) as column, body.loop(0, column) as row:  # nobody reads these
            body.write(body.number(0.0), body.at(turned, row, column))
        with body.when_finite(matrix, rows * rows):
            body.lapack("first", job, triangle, n, matrix, n, values, body.part("work"), size, *more,
                        body.part("integer_work"), integer_size, letters=2)  # fmt: skip
        if vectors:
            body.copy(turned, body.dense(body.array(2), rows, rows, item), rows, rows)
        with body.when(body.info.get().compare("ne", 0)):
            body.fill(1, item, rows, real)
            if vectors:
                body.fill(2, item, rows * rows, dtype)
    return Module("eigh", body.text, NUMBERS)
