"""Primitives that work element by element.

float16 and bfloat16 operands are converted to float32, computed there, and rounded once to the result.
Integers wrap around. "Float" functions follow IEEE 754: outside the domain the result is NaN, NaN operands
give NaN unless said otherwise, overflow gives an infinity.
"""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ptir.primitives.checks import listed, require, require_same_type
from raxis.ptir.primitives.record import (
    ANY,
    BITS,
    COMPLEX,
    FLOAT,
    INTEGER,
    NUMERIC,
    ORDERED,
    REAL,
    Attributes,
    Primitive,
    Regions,
    Results,
    Rule,
    Types,
)
from raxis.ptir.types import TensorType


def _same(name: str) -> Rule:
    def rule(operands: Types, _: Attributes, __: Regions) -> Results:
        require_same_type(name, operands)
        return (operands[0],)

    return rule


def _comparison(name: str) -> Rule:
    def rule(operands: Types, _: Attributes, __: Regions) -> Results:
        require_same_type(name, operands)
        return (TensorType(dtypes.bool_, operands[0].shape),)

    return rule


def _real(operands: Types, _: Attributes, __: Regions) -> Results:
    return (TensorType(operands[0].dtype.to_real(), operands[0].shape),)


def _select(operands: Types, _: Attributes, __: Regions) -> Results:
    condition, *branches = operands
    require_same_type("select", branches)
    require(
        condition == TensorType(dtypes.bool_, branches[0].shape),
        f"select expected a condition of dtype bool and the shape of its branches, but got {listed(operands)}.",
    )
    return (branches[0],)


def _complex(operands: Types, _: Attributes, __: Regions) -> Results:
    require_same_type("make_complex", operands)
    return (TensorType(operands[0].dtype.to_complex(), operands[0].shape),)


def _cast(operands: Types, attributes: Attributes, _: Regions) -> Results:
    return (TensorType(attributes["dtype"], operands[0].shape),)


def _unary(name: str, admitted: frozenset[DType], doc: str) -> Primitive:
    return Primitive(name, doc, _same(name), admitted)


def _binary(name: str, admitted: frozenset[DType], doc: str) -> Primitive:
    return Primitive(name, doc, _same(name), admitted, arity=2)


def _compare(name: str, admitted: frozenset[DType], doc: str) -> Primitive:
    return Primitive(name, doc, _comparison(name), admitted, arity=2)


_INEXACT = FLOAT | COMPLEX

_UNARY = (
    _unary("exp", _INEXACT, "e to the power x: exp(-inf) = 0, exp(inf) = inf."),
    _unary("exp2", FLOAT, "2 to the power x: exp2(-inf) = 0, exp2(inf) = inf."),
    _unary("expm1", _INEXACT, "exp(x) - 1 without cancellation near 0; keeps -0."),
    _unary("log", _INEXACT, "Natural logarithm: log(0) = -inf, NaN below 0; complex: principal branch."),
    _unary("log2", FLOAT, "Logarithm to base 2: log2(0) = -inf, NaN below 0; exact at powers of two."),
    _unary("log10", FLOAT, "Logarithm to base 10: log10(0) = -inf, NaN below 0."),
    _unary("log1p", _INEXACT, "log(1 + x) without cancellation near 0: log1p(-1) = -inf, NaN below -1."),
    _unary(
        "sqrt", _INEXACT, "Square root, correctly rounded: sqrt(-0) = -0, NaN below 0; complex: principal."
    ),
    _unary("rsqrt", _INEXACT, "1 / sqrt(x): rsqrt(0) = inf, rsqrt(-0) = -inf, rsqrt(inf) = 0, NaN below 0."),
    _unary("sin", _INEXACT, "Sine of radians; NaN at infinities."),
    _unary("cos", _INEXACT, "Cosine of radians; NaN at infinities."),
    _unary("tan", _INEXACT, "Tangent of radians; NaN at infinities."),
    _unary("asin", _INEXACT, "Arc sine in [-pi/2, pi/2]; NaN outside [-1, 1]."),
    _unary("acos", _INEXACT, "Arc cosine in [0, pi]; NaN outside [-1, 1]."),
    _unary("atan", _INEXACT, "Arc tangent in [-pi/2, pi/2]; atan(inf) = pi/2."),
    _unary("sinh", _INEXACT, "Hyperbolic sine."),
    _unary("cosh", _INEXACT, "Hyperbolic cosine."),
    _unary("tanh", _INEXACT, "Hyperbolic tangent; tanh(inf) = 1."),
    _unary("sigmoid", FLOAT, "1 / (1 + exp(-x)): sigmoid(-inf) = 0, sigmoid(inf) = 1."),
    _unary("asinh", _INEXACT, "Inverse hyperbolic sine."),
    _unary("acosh", _INEXACT, "Inverse hyperbolic cosine; NaN below 1."),
    _unary("atanh", _INEXACT, "Inverse hyperbolic tangent: atanh(1) = inf, NaN outside [-1, 1]."),
    _unary("erf", FLOAT, "Error function; erf(inf) = 1, keeps -0."),
    _unary("erfc", FLOAT, "1 - erf(x) without cancellation: erfc(inf) = 0, erfc(-inf) = 2."),
    _unary("erfinv", FLOAT, "Inverse of erf: erfinv(1) = inf, erfinv(-1) = -inf, NaN outside [-1, 1]."),
    _unary("lgamma", FLOAT, "log|Gamma(x)|: inf at 0, at negative integers and at both infinities."),
    _unary("digamma", FLOAT, "Gamma'/Gamma: -inf at 0, inf at -0, NaN at negative integers and -inf."),
    _unary("floor", FLOAT, "Largest integer not above x; keeps infinities and -0."),
    _unary("ceil", FLOAT, "Smallest integer not below x; keeps infinities and -0."),
    _unary("round", FLOAT, "Nearest integer, ties to even; keeps infinities and -0."),
    _unary("trunc", FLOAT, "Nearest integer towards zero; keeps infinities and -0."),
    _unary("neg", NUMERIC, "Sign change; integers wrap (unsigned too, the least signed stays)."),
    Primitive("abs", "Magnitude, real for complex x; the least signed integer stays.", _real, NUMERIC),
    _unary(
        "sign",
        NUMERIC,
        "-1, 0 or 1, where NaN and -0 give 0; complex: x / |x|, 0 at 0, NaN if |x| is not finite.",
    ),
    _unary("not", BITS, "Complement: logical for bool, of all bits for integers."),
    Primitive("real", "Real part.", _real, COMPLEX),
    Primitive("imag", "Imaginary part.", _real, COMPLEX),
    _unary("conj", COMPLEX, "Complex conjugate."),
)

