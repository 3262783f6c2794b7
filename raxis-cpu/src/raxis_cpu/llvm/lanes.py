"""Vectors of the lanes of other vectors."""

from __future__ import annotations

from collections.abc import Iterable

from raxis_cpu.llvm.ir import Type, Value


def shuffled(low: Value, high: Value, places: Iterable[int]) -> Value:
    """Lanes of two vectors in this order; those of `high` are counted after those of `low`."""
    numbers = [f"i32 {place}" for place in places]
    target = Type(low.type.element, len(numbers))
    order = f"<{len(numbers)} x i32> <{', '.join(numbers)}>"
    return low.function.emit(target, f"shufflevector {low}, {high}, {order}")


def interleaved(low: Value, high: Value) -> Value:
    """Lane 0 of both, then lane 1 of both, and so on."""
    count = low.type.lanes
    if count == 1:
        target = Type(low.type.element, 2)
        one = low.function.emit(target, f"insertelement {target} poison, {low}, i64 0")
        return low.function.emit(target, f"insertelement {one}, {high}, i64 1")
    return shuffled(low, high, (place for lane in range(count) for place in (lane, lane + count)))


def every_second(low: Value, high: Value, first: int) -> Value:
    """The lanes of both, one after the other, at even places, or from 1 on at odd ones."""
    return shuffled(low, high, range(first, 2 * low.type.lanes, 2))


def joined(low: Value, high: Value) -> Value:
    """The lanes of both, one after the other."""
    return shuffled(low, high, range(2 * low.type.lanes))
