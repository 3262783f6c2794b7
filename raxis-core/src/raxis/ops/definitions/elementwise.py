"""Registering elementwise ops, whose docstrings differ only in a sentence and an example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from raxis.dtypes import Category
from raxis.ops.formulas import widened
from raxis.ops.promotion import Promotion
from raxis.ops.table import Kind, register
from raxis.tensor import Tensor

SPECIAL = "raxis.special"


def unary(name: str, summary: str, argument: str, result: str, note: str = "") -> str:
    """The docstring of ``name(input)``; integers are computed in the default float dtype unless `note` says else."""
    dtypes = note or "integers and bools are computed in the default float dtype"
    return (
        f"{summary}\n\n"
        "Args:\n"
        f"    input: any shape; {dtypes}.\n\n"
        "Returns:\n"
        "    A tensor of `input`'s shape.\n\n"
        "Raises:\n"
        "    RuntimeError: if the dtype is not served.\n\n"
        "Example:\n"
        "    >>> import raxis\n"
        f"    >>> raxis.{name}(raxis.tensor({argument}))\n"
        f"    tensor({result})"
    )


def binary(name: str, summary: str, arguments: str, result: str, note: str = "") -> str:
    """The docstring of ``name(input, other)``."""
    return (
        f"{summary}\n\n"
        "Args:\n"
        f"    input: tensor or number{note}.\n"
        "    other: tensor or number; its shape must broadcast with `input`'s.\n\n"
        "Returns:\n"
        "    A tensor of the broadcast shape.\n\n"
        "Raises:\n"
        "    RuntimeError: if the shapes do not broadcast, or the dtype is not served.\n\n"
        "Example:\n"
        "    >>> import raxis\n"
        f"    >>> raxis.{name}({arguments})\n"
        f"    tensor({result})"
    )


def computed(
    schema: str,
    doc: str,
    body: Callable[..., Any],
    *,
    promotion: Promotion = Promotion.FLOAT,
    inplace: bool = True,
    **options: Any,
) -> Callable[..., Any]:
    """Register an elementwise op of several primitives; half precision is rounded once, at the end."""
    lowering = widened(body)
    lowering.__doc__ = doc
    return register(schema, Kind.LOWERED, lowering, promotion=promotion, inplace=inplace, **options)


def special_unary(
    name: str,
    summary: str,
    argument: str,
    result: str,
    body: Callable[..., Any],
    gradient: Callable[..., Any],
) -> Callable[..., Any]:
    """Register ``raxis.special.name(input)``, an elementwise function without a method."""
    return computed(
        f"{name}(Tensor input) -> Tensor",
        unary(f"special.{name}", summary, argument, result),
        body,
        namespace=SPECIAL,
        method=False,
        inplace=False,
        vjp={"input": gradient},
    )


def check_some_tensor(input: Any, other: Any) -> None:
    """Raise TypeError if both operands are numbers."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise TypeError(
            f"expected at least one Tensor, but got {type(input).__name__} and {type(other).__name__}."
        )


def require_category(name: str, operand: Tensor, *admitted: Category) -> None:
    """Raise NotImplementedError unless the (promoted) operand's dtype is of one of these categories."""
    if operand.dtype.category not in admitted:
        wanted = " or ".join(category.name.lower() for category in admitted)
        raise NotImplementedError(
            f'"{name}" not implemented for {operand.dtype.name}: its operands must be of a {wanted} dtype.'
        )


def chebyshev(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """A Chebyshev series at `x` in [-1, 1], by Clenshaw's recurrence; the lowest order comes first."""
    last = before_last = x * 0
    for coefficient in coefficients[:0:-1]:
        last, before_last = 2 * x * last - before_last + coefficient, last
    return x * last - before_last + coefficients[0]
