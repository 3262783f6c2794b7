"""Complex vectors, and the scratch memory of transforms that holds them, in LLVM IR."""

from __future__ import annotations

from raxis.dtypes import DType
from raxis_cpu.library.tiles_ir import lanes_of
from raxis_cpu.llvm import registers
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import Function, Value, fma

Complex = tuple[Value, Value]
"""Real and imaginary parts."""


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


def plus(a: Complex, b: Complex) -> Complex:
    """The sum."""
    return a[0] + b[0], a[1] + b[1]


def minus(a: Complex, b: Complex) -> Complex:
    """The difference."""
    return a[0] - b[0], a[1] - b[1]


def turn(value: Complex, sign: float) -> Complex:
    """Times i, or -i for a negative sign."""
    real, imag = value
    return (-imag, real) if sign > 0 else (imag, -real)


def times(a: Complex, b: Complex) -> Complex:
    """The product."""
    return fma(a[0], b[0], -(a[1] * b[1])), fma(a[0], b[1], a[1] * b[0])
