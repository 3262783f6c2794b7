"""Counting how often each small integer occurs, in LLVM IR."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm.ir import I64, Type, Value

NUMBERS = ("length", "stride", "size")
WAYS = 4
"""Sets of counters that elements use in turn: an increment need not wait for the one before."""


@cache
def counting(dtype: DType) -> Module:
    """Phases over the one unit: ``count``, into `WAYS` sets of counters in scratch memory, and ``add`` them up."""
    return Module("bincount", f"{_count(dtype)}\n{_add()}", NUMBERS)


def _count(dtype: DType) -> str:
    body = Body("count", NUMBERS)
    numbers, counters = body.numbers, body.scratch()
    size, length = numbers["size"], numbers["length"]
    body.line(f"call void @llvm.memset.p0.i64({counters}, i8 0, {size * (8 * WAYS)}, i1 false)")
    next_x = body.walk(body.array(0), numbers["stride"], dtype.itemsize)
    whole = length & -WAYS
    with body.loop(0, whole, WAYS):
        values = [_value(dtype, next_x()) for _ in range(WAYS)]
        for way, value in enumerate(values):
            _increment(body, counters, value, way)
    with body.loop(whole, length):
        _increment(body, counters, _value(dtype, next_x()), 0)
    return body.text


def _value(dtype: DType, address: Value) -> Value:
    value = address.function.load(Type(f"i{8 * dtype.itemsize}"), address)
    return value.convert("sext" if dtype.is_signed else "zext", "i64")


def _increment(body: Body, counters: Value, value: Value, way: int) -> None:
    size = body.numbers["size"]
    with body.when(value.compare("uge", size)):
        body.fail(Status.INDEX_OUT_OF_RANGE, value=value, dim=0, size=size)
    place = body.advance(counters, value * WAYS + way, 8)
    body.store(body.load(I64, place) + 1, place)


def _add() -> str:
    body = Body("add", NUMBERS)
    next_set = body.walk(body.scratch(), body.constant(I64, WAYS), 8)
    with body.loop(0, body.numbers["size"]) as index:
        first = next_set()
        total = body.load(I64, first)
        for way in range(1, WAYS):
            total = total + body.load(I64, body.advance(first, way, 8))
        body.store(total, body.advance(body.array(1), index, 8))
    return body.text
