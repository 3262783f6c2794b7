"""The elementwise primitives on registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.ptir.primitives.elementwise import EXACT_IN_HALF
from raxis_cpu.llvm import math
from raxis_cpu.llvm.casting import cast
from raxis_cpu.llvm.complexes import COMPLEX
from raxis_cpu.llvm.division import FLOAT_DIVISION, INTEGER_DIVISION
from raxis_cpu.llvm.ir import Value, fma
from raxis_cpu.llvm.math import instructions
from raxis_cpu.llvm.math.complex_functions import FUNCTIONS
from raxis_cpu.llvm.math.support import absolute, any_lane, is_nan, sqrt
from raxis_cpu.llvm.registers import Complex, Register, rounded

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
EXPENSIVE = frozenset({*math.UNARY, "pow", "atan2", "fmod", "remainder", "floor_divide"})
"""Worth keeping rather than computing again."""


def supports(op: str, dtype: DType) -> bool:
    """Whether `apply` knows an elementwise primitive for data operands of this dtype."""
    if op == "cast":
        return True
    if dtype.is_complex:
        return op in COMPLEX or op in FUNCTIONS or op == "select"
    if op in {"make_complex", "nextafter"}:
        return dtype.is_floating_point
    return op in COMPARISONS or op == "select" or op in _FUNCTIONS[dtype.category]


def apply(op: str, operands: list[Register], operand: DType, result: DType) -> Register:
    """The result of primitive `op` for data operands of dtype `operand`."""
    value = _exact(op, operands, operand, result)
    return value if op in EXACT_IN_HALF else rounded(result, value)


def _exact(op: str, operands: list[Register], operand: DType, result: DType) -> Register:
    if op == "cast":
        return cast(operands[0], operand, result)
    if op == "select":
        return select(*operands)
    if operand.is_complex:
        return (COMPLEX.get(op) or FUNCTIONS[op])(*operands)
    values = [value for value in operands if isinstance(value, Value)]
    if op == "make_complex":
        return Complex(*values)
    if op in COMPARISONS:
        return compare(op, *values, dtype=operand)
    if op == "nextafter":
        return _next_after(*values, dtype=operand)
    function = _FUNCTIONS[operand.category][op]
    if op in EXPENSIVE and operand.is_floating_point and instructions.is_short(values[0]):
        lanes = 128 // values[0].type.bits
        wide = function(*(value.splat(lanes) for value in values), signed=True)
        return wide.part(0, 1)
    return function(*values, signed=operand.is_signed)


def select(condition: Register, yes: Register, no: Register) -> Register:
    """`yes` where the condition holds, else `no`."""
    if not isinstance(condition, Value):
        raise TypeError("the condition of a select must be real.")
    if isinstance(yes, Complex) and isinstance(no, Complex):
        return Complex(condition.select(yes.real, no.real), condition.select(yes.imag, no.imag))
    return condition.select(yes, no)  # type: ignore[arg-type]


def compare(op: str, x: Value, y: Value, *, dtype: DType) -> Value:
    """A comparison of elements of `dtype`."""
    unsigned = not dtype.is_signed and op not in {"eq", "ne"}
    return x.compare(f"u{op}" if unsigned else op, y)


def maximum(x: Value, y: Value, *, signed: bool = True) -> Value:
    """The greater; NaN if either is."""
    return _extreme(x, y, "gt", signed)


def minimum(x: Value, y: Value, *, signed: bool = True) -> Value:
    """The smaller; NaN if either is."""
    return _extreme(x, y, "lt", signed)


def _extreme(x: Value, y: Value, predicate: str, signed: bool) -> Value:
    chosen = x.compare(predicate if signed else f"u{predicate}", y).select(x, y)
    return is_nan(x).select(x, chosen) if x.type.is_float else chosen


def _plain(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that does not ask whether its operands are signed."""
    return lambda *operands, signed: function(*operands)  # noqa: ARG005, PLW0108


def _sign(x: Value, *, signed: bool) -> Value:
    negative = x.compare("lt", 0).select(x.function.constant(x.type, -1), 0) if signed else 0
    return x.compare("gt" if signed else "ne", 0).select(x.function.constant(x.type, 1), negative)


def _integer_absolute(x: Value, *, signed: bool) -> Value:
    return x.compare("lt", 0).select(-x, x) if signed else x


def _shift(x: Value, y: Value, *, signed: bool, left: bool) -> Value:
    outside = y.compare("uge", x.type.bits)
    count = outside.select(0, y)
    if left:
        return outside.select(0, x << count)
    shifted = x.arithmetic_shift(count) if signed else x >> count
    filled = x.arithmetic_shift(x.type.bits - 1) if signed else 0
    return outside.select(filled, shifted)


