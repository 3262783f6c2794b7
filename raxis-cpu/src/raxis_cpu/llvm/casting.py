"""Conversion of registers between dtypes, with the semantics of the primitive cast."""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis_cpu.llvm.ir import Value
from raxis_cpu.llvm.registers import Complex, Register, register_type, rounded


def cast(value: Register, source: DType, target: DType) -> Register:
    """`value` of dtype `source` as one of dtype `target`."""
    if isinstance(value, Complex):
        return _from_complex(value, source, target)
    if target.is_complex:
        real = _real_cast(value, source, target.to_real())
        return Complex(real, value.function.constant(real.type, 0.0))
    return _real_cast(value, source, target)


def _from_complex(value: Complex, source: DType, target: DType) -> Register:
    if target is dtypes.bool_:
        return value.real.compare("ne", 0.0) | value.imag.compare("ne", 0.0)
    real = _real_cast(value.real, source.to_real(), target.to_real())
    if not target.is_complex:
        return real
    return Complex(real, _real_cast(value.imag, source.to_real(), target.to_real()))


def _real_cast(value: Value, source: DType, target: DType) -> Value:
    if source is target:
        return value
    if target is dtypes.bool_:
        return value.compare("ne", 0)
    if source.is_floating_point:
        return _from_float(value, target)
    if target.is_floating_point:
        return _from_integer(value, source, target)
    return _resized(value, register_type(target).element, signed=source.is_signed)


def _resized(value: Value, element: str, *, signed: bool) -> Value:
    target = value.type.of(element)
    if target.bits <= value.type.bits:
        return value.convert("trunc", element) if target.bits < value.type.bits else value
    return value.convert("sext" if signed else "zext", element)


def _from_integer(value: Value, source: DType, target: DType) -> Value:
    element = register_type(target).element
    converted = value.convert("sitofp" if source.is_signed else "uitofp", element)
    return _as_value(rounded(target, converted))


def _from_float(value: Value, target: DType) -> Value:
    if target.category is Category.INTEGER:
        return _to_integer(value, target)
    element = register_type(target).element
    wider = value.type.element == "float" and element == "double"
    return _as_value(rounded(target, value.convert("fpext" if wider else "fptrunc", element)))


def _to_integer(value: Value, target: DType) -> Value:
    # The conversion instruction is undefined outside the range.
    bits = 64 if target is dtypes.int64 else 32
    low = -(2.0 ** (bits - 1))
    inside = value.compare("ge", low) & value.compare("lt", -low)
    whole = inside.select(value, low).convert("fptosi", f"i{bits}")
    return _resized(whole, register_type(target).element, signed=True)


def _as_value(register: Register) -> Value:
    if isinstance(register, Complex):
        raise TypeError("expected a real register.")
    return register
