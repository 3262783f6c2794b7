"""Binary search, and packing the positions of what is not zero, in LLVM IR."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import Category, DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, Type, Value

SEARCH_NUMBERS = ("length", "count", "boundaries_outer", "boundaries_along", "values_outer", "values_along")
POSITION_NUMBERS = ("outer", "inner", "outer_stride", "inner_stride")


def _load(dtype: DType, address: Value) -> Value:
    value = registers.load(dtype, address, 1)
    if not isinstance(value, Value):
        raise TypeError("complex numbers have no order.")
    return value


@cache
def searching(dtype: DType, right: bool) -> Module:
    """The phase ``search``: for a value, how many elements of its sorted row are below it; a unit is a value."""
    body, size = Body("search", SEARCH_NUMBERS), dtype.itemsize
    numbers = body.numbers
    with body.loop(body.begin, body.end) as unit:
        row, place = body.divided(unit, numbers["count"])
        boundaries = body.advance(body.array(0), row * numbers["boundaries_outer"], size)
        offset = row * numbers["values_outer"] + place * numbers["values_along"]
        value = _load(dtype, body.advance(body.array(1), offset, size))
        low, left = body.variable(I64, 0), body.variable(I64, numbers["length"])
        with body.repeat_while() as repetition:
            repetition.test(left.get().compare("gt", 0))
            half = left.get() >> 1
            middle = low.get() + half
            boundary = _load(dtype, body.advance(boundaries, middle * numbers["boundaries_along"], size))
            below = _is_below(dtype, boundary, value, right=right)
            low.set(below.select(middle + 1, low.get()))
            left.set(below.select(left.get() - half - 1, half))
        body.store(low.get(), body.advance(body.array(2), unit, 8))
    return Module("searchsorted", body.text, SEARCH_NUMBERS)


def _is_below(dtype: DType, boundary: Value, value: Value, *, right: bool) -> Value:
    """Whether a boundary comes before the place of a value; NaN is the greatest."""
    if dtype.is_floating_point:
        if right:
            return boundary.compare("le", value) | value.compare("ne", value)
        return boundary.compare("eq", boundary) & ~boundary.compare("ge", value)
    sign = "" if dtype.category is Category.INTEGER and dtype.is_signed else "u"
    return boundary.compare(f"{sign}{'le' if right else 'lt'}", value)


@cache
def positions(dtype: DType) -> Module:
    """The phase ``pack``: flat positions of elements that are not zero, and how many they are; there is one unit."""
    body, size = Body("pack", POSITION_NUMBERS), dtype.itemsize
    numbers, target = body.numbers, body.array(1)
    found, place = body.variable(I64, 0), body.variable(I64, 0)
    with body.loop(0, numbers["outer"]) as outer:
        row = body.advance(body.array(0), outer * numbers["outer_stride"], size)
        with body.loop(0, numbers["inner"]) as inner:
            address = body.advance(row, inner * numbers["inner_stride"], size)
            body.store(place.get(), body.advance(target, found.get(), 8))
            found.set(found.get() + _is_not_zero(dtype, address).convert("zext", "i64"))
            place.set(place.get() + 1)
    body.store(found.get(), body.array(2))
    return Module("positions", body.text, POSITION_NUMBERS)


def _is_not_zero(dtype: DType, address: Value) -> Value:
    if dtype.is_complex:
        parts = address.function.load(Type(registers.register_type(dtype).element, 2), address)
        both = parts.compare("ne", 0.0)
        return both.part(0, 1) | both.part(1, 1)
    value = _load(dtype, address)
    return value if value.type.element == "i1" else value.compare("ne", 0)
