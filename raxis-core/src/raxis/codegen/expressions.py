"""Elementwise primitives as expressions of the C family.

Values are held in *registers*: bool as 0 or 1 in a u8, float16 and bfloat16 as f32, complex numbers as structs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from raxis import dtypes
from raxis.codegen.complex_functions import WIDE
from raxis.codegen.dialect import Dialect
from raxis.dtypes import HALF, Category, DType
from raxis.ptir.primitives.elementwise import EXACT_IN_HALF

_SUFFIX = {
    dtypes.bool_: "u8", dtypes.uint8: "u8", dtypes.int8: "i8", dtypes.int16: "i16", dtypes.int32: "i32",
    dtypes.int64: "i64", dtypes.float16: "f16", dtypes.bfloat16: "bf16", dtypes.float32: "f32", dtypes.float64: "f64",
    dtypes.complex64: "c64", dtypes.complex128: "c128",
}  # fmt: skip
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_DIVISIONS = {"div": "idiv", "floor_divide": "ifloor", "remainder": "iremainder", "fmod": "imod"}
DIVISIONS = frozenset(_DIVISIONS)
"""Of integers, they raise for a divisor of 0."""

_MATH = re.compile(r"\$(\w+):(f32|f64)")

_Maker = Callable[..., str]


def memory_type(dtype: DType) -> str:
    """The type of elements in memory."""
    return "u16" if dtype in HALF else _SUFFIX[dtype]


def register_type(dtype: DType) -> str:
    """The type of variables that hold elements."""
    return "f32" if dtype in HALF else _SUFFIX[dtype]


def loaded(dtype: DType, place: str) -> str:
    """What a register gets from a place in memory."""
    if dtype is dtypes.bool_:
        return f"({place} != 0)"
    return f"rx_load_{_SUFFIX[dtype]}({place})" if dtype in HALF else place


def stored(dtype: DType, register: str) -> str:
    """What memory gets from a register."""
    return f"rx_store_{_SUFFIX[dtype]}({register})" if dtype in HALF else register


def rounded(dtype: DType, expression: str) -> str:
    """A number in the dtype's own precision."""
    return f"rx_round_{_SUFFIX[dtype]}({expression})" if dtype in HALF else expression


def literal(dialect: Dialect, dtype: DType, value: complex) -> str:
    """A Python number as a register of `dtype`."""
    if dtype.is_complex:
        real = dtype.to_real()
        number = complex(value)
        return f"rx_make_{_SUFFIX[dtype]}({literal(dialect, real, number.real)}, {literal(dialect, real, number.imag)})"
    if isinstance(value, complex):
        value = value.real
    if dtype.is_floating_point:
        return _real_literal(dtype, float(value))
    if dtype is dtypes.bool_:
        return "1" if value else "0"
    bits = 8 * dtype.itemsize
    wrapped = int(value) % (1 << bits)
    if not dtype.is_signed or wrapped < 1 << (bits - 1):
        return f"({_SUFFIX[dtype]}){wrapped}{dialect.long_suffix}"
    return f"({_SUFFIX[dtype]})({wrapped - (1 << bits) + 1}{dialect.long_suffix} - 1)"


def _real_literal(dtype: DType, value: float) -> str:
    suffix = register_type(dtype)
    if dtype is not dtypes.float64:
        value = _nearest(value, dtype)
    if math.isnan(value):
        return f"rx_nan_{suffix}()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}rx_inf_{suffix}()"
    return f"{value!r}f" if suffix == "f32" else repr(value)


def _nearest(value: float, dtype: DType) -> float:
    import numpy as np

    with np.errstate(all="ignore"):
        narrow = np.float32(value)
        return float(narrow.astype(dtype.numpy) if dtype in HALF else narrow)


def supports(op: str, dtype: DType) -> bool:
    """Whether `expression` knows an elementwise primitive for data operands of a dtype."""
    if op in {"cast", "select"}:
        return True
    if op == "make_complex":
        return dtype.is_floating_point
    if op in COMPARISONS and not dtype.is_complex:
        return True
    return op in _TABLES[dtype.category]


def expression(dialect: Dialect, op: str, operand: DType, result: DType, registers: Sequence[str]) -> str:
    """The result register of primitive `op` for data operands of dtype `operand`.

    Args:
        dialect: names the mathematical functions.
        op: an elementwise primitive.
        operand: dtype of its data operands.
        result: dtype of its result.
        registers: names of variables.
    """
    made = _exact(op, operand, result, registers)
    made = _MATH.sub(lambda found: dialect.math(found[1], found[2]), made)
    return made if op in EXACT_IN_HALF else rounded(result, made)


def _exact(op: str, operand: DType, result: DType, registers: Sequence[str]) -> str:
    if op == "cast":
        return cast(registers[0], operand, result)
    if op == "select":
        condition, yes, no = registers
        return f"{condition} ? {yes} : {no}"
    if op == "make_complex":
        return f"rx_make_{_SUFFIX[result]}({', '.join(registers)})"
    if op in COMPARISONS and not operand.is_complex:
        return f"{registers[0]} {COMPARISONS[op]} {registers[1]}"
    if op == "nextafter":
        return f"rx_nextafter_{_SUFFIX[operand]}({', '.join(registers)})"
    suffix = register_type(operand)
    return _TABLES[operand.category][op](suffix, *registers)


