"""Algebraic rules, as data: exact ones, ones that round differently, and ones that lose special numbers.

The exact ones hold for every number there is, with NaN, infinities and the sign of zero; so ``x + 0`` stays for floats
(it makes 0 of -0), and ``x * 0`` (it makes NaN of infinity). The tests try each rule on such numbers.
"""

from __future__ import annotations

import math
from itertools import product

from raxis.dtypes import float16, uint8
from raxis.ptir.passes.record import Context, Pass
from raxis.ptir.passes.rewriter import Rewriter, Rule, sweep
from raxis.ptir.passes.rewrites import Rewrite, rule_table
from raxis.ptir.primitives.record import ANY, BITS, BOOL, COMPLEX, FLOAT, INTEGER, NUMERIC, ORDERED, REAL
from raxis.ptir.program import Instruction, Program, Value

_SIGNED = REAL - {uint8}
_ROUNDINGS = ("floor", "ceil", "round", "trunc")

EXACT: tuple[Rewrite, ...] = (
    Rewrite("add(x, 0) -> x", BITS),
    Rewrite("add(x, -0.0) -> x", FLOAT),
    Rewrite("sub(x, 0) -> x", REAL),
    Rewrite("sub(0, x) -> neg(x)", INTEGER),
    Rewrite("sub(-0.0, x) -> neg(x)", FLOAT),
    Rewrite("sub(x, x) -> 0", INTEGER),
    Rewrite("mul(x, 1) -> x", ORDERED),
    Rewrite("mul(x, 0) -> 0", BITS),
    Rewrite("mul(x, -1) -> neg(x)", _SIGNED),
    Rewrite("div(x, 1) -> x", REAL),
    Rewrite("div(x, -1) -> neg(x)", FLOAT),
    Rewrite("floor_divide(x, 1) -> x", INTEGER),
    Rewrite("remainder(x, 1) -> 0", INTEGER),
    Rewrite("fmod(x, 1) -> 0", INTEGER),
    Rewrite("pow(x, 0) -> 1", REAL),
    Rewrite("pow(x, 1) -> x", INTEGER),
    Rewrite("pow(1, x) -> 1", REAL),
    Rewrite("pow(x, 2) -> mul(x, x)", INTEGER),
    Rewrite("add(add(x, C), D) -> add(x, add(C, D))", INTEGER),
    Rewrite("mul(mul(x, C), D) -> mul(x, mul(C, D))", INTEGER),
    Rewrite("neg(neg(x)) -> x", NUMERIC),
    Rewrite("add(x, neg(y)) -> sub(x, y)", NUMERIC),
    Rewrite("sub(x, neg(y)) -> add(x, y)", NUMERIC),
    Rewrite("mul(neg(x), neg(y)) -> mul(x, y)", NUMERIC),
    Rewrite("div(neg(x), neg(y)) -> div(x, y)", FLOAT),
    Rewrite("abs(neg(x)) -> abs(x)", _SIGNED | COMPLEX),
    Rewrite("abs(abs(x)) -> abs(x)", REAL),
    Rewrite("sign(sign(x)) -> sign(x)", REAL),
    *(Rewrite(f"{outer}({inner}(x)) -> {inner}(x)", FLOAT) for outer, inner in product(_ROUNDINGS, repeat=2)),
    Rewrite("maximum(x, x) -> x", ORDERED),
    Rewrite("minimum(x, x) -> x", ORDERED),
    Rewrite("maximum(maximum(x, y), y) -> maximum(x, y)", ORDERED),
    Rewrite("minimum(minimum(x, y), y) -> minimum(x, y)", ORDERED),
    Rewrite("not(not(x)) -> x", BITS),
    Rewrite("and(x, x) -> x", BITS),
    Rewrite("and(x, 0) -> 0", BITS),
    Rewrite("and(x, 1) -> x", BOOL),
    Rewrite("or(x, x) -> x", BITS),
    Rewrite("or(x, 0) -> x", BITS),
    Rewrite("or(x, 1) -> 1", BOOL),
    Rewrite("xor(x, x) -> 0", BITS),
    Rewrite("xor(x, 0) -> x", BITS),
    Rewrite("xor(x, 1) -> not(x)", BOOL),
    Rewrite("shift_left(x, 0) -> x", INTEGER),
    Rewrite("shift_right(x, 0) -> x", INTEGER),
    Rewrite("eq(x, x) -> 1", BITS),
    Rewrite("ne(x, x) -> 0", BITS),
    Rewrite("le(x, x) -> 1", BITS),
    Rewrite("ge(x, x) -> 1", BITS),
    Rewrite("lt(x, x) -> 0", ORDERED),
    Rewrite("gt(x, x) -> 0", ORDERED),
    Rewrite("eq(x, 1) -> x", BOOL),
    Rewrite("eq(x, 0) -> not(x)", BOOL),
    Rewrite("ne(x, 0) -> x", BOOL),
    Rewrite("ne(x, 1) -> not(x)", BOOL),
    Rewrite("not(eq(x, y)) -> ne(x, y)", BOOL),
    Rewrite("not(ne(x, y)) -> eq(x, y)", BOOL),
    Rewrite("select(c, x, x) -> x", ANY),
    Rewrite("select(1, x, y) -> x", ANY),
    Rewrite("select(0, x, y) -> y", ANY),
    Rewrite("select(not(c), x, y) -> select(c, y, x)", ANY),
    Rewrite("select(c, 1, 0) -> c", BOOL),
    Rewrite("select(c, 0, 1) -> not(c)", BOOL),
    Rewrite("conj(conj(x)) -> x", COMPLEX),
    Rewrite("real(make_complex(x, y)) -> x", COMPLEX),
    Rewrite("imag(make_complex(x, y)) -> y", COMPLEX),
)
"""Rules whose two sides are the same for all numbers."""

