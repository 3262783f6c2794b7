"""Gamma functions and their derivatives.

Sources: zeta: Euler-Maclaurin summation; polygamma: Abramowitz & Stegun 6.4.7, 6.4.10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.control import region
from raxis.ops.definitions.elementwise import SPECIAL, binary, check_some_tensor, computed, unary
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, elementwise
from raxis.ops.trace import emit
from raxis.tensor import Tensor

lgamma = elementwise(
    "lgamma(Tensor input) -> Tensor",
    "lgamma",
    unary(
        "lgamma", "The logarithm of the magnitude of the gamma function.", "[1.0, 3.0]", "[0.0000, 0.6931]"
    ),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * digamma(input)},
)


digamma: Callable[..., Any] = elementwise(
    "digamma(Tensor input) -> Tensor",
    "digamma",
    unary("digamma", "The derivative of lgamma.", "[1.0, 2.0]", "[-0.5772,  0.4228]"),
    promotion=Promotion.FLOAT,
    vjp={"input": lambda grad, input: grad * polygamma(1, input)},
)


_SUMMED_TO = 9.0
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
    854513 / 138, -236364091 / 2730,
)  # fmt: skip


def _terms_left(_order: Tensor, shift: Tensor, _total: Tensor) -> tuple[Tensor, ...]:
    return (emit("reduce_or", shift <= _SUMMED_TO, dims=tuple(range(shift.ndim))),)


def _next_term(order: Tensor, shift: Tensor, total: Tensor) -> tuple[Tensor, ...]:
    left = shift <= _SUMMED_TO
    return order, where(left, shift + 1, shift), where(left, total + emit("pow", shift, -order), total)


def _zeta(order: Tensor, shift: Tensor) -> Any:
    """The sum of (shift + k)**-order over k >= 0."""
    finite = where(shift.isfinite() & (shift > -1e6), shift, math.nan)
    operands = (order, finite, order * 0)
    regions = (region(operands, _terms_left), region(operands, _next_term))
    _, start, total = emit("while", *operands, regions=regions)
    power = emit("pow", start, -order)
    total = total + power * start / (order - 1) + 0.5 * power
    factor, power = order, power / start
    for index, bernoulli in enumerate(_BERNOULLI, start=1):
        total = total + factor * power * (bernoulli / math.factorial(2 * index))
        factor = factor * (order + (2 * index - 1)) * (order + 2 * index)
        power = power / (start * start)
    return _zeta_edges(order, shift, total)


def _zeta_edges(order: Tensor, shift: Tensor, inside: Tensor) -> Tensor:
    pole = (shift <= 0) & (shift == emit("floor", shift))
    undefined = (order < 1) | ((shift < 0) & (order != emit("floor", order)))
    beyond = where(shift == math.inf, 0, inside)
    return where(order == 1, math.inf, where(undefined, math.nan, where(pole, math.inf, beyond)))


zeta: Callable[..., Any] = computed(
    "zeta(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
    binary(
        "special.zeta",
        "The Hurwitz zeta function: the sum of ``(other + k) ** -input`` over k >= 0.",
        "raxis.tensor([2.0]), raxis.tensor([1.0])",
        "[1.6449]",
    ),
    lambda input, other: _zeta(input, other),
    namespace=SPECIAL,
    method=False,
    inplace=False,
    check=check_some_tensor,
    vjp={"other": lambda grad, input, other: grad * -input * zeta(input + 1, other)},
)


def _trigamma(input: Tensor) -> Any:
    mirrored = input < 0.5
    positive = where(mirrored, 1 - input, input)
    series = _zeta(positive * 0 + 2, positive)
    # The reduction keeps sin exact near integers.
    sine = emit("sin", (input - emit("round", input)) * math.pi)
    return where(mirrored, math.pi * math.pi / (sine * sine) - series, series)


def _polygamma(input: Tensor, n: int) -> Any:
    if n == 0:
        return emit("digamma", input)
    if n == 1:
        return _trigamma(input)
    scale = math.factorial(n) * (-1) ** (n + 1)
    return scale * _zeta(input * 0 + (n + 1), input)


_derivative_of_digamma = computed(
    "_polygamma(Tensor input, int n) -> Tensor",
    "The derivative of order `n` of digamma.",
    _polygamma,
    method=False,
    function=False,
    vjp={"input": lambda grad, input, n: grad * polygamma(n + 1, input)},
)


@composed("polygamma(int n, Tensor input) -> Tensor", exact=False, method=False)
def polygamma(n: int, input: Tensor) -> Tensor:
    """The derivative of order `n` of digamma.

    Args:
        n: not negative.
        input: any shape; integers and bools are computed in the default float dtype.

    Raises:
        RuntimeError: if `n` is negative.

    Example:
        >>> import raxis
        >>> raxis.polygamma(1, raxis.tensor([1.0]))
        tensor([1.6449])
    """
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, but got n={n}.")
    return _derivative_of_digamma(input, n)


@composed(
    "polygamma(Tensor input, int n) -> Tensor",
    namespace="raxis.Tensor",
    function=False,
    out=False,
    inplace=True,
)
def _polygamma_method(input: Tensor, n: int) -> Tensor:
    """The derivative of order `n` of digamma; see `raxis.polygamma`."""
    return polygamma(n, input)


@composed("mvlgamma(Tensor input, int p) -> Tensor", exact=False, inplace=True)
def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Args:
        input: any shape, elements above ``(p - 1) / 2``.
        p: at least 1.

    Raises:
        RuntimeError: if `p` is less than 1.

    Example:
        >>> import raxis
        >>> raxis.mvlgamma(raxis.tensor([2.0]), 2)
        tensor([0.4516])
    """
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, but got {p}.")
    total: Tensor = lgamma(input) + p * (p - 1) / 4 * math.log(math.pi)
    for index in range(1, p):
        total = total + lgamma(input - index / 2)
    return total
