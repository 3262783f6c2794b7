"""The regularised incomplete gamma functions.

Sources: the power series DLMF 8.11.4 below, the continued fraction DLMF 8.9.2 by the method of Lentz above.
"""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.elementwise import binary, check_some_tensor, computed
from raxis.ops.definitions.exponentials import exp, log, xlogy
from raxis.ops.definitions.gamma_functions import lgamma
from raxis.ops.trace import emit
from raxis.tensor import Tensor

_MOST_TERMS = 2000
_TINY = 1e-30


def _precision(dtype: DType) -> float:
    return 1e-16 if dtype is dtypes.float64 else 6e-8


def _any(condition: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", condition, dims=tuple(range(condition.ndim))),)


def _lower(a: Tensor, x: Tensor) -> Tensor:
    """The sum of ``x**k / ((a + 1) ... (a + k))`` over k >= 0."""

    def is_open(k: Tensor, a: Tensor, x: Tensor, term: Tensor, total: Tensor) -> tuple[Tensor, ...]:
        return _any((term > total * _precision(term.dtype)) & (k < _MOST_TERMS))

    def step(k: Tensor, a: Tensor, x: Tensor, term: Tensor, total: Tensor) -> tuple[Tensor, ...]:
        term = term * x / (a + k)
        return k + 1, a, x, term, total + term

    one = a * 0 + 1
    state = (one, a, x, one, one)
    return emit("while", *state, regions=(region(state, is_open), region(state, step)))[4]


def _upper(a: Tensor, x: Tensor) -> Tensor:
    """The continued fraction ``1 / (x + 1 - a - (1 - a) / (x + 3 - a - ...))``."""

    def is_open(k: Tensor, a: Tensor, b: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        change = state[3]
        return _any(((change - 1).abs() > _precision(a.dtype) * 2) & (k < _MOST_TERMS))

    def step(k: Tensor, a: Tensor, b: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        c, d, total, _ = state
        numerator = k * (a - k)
        b = b + 2
        d = 1 / _not_zero(numerator * d + b)
        c = _not_zero(b + numerator / c)
        return k + 1, a, b, c, d, total * c * d, c * d

    one, b = a * 0 + 1, x + 1 - a
    d = 1 / _not_zero(b)
    state = (one, a, b, one / _TINY, d, d, one + 1)
    return emit("while", *state, regions=(region(state, is_open), region(state, step)))[5]


def _not_zero(value: Tensor) -> Tensor:
    return where(value.abs() < _TINY, _TINY, value)


def _regularized(a: Tensor, x: Tensor, *, lower: bool) -> Any:
    """P(a, x) if `lower`, else Q(a, x); NaN outside a >= 0, x >= 0."""
    by_series = (x <= 1) | (x <= a)
    inside = (a > 0) & (x > 0) & a.isfinite() & x.isfinite()
    weight = exp(a * log(where(inside, x, 1)) - x - emit("lgamma", where(inside, a, 1)))
    series = weight / a * _lower(where(inside & by_series, a, 1), where(inside & by_series, x, 0))
    fraction = weight * _upper(where(inside & ~by_series, a, 1), where(inside & ~by_series, x, 2))
    part = where(by_series, series, fraction)
    value = where(by_series, part, 1 - part) if lower else where(by_series, 1 - part, part)
    return _edges(a, x, where(inside, value, math.nan), lower=lower)


def _edges(a: Tensor, x: Tensor, inside: Tensor, *, lower: bool) -> Tensor:
    full, none = (1.0, 0.0) if lower else (0.0, 1.0)
    all_below = ((x == math.inf) & (a != math.inf)) | ((a == 0) & (x > 0))
    nothing_below = ((x == 0) & (a > 0)) | ((a == math.inf) & (x != math.inf))
    value = where(all_below, full, where(nothing_below, none, inside))
    return where((a >= 0) & (x >= 0), value, math.nan)


def _density(grad: Tensor, input: Tensor, other: Tensor) -> Any:
    return grad * exp(xlogy(input - 1, other) - other - lgamma(input))


igamma = computed(
    "igamma(Tensor input, Tensor other) -> Tensor",
    binary(
        "igamma",
        "The regularised lower incomplete gamma function P(input, other); it has no derivative in `input`.",
        "raxis.tensor([1.0]), raxis.tensor([1.0])",
        "[0.6321]",
    ),
    lambda input, other: _regularized(input, other, lower=True),
    check=check_some_tensor,
    vjp={"other": _density},
)
igammac = computed(
    "igammac(Tensor input, Tensor other) -> Tensor",
    binary(
        "igammac",
        "The regularised upper incomplete gamma function Q(input, other); it has no derivative in `input`.",
        "raxis.tensor([1.0]), raxis.tensor([1.0])",
        "[0.3679]",
    ),
    lambda input, other: _regularized(input, other, lower=False),
    check=check_some_tensor,
    vjp={"other": lambda grad, input, other: -_density(grad, input, other)},
)