ROUNDING: tuple[Rewrite, ...] = (
    Rewrite("pow(x, 1) -> x", FLOAT),
    Rewrite("pow(x, 2) -> mul(x, x)", FLOAT),
    Rewrite("pow(x, 3) -> mul(mul(x, x), x)", FLOAT),
    Rewrite("pow(x, -1) -> div(1, x)", FLOAT),
    Rewrite("div(1, sqrt(x)) -> rsqrt(x)", FLOAT),
)
"""Rules that may round differently, and keep NaN, infinities and the sign of zero."""

FAST: tuple[Rewrite, ...] = (
    Rewrite("add(x, 0) -> x", FLOAT | COMPLEX),
    Rewrite("sub(x, x) -> 0", FLOAT),
    Rewrite("sub(0, x) -> neg(x)", FLOAT),
    Rewrite("mul(x, 0) -> 0", FLOAT),
    Rewrite("div(x, x) -> 1", FLOAT),
    Rewrite("add(add(x, C), D) -> add(x, add(C, D))", FLOAT),
    Rewrite("mul(mul(x, C), D) -> mul(x, mul(C, D))", FLOAT),
    Rewrite("pow(x, 0.5) -> sqrt(x)", FLOAT),
    Rewrite("pow(x, -0.5) -> rsqrt(x)", FLOAT),
    Rewrite("exp(log(x)) -> x", FLOAT),
    Rewrite("log(exp(x)) -> x", FLOAT),
    Rewrite("sqrt(mul(x, x)) -> abs(x)", FLOAT),
)
"""Rules of real numbers that floats break."""


def _by_reciprocal(rewriter: Rewriter, instruction: Instruction) -> Value | None:
    """Division by a power of two is multiplication by its reciprocal; by other constants, nearly.

    Both must be normal numbers of the dtype.
    """
    operand, divisor = instruction.operands
    dtype, number = operand.type.dtype, rewriter.number(divisor)
    if dtype not in FLOAT or not number or not math.isfinite(number):
        return None
    fraction, exponent = math.frexp(abs(number))
    is_exact = fraction == 0.5
    if abs(exponent) > (13 if dtype is float16 else 120) or not (is_exact or rewriter.context.fast_math):
        return None
    return rewriter.emit("mul", operand, rewriter.constant(1 / number, operand.type))


_EXACT_TABLE = rule_table(EXACT, Rule("division by a constant", ("div",), _by_reciprocal, ("", "constant")))
_ROUNDING_TABLE = rule_table(ROUNDING)
_FAST_TABLE = rule_table(FAST)


def _run(program: Program, context: Context) -> Program:
    simple = sweep(program, _EXACT_TABLE, context)
    return sweep(simple, _FAST_TABLE, context) if context.fast_math else simple


ALGEBRA = Pass("algebra", "algebraic rules that hold for NaN, infinities and -0 too", _run)
STRENGTH = Pass(
    "strength",
    "small powers become products, reciprocals of roots one function",
    lambda program, context: sweep(program, _ROUNDING_TABLE, context),
    exact=False,
)
