"""Fourier transforms of scratch memory by Stockham's method, in LLVM IR: every lane is a transform of its own.

T. G. Stockham, "High-speed convolution and correlation" (1966): the results of all steps are in order without a
permutation.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.routine import Array
from raxis_cpu.library.tiles_ir import lanes_of
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, Variable, fma

Complex = tuple[Value, Value]
"""Real and imaginary parts."""
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


class Scratch:
    """Elements of scratch memory: vectors of real parts, each followed by one of imaginary parts."""

    def __init__(self, function: Function, dtype: DType) -> None:
        self._function = function
        self._vector = registers.register_type(dtype, lanes_of(dtype))
        self._size = host().vector_bytes

    def load(self, start: Value, place: Value) -> Complex:
        """An element."""
        here = self._function.advance(start, place * 2, self._size)
        there = self._function.advance(here, 1, self._size)
        return self._function.load(self._vector, here, 64), self._function.load(self._vector, there, 64)

    def store(self, value: Complex, start: Value, place: Value) -> None:
        """Write an element."""
        here = self._function.advance(start, place * 2, self._size)
        self._function.store(value[0], here, 64)
        self._function.store(value[1], self._function.advance(here, 1, self._size), 64)


def butterflies_ir(dtype: DType, *, inverse: bool, odd: bool) -> str:
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
    memory, jump = Scratch(function, dtype), part * stride
    with function.loop(0, part) as p:
        factors = _factors(function, dtype, table, radix - 1, sign)
        with function.loop(0, stride) as q:
            first = q + stride * p
            values = _short([memory.load(x, first + jump * number) for number in range(radix)], sign)
            place = q + stride * p * radix
            memory.store(values[0], y, place)
            for number, factor in enumerate(factors, 1):
                memory.store(times(values[number], factor), y, place + stride * number)


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
        return [plus(a, b), minus(a, b)]
    if len(values) == 4:
        a, b, c, d = values
        (first, third), (second, fourth) = _short([a, c], sign), _short([b, d], sign)
        turned_fourth = _turn(fourth, sign)
        return [
            plus(first, second), minus(third, turned_fourth),
            minus(first, second), plus(third, turned_fourth),
        ]  # fmt: skip
    return _eight(values, sign) if len(values) == 8 else _odd(values, sign)


def _eight(values: list[Complex], sign: float) -> list[Complex]:
    even, odd = _short(values[::2], sign), _short(values[1::2], sign)
    root = math.sqrt(0.5)
    # Times exp(-pi i k / 4), or its inverse.
    turned_odd = [
        odd[0],
        _scaled(minus(odd[1], _turn(odd[1], sign)), root),
        _turn(odd[2], -sign),
        _scaled(plus(odd[3], _turn(odd[3], sign)), -root),
    ]
    pairs = list(zip(even, turned_odd, strict=True))
    return [plus(*pair) for pair in pairs] + [minus(*pair) for pair in pairs]


def _odd(values: list[Complex], sign: float) -> list[Complex]:
    """That of an odd number: elements k and n - k share their cosines, and their sines but for the sign."""
    count, half = len(values), len(values) // 2
    sums = [plus(values[k], values[count - k]) for k in range(1, half + 1)]
    apart = [minus(values[k], values[count - k]) for k in range(1, half + 1)]
    found = [values[0]] * count
    for total in sums:
        found[0] = plus(found[0], total)
    for number in range(1, half + 1):
        angles = [2 * math.pi * (number * k % count) / count for k in range(1, half + 1)]
        even, odd = values[0], _scaled(apart[0], math.sin(angles[0]))
        for total, angle in zip(sums, angles, strict=True):
            even = _added(total, math.cos(angle), even)
        for difference, angle in zip(apart[1:], angles[1:], strict=True):
            odd = _added(difference, math.sin(angle), odd)
        odd = _turn(odd, sign)
        found[number], found[count - number] = minus(even, odd), plus(even, odd)
    return found


def _scaled(value: Complex, factor: float) -> Complex:
    return value[0] * factor, value[1] * factor


def _added(value: Complex, factor: float, total: Complex) -> Complex:
    return fma(value[0], factor, total[0]), fma(value[1], factor, total[1])


def plus(a: Complex, b: Complex) -> Complex:
    """The sum."""
    return a[0] + b[0], a[1] + b[1]


def minus(a: Complex, b: Complex) -> Complex:
    """The difference."""
    return a[0] - b[0], a[1] - b[1]


def _turn(value: Complex, sign: float) -> Complex:
    """Times i, or -i for a negative sign."""
    real, imag = value
    return (-imag, real) if sign > 0 else (imag, -real)


def times(a: Complex, b: Complex) -> Complex:
    """The product."""
    return fma(a[0], b[0], -(a[1] * b[1])), fma(a[0], b[1], a[1] * b[0])