def _integer_power(x: Value, y: Value, *, signed: bool) -> Value:
    """By repeated squaring, for as long as an exponent has bits left."""
    function = x.function
    exponent = function.variable(y.type, y.compare("lt", 0).select(0, y) if signed else y)
    result, square = function.variable(x.type, 1), function.variable(x.type, x)
    with function.repeat_while() as loop:
        left = exponent.get()
        loop.test(any_lane(left.compare("ne", 0)))
        odd = (left & 1).compare("ne", 0)
        result.set(odd.select(result.get() * square.get(), result.get()))
        square.set(square.get() * square.get())
        exponent.set(left >> 1)
    return _with_reciprocals(x, y, result.get()) if signed else result.get()


def _with_reciprocals(x: Value, y: Value, power: Value) -> Value:
    of_minus_one = 1 - ((y & 1) << 1)
    reciprocal = x.compare("eq", -1).select(of_minus_one, x.compare("eq", 1).select(x, 0))
    return y.compare("lt", 0).select(reciprocal, power)


def _next_after(x: Value, y: Value, *, dtype: DType) -> Value:
    """The next number of the dtype: one step of the bit pattern, which orders magnitudes."""
    shift = 16 if dtype is dtypes.bfloat16 else 0
    narrow = x.convert("fptrunc", "half") if dtype is dtypes.float16 else x
    target = y.convert("fptrunc", "half") if dtype is dtypes.float16 else y
    bits = narrow.bits() >> shift
    sign = 1 << (8 * dtype.itemsize - 1)
    away = narrow.compare("lt", target).select(1, 0 - bits.function.constant(bits.type, 1))
    step = (bits & sign).compare("ne", 0).select(0 - away, away)
    smallest = (target.bits() >> shift & sign) | 1
    moved = narrow.compare("eq", 0.0).select(smallest, bits + step) << shift
    value = moved.convert("bitcast", narrow.type.element)
    value = narrow.compare("eq", target).select(target, value)
    value = (is_nan(narrow) | is_nan(target)).select(narrow + target, value)
    return value.convert("fpext", "float") if dtype is dtypes.float16 else value


def _rsqrt(x: Value) -> Value:
    if not instructions.available(x):
        return 1.0 / sqrt(x)
    estimate = instructions.reciprocal_root_estimate(x)
    value = estimate
    for _ in range(1 if x.type.element == "float" else 2):
        error = fma(-(x * value), value, 1.0)
        value = fma(value * 0.5, error, value)
    # At 0 and infinity the estimate is exact, and the step is not.
    return is_nan(value).select(estimate, value)


def _intrinsic(name: str) -> Callable[..., Value]:
    return lambda x, *, signed: x.intrinsic(name)  # noqa: ARG005


def _float_sign(x: Value) -> Value:
    negative = x.compare("lt", 0.0).select(x.function.constant(x.type, -1.0), 0.0)
    return x.compare("gt", 0.0).select(1.0, negative)


_ARITHMETIC: dict[str, Callable[..., Value]] = {
    "neg": _plain(lambda x: -x),
    "add": _plain(lambda x, y: x + y),
    "sub": _plain(lambda x, y: x - y),
    "mul": _plain(lambda x, y: x * y),
    "maximum": maximum,
    "minimum": minimum,
}
_BITWISE: dict[str, Callable[..., Value]] = {
    "not": _plain(lambda x: ~x),
    "and": _plain(lambda x, y: x & y),
    "or": _plain(lambda x, y: x | y),
    "xor": _plain(lambda x, y: x ^ y),
}
_FUNCTIONS: Mapping[Category, Mapping[str, Callable[..., Value]]] = {
    Category.BOOL: {
        **_BITWISE,
        "add": _BITWISE["or"],
        "mul": _BITWISE["and"],
        "maximum": _BITWISE["or"],
        "minimum": _BITWISE["and"],
    },
    Category.INTEGER: {
        **_BITWISE,
        **_ARITHMETIC,
        **INTEGER_DIVISION,
        "abs": _integer_absolute,
        "sign": _sign,
        "pow": _integer_power,
        "shift_left": lambda x, y, *, signed: _shift(x, y, signed=signed, left=True),
        "shift_right": lambda x, y, *, signed: _shift(x, y, signed=signed, left=False),
    },
    Category.FLOAT: {
        **{name: _plain(function) for name, function in math.UNARY.items()},
        **{name: _plain(function) for name, function in FLOAT_DIVISION.items()},
        **_ARITHMETIC,
        "pow": _plain(math.power),
        "atan2": _plain(math.atan2),
        "div": _plain(lambda x, y: x / y),
        "abs": _plain(absolute),
        "sign": _plain(_float_sign),
        "sqrt": _plain(sqrt),
        "rsqrt": _plain(_rsqrt),
        "floor": _intrinsic("floor"),
        "ceil": _intrinsic("ceil"),
        "trunc": _intrinsic("trunc"),
        "round": _intrinsic("rint"),
    },
}
