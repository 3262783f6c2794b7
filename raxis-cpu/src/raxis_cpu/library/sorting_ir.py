"""Sorting and selecting rows, in LLVM IR.

The elements of a row become packed numbers (`sorting_keys_ir`), which are sorted (`sorting_functions_ir`); then values
and positions are written by them. A few of the least are kept in order while the row is read.
"""

from __future__ import annotations

from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.sorting_functions_ir import (
    COUNTS_BYTES,
    INSERTED,
    bit_length,
    functions_ir,
    insert_into,
    narrow,
)
from raxis_cpu.library.sorting_keys_ir import Packing
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.ir import I64, PTR, Type, Value, is_null

NUMBERS = (
    "length", "flip", "rule", "first", "last", "inner",
    "x_outer", "x_along", "x_inner", "values_outer", "values_along", "values_inner",
    "indices_outer", "indices_along", "indices_inner", "scratch_indices",
)  # fmt: skip
"""`flip` is -1 for descending order, else 0; `rule` says which ranks are wanted; indices may go to scratch memory."""

RANKS, MEDIAN, NANMEDIAN = range(3)
"""Rules: ranks from `first` up to `last`; that of the median (the first NaN if there is one); that of all but NaNs."""

_KEPT = 16
"""Greatest number of selected elements that are kept in order while the row is read."""


@cache
def sorting(dtype: DType) -> Module:
    """The phase ``rows`` for elements of a dtype; a unit is a row."""
    return Module("sort", sorting_ir(dtype), NUMBERS)


def sorting_ir(dtype: DType) -> str:
    """The text of the phase and what it calls."""
    packing = Packing(dtype)
    return f"{functions_ir(packing)}\n{_Rows(packing).text()}"


