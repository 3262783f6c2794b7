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
        sums = name in {"cumsum", "cumprod"}
        self.wide = "double" if sums and dtype is dtypes.float32 else registers.register_type(dtype).element
        self.nbytes = Type(self.wide).bits // 8

    def load(self, address: Value, lanes: int) -> Value:
        """Elements as the scan computes with them."""
        value = registers.load(self.dtype, address, lanes)
        if not isinstance(value, Value):
            raise TypeError("scans serve real numbers only.")
        return value.convert("fpext", self.wide) if value.type.is_float else value

    def store(self, value: Value, address: Value) -> None:
        """Elements as they are kept."""
        narrow = value.convert("fptrunc", registers.register_type(self.dtype).element) if value.type.is_float else value
        registers.store(self.dtype, registers.rounded(self.dtype, narrow), address)

    def __call__(self, total: Value, new: Value) -> tuple[Value, Value]:
        """The new total, and whether an extremum is attained by the new element."""
        if self.name == "cumsum":
            return total + new, total
        if self.name == "cumprod":
            return total * new, total
        predicate = "ge" if self.name == "cummax" else "le"
        if self.dtype.category <= Category.INTEGER and not self.dtype.is_signed:
            predicate = f"u{predicate}"
        taken = new.compare(predicate, total)
        if new.type.is_float:
            taken = taken | new.compare("ne", new)
        return taken.select(new, total), taken


@cache
def scanning(name: str, dtype: DType) -> Module:
    """Phases ``rows`` and ``columns`` of a scan; a unit is a row, or `COLUMNS` columns of one slice."""
    step = _Step(name, dtype)
    return Module(name, "\n".join([_rows(step, False), _columns(step)]), NUMBERS)


@cache
def locating(name: str, dtype: DType) -> Module:
    """The phase ``rows`` of a running extremum that also writes where it was last attained."""
    return Module(name, _rows(_Step(name, dtype), True), NUMBERS)


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
    starts, totals, found = [], [], []
    for row in rows:
        outer, inner = body.divided(row, numbers["inner"])
        x = body.advance(body.array(0), outer * numbers["x_outer"] + inner * numbers["x_inner"], size)
        out = body.advance(body.array(1), outer * numbers["out_outer"] + inner * numbers["out_inner"], size)
        offset = outer * numbers["places_outer"] + inner * numbers["places_inner"]
        target = body.advance(body.array(2), offset, 8) if places else out
        starts.append((x, out, target))
        first = step.load(x, 1)
        step.store(first, out)
        totals.append(body.variable(first.type, first))
        found.append(body.variable(I64, 0))
        if places:
            body.store(body.constant(I64, 0), target)
    with body.loop(1, numbers["length"]) as index:
        for (x, out, target), total, last in zip(starts, totals, found, strict=True):
            new = step.load(body.advance(x, index * numbers["x_along"], size), 1)
            value, taken = step(total.get(), new)
            total.set(value)
            step.store(value, body.advance(out, index * numbers["out_along"], size))
            if places:
                last.set(taken.select(index, last.get()))
                body.store(last.get(), body.advance(target, index * numbers["places_along"], 8))


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
    value, _ = step(body.load(new.type, place), new)
    value = row.compare("eq", 0).select(new, value)
    body.store(value, place)
    step.store(value, out)
