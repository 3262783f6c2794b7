"""Binary search, and packing the positions of what is not zero, in LLVM IR."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import Category, DType
from raxis_cpu.library.nest_ir import Nest
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, Type, Value

SEARCH_NUMBERS = ("length", "count", "boundaries_outer", "boundaries_along", "values_outer", "values_along")
_TOGETHER = 8
"""Values searched for in step."""


def _load(dtype: DType, address: Value) -> Value:
    value = registers.load(dtype, address, 1)
    if not isinstance(value, Value):
        raise TypeError("complex numbers have no order.")
    return value


@cache
def searching(dtype: DType, right: bool) -> Module:
    """The phase ``search``: for a value, how many elements of its sorted row are below it; a unit is a value."""
    body = Body("search", SEARCH_NUMBERS)
    count = body.end - body.begin
    whole = count & -_TOGETHER
    with body.loop(0, whole, _TOGETHER) as first:
        _search(body, dtype, [body.begin + first + number for number in range(_TOGETHER)], right=right)
    with body.loop(whole, count) as last:
        _search(body, dtype, [body.begin + last], right=right)
    return Module("searchsorted", body.text, SEARCH_NUMBERS)


def _search(body: Body, dtype: DType, units: list[Value], *, right: bool) -> None:
    """The places of several values, found in step: so their loads of boundaries overlap."""
    numbers, size = body.numbers, dtype.itemsize
    searches = []
    for unit in units:
        row, place = body.divided(unit, numbers["count"])
        boundaries = body.advance(body.array(0), row * numbers["boundaries_outer"], size)
        offset = row * numbers["values_outer"] + place * numbers["values_along"]
        value = _load(dtype, body.advance(body.array(1), offset, size))
        searches.append((boundaries, value, body.variable(I64, 0)))
    left = body.variable(I64, numbers["length"])

    def advance(step: Value) -> None:
        """Go on by `step` where the last boundary of so many is below the value."""
        for boundaries, value, low in searches:
            at = (low.get() + step - 1) * numbers["boundaries_along"]
            below = _is_below(dtype, _load(dtype, body.advance(boundaries, at, size)), value, right=right)
            low.set(low.get() + below.select(step, 0, unpredictable=True))

    with body.repeat_while() as repetition:
        repetition.test(left.get().compare("gt", 1))
        half = left.get() >> 1
        advance(half)
        left.set(left.get() - half)
    with body.when(left.get().compare("gt", 0)):
        advance(left.get())
    for unit, (_, _, low) in zip(units, searches, strict=True):
        body.store(low.get(), body.advance(body.array(2), unit, 8))


def _is_below(dtype: DType, boundary: Value, value: Value, *, right: bool) -> Value:
    """Whether a boundary comes before the place of a value; NaN is the greatest."""
    if dtype.is_floating_point:
        if right:
            return boundary.compare("le", value) | value.compare("ne", value)
        return boundary.compare("eq", boundary) & ~boundary.compare("ge", value)
    sign = "" if dtype.category is Category.INTEGER and dtype.is_signed else "u"
    return boundary.compare(f"{sign}{'le' if right else 'lt'}", value)


@cache
def positions(dtype: DType, rank: int, *, as_rows: bool) -> Module:
    """The phase ``pack``: where elements are not zero, and how many they are; there is one unit.

    What is written for each is its flat position, or with `as_rows` its index along every dimension.
    """
    nest = Nest("pack", rank, (dtype.itemsize,))
    body, target = nest.body, nest.body.array(1)
    found, place = body.variable(I64, 0), body.variable(I64, 0)
    width = rank if as_rows else 1

    def pack(addresses: list[Value], indices: list[Value]) -> None:
        for number, index in enumerate(indices if as_rows else [place.get()]):
            body.store(index, body.advance(target, found.get() * width + number, 8))
        found.set(found.get() + _is_not_zero(dtype, addresses[0]).convert("zext", "i64"))
        place.set(place.get() + 1)

    nest.loops(pack)
    body.store(found.get(), body.array(2))
    return Module("positions", body.text, nest.names)


@cache
def compressing(dtype: DType, rank: int) -> Module:
    """The phase ``pack``: elements where a mask is true, and how many they are; there is one unit."""
    nest = Nest("pack", rank, (dtype.itemsize, 1))
    body, target, size = nest.body, nest.body.array(2), dtype.itemsize
    unit = Type("i64", 2) if size == 16 else Type(f"i{8 * size}")
    found = body.variable(I64, 0)

    def pack(addresses: list[Value], _: list[Value]) -> None:
        body.store(body.load(unit, addresses[0]), body.advance(target, found.get(), size))
        taken = body.load(Type("i8"), addresses[1]).compare("ne", 0)
        found.set(found.get() + taken.convert("zext", "i64"))

    nest.loops(pack)
    body.store(found.get(), body.array(3))
    return Module("compress", body.text, nest.names)


def _is_not_zero(dtype: DType, address: Value) -> Value:
    if dtype.is_complex:
        parts = address.function.load(Type(registers.register_type(dtype).element, 2), address)
        both = parts.compare("ne", 0.0)
        return both.part(0, 1) | both.part(1, 1)
    value = _load(dtype, address)
    return value if value.type.element == "i1" else value.compare("ne", 0)
