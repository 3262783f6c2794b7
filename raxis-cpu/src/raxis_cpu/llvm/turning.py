"""Squares of elements turned in registers: rows become columns."""

from __future__ import annotations

from collections.abc import Sequence

from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.lanes import shuffled

_WIDE = 512
"""Bits of a register that one instruction fills with any lanes of two others."""


def turned(rows: Sequence[Value]) -> list[Value]:
    """The columns of as many vectors as they have lanes, a power of two.

    Swapping takes the fewest instructions, which makes it a third faster for elements of 16 bits; but interleaving is a
    third faster for bytes, and no slower for wider elements in wide registers.
    """
    type = rows[0].type
    interleaves = type.bits == 8 or (type.bits > 16 and type.lanes * type.bits == _WIDE)
    vectors, distance = list(rows), len(rows) // 2
    while distance:
        vectors = _interleaved(vectors) if interleaves else _swapped(vectors, distance)
        distance //= 2
    return vectors


def _interleaved(vectors: Sequence[Value]) -> list[Value]:
    """Lanes of vectors half the square apart in turn: those of their first halves, and those of the second ones.

    This moves the highest bit of the row number to the lowest place of the lane number; when all have moved, row and
    lane have changed places.
    """
    count = len(vectors)
    pairs = zip(vectors[: count // 2], vectors[count // 2 :], strict=True)
    halves = [
        [place for lane in range(first, first + count // 2) for place in (lane, lane + count)]
        for first in (0, count // 2)
    ]
    return [shuffled(*pair, half) for pair in pairs for half in halves]


def _swapped(vectors: Sequence[Value], distance: int) -> list[Value]:
    """Lanes of vectors whose numbers differ in the bit `distance`: those without the bit of both, and those with it.

    This exchanges the bit of the row number for that of the lane number.
    """
    count = len(vectors)
    lanes = [
        [(lane & ~distance | bit) + (count if lane & distance else 0) for lane in range(count)]
        for bit in (0, distance)
    ]
    return [
        shuffled(vectors[row & ~distance], vectors[row | distance], lanes[row & distance != 0])
        for row in range(count)
    ]
