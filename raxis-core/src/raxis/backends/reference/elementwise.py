"""Element-by-element primitives, mostly NumPy ufuncs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from raxis.backends.reference import casting, special_functions
from raxis.backends.reference.casting import Kernel
from raxis.dtypes import HALF, Category
from raxis.ptir.program import Instruction


def kernel(instruction: Instruction) -> Kernel:
    """The kernel of an element-by-element instruction."""
    name, operand = instruction.primitive, instruction.operands[-1].type.dtype
    if name == "cast":
        return casting.cast(operand, instruction.results[0].type.dtype)
    function = _BY_CATEGORY[operand.category].get(name) or FUNCTIONS[name]
    if operand in HALF and name not in _NATIVE_IN_HALF:
        return casting.in_float32(function, instruction.results[0].type.dtype)
    return function


def _rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


def _sigmoid(x: Any) -> Any:
    decayed = np.exp(-np.abs(x))
    return np.where(x < 0, decayed, np.ones_like(decayed)) / (1 + decayed)


def _negative(x: Any) -> Any:
    # No ufunc, so that it never writes over its operand: NumPy 2.4 then gives wrong results where that has gaps.
    return np.negative(x)


def _sign(x: Any) -> Any:
    return np.greater(x, 0).astype(x.dtype) - np.less(x, 0).astype(x.dtype)


def _complex_sign(x: Any) -> Any:
    wide = np.asarray(x, np.complex128)
    size = np.absolute(wide)
    return np.where(size < np.inf, wide / np.where(size == 0, 1, size), complex(np.nan, np.nan)).astype(
        x.dtype
    )


def _truncated_quotient(x: Any, y: Any) -> Any:
    quotient = np.floor_divide(x, y)
    return quotient + ((quotient < 0) & (quotient * y != x))


def _integer_power(x: Any, y: Any) -> Any:
    power = np.power(x, np.maximum(y, 0))
    if x.dtype.kind == "u":
        return power
    of_minus_one = 1 - 2 * (y & 1)
    reciprocal = np.where(x == 1, 1, np.where(x == -1, of_minus_one, 0)).astype(x.dtype)
    return np.where(y < 0, reciprocal, power)


def _with_divisor(function: Kernel) -> Kernel:
    """Integer division that refuses zero before it computes anything."""

    def divide(x: Any, y: Any) -> Any:
        if not np.all(y):
            raise RuntimeError("ZeroDivisionError")
        return function(x, y)

    return divide


def _make_complex(real: Any, imag: Any) -> Any:
    result = np.empty(np.shape(real), np.complex64 if real.dtype == np.float32 else np.complex128)
    result.real = real
    result.imag = imag
    return result


FUNCTIONS: Mapping[str, Kernel] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": special_functions.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": _rsqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": special_functions.erf,
    "erfc": special_functions.erfc,
    "erfinv": special_functions.erfinv,
    "lgamma": special_functions.lgamma,
    "digamma": special_functions.digamma,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
    "neg": _negative,
    "abs": np.absolute,
    "sign": _sign,
    "not": np.invert,
    "real": np.real,
    "imag": np.imag,
    "conj": np.conjugate,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "fmod": np.fmod,
    "pow": np.power,
    "atan2": np.arctan2,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "nextafter": np.nextafter,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "select": np.where,
    "make_complex": _make_complex,
}

_BY_CATEGORY: Mapping[Category, Mapping[str, Kernel]] = {
    Category.BOOL: {},
    Category.INTEGER: {
        "div": _with_divisor(_truncated_quotient),
        "floor_divide": _with_divisor(np.floor_divide),
        "remainder": _with_divisor(np.remainder),
        "fmod": _with_divisor(np.fmod),
        "pow": _integer_power,
    },
    Category.FLOAT: {},
    Category.COMPLEX: {"sign": _complex_sign},
}

_NATIVE_IN_HALF = frozenset({"nextafter", "select"})

PRIMITIVES = frozenset({*FUNCTIONS, "cast"})
