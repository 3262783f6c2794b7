"""Logical and bitwise ops, shifts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.ops.definitions.elementwise import binary, check_some_tensor, unary
from raxis.ops.promotion import Promotion
from raxis.ops.table import elementwise, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor


def truth(operand: Tensor) -> Tensor:
    """Whether each element is not zero (NaN is true)."""
    return cast(operand, dtypes.bool_)


def _logical(name: str, primitive: str, summary: str, result: str) -> Callable[..., Any]:
    def body(input: Tensor, other: Tensor) -> Any:
        return emit(primitive, truth(input), truth(other))

    body.__doc__ = binary(
        name,
        summary,
        "raxis.tensor([True, True, False]), raxis.tensor([True, False, False])",
        result,
        " of any dtype",
    )
    return lowered(
        f"{name}(Tensor input, Tensor other) -> Tensor", promotion=Promotion.ARITHMETIC, inplace=True
    )(body)


logical_and = _logical("logical_and", "and", "Whether both elements are not zero.", "[ True, False, False]")
logical_or = _logical("logical_or", "or", "Whether either element is not zero.", "[ True,  True, False]")
logical_xor = _logical(
    "logical_xor", "xor", "Whether exactly one element is not zero.", "[False,  True, False]"
)


@lowered("logical_not(Tensor input) -> Tensor", promotion=Promotion.ARITHMETIC, exact=False, inplace=True)
def logical_not(input: Tensor) -> Any:
    """Whether each element is zero.

    Args:
        input: any shape and dtype.

    Example:
        >>> import raxis
        >>> raxis.logical_not(raxis.tensor([0, 2]))
        tensor([ True, False])
    """
    return emit("not", truth(input))


def _bitwise(
    name: str, primitive: str, operator: str, summary: str, call: str, result: str
) -> Callable[..., Any]:
    return elementwise(
        f"{name}(Tensor|Scalar input, Tensor|Scalar other) -> Tensor",
        primitive,
        binary(name, summary, call, result, " of an integer dtype or bool"),
        operator=operator,
        check=check_some_tensor,
    )


_SIX_AND_THREE = "raxis.tensor([6]), raxis.tensor([3])"

bitwise_and = _bitwise(
    "bitwise_and", "and", "__and__", "Bitwise and; logical for bools.", _SIX_AND_THREE, "[2]"
)
bitwise_or = _bitwise("bitwise_or", "or", "__or__", "Bitwise or; logical for bools.", _SIX_AND_THREE, "[7]")
bitwise_xor = _bitwise(
    "bitwise_xor", "xor", "__xor__", "Bitwise exclusive or; logical for bools.", _SIX_AND_THREE, "[5]"
)
bitwise_left_shift = _bitwise(
    "bitwise_left_shift",
    "shift_left",
    "__lshift__",
    "``input << other``; 0 for shifts outside the number of bits.",
    _SIX_AND_THREE,
    "[48]",
)
bitwise_right_shift = _bitwise(
    "bitwise_right_shift",
    "shift_right",
    "__rshift__",
    "``input >> other``, keeping the sign.",
    "raxis.tensor([-6]), raxis.tensor([1])",
    "[-3]",
)


def _check_bits(input: Tensor) -> None:
    """Raise TypeError unless the operand has bits to invert."""
    if input.dtype.category > Category.INTEGER:
        raise TypeError(
            f"~ (operator.invert) is only implemented on integer and Boolean-type tensors, but got {input.dtype}"
        )


bitwise_not = elementwise(
    "bitwise_not(Tensor input) -> Tensor",
    "not",
    unary(
        "bitwise_not",
        "The complement of all bits; logical for bools.",
        "[0, 5]",
        "[-1, -6]",
        "integers or bool",
    ),
    operator="__invert__",
    check=_check_bits,
)
