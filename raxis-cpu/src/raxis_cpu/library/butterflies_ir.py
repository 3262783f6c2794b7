"""Fourier transforms of scratch memory by Stockham's method, in LLVM IR: every lane is a transform of its own.

T. G. Stockham, "High-speed convolution and correlation" (1966): the results of all steps are in order without a
permutation.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library import prime_transforms_ir
from raxis_cpu.library.routine import Array
from raxis_cpu.library.scratch_ir import Complex, Scratch, minus, plus, times, turn
from raxis_cpu.library.tiles_ir import lanes_of
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, Variable, fma

Kind = Literal["powers of two", "small", "any"]
"""Prime factors of sizes: 2; up to 7; up to `LARGEST`."""
_POWERS = (8, 4, 2)
_RADICES = (7, 5, 3, *_POWERS)
"""Radices with code of their own, in the order of the steps; powers of two need the last three alone."""
LARGEST = 127
"""The largest prime factor: sums of so many products are faster than two transforms of a power of two."""


def steps_of(size: int) -> list[int]:
    """The radices of the steps in their order; their product is the size unless that has greater prime factors."""
    found = []
    for radix in (*_RADICES, *range(_RADICES[0] + 2, LARGEST + 1, 2)):
        while size % radix == 0:
            found.append(radix)
            size //= radix
    return found


def kind_of(size: int) -> Kind:
    """What the steps of a size need."""
    if size & (size - 1) == 0:
        return "powers of two"
    return "small" if set(steps_of(size)) <= set(_RADICES) else "any"


@cache
def twiddles(size: int, dtype: DType) -> Array:
    """The factors of all steps in their order: for every p, powers 1, 2, ... of exp(-2 pi i p / n).

    Before those of a radix above 7 stand the radix and its table. All are kept, as kernels hold their address.
    """
    parts, left = [np.empty(0)], size
    for radix in steps_of(size):
        if radix not in _RADICES:
            parts += [np.array([radix]), prime_transforms_ir.table(radix)]
        angles = np.outer(np.arange(left // radix), np.arange(1, radix)) * (-2 * np.pi / left)
        parts.append(np.stack([np.cos(angles), np.sin(angles)], -1).ravel())
        left //= radix
    return np.concatenate(parts).astype(dtype.numpy)


def butterflies_ir(dtype: DType, kind: Kind, *, inverse: bool) -> str:
    """``@butterflies(x, y, size, twiddles)``: transforms x, with y as room; where the result is."""
    function = Function("internal ptr @butterflies(ptr %x, ptr %y, i64 %size, ptr %twiddles)")
    state = _State(function)
    sign = -1.0 if inverse else 1.0
    for radix in _POWERS if kind == "powers of two" else _RADICES:
        with function.repeat_while() as repetition:
            now = state.left.get()
            part = function.emit(I64, f"udiv {now}, {radix}")
            repetition.test((part * radix).compare("eq", now))
            sizes = (radix, part, state.stride.get())
            _step(function, dtype, (state.x.get(), state.y.get()), sizes, state.table, sign)
            state.advance(part, radix)
    if kind == "any":
        _steps_of_any_radix(function, state, dtype)
    function.line(f"ret {state.x.get()}")
    more = prime_transforms_ir.step_ir(dtype, sign) if kind == "any" else ""
    return function.text + "\n" + more


class _State:
    """Where a transform has come to: its arrays, elements left and done, and the next factors."""

    def __init__(self, function: Function) -> None:
        self.x, self.y, self.table = (
            function.variable(PTR, function.argument(PTR, name)) for name in ("x", "y", "twiddles")
        )
        self.left = function.variable(I64, function.argument(I64, "size"))
        self.stride = function.variable(I64, 1)

    def advance(self, part: Value, radix: Value | int) -> None:
        """After a step that left so many elements."""
        self.left.set(part)
        self.stride.set(self.stride.get() * radix)
        was = self.x.get()
        self.x.set(self.y.get())
        self.y.set(was)


def _steps_of_any_radix(function: Function, state: _State, dtype: DType) -> None:
    with function.repeat_while() as repetition:
        now = state.left.get()
        repetition.test(now.compare("gt", 1))
        table = state.table.get()
        radix = function.load(registers.register_type(dtype), table).convert("fptosi", "i64")
        part = function.emit(I64, f"udiv {now}, {radix.name}")
        numbers = (radix, part, state.stride.get())
        arguments = (state.x.get(), state.y.get(), *numbers, function.advance(table, 1, dtype.itemsize))
        state.table.set(function.call(PTR, prime_transforms_ir.STEP, *arguments))
        state.advance(part, radix)


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
        turned_fourth = turn(fourth, sign)
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
        _scaled(minus(odd[1], turn(odd[1], sign)), root),
        turn(odd[2], -sign),
        _scaled(plus(odd[3], turn(odd[3], sign)), -root),
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
        odd = turn(odd, sign)
        found[number], found[count - number] = minus(even, odd), plus(even, odd)
    return found


def _scaled(value: Complex, factor: float) -> Complex:
    return value[0] * factor, value[1] * factor


def _added(value: Complex, factor: float, total: Complex) -> Complex:
    return fma(value[0], factor, total[0]), fma(value[1], factor, total[1])
