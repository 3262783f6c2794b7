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
from raxis_cpu.llvm.ir import DOUBLE, I64, PTR, Function, Value, Variable, fma
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
    texts += [_Phase(dtype, len(along), place, rows=rows).text() for place, rows in enumerate(along)]
    return Module("fft", "\n".join(texts), numbers_of(len(along)))


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

    def __init__(self, dtype: DType, dims: int, place: int, *, rows: bool) -> None:
        self._dtype = dtype
        self._lanes = lanes(dtype)
        self._vector = registers.register_type(dtype, self._lanes)
        self._rows = rows
        self._source = 0 if place == 0 else 1
        self._body = Body(f"transform_{place}", numbers_of(dims))
        self._numbers = {part: self._body.numbers[f"{part}_{place}"] for part in _PARTS}
        self._memory = _Memory(self._body, dtype)

    def text(self) -> str:
        """The definition."""
        body, size = self._body, self._numbers["size"]
        nbytes = size * (2 * host().vector_bytes)
        memory = body.call(PTR, body.entry(runtime.MALLOC), nbytes * 2 + 64)
        with body.when(is_null(memory)):
            body.fail(Status.NO_MEMORY)
        inside = body.advance(memory, 63, 1)
        x = body.emit(PTR, f"call ptr @llvm.ptrmask.p0.i64({inside}, i64 -64)")
        y = body.advance(x, nbytes, 1)
        scale = self._numbers["scale"].convert("bitcast", "double")
        if self._vector.element != DOUBLE.element:
            scale = scale.convert("fptrunc", self._vector.element)
        wide = scale.splat(self._lanes)
        move = self._move_rows if self._rows else self._move_neighbours
        with body.loop(body.begin, body.end) as group:
            move(group, x, None)
            found = body.call(PTR, "@butterflies", x, y, size, self._pointer("twiddles"))
            move(group, found, wide)
        body.line(f"call void {body.entry(runtime.FREE)}({memory})")
        return body.text

    def _pointer(self, part: str) -> Value:
        return self._body.emit(PTR, f"inttoptr {self._numbers[part]} to ptr")

    def _start(self, offset: Value, *, reads: bool) -> Value:
        """The address of a complex element of the operand or the result."""
        return self._body.advance(
            self._body.array(self._source if reads else 1), offset * 2, self._dtype.itemsize
        )

    def _move_rows(self, group: Value, scratch: Value, scale: Value | None) -> None:
        """Read rows into scratch memory; or, with a factor, write them."""
        body, reads = self._body, scale is None
        stride = self._numbers["source_row" if reads else "result_row"]
        last = self._numbers["count"] - 1
        rows = [
            self._start((group * self._lanes + number).intrinsic("smin", last) * stride, reads=reads)
            for number in range(self._lanes)
        ]
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


def _every_second(both: Sequence[Value], first: int) -> Value:
    low, high = both
    count = low.type.lanes
    order = ", ".join(f"i32 {first + 2 * lane}" for lane in range(count))
    return low.function.emit(low.type, f"shufflevector {low}, {high}, <{count} x i32> <{order}>")


def _zipped(real: Value, imag: Value, first: int) -> Value:
    count = real.type.lanes
    order = ", ".join(f"i32 {first + lane}, i32 {first + lane + count}" for lane in range(count // 2))
    return real.function.emit(real.type, f"shufflevector {real}, {imag}, <{count} x i32> <{order}>")