_BINARY = (
    _binary("add", ANY, "Sum; logical or for bool."),
    _binary("sub", NUMERIC, "Difference."),
    _binary("mul", ANY, "Product; logical and for bool."),
    _binary(
        "div", NUMERIC, "Quotient; x/0 is an infinity or NaN. Integers: truncated, x/0 is a RuntimeError."
    ),
    _binary(
        "floor_divide", REAL, "floor(x / y), exact as Python's //; x/0 = as div. Integer x/0: RuntimeError."
    ),
    _binary(
        "remainder",
        REAL,
        "x - floor(x/y)*y, sign of y (zeros too); NaN for y = 0. Integer y = 0: RuntimeError.",
    ),
    _binary("fmod", REAL, "x - trunc(x/y)*y, exact, sign of x; NaN for y = 0. Integer y = 0: RuntimeError."),
    _binary(
        "pow",
        NUMERIC,
        "x to the power y: pow(x, 0) = pow(1, y) = 1 even for NaN; NaN for x < 0 with fractional y. "
        "Integers wrap; a negative y gives the truncated reciprocal, and 0 for x = 0.",
    ),
    _binary("atan2", FLOAT, "Angle of the point (y, x), with IEEE signed zeros and infinities."),
    _binary("maximum", ORDERED, "The greater; NaN if either is NaN."),
    _binary("minimum", ORDERED, "The smaller; NaN if either is NaN."),
    _binary("nextafter", FLOAT, "The representable number after x towards y (in the operands' own dtype)."),
    _binary("and", BITS, "Bitwise and; logical for bool."),
    _binary("or", BITS, "Bitwise or; logical for bool."),
    _binary("xor", BITS, "Bitwise exclusive or; logical for bool."),
    _binary("shift_left", INTEGER, "x << y; 0 for y outside [0, bits)."),
    _binary("shift_right", INTEGER, "x >> y, arithmetic; 0 or -1 by the sign of x for y outside [0, bits)."),
    _compare("eq", ANY, "x == y; false with NaN."),
    _compare("ne", ANY, "x != y; true with NaN."),
    _compare("lt", ORDERED, "x < y; false with NaN."),
    _compare("le", ORDERED, "x <= y; false with NaN."),
    _compare("gt", ORDERED, "x > y; false with NaN."),
    _compare("ge", ORDERED, "x >= y; false with NaN."),
)

_OTHER = (
    Primitive("select", "Elements of the second operand where the first is true, else of the third.",
              _select, ANY, arity=3, data_operand=1),
    Primitive("make_complex", "Complex numbers from real and imaginary parts.",
              _complex, frozenset({dtypes.float32, dtypes.float64}), arity=2),
    Primitive(
        "cast",
        "Conversion to `dtype`. To bool: is not zero (NaN is true). Integer to integer: low bits. Float to integer: "
        "truncation; NaN and values outside the range of i64 (to i64) or of i32 (to the others) give the least "
        "number of that range, of which narrower integers keep the low bits. To float: nearest, ties to even, "
        "overflow to infinity; to and from f16 and bf16 by way of f32. Complex to real drops the imaginary part.",
        _cast, ANY, attributes={"dtype": "dtype"},
    ),
)  # fmt: skip

PRIMITIVES: tuple[Primitive, ...] = _UNARY + _BINARY + _OTHER

EXACT_IN_HALF = frozenset({
    "neg", "abs", "sign", "maximum", "minimum", "select", "floor", "ceil", "round", "trunc", "nextafter", "cast",
})  # fmt: skip
"""Computed in float32, they give half precision without another rounding; cast rounds itself."""
