"""Squares of elements turned in registers: rows become columns."""

from __future__ import annotations

from collections.abc import Sequence

from raxis_cpu.llvm.ir import Type, Value


def turned(rows: Sequence[Value]) -> list[Value]:
    """The columns of as many vectors as they have lanes, a power of two.

    Each step interleaves vectors half the square apart, which moves the highest bit of the row number to the lowest
    place of the lane number; when all have moved, row and lane have changed places.
    """
    count = len(rows)
    vectors = list(rows)
    for _ in range(count.bit_length() - 1):
        pairs = zip(vectors[: count // 2], vectors[count // 2 :], strict=True)
        vectors = [half for low, high in pairs for half in _interleaved(low, high)]
    return vectors


def _interleaved(low: Value, high: Value) -> tuple[Value, Value]:
    """Lanes of both in turn: those of the first halves, and those of the second ones."""
    lanes = low.type.lanes
    return tuple(_picked(low, high, range(first, first + lanes // 2)) for first in (0, lanes // 2))  # type: ignore[return-value]


def _picked(low: Value, high: Value, lanes: range) -> Value:
    type = low.type
    order = ", ".join(f"i32 {lane}, i32 {lane + type.lanes}" for lane in lanes)
    mask = Type("i32", type.lanes)
    return low.function.emit(type, f"shufflevector {low}, {high}, {mask} <{order}>")
