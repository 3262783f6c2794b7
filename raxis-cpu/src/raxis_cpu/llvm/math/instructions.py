"""Single instructions of AVX-512 and AVX2 that the vector functions gain from, where the machine has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis_cpu.llvm.ir import Function, Type, Value, literal
from raxis_cpu.llvm.lanes import joined

_MANTISSA_OF_POSITIVE = 0b1111
"""In [3/4, 3/2); NaN for negative numbers; 1 for zeros and infinity."""


def available(x: Value) -> bool:
    """Whether `scale` and the like apply to vectors like `x`."""
    return x.function.scales and x.type.lanes * x.type.bits >= 128


def is_short(x: Value) -> bool:
    """Whether `x` is a number by itself, to which they would apply if it were in a vector."""
    return x.function.scales and x.type.lanes == 1


def scale(x: Value, exponent: Value) -> Value:
    """x * 2**exponent, rounded once; the exponents are whole numbers of the format."""
    return _by_register(lambda part, n: _masked("mask.scalef", part, n), x, exponent)


def exponent_of(x: Value) -> Value:
    """floor(log2(x)) of positive x as a number of the format: -inf of 0, inf of inf."""
    return _by_register(lambda part: _masked("mask.getexp", part), x)


def mantissa_of(x: Value) -> Value:
    """x * 2**k in [3/4, 3/2); 1 for zeros and inf, NaN for negative numbers."""
    return _by_register(lambda part: _masked("mask.getmant", part, _MANTISSA_OF_POSITIVE), x)


def reciprocal_estimate(x: Value) -> Value:
    """1/x but for a part in 2**14."""
    return _by_register(lambda part: _estimate("rcp14", part), x)


def reciprocal_root_estimate(x: Value) -> Value:
    """1/sqrt(x) but for a part in 2**14."""
    return _by_register(lambda part: _estimate("rsqrt14", part), x)


def _by_register(operation: Callable[..., Value], *operands: Value) -> Value:
    """The operation on vectors of any number of registers."""
    lanes = operands[0].type.lanes
    if lanes * operands[0].type.bits <= 512:
        return operation(*operands)
    half = lanes // 2
    low, high = (_by_register(operation, *(x.part(at, half) for x in operands)) for at in (0, half))
    return joined(low, high)


def _name(stem: str, type: Type) -> str:
    kind = "ps" if type.element == "float" else "pd"
    return f"@llvm.x86.avx512.{stem}.{kind}.{type.lanes * type.bits}"


def _mask(type: Type) -> str:
    return f"i{max(8, type.lanes)} -1"


def _masked(stem: str, x: Value, *others: Value | int) -> Value:
    """An instruction with a mask; in full width it takes the rounding mode too (4: as it is set)."""
    texts = [str(x), *(str(other) if isinstance(other, Value) else f"i32 {other}" for other in others)]
    texts += [f"{x.type} zeroinitializer", _mask(x.type)]
    if x.type.lanes * x.type.bits == 512:
        texts.append("i32 4")
    return x.function.emit(x.type, f"call {x.type} {_name(stem, x.type)}({', '.join(texts)})")


def _estimate(stem: str, x: Value) -> Value:
    operands = f"{x}, {x.type} zeroinitializer, {_mask(x.type)}"
    return x.function.emit(x.type, f"call {x.type} {_name(stem, x.type)}({operands})")


def lookup(table: Sequence[float], index: Value) -> Value:
    """The float32 entries of a table of 16, picked by the four low bits of int32 indices."""
    lanes = index.type.lanes
    if lanes > 16:
        half = lanes // 2
        return joined(*(lookup(table, index.part(at, half)) for at in (0, half)))
    function = index.function
    if lanes == 16 and function.scales:
        return _permuted("avx512.permvar.sf.512", _vector(function, table), index)
    if lanes == 8 and (function.scales or function.permutes):
        low, high = (_permuted("avx2.permps", _vector(function, table[at : at + 8]), index) for at in (0, 8))
        return (index & 8).compare("ne", 0).select(high, low)
    return _from_memory(table, index & 15)


def _vector(function: Function, numbers: Sequence[float]) -> Value:
    type = Type("float", len(numbers))
    text = ", ".join(f"float {literal(Type('float'), number)}" for number in numbers)
    return Value(function, type, f"<{text}>")


def _permuted(name: str, table: Value, index: Value) -> Value:
    type = table.type
    return table.function.emit(type, f"call {type} @llvm.x86.{name}({table}, {index})")


def _from_memory(table: Sequence[float], index: Value) -> Value:
    function, type = index.function, Type("float", index.type.lanes)
    text = ", ".join(f"float {literal(Type('float'), number)}" for number in table)
    name = f"table_{abs(hash(tuple(table))):x}"
    function.helpers[name] = lambda: f"@{name} = private constant [16 x float] [{text}]"
    addresses = function.advance(Value(function, Type("ptr"), f"@{name}"), index.convert("zext", "i64"), 4)
    if type.lanes == 1:
        return function.load(type, addresses)
    mask = f"<{type.lanes} x i1> splat (i1 true)"
    operands = f"{addresses.type} align 4 {addresses.name}, {mask}, {type} poison"
    call = f"@llvm.masked.gather.{type.suffix}.{addresses.type.suffix}({operands})"
    return function.emit(type, f"call {type} {call}")
