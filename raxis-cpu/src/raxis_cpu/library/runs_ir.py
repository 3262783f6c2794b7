"""Runs of equal elements, in LLVM IR: what `unique` and `unique_consecutive` come to."""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.sorting_ir import NUMBERS, sorting_ir
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I64, Type, Value, Variable
from raxis_cpu.llvm.lanes import shuffled


@cache
def sorted_runs(dtype: DType, *, places: bool) -> Module:
    """Phases ``rows``, which sorts into array 1 and scratch memory, and ``runs`` over that; it has one unit."""
    return Module("unique", f"{sorting_ir(dtype)}\n{_runs(dtype, from_sorted=True, places=places)}", NUMBERS)


@cache
def consecutive_runs(dtype: DType, *, places: bool, dense: bool) -> Module:
    """The phase ``runs`` over array 0; there is one unit."""
    text = _runs(dtype, from_sorted=False, places=places, dense=dense)
    return Module("unique_consecutive", text, NUMBERS)


def _runs(dtype: DType, *, from_sorted: bool, places: bool, dense: bool = True) -> str:
    """Writes the first of every run, with `places` the run of every element and where runs start, and their number.

    The results are arrays 1 and on.
    """
    body, size = Body("runs", NUMBERS), dtype.itemsize
    numbers = body.numbers
    values, inverse, first = (body.array(number if places else 1) for number in (1, 2, 3))
    # Where both are one memory, a run is never written before it was read.
    one = body.constant(I64, 1)
    source = (values, one) if from_sorted else (body.array(0), numbers["x_along"])
    begin = body.constant(I64, 0)
    next_place = body.walk(body.scratch(), one, 8)
    unit = Type(f"i{8 * size}")
    run, start, kept = body.variable(I64, -1), body.variable(I64), body.variable(unit)
    before = body.variable(registers.register_type(dtype))
    if dense and not places and size in {4, 8} and host().has_masks:
        begin = _vectors(body, dtype, (source[0], values), run, before)
        with body.when(begin.compare("gt", 0)):
            kept.set(body.load(unit, body.advance(values, run.get(), size)))
    next_x = body.walk(body.advance(source[0], begin * source[1], size), source[1], size)
    with body.loop(begin, numbers["length"]) as index:
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


def _vectors(body: Body, dtype: DType, places: tuple[Value, Value], run: Variable, before: Variable) -> Value:
    """The firsts of runs among as many dense elements as fill whole vectors; how many elements these are.

    Whole vectors are written: what follows the firsts is written over later.
    """
    (source, target), size = places, dtype.itemsize
    lanes = host().vector_bytes // size
    whole = body.numbers["length"] & -lanes
    bits = Type(f"i{8 * size}", lanes)
    with body.when(whole.compare("gt", 0)):
        # No element is equal to what has none of its bits.
        other = (body.load(Type(bits.element), source) ^ -1).splat(lanes)
        last = body.variable(bits, other)
        with body.loop(0, whole, lanes) as index:
            found = body.load(bits, body.advance(source, index, size))
            shifted = _behind(last.get(), found)
            starts = _typed(dtype, found).compare("ne", _typed(dtype, shifted))
            name = f"@llvm.experimental.vector.compress.{bits.suffix}"
            packed = body.emit(bits, f"call {bits} {name}({found}, {starts}, {bits} poison)")
            body.store(packed, body.advance(target, run.get() + 1, size), size)
            count = body.emit(Type(f"i{lanes}"), f"bitcast {starts} to i{lanes}").intrinsic("ctpop")
            run.set(run.get() + count.convert("zext", "i64"))
            last.set(found)
        before.set(_typed(dtype, last.get()).part(lanes - 1, 1))
    return whole


def _behind(before: Value, vector: Value) -> Value:
    """The last lane of one vector, then all but the last of another."""
    lanes = vector.type.lanes
    return shuffled(before, vector, range(lanes - 1, 2 * lanes - 1))


def _typed(dtype: DType, bits: Value) -> Value:
    """Elements in registers from their bits in memory."""
    return bits.convert("bitcast", registers.register_type(dtype).element)


def _element(dtype: DType, address: Value) -> Value:
    value = registers.load(dtype, address, 1)
    if not isinstance(value, Value):
        raise TypeError("runs of complex numbers are not served.")
    return value
