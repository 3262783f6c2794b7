"""Running sums, products and extrema along a dimension, in LLVM IR.

Sums and products of float32 are kept in float64, those of half precision in float32.
"""

from __future__ import annotations

from functools import cache

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I64, Type, Value, Variable
from raxis_cpu.llvm.lanes import shuffled
from raxis_cpu.llvm.math import UNARY

NUMBERS = (
    "length", "inner", "x_outer", "x_along", "x_inner", "out_outer", "out_along", "out_inner",
    "places_outer", "places_along", "places_inner",
)  # fmt: skip

COLUMNS = 256
"""Columns that one unit of the phase ``columns`` scans side by side."""
_TOGETHER = 4
"""Rows scanned in turns, so that their chains of dependent steps overlap."""


class _Step:
    """How a scan takes in one more element."""

    def __init__(self, name: str, dtype: DType) -> None:
        self.dtype = dtype
        self.name = name
        self.is_sum = name in {"cumsum", "cumprod", "logcumsumexp"}
        self.wide = (
            "double" if self.is_sum and dtype is dtypes.float32 else registers.register_type(dtype).element
        )
        self.nbytes = Type(self.wide).bits // 8

    def load(self, address: Value, lanes: int) -> Value:
        """Elements as the scan computes with them."""
        value = registers.load(self.dtype, address, lanes)
        if not isinstance(value, Value):
            raise TypeError("scans serve real numbers only.")
        return value.convert("fpext", self.wide) if value.type.is_float else value

    def store(self, value: Value, address: Value) -> None:
        """Elements as they are kept."""
        narrow = (
            value.convert("fptrunc", registers.register_type(self.dtype).element)
            if value.type.is_float
            else value
        )
        registers.store(self.dtype, registers.rounded(self.dtype, narrow), address)

    def combined(self, total: Value, new: Value) -> Value:
        """The new total."""
        if self.name == "cumsum":
            return total + new
        if self.name == "cumprod":
            return total * new
        if self.name == "logcumsumexp":
            return _log_of_sum(total, new)
        return self.exceeds(new, total).select(new, total)

    def exceeds(self, new: Value, total: Value) -> Value:
        """Whether an extremum is attained by the new element."""
        predicate = "ge" if self.name == "cummax" else "le"
        if new.type.is_float:
            return new.compare(predicate, total) | new.compare("ne", new)
        unsigned = self.dtype.category <= Category.INTEGER and not self.dtype.is_signed
        return new.compare(f"u{predicate}" if unsigned else predicate, total)


def _log_of_sum(one: Value, other: Value) -> Value:
    """``log(exp(one) + exp(other))``: the greater, and a correction."""
    greater, less = one.intrinsic("maximum", other), one.intrinsic("minimum", other)
    infinite = greater.intrinsic("fabs").compare("eq", float("inf"))
    distance = infinite.select(0.0, less - greater)
    return greater + UNARY["log1p"](UNARY["exp"](distance))


@cache
def scanning(name: str, dtype: DType) -> Module:
    """Phases ``rows``, ``columns`` and for sums ``dense_rows``; a unit is a row, or `COLUMNS` columns of one slice."""
    step = _Step(name, dtype)
    functions = [_rows(step, False), _columns(step)]
    if name == "cumsum":
        functions.append(_dense_rows(step))
    return Module(name, "\n".join(functions), NUMBERS)


@cache
def locating(name: str, dtype: DType) -> Module:
    """Phases ``rows`` and ``dense_rows`` of a running extremum that also write where it was last attained."""
    step = _Step(name, dtype)
    return Module(name, "\n".join([_rows(step, True), _dense_extrema(step)]), NUMBERS)


def _rows(step: _Step, places: bool) -> str:
    body = Body("rows", NUMBERS)
    count = body.end - body.begin
    whole = count - (count & (_TOGETHER - 1))
    with body.loop(0, whole, _TOGETHER) as first:
        _scan_rows(body, step, [body.begin + first + number for number in range(_TOGETHER)], places)
    with body.loop(whole, count) as last:
        _scan_rows(body, step, [body.begin + last], places)
    return body.text


def _scan_rows(body: Body, step: _Step, rows: list[Value], places: bool) -> None:
    numbers, size = body.numbers, step.dtype.itemsize
    walks, totals, found = [], [], []
    for row in rows:
        outer, inner = body.divided(row, numbers["inner"])
        x = body.advance(body.array(0), outer * numbers["x_outer"] + inner * numbers["x_inner"], size)
        out = body.advance(body.array(1), outer * numbers["out_outer"] + inner * numbers["out_inner"], size)
        offset = outer * numbers["places_outer"] + inner * numbers["places_inner"]
        target = body.advance(body.array(2), offset, 8) if places else out
        walks.append(
            [
                body.walk(body.advance(start, stride, nbytes), stride, nbytes)
                for start, stride, nbytes in (
                    (x, numbers["x_along"], size),
                    (out, numbers["out_along"], size),
                    (target, numbers["places_along"], 8),
                )
            ]
        )
        first = step.load(x, 1)
        step.store(first, out)
        totals.append(body.variable(first.type, first))
        found.append(body.variable(I64, 0))
        if places:
            body.store(body.constant(I64, 0), target)
    with body.loop(1, numbers["length"]) as index:
        for (next_x, next_out, next_place), total, last in zip(walks, totals, found, strict=True):
            new = step.load(next_x(), 1)
            if step.is_sum:
                total.set(step.combined(total.get(), new))
            else:
                # New extrema are rare in most rows: a branch is foretold where a selection must be waited for.
                with body.when(step.exceeds(new, total.get())):
                    total.set(new)
                    last.set(index)
            step.store(total.get(), next_out())
            if places:
                body.store(last.get(), next_place())


