"""Elementwise ops against torch's operator database."""

from __future__ import annotations

import pytest

from tests.parity import opinfo

ARITHMETIC = (
    "__radd__", "__rmod__", "__rmul__", "__rpow__", "__rsub__", "add", "div", "float_power", "floor_divide", "fmod",
    "gcd", "lcm", "mul", "pow", "remainder", "rsub", "sub", "true_divide",
)  # fmt: skip
COMPARISON = (
    "allclose", "eq", "equal", "fmax", "fmin", "ge", "gt", "isclose", "isfinite", "isinf", "isnan", "isneginf",
    "isposinf", "isreal", "le", "lt", "maximum", "minimum", "ne", "where",
)  # fmt: skip
COMPLEX = (
    "angle", "complex", "conj", "conj_physical", "imag", "polar", "real", "resolve_conj", "resolve_neg",
    "view_as_complex", "view_as_real",
)  # fmt: skip
EXPONENTIALS = (
    "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logit", "reciprocal",
    "rsqrt", "sigmoid", "sqrt", "xlogy",
)  # fmt: skip
LOGIC = (
    "__rand__", "__ror__", "__rxor__", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "logical_and", "logical_not", "logical_or", "logical_xor",
)  # fmt: skip
SIGNS_AND_BOUNDS = (
    "abs", "addcdiv", "addcmul", "ceil", "clamp", "clamp_max", "clamp_min", "copysign", "floor", "frac", "heaviside",
    "lerp", "nan_to_num", "neg", "nextafter", "positive", "round", "sgn", "sign", "signbit", "square", "trunc",
)  # fmt: skip
TRIGONOMETRY = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "deg2rad", "hypot", "rad2deg", "sin",
    "sinc", "sinh", "tan", "tanh",
)  # fmt: skip

NAMES = (*ARITHMETIC, *COMPARISON, *COMPLEX, *EXPONENTIALS, *LOGIC, *SIGNS_AND_BOUNDS, *TRIGONOMETRY)


@pytest.mark.parametrize("case", opinfo.cases(*NAMES, limit=12), ids=str)
def test_elementwise(case: opinfo.Case) -> None:
    case.run()
