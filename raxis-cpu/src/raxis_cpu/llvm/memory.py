"""Part of a vector in memory: the last few elements of a row, whose whole vector would reach beyond it."""

from __future__ import annotations

from raxis.dtypes import DType
from raxis_cpu.llvm.ir import PTR, Type, Value
from raxis_cpu.llvm.registers import Register, narrowed, raw_type, widened


def load_some(dtype: DType, address: Value, count: Value, lanes: int, *, masks: bool) -> Register:
    """The first `count` of `lanes` elements, zeros after them; `masks` if one instruction does it."""
    type = raw_type(dtype, lanes)
    return widened(dtype, load_raw(type, address, count * (type.lanes // lanes), masks=masks))


def load_raw(type: Type, address: Value, count: Value, *, masks: bool) -> Value:
    """As `load_some`, in memory form."""
    return _masked_load(type, address, count) if masks else _copied_in(type, address, count)


def store_some(dtype: DType, register: Register, address: Value, count: Value, *, masks: bool) -> None:
    """Write the first `count` elements."""
    raw = narrowed(dtype, register)
    lanes = raw.type.lanes // (2 if dtype.is_complex else 1)
    count = count * (raw.type.lanes // lanes)
    if masks:
        _masked_store(raw, address, count)
    else:
        room = address.function.room(raw.type)
        address.function.store(raw, room)
        _copy_elements(Type(raw.type.element), address, room, count)


def first_lanes(count: Value, lanes: int) -> Value:
    """For every lane whether it is one of the first `count`."""
    numbers = ", ".join(f"i32 {number}" for number in range(lanes))
    ladder = Value(count.function, Type("i32", lanes), f"<{numbers}>" if lanes > 1 else "0")
    return ladder.compare("lt", count.convert("trunc", "i32").splat(lanes))


def _masked_load(type: Type, address: Value, count: Value) -> Value:
    mask, align = first_lanes(count, type.lanes), type.bits // 8
    name = f"@llvm.masked.load.{type.suffix}.{PTR.suffix}"
    return address.function.emit(
        type, f"call {type} {name}(ptr align {align} {address.name}, {mask}, {type} zeroinitializer)"
    )


def _masked_store(value: Value, address: Value, count: Value) -> None:
    mask, align = first_lanes(count, value.type.lanes), value.type.bits // 8
    name = f"@llvm.masked.store.{value.type.suffix}.{PTR.suffix}"
    address.function.line(f"call void {name}({value}, ptr align {align} {address.name}, {mask})")


def _copied_in(type: Type, address: Value, count: Value) -> Value:
    room = address.function.room(type)
    _copy_elements(Type(type.element), room, address, count)
    return address.function.load(type, room)


def _copy_elements(type: Type, destination: Value, source: Value, count: Value) -> None:
    function, size = source.function, type.bits // 8
    with function.loop(0, count) as index:
        element = function.load(type, function.advance(source, index, size))
        function.store(element, function.advance(destination, index, size))
