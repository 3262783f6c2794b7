"""Binary exponents: ldexp and frexp."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import require_category
from raxis.ops.definitions.exponentials import log
from raxis.ops.formulas import wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor


@composed("ldexp(Tensor input, Tensor other) -> Tensor", exact=False, inplace=True)
def ldexp(input: Tensor, other: Tensor) -> Any:
    """``input * 2 ** other``.

    Args:
        input: any shape.
        other: exponents; shapes must broadcast.

    Example:
        >>> import raxis
        >>> raxis.ldexp(raxis.tensor([1.0]), raxis.tensor([3]))
        tensor([8.])
    """
    for name, operand in (("input", input), ("other", other)):
        if not isinstance(operand, Tensor):
            raise TypeError(f"ldexp(): argument '{name}' must be Tensor, not {type(operand).__name__}")
    return input * 2.0**other


@lowered(
    "frexp(Tensor input) -> (Tensor mantissa, Tensor exponent)",
    vjp={"input": lambda grad, results: ldexp(grad, -results[1])},
)
def frexp(input: Tensor) -> tuple[Any, Any]:
    """Mantissa in [0.5, 1) and exponent with ``input = mantissa * 2 ** exponent``; zeros and non-finite stay.

    Args:
        input: float, any shape.

    Returns:
        A named tuple of the mantissa, of `input`'s dtype, and the exponent, int32.

    Raises:
        NotImplementedError: for other dtypes.

    Example:
        >>> import raxis
        >>> raxis.frexp(raxis.tensor([10.0])).exponent
        tensor([4], dtype=raxis.int32)
    """
    require_category("frexp", input, Category.FLOAT)
    number = wide(input)
    ordinary = number.isfinite() & (number != 0)
    safe = where(ordinary, number, 1)
    exponent = emit("floor", log(safe.abs()) / math.log(2.0)) + 1
    mantissa = _scaled(safe, -exponent)
    # The logarithm may be off by one next to powers of two.
    high, low = mantissa.abs() >= 1, mantissa.abs() < 0.5
    mantissa = where(high, mantissa * 0.5, where(low, mantissa * 2, mantissa))
    exponent = exponent + cast(high, exponent.dtype) - cast(low, exponent.dtype)
    return (
        cast(where(ordinary, mantissa, number), input.dtype),
        cast(where(ordinary, exponent, 0), dtypes.int32),
    )


def _scaled(number: Tensor, exponent: Tensor) -> Tensor:
    """``number * 2 ** exponent`` in two steps, as the power alone may leave the range."""
    half = emit("floor", exponent / 2)
    return number * 2.0**half * 2.0 ** (exponent - half)