class _Rows:
    """Writes the phase."""

    def __init__(self, packing: Packing) -> None:
        self._packing = packing
        self._body = body = Body("rows", NUMBERS)
        self._least, self._most = (body.variable(packing.key) for _ in range(2))
        self._nans = body.variable(I64)
        self._first, self._last = body.variable(I64), body.variable(I64)
        self._sorted, self._before = body.variable(PTR), body.variable(I64)

    def text(self) -> str:
        """The definition."""
        body, numbers = self._body, self._body.numbers
        room = numbers["length"] * self._packing.nbytes
        nbytes = room * 2 + COUNTS_BYTES + 64
        memory = body.call(PTR, body.entry(runtime.MALLOC), nbytes)
        with body.when(is_null(memory)):
            body.fail(Status.NO_MEMORY)
        counts = memory
        one = body.advance(memory, COUNTS_BYTES, 1)
        other = body.advance(one, room + 32, 1)
        with body.loop(body.begin, body.end) as row:
            outer, inner = body.divided(row, numbers["inner"])
            x = self._start(0, "x", outer, inner, self._packing.dtype.itemsize)
            few = numbers["last"].compare("le", _KEPT) & numbers["first"].compare("eq", 0)
            few = few & numbers["rule"].compare("eq", RANKS) & numbers["length"].compare("gt", INSERTED)
            with body.when(few):
                self._keep_best(x, one)
            with body.when(~few):
                self._pack(x, one)
                self._choose_ranks()
                self._sort(one, other, counts)
            self._write(x, outer, inner)
        body.line(f"call void {body.entry(runtime.FREE)}({memory})")
        return body.text

    def _start(self, array: int, name: str, outer: Value, inner: Value, size: int) -> Value:
        numbers = self._body.numbers
        offset = outer * numbers[f"{name}_outer"] + inner * numbers[f"{name}_inner"]
        return self._body.advance(self._body.array(array), offset, size)

    def _key(self, address: Value) -> Value:
        """The key in the order wanted."""
        flip = self._body.numbers["flip"]
        return self._packing.key_of(address) ^ self._packing.narrowed(flip)

    def _keep_best(self, x: Value, kept: Value) -> None:
        """The least packed numbers of the row, in order, while it is read."""
        body, packing = self._body, self._packing
        wanted = body.numbers["last"]
        with body.loop(0, wanted) as index:
            packing.store(body.constant(packing.packed, -1), kept, index)
        worst = body.variable(packing.packed, body.constant(packing.packed, -1))
        last = wanted - 1
        next_x = body.walk(x, body.numbers["x_along"], packing.dtype.itemsize)
        with body.loop(0, body.numbers["length"]) as index:
            packed = packing.pack(self._key(next_x()), index)
            with body.when(packed.compare("ult", worst.get())):
                insert_into(packing, kept, last, packed)
                worst.set(packing.load(kept, last))
        self._sorted.set(kept)
        self._before.set(0)
        self._first.set(0)
        self._last.set(wanted)

    def _pack(self, x: Value, packed: Value) -> None:
        """All packed numbers of the row; least and greatest key, and how many NaNs."""
        body, packing = self._body, self._packing
        self._least.set(-1)
        self._most.set(0)
        self._nans.set(0)
        next_x = body.walk(x, body.numbers["x_along"], packing.dtype.itemsize)
        with body.loop(0, body.numbers["length"]) as index:
            key = self._key(next_x())
            self._least.set(self._least.get().intrinsic("umin", key))
            self._most.set(self._most.get().intrinsic("umax", key))
            if packing.dtype.is_floating_point:
                self._nans.set(self._nans.get() + key.compare("eq", -1).convert("zext", "i64"))
            packing.store(packing.pack(key, index), packed, index)

    def _choose_ranks(self) -> None:
        body, numbers, length = self._body, self._body.numbers, self._body.numbers["length"]
        self._first.set(numbers["first"])
        self._last.set(numbers["last"])
        with body.when(numbers["rule"].compare("ne", RANKS)):
            rest = length - self._nans.get()
            of_rest = (rest - 1).intrinsic("smax", 0) >> 1
            with_nan = self._nans.get().compare("gt", 0).select(rest, (length - 1) >> 1)
            rank = numbers["rule"].compare("eq", MEDIAN).select(with_nan, of_rest)
            self._first.set(rank)
            self._last.set(rank + 1)

    def _sort(self, one: Value, other: Value, counts: Value) -> None:
        body, packing, length = self._body, self._packing, self._body.numbers["length"]
        bits = bit_length(packing.widened(self._most.get() - self._least.get()))
        self._before.set(0)
        wanted = self._last.get() - self._first.get()
        few = (wanted * 2).compare("lt", length) & length.compare("gt", INSERTED)
        with body.when(few):
            kept, before, left, least = narrow(
                packing,
                one,
                other,
                counts,
                length,
                self._least.get(),
                bits,
                self._first.get(),
                self._last.get(),
            )
            self._before.set(before)
            self._sorted.set(body.call(PTR, "@order", other, one, counts, kept, least, left))
        with body.when(~few):
            self._sorted.set(body.call(PTR, "@order", one, other, counts, length, self._least.get(), bits))

    def _write(self, x: Value, outer: Value, inner: Value) -> None:
        """Values and positions of the ranks wanted."""
        body, packing, numbers = self._body, self._packing, self._body.numbers
        size = packing.dtype.itemsize
        unit = Type(f"i{8 * size}")
        values = self._start(1, "values", outer, inner, size)
        offset = outer * numbers["indices_outer"] + inner * numbers["indices_inner"]
        scratch = numbers["scratch_indices"].compare("ne", 0).select(body.scratch(), body.array(2))
        indices = body.advance(scratch, offset, 8)
        first, before, found = self._first.get(), self._before.get(), self._sorted.get()
        with body.loop(0, self._last.get() - first) as place:
            rank = place + first - before
            position = packing.position(packing.load(found, rank))
            value = body.load(unit, body.advance(x, position * numbers["x_along"], size))
            body.store(value, body.advance(values, place * numbers["values_along"], size))
            body.store(position, body.advance(indices, place * numbers["indices_along"], 8))
