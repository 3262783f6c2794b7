"""Rounding to integers and to decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.creation import zeros_like
from raxis.ops.definitions.elementwise import computed, unary
from raxis.ops.promotion import Promotion
from raxis.ops.trace import emit
from raxis.tensor import Tensor

_KEPT = "integers are returned as they are"


def _require_real(name: str, input: Tensor) -> None:
    if input.dtype.category in (Category.BOOL, Category.COMPLEX):
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype.name}')


def _rounded(name: str, summary: str, result: str, aliases: tuple[str, ...] = ()) -> Callable[..., Any]:
    def body(input: Tensor) -> Any:
        _require_real(name, input)
        return emit(name, input) if input.dtype.is_floating_point else input

    return computed(
        f"{name}(Tensor input) -> Tensor",
        unary(name, summary, "[-1.5, 2.7]", result, _KEPT),
        body,
        promotion=Promotion.ARITHMETIC,
        aliases=aliases,
        vjp={"input": lambda grad: zeros_like(grad)},
    )


floor = _rounded("floor", "The largest integer not above each element.", "[-2.,  2.]")
ceil = _rounded("ceil", "The smallest integer not below each element.", "[-1.,  3.]")
trunc = _rounded("trunc", "Each element rounded towards zero.", "[-1.,  2.]", ("fix",))


def _round(input: Tensor, decimals: int) -> Any:
    _require_real("round", input)
    if not input.dtype.is_floating_point:
        if decimals:
            raise NotImplementedError(
                f"round(): decimals are not implemented for the integer dtype {input.dtype.name}"
            )
        return input
    if decimals == 0:
        return emit("round", input)
    scale = 10.0 ** abs(decimals)
    return (input * scale).round() / scale if decimals > 0 else (input / scale).round() * scale


round = computed(
    "round(Tensor input, *, int decimals=0) -> Tensor",
    """Each element rounded to the nearest integer, ties to even, or to a number of decimals.

    Args:
        input: any shape; integers are returned as they are.
        decimals: digits kept after the decimal point; negative: zeros before it.

    Raises:
        NotImplementedError: for bool and complex dtypes, and for `decimals` with integers.

    Example:
        >>> import raxis
        >>> raxis.round(raxis.tensor([0.5, 1.5, -2.7]))
        tensor([ 0.,  2., -3.])
    """,
    _round,
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad: zeros_like(grad)},
)


def _frac(input: Tensor) -> Any:
    return input - emit("trunc", input)


frac = computed(
    "frac(Tensor input) -> Tensor",
    unary(
        "frac",
        "The part of each element after the decimal point.",
        "[1.5, -2.25]",
        "[ 0.5000, -0.2500]",
        "float",
    ),
    _frac,
    promotion=Promotion.ARITHMETIC,
    vjp={"input": lambda grad: grad},
)