def cast(register: str, source: DType, target: DType) -> str:
    """`register` of dtype `source` as one of dtype `target`."""
    if source.is_complex:
        return _from_complex(register, source, target)
    if target.is_complex:
        real = cast(register, source, target.to_real())
        return f"rx_make_{_SUFFIX[target]}({real}, 0)"
    if target is dtypes.bool_:
        return f"{register} != 0"
    if source.is_floating_point and not target.is_floating_point:
        return _to_integer(register, source, target)
    converted = f"({register_type(target)}){register}"
    exact = target not in HALF or source is target
    return converted if exact else rounded(target, converted)


def _from_complex(register: str, source: DType, target: DType) -> str:
    if target is dtypes.bool_:
        return f"{register}.re != 0 || {register}.im != 0"
    parts = [f"{register}.re", f"{register}.im"]
    if not target.is_complex:
        return cast(parts[0], source.to_real(), target)
    real, imag = (cast(part, source.to_real(), target.to_real()) for part in parts)
    return f"rx_make_{_SUFFIX[target]}({real}, {imag})"


def _to_integer(register: str, source: DType, target: DType) -> str:
    bits = "i64" if target is dtypes.int64 else "i32"
    return f"({_SUFFIX[target]})rx_to_{bits}_{register_type(source)}({register})"


def _math(name: str) -> _Maker:
    return lambda suffix, *registers: f"${name}:{suffix}({', '.join(registers)})"


def _helper(name: str) -> _Maker:
    return lambda suffix, *registers: f"rx_{name}_{suffix}({', '.join(registers)})"


def _operator(symbol: str) -> _Maker:
    return lambda _, *registers: f" {symbol} ".join(registers)


def _wrapping(symbol: str) -> _Maker:
    """Unsigned arithmetic, since overflow of signed integers is undefined."""

    def made(suffix: str, x: str, y: str) -> str:
        wide = "u64" if suffix == "i64" else "u32"
        return f"({suffix})(({wide}){x} {symbol} ({wide}){y})"

    return made


def _component(name: str) -> _Maker:
    return lambda _, x: f"{x}.{name}"


_FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erfc", "floor", "ceil", "trunc", "pow", "atan2", "fmod",
)  # fmt: skip

_REAL_TABLE: dict[str, _Maker] = {
    **{name: _math(name) for name in _FUNCTIONS},
    **{name: _helper(name) for name in
       ("sign", "sigmoid", "maximum", "minimum", "floor_divide", "remainder", "lgamma", "erf", "erfinv", "digamma",
        "nextafter")},
    "round": _math("rint"),
    "abs": _math("fabs"),
    "rsqrt": lambda suffix, x: f"1 / $sqrt:{suffix}({x})",
    "neg": lambda _, x: f"-{x}",
    **{name: _operator(symbol) for name, symbol in {"add": "+", "sub": "-", "mul": "*", "div": "/"}.items()},
}  # fmt: skip

_INTEGER_TABLE: dict[str, _Maker] = {
    **{name: _wrapping(symbol) for name, symbol in {"add": "+", "sub": "-", "mul": "*"}.items()},
    **{name: _helper(helper) for name, helper in _DIVISIONS.items()},
    "pow": _helper("ipow"),
    "neg": lambda suffix, x: f"({suffix})(0 - ({'u64' if suffix == 'i64' else 'u32'}){x})",
    "abs": lambda suffix, x: f"{x} < 0 ? ({suffix})(0 - ({'u64' if suffix == 'i64' else 'u32'}){x}) : {x}",
    "sign": lambda _, x: f"({x} > 0) - ({x} < 0)",
    "not": lambda suffix, x: f"({suffix})~{x}",
    "maximum": lambda _, x, y: f"{x} > {y} ? {x} : {y}",
    "minimum": lambda _, x, y: f"{x} < {y} ? {x} : {y}",
    **{name: _operator(symbol) for name, symbol in {"and": "&", "or": "|", "xor": "^"}.items()},
    "shift_left": _helper("shift_left"),
    "shift_right": _helper("shift_right"),
}

_BOOL_TABLE: dict[str, _Maker] = {
    "not": lambda _, x: f"!{x}",
    **{name: _operator("|") for name in ("add", "or", "maximum")},
    **{name: _operator("&") for name in ("mul", "and", "minimum")},
    "xor": _operator("^"),
}

_COMPLEX_TABLE: dict[str, _Maker] = {
    **{
        name: _helper(name) for name in (*WIDE, "pow", "add", "sub", "mul", "div", "neg", "conj", "abs", "eq")
    },
    "ne": lambda suffix, x, y: f"!rx_eq_{suffix}({x}, {y})",
    "real": _component("re"),
    "imag": _component("im"),
}

_TABLES: Mapping[Category, Mapping[str, _Maker]] = {
    Category.BOOL: _BOOL_TABLE,
    Category.INTEGER: _INTEGER_TABLE,
    Category.FLOAT: _REAL_TABLE,
    Category.COMPLEX: _COMPLEX_TABLE,
}
