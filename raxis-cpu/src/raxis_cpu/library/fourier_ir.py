"""Fourier transforms of a power of two elements, in LLVM IR: every lane of a register is a transform of its own.

A group of transforms is brought into scratch memory, element by element a vector of real and one of imaginary parts,
transformed there by Stockham's method with radix 4 (Stockham, High-speed convolution and correlation, 1966), whose
results are in order without a permutation, and written back.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module, is_null
from raxis_cpu.library.routine import Array
from raxis_cpu.llvm import registers, runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import DOUBLE, I1, I64, PTR, Function, Type, Value, Variable, fma
from raxis_cpu.llvm.turning import turned

_PARTS = ("size", "twiddles", "scale", "count", "source_row", "source_step", "result_row", "result_step")
"""Of one dimension: elements, address of the table, bits of the factor as a double; transforms beside each other."""

Complex = tuple[Value, Value]


def lanes(dtype: DType) -> int:
    """Transforms in step, by the dtype of real parts."""
    return host().vector_bytes // dtype.itemsize


@cache
def twiddles(size: int, dtype: DType) -> Array:
    """The factors of all steps in their order: for every p, the first, second and third power of exp(-2 pi i p / n)."""
    parts, left = [np.empty(0)], size
    while left > 2:
        angles = np.outer(np.arange(left // 4), [1, 2, 3]) * (-2 * np.pi / left)
        parts.append(np.stack([np.cos(angles), np.sin(angles)], -1).ravel())
        left //= 4
    return np.concatenate(parts).astype(dtype.numpy)


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


@cache
def transforms(dtype: DType, along: tuple[bool, ...], *, inverse: bool) -> Module:
    """Phases ``transform_0``, ...: a unit is a group of transforms along one dimension after another.

    Args:
        dtype: of real parts.
        along: by dimension, whether transforms of a group are rows, whose elements are neighbours. Else the first
            elements of all are neighbours.
        inverse: with the opposite sign in the exponent.

    The first phase reads the operand, the others what the result has become. A group of rows that is not full repeats
    the last one.
    """
    texts = [_butterflies(dtype, inverse=inverse)]
    names = numbers_of(len(along))
    texts += [_Phase(dtype, place, names, rows=rows).text() for place, rows in enumerate(along)]
    return Module("fft", "\n".join(texts), names)


REAL_NUMBERS = (*numbers_of(1), "turns")
"""What real transforms read: ``size`` is half of that of a row."""


@cache
def real_transforms(dtype: DType, *, inverse: bool) -> Module:
    """The phase ``transform_0``: rows of real numbers to half of their spectra; or, `inverse`, the way back.

    The factor is that of a transform, or of its inverse, without one of its own; forward only half of it.
    """
    texts = [_butterflies(dtype, inverse=inverse), (_Mirrored if inverse else _Half)(dtype).text()]
    return Module("rfft", "\n".join(texts), REAL_NUMBERS)


class _Memory:
    """Elements of scratch memory: vectors of real parts, each followed by one of imaginary parts."""

    def __init__(self, function: Function, dtype: DType) -> None:
        self._function = function
        self._vector = registers.register_type(dtype, lanes(dtype))
        self._size = host().vector_bytes

    def load(self, start: Value, place: Value) -> Complex:
        here = self._function.advance(start, place * 2, self._size)
        there = self._function.advance(here, 1, self._size)
        return self._function.load(self._vector, here, 64), self._function.load(self._vector, there, 64)

    def store(self, value: Complex, start: Value, place: Value) -> None:
        here = self._function.advance(start, place * 2, self._size)
        self._function.store(value[0], here, 64)
        self._function.store(value[1], self._function.advance(here, 1, self._size), 64)


def _butterflies(dtype: DType, *, inverse: bool) -> str:
    """``@butterflies(x, y, size, twiddles)``: transforms x, with y as room; where the result is."""
    function = Function("internal ptr @butterflies(ptr %x, ptr %y, i64 %size, ptr %twiddles)")
    size = function.argument(I64, "size")
    x, y, table = (function.variable(PTR, function.argument(PTR, name)) for name in ("x", "y", "twiddles"))
    left, stride = function.variable(I64, size), function.variable(I64, 1)

    def swap() -> None:
        was = x.get()
        x.set(y.get())
        y.set(was)

    with function.repeat_while() as repetition:
        repetition.test(left.get().compare("gt", 2))
        _radix_4(function, dtype, (x.get(), y.get()), left.get() >> 2, stride.get(), table, inverse=inverse)
        left.set(left.get() >> 2)
        stride.set(stride.get() << 2)
        swap()
    with function.when(left.get().compare("eq", 2)):
        _radix_2(function, dtype, x.get(), y.get(), stride.get())
        swap()
    function.line(f"ret {x.get()}")
    return function.text


def _radix_4(
    function: Function, dtype: DType, arrays: tuple[Value, Value], quarter: Value, stride: Value, table: Variable,
    *, inverse: bool,
) -> None:  # fmt: skip
    x, y = arrays
    memory, jump = _Memory(function, dtype), quarter * stride
    sign = -1.0 if inverse else 1.0
    with function.loop(0, quarter) as p:
        factors = _factors(function, dtype, table, sign)
        with function.loop(0, stride) as q:
            place = q + stride * p
            a, b, c, d = (memory.load(x, place + jump * number) for number in range(4))
            sum_ac, sum_bd = _plus(a, c), _plus(b, d)
            apart, turned_bd = _minus(a, c), _turn(_minus(b, d), sign)
            first = q + stride * p * 4
            memory.store(_plus(sum_ac, sum_bd), y, first)
            for number, value in enumerate(
                (_minus(apart, turned_bd), _minus(sum_ac, sum_bd), _plus(apart, turned_bd))
            ):
                memory.store(_times(value, factors[number]), y, first + stride * (number + 1))


def _factors(function: Function, dtype: DType, table: Variable, sign: float) -> list[Complex]:
    """The next three powers, in all lanes."""
    place, element = table.get(), registers.register_type(dtype)
    numbers = [function.load(element, function.advance(place, number, dtype.itemsize)) for number in range(6)]
    table.set(function.advance(place, 6, dtype.itemsize))
    wide = [(number * (sign if k % 2 else 1.0)).splat(lanes(dtype)) for k, number in enumerate(numbers)]
    return list(zip(wide[::2], wide[1::2], strict=True))


def _radix_2(function: Function, dtype: DType, x: Value, y: Value, stride: Value) -> None:
    memory = _Memory(function, dtype)
    with function.loop(0, stride) as q:
        a, b = memory.load(x, q), memory.load(x, q + stride)
        memory.store(_plus(a, b), y, q)
        memory.store(_minus(a, b), y, q + stride)


def _plus(a: Complex, b: Complex) -> Complex:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Complex, b: Complex) -> Complex:
    return a[0] - b[0], a[1] - b[1]


def _turn(value: Complex, sign: float) -> Complex:
    """Times i, or -i for a negative sign."""
    real, imag = value
    return (-imag, real) if sign > 0 else (imag, -real)


def _times(a: Complex, b: Complex) -> Complex:
    return fma(a[0], b[0], -(a[1] * b[1])), fma(a[0], b[1], a[1] * b[0])


class _Phase:
    """Writes the phase of one dimension."""

    _widths = (2, 2)
    """Numbers that an element of the operand and of the result consists of."""

    def __init__(self, dtype: DType, place: int, names: Sequence[str], *, rows: bool) -> None:
        self._dtype = dtype
        self._lanes = lanes(dtype)
        self._vector = registers.register_type(dtype, self._lanes)
        self._rows = rows
        self._source = 0 if place == 0 else 1
        self._body = Body(f"transform_{place}", names)
        self._numbers = {part: self._body.numbers[f"{part}_{place}"] for part in _PARTS}
        self._memory = _Memory(self._body, dtype)

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
        move = self._move_rows if self._rows else self._move_neighbours
        move(group, x, None)
        move(group, self._transformed(x, y), scale)

    def _transformed(self, x: Value, y: Value) -> Value:
        return self._body.call(PTR, "@butterflies", x, y, self._numbers["size"], self._pointer("twiddles"))

    def _pointer(self, part: str) -> Value:
        return self._body.emit(PTR, f"inttoptr {self._numbers[part]} to ptr")

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
        with body.loop(0, self._numbers["size"], self._lanes // 2) as column:
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

    def _move_neighbours(self, group: Value, scratch: Value, scale: Value | None) -> None:
        """The same for transforms whose elements lie beside each other."""
        body, reads = self._body, scale is None
        row, step = (self._numbers[f"{'source' if reads else 'result'}_{part}"] for part in ("row", "step"))
        outer, inner = body.divided(group * self._lanes, self._numbers["count"])
        start = self._start(outer * row + inner, reads=reads)
        with body.loop(0, self._numbers["size"]) as place:
            low = body.advance(start, place * step * 2, self._dtype.itemsize)
            high = body.advance(low, self._lanes, self._dtype.itemsize)
            if scale is None:
                both = [body.load(self._vector, address) for address in (low, high)]
                self._memory.store((_every_second(both, 0), _every_second(both, 1)), scratch, place)
            else:
                real, imag = (part * scale for part in self._memory.load(scratch, place))
                for address, first in ((low, 0), (high, self._lanes // 2)):
                    body.store(_zipped(real, imag, first), address)


class _Real(_Phase):
    """Transforms of rows of 2 n real numbers, as n complex ones."""

    def __init__(self, dtype: DType) -> None:
        super().__init__(dtype, 0, REAL_NUMBERS, rows=True)

    def _spread(self, source: Value, target: Value) -> None:
        """Make elements 0 to n of the target from those of the source and, backwards, its elements n to 0."""
        body, size = self._body, self._numbers["size"]
        table = self._body.emit(PTR, f"inttoptr {self._body.numbers['turns']} to ptr")
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
        apart = _minus(a, b)
        return _plus(_plus(a, b), _times((apart[1], -apart[0]), turn))


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
        real, imag = _times(_minus(a, b), (turn[0], -turn[1]))
        return _plus(_plus(a, b), (-imag, real))


def _every_second(both: Sequence[Value], first: int) -> Value:
    low, high = both
    count = low.type.lanes
    order = ", ".join(f"i32 {first + 2 * lane}" for lane in range(count))
    return low.function.emit(low.type, f"shufflevector {low}, {high}, <{count} x i32> <{order}>")


def _zipped(real: Value, imag: Value, first: int) -> Value:
    count = real.type.lanes
    order = ", ".join(f"i32 {first + lane}, i32 {first + lane + count}" for lane in range(count // 2))
    return real.function.emit(real.type, f"shufflevector {real}, {imag}, <{count} x i32> <{order}>")
