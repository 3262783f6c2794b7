"""Runs of equal elements, in LLVM IR: what `unique` and `unique_consecutive` come to."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.sorting_ir import NUMBERS, sorting_ir
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, Type, Value


@cache
def sorted_runs(dtype: DType, *, places: bool) -> Module:
    """Phases ``rows``, which sorts into array 1 and scratch memory, and ``runs`` over that; it has one unit."""
    return Module("unique", f"{sorting_ir(dtype)}\n{_runs(dtype, from_sorted=True, places=places)}", NUMBERS)


@cache
def consecutive_runs(dtype: DType, *, places: bool) -> Module:
    """The phase ``runs`` over array 0; there is one unit."""
    return Module("unique_consecutive", _runs(dtype, from_sorted=False, places=places), NUMBERS)


def _runs(dtype: DType, *, from_sorted: bool, places: bool) -> str:
    """Writes the first of every run, with `places` the run of every element and where runs start, and their number.

    The results are arrays 1 and on.
    """
    body, size = Body("runs", NUMBERS), dtype.itemsize
    numbers = body.numbers
    values, inverse, first = (body.array(number if places else 1) for number in (1, 2, 3))
    # Where both are one memory, a run is never written before it was read.
    one = body.constant(I64, 1)
    source = (values, one) if from_sorted else (body.array(0), numbers["x_along"])
    next_x = body.walk(*source, size)
    next_place = body.walk(body.scratch(), one, 8)
    unit = Type(f"i{8 * size}")
    run, start, kept = body.variable(I64, -1), body.variable(I64), body.variable(unit)
    before = body.variable(registers.register_type(dtype))
    with body.loop(0, numbers["length"]) as index:
        address = next_x()
        value = _element(dtype, address)
        starts = value.compare("ne", before.get()) | index.compare("eq", 0)
        # Written again for every element, because nobody can foretell where runs start.
        run.set(run.get() + starts.convert("zext", "i64"))
        kept.set(starts.select(body.load(unit, address), kept.get()))
        start.set(starts.select(index, start.get()))
        body.store(kept.get(), body.advance(values, run.get(), size))
        before.set(value)
        if places:
            body.store(start.get(), body.advance(first, run.get(), 8))
            place = body.load(I64, next_place()) if from_sorted else index
            body.store(run.get(), body.advance(inverse, place, 8))
    count = run.get() + 1
    if places:
        body.store(numbers["length"], body.advance(first, count, 8))
    body.store(count, body.array(4 if places else 2))
    return body.text


def _element(dtype: DType, address: Value) -> Value:
    value = registers.load(dtype, address, 1)
    if not isinstance(value, Value):
        raise TypeError("runs of complex numbers are not served.")
    return value
