"""Whether tensors are equal or close."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.comparison import eq
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast
from raxis.tensor import Tensor


def _check_close(input: Tensor, other: Tensor, rtol: float, atol: float) -> None:
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"{input.dtype} did not match {other.dtype}: isclose compares tensors of one dtype."
        )
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"rtol and atol must be at least zero, but got rtol={rtol}, atol={atol}.")


@lowered(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    check=_check_close,
    out=False,
)
def isclose(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Whether ``|input - other| <= atol + rtol * |other|``, element by element.

    Args:
        input: any shape.
        other: same dtype; its shape must broadcast with `input`'s.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether two NaNs are close.

    Raises:
        RuntimeError: if the dtypes differ or a tolerance is negative.

    Example:
        >>> import raxis
        >>> raxis.isclose(raxis.tensor([1.0, 2.0]), raxis.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    exact = input.dtype.category <= Category.INTEGER
    close = input == other
    if equal_nan and not exact:
        close = close | (input.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return close
    if exact:
        input, other = cast(input, dtypes.float64), cast(other, dtypes.float64)
    error = (input - other).abs()
    return close | (error.isfinite() & (error <= atol + (rtol * other).abs()))


@composed(
    "allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    out=False,
)
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements are close; see `isclose`.

    Example:
        >>> import raxis
        >>> raxis.allclose(raxis.tensor([1.0]), raxis.tensor([1.0 + 1e-7]))
        True
    """
    close: Tensor = isclose(input, other, rtol, atol, equal_nan)
    return bool(close.all())


@composed("equal(Tensor input, Tensor other) -> bool", out=False)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and equal elements (NaN equals nothing).

    Raises:
        RuntimeError: if the dtypes differ.

    Example:
        >>> import raxis
        >>> raxis.equal(raxis.tensor([1, 2]), raxis.tensor([1, 2]))
        True
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(f"equal() expected tensors of one dtype, but got {input.dtype} and {other.dtype}.")
    return tuple(input.shape) == tuple(other.shape) and bool(eq(input, other).all())
