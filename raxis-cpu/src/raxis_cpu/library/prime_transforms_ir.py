"""A step of a Fourier transform by any odd prime, in LLVM IR: sums of products with cosines and sines.

Elements k and n - k of a transform of n numbers share their cosines, and their sines but for the sign, and so do the
numbers j and n - j: that is a quarter of n**2 products of a real factor and a complex vector.
"""

from __future__ import annotations

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.routine import Array
from raxis_cpu.library.scratch_ir import Complex, Scratch, minus, plus, times, turn
from raxis_cpu.library.tiles_ir import lanes_of
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, Variable, fma

STEP = "@prime_step"
"""``ptr(x, y, radix, part, stride, table)``: a step from x, which is overwritten, to y; the end of its factors."""
_ZMM = 64
"""Bytes of the registers of which there are 32."""


def _together() -> int:
    """Elements of a transform whose four sums each stay in registers."""
    return 4 if host().vector_bytes == _ZMM else 2


def table(radix: int) -> Array:
    """Cosine and sine of 2 pi j k / radix for j and k from 1 to half of it: a few k for every j, then the next k."""
    half, width = radix // 2, _together()
    rows = -(-half // width) * width
    angles = np.outer(np.arange(1, rows + 1), np.arange(1, half + 1)) % radix * (2 * np.pi / radix)
    factors = np.stack([np.cos(angles), np.sin(angles)], -1).reshape(-1, width, half, 2)
    return factors.transpose(0, 2, 1, 3).ravel()


def step_ir(dtype: DType, sign: float) -> str:
    """The definition of `STEP`; `sign` is -1 for the inverse."""
    return _Step(dtype, sign).text()


class _Step:
    """Writes the step."""

    def __init__(self, dtype: DType, sign: float) -> None:
        sizes = "i64 %radix, i64 %part, i64 %stride"
        self._function = function = Function(
            f"internal ptr {STEP}(ptr %x, ptr %y, {sizes}, ptr %table) noinline"
        )
        self._dtype, self._sign, self._together = dtype, sign, _together()
        self._element = registers.register_type(dtype)
        self._vector = registers.register_type(dtype, lanes_of(dtype))
        self._memory = Scratch(function, dtype)
        self._x, self._y, self._table = (function.argument(PTR, name) for name in ("x", "y", "table"))
        self._radix, self._part, self._stride = (
            function.argument(I64, name) for name in ("radix", "part", "stride")
        )
        self._half = self._radix >> 1
        self._jump = self._part * self._stride

    def text(self) -> str:
        """The definition."""
        function = self._function
        rows = (self._half + (self._together - 1)) & -self._together
        factors = function.advance(self._table, rows * self._half * 2, self._dtype.itemsize)
        count = (self._radix - 1) * 2
        with function.loop(0, self._part) as p, function.loop(0, self._stride) as q:
            here = function.advance(factors, p * count, self._dtype.itemsize)
            first = q + self._stride * p
            self._transform(first, q + self._stride * p * self._radix, here)
        end = function.advance(factors, self._part * count, self._dtype.itemsize)
        function.line(f"ret {end}")
        return function.text

    def _transform(self, first: Value, place: Value, factors: Value) -> None:
        """One transform of elements of x from `first` on, to elements of y from `place` on."""
        start = self._memory.load(self._x, first)
        self._memory.store(self._total(first, start), self._y, place)
        table = self._function.variable(PTR, self._table)
        with self._function.loop(0, self._half, self._together) as k:
            for number, (even, odd) in enumerate(self._sums(first, start, table)):
                with self._function.when((k + number).compare("lt", self._half)):
                    self._write(even, odd, k + (number + 1), place, factors)

    def _total(self, first: Value, start: Complex) -> Complex:
        """The sum of all; sums and differences of elements j and n - j take their places."""
        total = [self._function.variable(self._vector, part) for part in start]
        with self._function.loop(1, self._half + 1) as j:
            places = [first + self._jump * number for number in (j, self._radix - j)]
            a, b = (self._memory.load(self._x, place) for place in places)
            both = plus(a, b)
            self._memory.store(both, self._x, places[0])
            self._memory.store(minus(a, b), self._x, places[1])
            for variable, part in zip(total, both, strict=True):
                variable.set(variable.get() + part)
        return total[0].get(), total[1].get()

    def _sums(self, first: Value, start: Complex, table: Variable) -> list[tuple[Complex, Complex]]:
        """Sums with cosines and with sines for a few elements."""
        function = self._function
        sums = [
            [
                function.variable(self._vector, part)
                for part in (*start, *(function.constant(self._vector, 0.0),) * 2)
            ]
            for _ in range(self._together)
        ]
        with function.loop(1, self._half + 1) as j:
            parts = [
                part
                for number in (j, self._radix - j)
                for part in self._memory.load(self._x, first + self._jump * number)
            ]
            for number, variables in enumerate(sums):
                cosine, sine = (self._number(table.get(), 2 * number + part) for part in range(2))
                for variable, part, factor in zip(
                    variables, parts, (cosine, cosine, sine, sine), strict=True
                ):
                    variable.set(fma(part, factor, variable.get()))
            table.set(function.advance(table.get(), 2 * self._together, self._dtype.itemsize))
        return [
            ((even[0].get(), even[1].get()), (odd[0].get(), odd[1].get()))
            for even, odd in ((variables[:2], variables[2:]) for variables in sums)
        ]

    def _number(self, start: Value, place: Value | int) -> Value:
        size = self._dtype.itemsize
        return self._function.load(self._element, self._function.advance(start, place, size)).splat(
            self._vector.lanes
        )

    def _write(self, even: Complex, odd: Complex, k: Value, place: Value, factors: Value) -> None:
        """Elements k and n - k."""
        turned = turn(odd, self._sign)
        for value, number in ((minus(even, turned), k), (plus(even, turned), self._radix - k)):
            real, imag = (self._number(factors, (number - 1) * 2 + part) for part in range(2))
            factor = (real, imag * self._sign)
            self._memory.store(times(value, factor), self._y, place + self._stride * number)
