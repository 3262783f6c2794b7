"""Fourier transforms of sizes without prime factors above 7, in LLVM IR: every lane is a transform of its own.

A group of transforms is brought into scratch memory, element by element a vector of real and one of imaginary parts,
transformed there by Stockham's method (High-speed convolution and correlation, 1966), whose results are in order
without a permutation, and written back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.library.places_ir import intrinsics_ir
from raxis_cpu.library.routine import Array
from raxis_cpu.library.tiles_ir import lanes_below, lanes_of, masked_load, masked_store
from raxis_cpu.llvm import registers, runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import DOUBLE, I1, I64, PTR, Function, Type, Value, Variable, fma, is_null
from raxis_cpu.llvm.turning import turned

_PARTS = ("size", "twiddles", "scale", "count", "source_row", "source_step", "result_row", "result_step")
"""Of one dimension: elements, address of the table, bits of the factor as a double; transforms beside each other."""

Complex = tuple[Value, Value]


_POWERS = (8, 4, 2)
_RADICES = (7, 5, 3, *_POWERS)
"""Radices in the order of the steps; powers of two need the last three alone."""


def steps_of(size: int) -> list[int]:
    """The radices of the steps in their order; their product is the size unless that has other prime factors."""
    found = []
    for radix in _RADICES:
        while size % radix == 0:
            found.append(radix)
            size //= radix
    return found


@cache
def twiddles(size: int, dtype: DType) -> Array:
    """The factors of all steps in their order: for every p, powers 1, 2, ... of exp(-2 pi i p / n).

    They are kept, as kernels hold their address.
    """
    parts, left = [np.empty(0)], size
    for radix in steps_of(size):
        angles = np.outer(np.arange(left // radix), np.arange(1, radix)) * (-2 * np.pi / left)
        parts.append(np.stack([np.cos(angles), np.sin(angles)], -1).ravel())
        left //= radix
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


Way = Literal["rows", "columns", "cut columns"]
"""Transforms of a group are rows, whose elements are neighbours; or columns, whose first elements are neighbours, and
which fill all registers or not."""


@cache
def transforms(dtype: DType, ways: tuple[Way, ...], *, inverse: bool, odd: bool) -> Module:
    """Phases ``transform_0``, ...: a unit is a group of transforms along one dimension after another.

    Args:
        dtype: of real parts.
        ways: by dimension, where the elements are.
        inverse: with the opposite sign in the exponent.
        odd: whether there are sizes that are no power of two; without them there is less to compile.

    The first phase reads the operand, the others what the result has become. A group of rows that is not full repeats
    the last one.
    """
    names, texts = numbers_of(len(ways)), [_butterflies(dtype, inverse=inverse, odd=odd)]
    if "cut columns" in ways:
        texts.append(intrinsics_ir(registers.register_type(dtype, lanes_of(dtype))))
    texts += [_Phase(dtype, place, names, way).text() for place, way in enumerate(ways)]
    return Module("fft", "\n".join(texts), names)


REAL_NUMBERS = (*numbers_of(1), "turns")
"""What real transforms read: ``size`` is half of that of a row."""


@cache
def real_transforms(dtype: DType, *, inverse: bool, odd: bool) -> Module:
    """The phase ``transform_0``: rows of real numbers to half of their spectra; or, `inverse`, the way back.

    The factor is that of a transform, or of its inverse, without one of its own; forward only half of it.
    """
    texts = [_butterflies(dtype, inverse=inverse, odd=odd), (_Mirrored if inverse else _Half)(dtype).text()]
    return Module("rfft", "\n".join(texts), REAL_NUMBERS)


class _Memory:
    """Elements of scratch memory: vectors of real parts, each followed by one of imaginary parts."""

    def __init__(self, function: Function, dtype: DType) -> None:
        self._function = function
        self._vector = registers.register_type(dtype, lanes_of(dtype))
        self._size = host().vector_bytes

    def load(self, start: Value, place: Value) -> Complex:
        here = self._function.advance(start, place * 2, self._size)
        there = self._function.advance(here, 1, self._size)
        return self._function.load(self._vector, here, 64), self._function.load(self._vector, there, 64)

    def store(self, value: Complex, start: Value, place: Value) -> None:
        here = self._function.advance(start, place * 2, self._size)
        self._function.store(value[0], here, 64)
        self._function.store(value[1], self._function.advance(here, 1, self._size), 64)


def _butterflies(dtype: DType, *, inverse: bool, odd: bool) -> str:
    """``@butterflies(x, y, size, twiddles)``: transforms x, with y as room; where the result is."""
    function = Function("internal ptr @butterflies(ptr %x, ptr %y, i64 %size, ptr %twiddles)")
    size = function.argument(I64, "size")
    x, y, table = (function.variable(PTR, function.argument(PTR, name)) for name in ("x", "y", "twiddles"))
    left, stride = function.variable(I64, size), function.variable(I64, 1)

    sign = -1.0 if inverse else 1.0
    for radix in _RADICES if odd else _POWERS:
        with function.repeat_while() as repetition:
            now = left.get()
            part = function.emit(I64, f"udiv {now}, {radix}")
            repetition.test((part * radix).compare("eq", now))
            _step(function, dtype, (x.get(), y.get()), (radix, part, stride.get()), table, sign)
            left.set(part)
            stride.set(stride.get() * radix)
            was = x.get()
            x.set(y.get())
            y.set(was)
    function.line(f"ret {x.get()}")
    return function.text


def _step(
    function: Function, dtype: DType, arrays: tuple[Value, Value], sizes: tuple[int, Value, Value],
    table: Variable, sign: float,
) -> None:  # fmt: skip
    """From x to y: `stride` times the first step of a transform of radix * part elements."""
    (x, y), (radix, part, stride) = arrays, sizes
    memory, jump = _Memory(function, dtype), part * stride
    with function.loop(0, part) as p:
        factors = _factors(function, dtype, table, radix - 1, sign)
        with function.loop(0, stride) as q:
            first = q + stride * p
            values = _short([memory.load(x, first + jump * number) for number in range(radix)], sign)
            place = q + stride * p * radix
            memory.store(values[0], y, place)
            for number, factor in enumerate(factors, 1):
                memory.store(_times(values[number], factor), y, place + stride * number)


def _factors(function: Function, dtype: DType, table: Variable, count: int, sign: float) -> list[Complex]:
    """The next powers, in all lanes."""
    place, element = table.get(), registers.register_type(dtype)
    numbers = [
        function.load(element, function.advance(place, number, dtype.itemsize)) for number in range(2 * count)
    ]
    table.set(function.advance(place, 2 * count, dtype.itemsize))
    wide = [(number * (sign if k % 2 else 1.0)).splat(lanes_of(dtype)) for k, number in enumerate(numbers)]
    return list(zip(wide[::2], wide[1::2], strict=True))


def _short(values: list[Complex], sign: float) -> list[Complex]:
    """The transform of a few numbers."""
    if len(values) == 2:
        a, b = values
        return [_plus(a, b), _minus(a, b)]
    if len(values) == 4:
        a, b, c, d = values
        (first, third), (second, fourth) = _short([a, c], sign), _short([b, d], sign)
        turned_fourth = _turn(fourth, sign)
        return [
            _plus(first, second), _minus(third, turned_fourth),
            _minus(first, second), _plus(third, turned_fourth),
        ]  # fmt: skip
    return _eight(values, sign) if len(values) == 8 else _odd(values, sign)


def _eight(values: list[Complex], sign: float) -> list[Complex]:
    even, odd = _short(values[::2], sign), _short(values[1::2], sign)
    root = math.sqrt(0.5)
    # Times exp(-pi i k / 4), or its inverse.
    turned_odd = [
        odd[0],
        _scaled(_minus(odd[1], _turn(odd[1], sign)), root),
        _turn(odd[2], -sign),
        _scaled(_plus(odd[3], _turn(odd[3], sign)), -root),
    ]
    pairs = list(zip(even, turned_odd, strict=True))
    return [_plus(*pair) for pair in pairs] + [_minus(*pair) for pair in pairs]


def _odd(values: list[Complex], sign: float) -> list[Complex]:
    """That of an odd number: elements k and n - k share their cosines, and their sines but for the sign."""
    count, half = len(values), len(values) // 2
    sums = [_plus(values[k], values[count - k]) for k in range(1, half + 1)]
    apart = [_minus(values[k], values[count - k]) for k in range(1, half + 1)]
    found = [values[0]] * count
    for total in sums:
        found[0] = _plus(found[0], total)
    for number in range(1, half + 1):
        angles = [2 * math.pi * (number * k % count) / count for k in range(1, half + 1)]
        even, odd = values[0], _scaled(apart[0], math.sin(angles[0]))
        for total, angle in zip(sums, angles, strict=True):
            even = _added(total, math.cos(angle), even)
        for difference, angle in zip(apart[1:], angles[1:], strict=True):
            odd = _added(difference, math.sin(angle), odd)
        odd = _turn(odd, sign)
        found[number], found[count - number] = _minus(even, odd), _plus(even, odd)
    return found


def _scaled(value: Complex, factor: float) -> Complex:
    return value[0] * factor, value[1] * factor


def _added(value: Complex, factor: float, total: Complex) -> Complex:
    return fma(value[0], factor, total[0]), fma(value[1], factor, total[1])


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

    def __init__(self, dtype: DType, place: int, names: Sequence[str], way: Way) -> None:
        self._dtype = dtype
        self._lanes = lanes_of(dtype)
        self._vector = registers.register_type(dtype, self._lanes)
        self._way = way
        self._place = place
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
                both = [self._read(address, mask) for address, mask in zip(addresses, masks, strict=True)]
                self._memory.store((_every_second(both, 0), _every_second(both, 1)), scratch, place)
            else:
                real, imag = (part * scale for part in self._memory.load(scratch, place))
                for first, address, mask in zip((0, self._lanes // 2), addresses, masks, strict=True):
                    self._write(_zipped(real, imag, first), address, mask)

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