def _dense_rows(step: _Step) -> str:
    """Sums within whole registers by doubling (Hillis and Steele, 1986), each register added to the total before it."""
    body, size = Body("dense_rows", NUMBERS), step.dtype.itemsize
    numbers, lanes = body.numbers, host().vector_bytes // step.nbytes
    length = numbers["length"]
    whole = length & -lanes
    with body.loop(body.begin, body.end) as row:
        x = body.advance(body.array(0), row * numbers["x_outer"], size)
        out = body.advance(body.array(1), row * numbers["out_outer"], size)
        total = body.variable(Type(step.wide), body.constant(Type(step.wide), -0.0))
        with body.loop(0, whole, lanes) as place:
            sums = _prefix_sums(step.load(body.advance(x, place, size), lanes)) + total.get().splat(lanes)
            step.store(sums, body.advance(out, place, size))
            total.set(sums.part(lanes - 1, 1))
        with body.loop(whole, length) as place:
            total.set(total.get() + step.load(body.advance(x, place, size), 1))
            step.store(total.get(), body.advance(out, place, size))
    return body.text


def _prefix_sums(value: Value) -> Value:
    """In every lane the sum of the lanes up to it."""
    lanes = value.type.lanes
    zeros = value.function.constant(value.type, -0.0 if value.type.is_float else 0)
    shift = 1
    while shift < lanes:
        places = (lane if lane < shift else lanes + lane - shift for lane in range(lanes))
        value = value + shuffled(zeros, value, places)
        shift *= 2
    return value


def _dense_extrema(step: _Step) -> str:
    """A register of elements at once as long as none is a new extremum."""
    body, size = Body("dense_rows", NUMBERS), step.dtype.itemsize
    numbers, lanes = body.numbers, 8
    length = numbers["length"]
    with body.loop(body.begin, body.end) as row:
        starts = [
            body.advance(body.array(number), row * numbers[f"{name}_outer"], nbytes)
            for number, (name, nbytes) in enumerate((("x", size), ("out", size), ("places", 8)))
        ]
        first = step.load(starts[0], 1)
        total, last = body.variable(first.type, first), body.variable(I64, 0)
        with body.loop(0, length, lanes) as place:
            stop = (place + lanes).intrinsic("smin", length)
            x, out, places = (
                body.advance(start, place, nbytes)
                for start, nbytes in zip(starts, (size, size, 8), strict=True)
            )
            rare = body.variable(I64, (stop - place).compare("lt", lanes).convert("zext", "i64"))
            with body.when(rare.get().compare("eq", 0)):
                some = step.exceeds(step.load(x, lanes), total.get().splat(lanes))
                mask = body.emit(Type(f"i{lanes}"), f"bitcast {some} to i{lanes}")
                rare.set(mask.convert("zext", "i64"))
                with body.when(mask.compare("eq", 0)):
                    step.store(total.get().splat(lanes), out)
                    body.store(last.get().splat(lanes), places)
            with body.when(rare.get().compare("ne", 0)), body.loop(0, stop - place) as lane:
                new = step.load(body.advance(x, lane, size), 1)
                taken = step.exceeds(new, total.get())
                total.set(taken.select(new, total.get()))
                last.set(taken.select(place + lane, last.get()))
                step.store(total.get(), body.advance(out, lane, size))
                body.store(last.get(), body.advance(places, lane, 8))
    return body.text


def _columns(step: _Step) -> str:
    """Dense columns side by side: the totals of a block stay in the cache while its rows are read in order."""
    body, size = Body("columns", NUMBERS), step.dtype.itemsize
    numbers = body.numbers
    lanes = host().vector_bytes // max(step.nbytes, 1)
    totals = body.variable(Type(f"[{COLUMNS} x {step.wide}]"), align=64)
    inner = numbers["inner"]
    blocks = body.emit(I64, f"udiv {inner + (COLUMNS - 1)}, {COLUMNS}")
    with body.loop(body.begin, body.end) as unit:
        outer, block = body.divided(unit, blocks)
        first = block * COLUMNS
        count = (inner - first).intrinsic("smin", COLUMNS)
        x = body.advance(body.array(0), outer * numbers["x_outer"] + first, size)
        out = body.advance(body.array(1), outer * numbers["out_outer"] + first, size)
        whole = count - (count & (lanes - 1))
        with body.loop(0, numbers["length"]) as row:
            line = body.advance(x, row * numbers["x_along"], size)
            target = body.advance(out, row * numbers["out_along"], size)
            for width, bounds in ((lanes, (body.constant(I64, 0), whole)), (1, (whole, count))):
                with body.loop(*bounds, width) as column:
                    _scan_column(body, step, totals, row, column, (line, target), width)
    return body.text


def _scan_column(
    body: Body, step: _Step, totals: Variable, row: Value, column: Value, lines: tuple[Value, Value], lanes: int
) -> None:  # fmt: skip
    x, out = (body.advance(line, column, step.dtype.itemsize) for line in lines)
    place = body.advance(totals.address, column, step.nbytes)
    new = step.load(x, lanes)
    value = row.compare("eq", 0).select(new, step.combined(body.load(new.type, place), new))
    body.store(value, place)
    step.store(value, out)
