"""Copies of part of a vector: the last few elements of a row, whose whole vector would reach beyond it."""

from __future__ import annotations

from raxis.dtypes import DType
from raxis_cpu.llvm.compile import Target
from raxis_cpu.llvm.ir import Type, Value
from raxis_cpu.llvm.registers import unit_bytes


def copy_elements(
    target: Target, dtype: DType, destination: Value, source: Value, count: Value, lanes: int
) -> None:
    """Copy `count` of at most `lanes` elements."""
    units, nbytes = unit_bytes(dtype)
    type = Type(f"i{8 * nbytes}", lanes * units)
    if target.has_masks and type.lanes > 1:
        _copy_masked(type, destination, source, count * units)
    else:
        _copy_one_by_one(Type(type.element), destination, source, count * units)


def _copy_masked(type: Type, destination: Value, source: Value, count: Value) -> None:
    function, lanes = source.function, type.lanes
    numbers = ", ".join(f"i32 {number}" for number in range(lanes))
    ladder = Value(function, Type("i32", lanes), f"<{numbers}>")
    mask = ladder.compare("lt", count.convert("trunc", "i32").splat(lanes))
    align = type.bits // 8
    name = f"{type.suffix}.p0"
    loaded = function.emit(
        type,
        f"call {type} @llvm.masked.load.{name}(ptr align {align} {source.name}, {mask}, {type} zeroinitializer)",
    )
    function.line(
        f"call void @llvm.masked.store.{name}({loaded}, ptr align {align} {destination.name}, {mask})"
    )


def _copy_one_by_one(type: Type, destination: Value, source: Value, count: Value) -> None:
    function, size = source.function, type.bits // 8
    with function.loop(0, count) as index:
        element = function.load(type, function.advance(source, index, size))
        function.store(element, function.advance(destination, index, size))
