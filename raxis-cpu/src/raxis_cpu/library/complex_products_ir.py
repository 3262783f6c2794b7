"""Complex matrices rewritten for real products, in LLVM IR; see `complex_products`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import Type, Value
from raxis_cpu.llvm.lanes import shuffled
from raxis_cpu.llvm.registers import register_type

NUMBERS = ("lines", "length", "gap", "stack")
"""Lines of a matrix, complex numbers of a line, from a line to the next, and from a matrix to the next."""

Lines = Callable[[Value], tuple[Value, Value]]


def _rows(numbers: Value) -> tuple[Value, Value]:
    """The line, and the line times i."""
    return numbers, _chosen(-numbers, numbers, (1, 0), first=(True, False))


def _columns(numbers: Value) -> tuple[Value, Value]:
    """The conjugated line, and real and imaginary parts exchanged: a column of the real matrix each."""
    return _chosen(numbers, -numbers, (0, 1), first=(True, False)), _chosen(
        numbers, numbers, (1, 0), first=(True, True)
    )


def _split(numbers: Value) -> tuple[Value, Value]:
    """Real parts, and imaginary parts."""
    lanes = numbers.type.lanes
    if lanes == 2:
        return numbers.part(0, 1), numbers.part(1, 1)
    real, imag = (shuffled(numbers, numbers, range(first, lanes, 2)) for first in (0, 1))
    return real, imag


PHASES = {"rows": _rows, "columns": _columns, "split": _split}
"""What becomes two lines of real numbers out of a line of complex ones, by the name of the phase; a unit is a line."""


def _chosen(one: Value, other: Value, pair: tuple[int, int], first: tuple[bool, bool]) -> Value:
    """The lanes `pair` of every pair, of `one` where `first` says so, else of `other`."""
    lanes = one.type.lanes
    places = [
        base + lane + (0 if own else lanes)
        for base in range(0, lanes, 2)
        for lane, own in zip(pair, first, strict=True)
    ]
    return shuffled(one, other, places)


@cache
def rewriting(dtype: DType) -> Module:
    """The phases `PHASES` over a complex array and the real one it is written to."""
    return Module("rewriting", "\n".join(_phase(name, made, dtype) for name, made in PHASES.items()), NUMBERS)


def _phase(name: str, made: Lines, dtype: DType) -> str:
    body = Body(name, NUMBERS)
    part, size = register_type(dtype.to_real()), dtype.to_real().itemsize
    lanes = host().vector_bytes // size
    lines, length, gap, stack = (body.numbers[number] for number in NUMBERS)
    with body.loop(body.begin, body.end) as unit:
        item, line = body.divided(unit, lines)
        source = body.advance(body.array(0), item * stack + line * gap, 2 * size)
        width = length if name == "split" else length * 2
        target = body.advance(body.array(1), unit * width * 2, size)
        targets = (target, body.advance(target, width, size))
        whole = (length * 2) & -lanes
        for first, stop, step in ((0, whole, lanes), (whole, length * 2, 2)):
            with body.loop(first, stop, step) as place:
                numbers = body.load(Type(part.element, step), body.advance(source, place, size), size)
                offset = place >> 1 if name == "split" else place
                for value, start in zip(made(numbers), targets, strict=True):
                    body.store(value, body.advance(start, offset, size), size)
    return body.text
