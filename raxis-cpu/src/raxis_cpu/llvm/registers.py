"""How elements of each dtype look in memory and in registers.

bool is a byte in memory and a bit in registers; float16 and bfloat16 are float in registers, rounded to what their
format holds; complex numbers are two floats.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF, Category, DType
from raxis_cpu.llvm.ir import Function, Type, Value
from raxis_cpu.llvm.lanes import interleaved, shuffled


class Complex(NamedTuple):
    """A complex number in registers."""

    real: Value
    imag: Value


Register: TypeAlias = "Value | Complex"

_ELEMENTS = {
    dtypes.bool_: "i1",
    dtypes.uint8: "i8",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.float16: "float",
    dtypes.bfloat16: "float",
    dtypes.float32: "float",
    dtypes.float64: "double",
    dtypes.complex64: "float",
    dtypes.complex128: "double",
}
_MEMORY = {dtypes.bool_: "i8", dtypes.float16: "half", dtypes.bfloat16: "i16"}


def register_type(dtype: DType, lanes: int = 1) -> Type:
    """The type of values of `dtype` in registers; of either part if it is complex."""
    return Type(_ELEMENTS[dtype], lanes)


def splat(register: Register, lanes: int) -> Register:
    """A scalar in all lanes."""
    if isinstance(register, Complex):
        return Complex(register.real.splat(lanes), register.imag.splat(lanes))
    return register.splat(lanes)


def real(register: Register) -> Value:
    """A register that holds no complex numbers.

    Raises:
        TypeError: if it does.
    """
    if isinstance(register, Complex):
        raise TypeError("expected real numbers in a register, but got complex ones.")
    return register


def raw_type(dtype: DType, lanes: int) -> Type:
    """The type of consecutive elements as they lie in memory; a complex number is two floats."""
    if dtype.is_complex:
        return register_type(dtype, 2 * lanes)
    return Type(_MEMORY.get(dtype, _ELEMENTS[dtype]), lanes)


def load(dtype: DType, address: Value, lanes: int) -> Register:
    """Consecutive elements."""
    return widened(dtype, address.function.load(raw_type(dtype, lanes), address))


def gather(dtype: DType, addresses: Value) -> Register:
    """Elements at one address per lane."""
    if not dtype.is_complex:
        return widened(dtype, _gathered(raw_type(dtype, addresses.type.lanes), addresses))
    part = register_type(dtype, addresses.type.lanes)
    second = addresses.function.advance(addresses, _indices(addresses, 1), dtype.itemsize // 2)
    return Complex(_gathered(part, addresses), _gathered(part, second))


def _indices(addresses: Value, number: int) -> Value:
    return addresses.function.constant(Type("i64", addresses.type.lanes), number)


def _gathered(type: Type, addresses: Value) -> Value:
    function, lanes = addresses.function, type.lanes
    if lanes == 1:
        return function.load(type, addresses)
    mask = function.constant(Type("i1", lanes), True)
    name = f"@llvm.masked.gather.{type.suffix}.{addresses.type.suffix}"
    align = f"{addresses.type} align {type.bits // 8} {addresses.name}"
    return function.emit(type, f"call {type} {name}({align}, {mask}, {type} poison)")


def store(dtype: DType, register: Register, address: Value) -> None:
    """Consecutive elements."""
    address.function.store(narrowed(dtype, register), address)


def _every_second(both: Value, first: int) -> Value:
    count = both.type.lanes
    return both.part(first, 1) if count == 2 else shuffled(both, both, range(first, count, 2))


def widened(dtype: DType, raw: Value) -> Register:
    """From memory form to register form."""
    if dtype.is_complex:
        return Complex(_every_second(raw, 0), _every_second(raw, 1))
    if dtype is dtypes.bool_:
        return raw.compare("ne", 0)
    if dtype is dtypes.float16:
        return raw.convert("fpext", "float")
    if dtype is dtypes.bfloat16:
        return (raw.convert("zext", "i32") << 16).convert("bitcast", "float")
    return raw


def narrowed(dtype: DType, register: Register) -> Value:
    """From register form, already rounded, to memory form."""
    if isinstance(register, Complex):
        return interleaved(*register)
    if dtype is dtypes.bool_:
        return register.convert("zext", "i8")
    if dtype is dtypes.float16:
        return register.convert("fptrunc", "half")
    if dtype is dtypes.bfloat16:
        return (register.bits() >> 16).convert("trunc", "i16")
    return register


def rounded(dtype: DType, value: Register) -> Register:
    """`value` with the precision of its dtype: to nearest, ties to even; NaN stays NaN."""
    if dtype not in HALF or isinstance(value, Complex):
        return value
    if dtype is dtypes.float16:
        return value.convert("fptrunc", "half").convert("fpext", "float")
    bits = value.bits()
    nearest = bits + 0x7FFF + ((bits >> 16) & 1)
    quiet = bits | 0x400000
    chosen = value.compare("ne", value).select(quiet, nearest) & 0xFFFF0000
    return chosen.convert("bitcast", "float")


def constant(function: Function, dtype: DType, number: complex) -> Register:
    """A number of the dtype."""
    type = register_type(dtype)
    if dtype.is_complex:
        value = complex(number)
        return Complex(function.constant(type, value.real), function.constant(type, value.imag))
    if dtype.category is Category.BOOL:
        return function.constant(type, bool(number))
    if not isinstance(number, (int, float)):
        raise TypeError(f"a constant of dtype {dtype.name} must be a real number, but got {number!r}.")
    if dtype in HALF:
        with np.errstate(over="ignore"):
            return function.constant(type, float(np.float32(number).astype(dtype.numpy)))
    return function.constant(type, number)


def unit_bytes(dtype: DType) -> tuple[int, int]:
    """An element as so many units of so many bytes, units being what one instruction moves."""
    return (2, 8) if dtype.itemsize == 16 else (1, dtype.itemsize)
