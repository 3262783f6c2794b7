"""Fourier transforms of sizes without large prime factors, in LLVM IR: every lane is a transform of its own.

A group of transforms is brought into scratch memory, element by element a vector of real and one of imaginary parts,
transformed there (`butterflies_ir`), and written back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.butterflies_ir import Kind, butterflies_ir
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.places_ir import intrinsics_ir
from raxis_cpu.library.routine import Array
from raxis_cpu.library.scratch_ir import Complex, Scratch, minus, plus, times
from raxis_cpu.library.tiles_ir import lanes_below, lanes_of, masked_load, masked_store
from raxis_cpu.llvm import registers, runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import DOUBLE, I1, I64, PTR, Type, Value, is_null
from raxis_cpu.llvm.lanes import every_second, interleaved
from raxis_cpu.llvm.turning import turned

_PARTS = ("size", "twiddles", "scale", "count", "source_row", "source_step", "result_row", "result_step")
"""Of one dimension: elements, address of the table, bits of the factor as a double; transforms beside each other."""


@cache
def turns(size: int, dtype: DType) -> Array:
    """``exp(-pi i k / n)`` for k from 0 to n, which tie the transforms of even and odd elements together."""
    angles = np.arange(size + 1) * (-np.pi / size)
    parts = np.stack([np.cos(angles), np.sin(angles)], -1)
    parts[-1] = -1, 0
    return parts.astype(dtype.numpy)


def numbers_of(dims: int) -> tuple[str, ...]:
    """The names of what the phases read."""
    return tuple(f"{part}_{place}" for place in range(dims) for part in _PARTS)


Way = Literal["rows", "columns", "cut columns"]
"""Transforms of a group are rows, whose elements are neighbours; or columns, whose first elements are neighbours, and
which fill all registers or not."""


@cache
def transforms(dtype: DType, ways: tuple[Way, ...], kind: Kind, *, inverse: bool) -> Module:
    """Phases ``transform_0``, ...: a unit is a group of transforms along one dimension after another.

    Args:
        dtype: of real parts.
        ways: by dimension, where the elements are.
        kind: what sizes there are; the simpler they are, the less there is to compile.
        inverse: with the opposite sign in the exponent.

    The first phase reads the operand, the others what the result has become. A group of rows that is not full repeats
    the last one.
    """
    names, texts = numbers_of(len(ways)), [butterflies_ir(dtype, kind, inverse=inverse)]
    if "cut columns" in ways:
        texts.append(intrinsics_ir(registers.register_type(dtype, lanes_of(dtype))))
    texts += [_Phase(dtype, place, names, way).text() for place, way in enumerate(ways)]
    return Module("fft", "\n".join(texts), names)


REAL_NUMBERS = (*numbers_of(1), "turns")
"""What real transforms read: ``size`` is half of that of a row."""


@cache
def real_transforms(dtype: DType, kind: Kind, *, inverse: bool) -> Module:
    """The phase ``transform_0``: rows of real numbers to half of their spectra; or, `inverse`, the way back.

    The factor is that of a transform, or of its inverse, without one of its own; forward only half of it.
    """
    texts = [butterflies_ir(dtype, kind, inverse=inverse), (_Mirrored if inverse else _Half)(dtype).text()]
    return Module("rfft", "\n".join(texts), REAL_NUMBERS)


class _Phase:
    """Writes the phase of one dimension."""

    _widths = (2, 2)
    """Numbers that an element of the operand and of the result consists of."""

    def __init__(self, dtype: DType, place: int, names: Sequence[str], way: Way) -> None:
        self._dtype = dtype
        self._lanes = lanes_of(dtype)
        self._vector = registers.register_type(dtype, self._lanes)
        self._way = way
        self._place = place
        self._source = 0 if place == 0 else 1
        self._body = Body(f"transform_{place}", names)
        self._numbers = {part: self._body.numbers[f"{part}_{place}"] for part in _PARTS}
        self._memory = Scratch(self._body, dtype)

    def text(self) -> str:
        """The definition."""
        body, size = self._body, self._numbers["size"]
        nbytes = (size + 1) * (2 * host().vector_bytes)
        memory = body.call(PTR, body.entry(runtime.MALLOC), nbytes * 2 + 64)
        with body.when(is_null(memory)):
            body.fail(Status.NO_MEMORY)
        inside = body.advance(memory, 63, 1)
        x = body.emit(PTR, f"call ptr @llvm.ptrmask.p0.i64({inside}, i64 -64)")
        y = body.advance(x, nbytes, 1)
        scale = self._numbers["scale"].convert("bitcast", "double")
        if self._vector.element != DOUBLE.element:
            scale = scale.convert("fptrunc", self._vector.element)
        with body.loop(body.begin, body.end) as group:
            self._transform(group, x, y, scale.splat(self._lanes))
        body.line(f"call void {body.entry(runtime.FREE)}({memory})")
        return body.text

    def _transform(self, group: Value, x: Value, y: Value, scale: Value) -> None:
        """Transform a group, with x and y as scratch memory."""
        move = self._move_rows if self._way == "rows" else self._move_columns
        move(group, x, None)
        move(group, self._transformed(x, y), scale)

    def _transformed(self, x: Value, y: Value) -> Value:
        twiddles = self._body.address(f"twiddles_{self._place}")
        return self._body.call(PTR, "@butterflies", x, y, self._numbers["size"], twiddles)

    def _start(self, offset: Value, *, reads: bool) -> Value:
        """The address of an element of the operand or the result."""
        array, width = self._body.array(self._source if reads else 1), self._widths[0 if reads else 1]
        return self._body.advance(array, offset * width, self._dtype.itemsize)

    def _row_starts(self, group: Value, *, reads: bool) -> list[Value]:
        stride, last = self._numbers["source_row" if reads else "result_row"], self._numbers["count"] - 1
        numbers = (group * self._lanes + lane for lane in range(self._lanes))
        return [self._start(number.intrinsic("smin", last) * stride, reads=reads) for number in numbers]

    def _move_rows(self, group: Value, scratch: Value, scale: Value | None) -> None:
        """Read rows into scratch memory; or, with a factor, write them."""
        body, rows = self._body, self._row_starts(group, reads=scale is None)
        # The last columns may be moved twice.
        step, size = self._lanes // 2, self._numbers["size"]
        with body.loop(0, size, step) as begin:
            column = begin.intrinsic("smin", size - step)
            places = [body.advance(row, column * 2, self._dtype.itemsize) for row in rows]
            if scale is None:
                parts = turned([body.load(self._vector, place) for place in places])
                for number in range(self._lanes // 2):
                    self._memory.store((parts[2 * number], parts[2 * number + 1]), scratch, column + number)
            else:
                pairs = [self._memory.load(scratch, column + number) for number in range(self._lanes // 2)]
                values = turned([part * scale for pair in pairs for part in pair])
                for value, place in zip(values, places, strict=True):
                    body.store(value, place)

    def _move_columns(self, group: Value, scratch: Value, scale: Value | None) -> None:
        """The same for columns."""
        body, reads = self._body, scale is None
        row, step = (self._numbers[f"{'source' if reads else 'result'}_{part}"] for part in ("row", "step"))
        groups = (self._numbers["count"] + self._lanes - 1) >> self._lanes.bit_length() - 1
        outer, inner = body.divided(group, groups)
        start = self._start(outer * row + inner * self._lanes, reads=reads)
        masks = self._masks(inner * self._lanes)
        with body.loop(0, self._numbers["size"]) as place:
            low = body.advance(start, place * step * 2, self._dtype.itemsize)
            addresses = (low, body.advance(low, self._lanes, self._dtype.itemsize))
            if scale is None:
                first, second = (self._read(*pair) for pair in zip(addresses, masks, strict=True))
                parts = every_second(first, second, 0), every_second(first, second, 1)
                self._memory.store(parts, scratch, place)
            else:
                real, imag = (part * scale for part in self._memory.load(scratch, place))
                whole = interleaved(real, imag)
                for lane, address, mask in zip((0, self._lanes), addresses, masks, strict=True):
                    self._write(whole.part(lane, self._lanes), address, mask)

    def _masks(self, begin: Value) -> tuple[Value | None, Value | None]:
        """What there is of the two registers at the columns from `begin` on, where it may not be all."""
        if self._way != "cut columns":
            return None, None
        left = (self._numbers["count"] - begin) * 2
        above = (left - self._lanes).intrinsic("smax", 0)
        return lanes_below(left, self._lanes), lanes_below(above, self._lanes)

    def _read(self, address: Value, mask: Value | None) -> Value:
        if mask is None:
            return self._body.load(self._vector, address)
        return masked_load(self._vector, address, mask)

    def _write(self, value: Value, address: Value, mask: Value | None) -> None:
        if mask is None:
            self._body.store(value, address)
        else:
            masked_store(value, address, mask)


class _Real(_Phase):
    """Transforms of rows of 2 n real numbers, as n complex ones."""

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype, 0, REAL_NUMBERS, "rows")

    def _spread(self, source: Value, target: Value) -> None:
        """Make elements 0 to n of the target from those of the source and, backwards, its elements n to 0."""
        body, size = self._body, self._numbers["size"]
        table = body.address("turns")
        element = registers.register_type(self._dtype)
        with body.loop(0, size + 1) as place:
            pair = body.advance(table, place * 2, self._dtype.itemsize)
            numbers = (
                body.load(element, body.advance(pair, part, self._dtype.itemsize)) for part in range(2)
            )
            real, imag = (number.splat(self._lanes) for number in numbers)
            a, (b, minus_b) = self._memory.load(source, place), self._memory.load(source, size - place)
            # The source at n - k is conjugated.
            self._memory.store(self._combined(a, (b, -minus_b), (real, imag)), target, place)

    def _combined(self, a: Complex, b: Complex, turn: Complex) -> Complex:
        raise NotImplementedError


class _Half(_Real):
    """The first n + 1 elements of the spectra."""

    _widths = (1, 2)

    def _transform(self, group: Value, x: Value, y: Value, scale: Value) -> None:
        body, size = self._body, self._numbers["size"]
        self._move_rows(group, x, None)
        found = self._transformed(x, y)
        self._memory.store(self._memory.load(found, body.constant(I64, 0)), found, size)
        is_x = body.emit(I1, f"icmp eq {found}, {x.name}")
        other = is_x.select(y, x)
        self._spread(found, other)
        self._move_rows(group, other, scale)
        last = self._memory.load(other, size)[0] * scale
        for lane, row in enumerate(self._row_starts(group, reads=False)):
            end = body.advance(row, size * 2, self._dtype.itemsize)
            body.store(last.part(lane, 1), end)
            body.store(
                body.constant(Type(self._vector.element), 0.0), body.advance(end, 1, self._dtype.itemsize)
            )

    def _combined(self, a: Complex, b: Complex, turn: Complex) -> Complex:
        """Twice the transform of the even elements, and that of the odd ones turned."""
        apart = minus(a, b)
        return plus(plus(a, b), times((apart[1], -apart[0]), turn))


class _Mirrored(_Real):
    """Real numbers from n + 1 elements; the imaginary parts of the first and the last are taken to be 0."""

    _widths = (2, 1)

    def _transform(self, group: Value, x: Value, y: Value, scale: Value) -> None:
        body, size = self._body, self._numbers["size"]
        self._move_rows(group, x, None)
        nothing, first = body.constant(self._vector, 0.0), body.constant(I64, 0)
        self._memory.store((self._memory.load(x, first)[0], nothing), x, first)
        self._memory.store((self._last(group), nothing), x, size)
        self._spread(x, y)
        self._move_rows(group, self._transformed(y, x), scale)

    def _last(self, group: Value) -> Value:
        """The real parts of the last elements."""
        body, type = self._body, self._vector
        found = Value(body, type, "poison")
        for lane, row in enumerate(self._row_starts(group, reads=True)):
            place = body.advance(row, self._numbers["size"] * 2, self._dtype.itemsize)
            value = body.load(Type(type.element), place)
            found = body.emit(type, f"insertelement {found}, {value}, i64 {lane}")
        return found

    def _combined(self, a: Complex, b: Complex, turn: Complex) -> Complex:
        real, imag = times(minus(a, b), (turn[0], -turn[1]))
        return plus(plus(a, b), (-imag, real))
