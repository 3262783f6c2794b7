"""Tests of single values: NaN, infinities, real numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.elementwise import computed, unary
from raxis.ops.promotion import Promotion
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


def _test(
    name: str, summary: str, argument: str, result: str, body: Callable[[Tensor], Any]
) -> Callable[..., Any]:
    return computed(
        f"{name}(Tensor input) -> Tensor",
        unary(name, summary, argument, result, "any dtype"),
        body,
        promotion=Promotion.ARITHMETIC,
        inplace=False,
        out=name in ("isposinf", "isneginf"),
    )


def _never(input: Tensor) -> Any:
    return constant(False, dtypes.bool_, input.shape)


def _is_exact(input: Tensor) -> bool:
    return input.dtype.category <= Category.INTEGER


def _isnan(input: Tensor) -> Any:
    return _never(input) if _is_exact(input) else emit("ne", input, input)


def _isinf(input: Tensor) -> Any:
    if input.dtype.is_complex:
        return _isinf(emit("real", input)) | _isinf(emit("imag", input))
    return _never(input) if _is_exact(input) else input.abs() == math.inf


def _isfinite(input: Tensor) -> Any:
    if input.dtype.is_complex:
        return _isfinite(emit("real", input)) & _isfinite(emit("imag", input))
    return ~_never(input) if _is_exact(input) else input.abs() < math.inf


def _is_infinity(sign: float) -> Callable[[Tensor], Any]:
    def body(input: Tensor) -> Any:
        return _never(input) if _is_exact(input) else input == sign

    return body


def _isreal(input: Tensor) -> Any:
    return emit("imag", input) == 0 if input.dtype.is_complex else ~_never(input)


_INFINITIES = "[float('inf'), -float('inf')]"
_NAN_AND_INF = "[1.0, float('nan'), float('inf')]"
isnan = _test("isnan", "Whether each element is NaN.", _NAN_AND_INF, "[False,  True, False]", _isnan)
isinf = _test("isinf", "Whether each element is infinite.", _NAN_AND_INF, "[False, False,  True]", _isinf)
isfinite = _test(
    "isfinite",
    "Whether each element is neither infinite nor NaN.",
    _NAN_AND_INF,
    "[ True, False, False]",
    _isfinite,
)


isreal = _test(
    "isreal", "Whether each element has no imaginary part.", "[1 + 0j, 1j]", "[ True, False]", _isreal
)


isposinf = _test(
    "isposinf", "Whether each element is +inf.", _INFINITIES, "[ True, False]", _is_infinity(math.inf)
)


isneginf = _test(
    "isneginf", "Whether each element is -inf.", _INFINITIES, "[False,  True]", _is_infinity(-math.inf)
)
