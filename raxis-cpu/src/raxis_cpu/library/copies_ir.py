"""Several small copies in one call, in LLVM IR: what `cat`, `stack` and `repeat` of small tensors come to."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm.ir import I64, Type, Value

AXES = 3
"""Axes of a copy."""


class Field(IntEnum):
    """The numbers of one copy; offsets and strides are in bytes, axes from the outermost to the innermost."""

    SOURCE = 0  # which array
    TARGET = 1
    SOURCE_OFFSET = 2
    TARGET_OFFSET = 3
    SIZES = 4
    SOURCE_STRIDES = SIZES + AXES
    TARGET_STRIDES = SOURCE_STRIDES + AXES


FIELDS = Field.TARGET_STRIDES + AXES
"""How many numbers a copy has."""
_SHORT = 64
"""Bytes of a row up to which a loop beats a call of memcpy."""


@cache
def copying(itemsize: int) -> Module:
    """The phase ``copy`` for elements of a size; a unit is a copy, whose numbers follow those of the one before."""
    body = Body("copy", ())
    with body.loop(body.begin, body.end) as unit:
        _copy(body, body.advance(body.numbers_address, unit * FIELDS, 8), itemsize)
    return Module("copy", body.text, ())


def _copy(body: Body, record: Value, itemsize: int) -> None:
    def field(place: int) -> Value:
        return body.load(I64, body.advance(record, place, 8))

    starts = [
        body.advance(body.array(field(array)), field(offset), 1)
        for array, offset in ((Field.SOURCE, Field.SOURCE_OFFSET), (Field.TARGET, Field.TARGET_OFFSET))
    ]
    sizes = [field(Field.SIZES + axis) for axis in range(AXES)]
    strides = [
        [field(first + axis) for axis in range(AXES)]
        for first in (Field.SOURCE_STRIDES, Field.TARGET_STRIDES)
    ]
    dense = strides[0][2].compare("eq", itemsize) & strides[1][2].compare("eq", itemsize)
    nbytes = sizes[2] * itemsize
    long = dense & nbytes.compare("gt", _SHORT)
    with body.loop(0, sizes[0]) as outer, body.loop(0, sizes[1]) as middle:
        source, target = (
            body.advance(start, outer * steps[0] + middle * steps[1], 1)
            for start, steps in zip(starts, strides, strict=True)
        )
        with body.when(long):
            body.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {nbytes}, i1 false)")
        with body.when(~long):
            _copy_row(body, (source, target), (strides[0][2], strides[1][2]), sizes[2], itemsize)


def _copy_row(
    body: Body, starts: tuple[Value, Value], strides: tuple[Value, Value], count: Value, itemsize: int
) -> None:
    unit = Type("i64", 2) if itemsize == 16 else Type(f"i{8 * itemsize}")
    next_source, next_target = (
        body.walk(start, stride, 1) for start, stride in zip(starts, strides, strict=True)
    )
    with body.loop(0, count):
        body.store(body.load(unit, next_source()), next_target(), min(itemsize, 8))
