"""Combinations of three tensors: lerp, addcmul, addcdiv."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.formulas import conj, given, widened
from raxis.ops.promotion import Promotion
from raxis.ops.table import lowered
from raxis.tensor import Tensor


def _check_lerp(input: Tensor, end: Tensor, weight: Any) -> None:
    for operand in (end, weight):
        if isinstance(operand, Tensor) and operand.dtype is not input.dtype:
            raise RuntimeError(
                f"expected dtype {input.dtype} for lerp's operands but got dtype {operand.dtype}"
            )
    if input.dtype.category <= Category.INTEGER:
        raise NotImplementedError(f'"lerp" not implemented for {input.dtype.name}')


@lowered(
    "lerp(Tensor input, Tensor end, Tensor|Scalar weight) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    check=_check_lerp,
    exact=lambda weight: isinstance(weight, Tensor) and weight.ndim > 0,
    vjp={
        "input": lambda grad, weight: grad * conj(1 - weight),
        "end": lambda grad, weight: grad * conj(weight),
        "weight": lambda grad, input, end: grad * conj(end - input),
    },
)
@widened
def lerp(input: Tensor, end: Tensor, weight: Tensor) -> Any:
    """``input + weight * (end - input)``, exact at both ends.

    Args:
        input: float or complex, any shape.
        end: same dtype; shapes must broadcast.
        weight: tensor of the same dtype, or number.

    Raises:
        RuntimeError: if the dtypes differ or are not float or complex.

    Example:
        >>> import raxis
        >>> raxis.lerp(raxis.tensor([0.0]), raxis.tensor([10.0]), 0.25)
        tensor([2.5000])
    """
    distance = end - input
    return where(weight.abs() < 0.5, input + weight * distance, end - distance * (1 - weight))


@lowered(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    vjp={
        "input": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(tensor2 * value),
        "tensor2": lambda grad, tensor1, value: grad * conj(tensor1 * value),
    },
)
@widened
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Any:
    """``input + value * tensor1 * tensor2``.

    Args:
        input: any shape.
        tensor1: its shape must broadcast with the others'.
        tensor2: its shape must broadcast with the others'.
        value: number.

    Raises:
        RuntimeError: if the shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.addcmul(raxis.tensor([1]), raxis.tensor([2]), raxis.tensor([3]), value=10)
        tensor([61])
    """
    return input + (tensor1 * value if given(value) else tensor1) * tensor2


def _check_addcdiv(tensor1: Tensor, tensor2: Tensor) -> None:
    if tensor1.dtype.category <= Category.INTEGER and tensor2.dtype.category <= Category.INTEGER:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported; convert the operands to a float dtype first."
        )


@lowered(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    check=_check_addcdiv,
    vjp={
        "input": lambda grad: grad,
        "tensor1": lambda grad, tensor2, value: grad * conj(value / tensor2),
        "tensor2": lambda grad, tensor1, tensor2, value: -grad * conj(value * tensor1 / (tensor2 * tensor2)),
    },
)
@widened
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Any:
    """``input + value * tensor1 / tensor2``.

    Args:
        input: any shape.
        tensor1: its shape must broadcast with the others'.
        tensor2: its shape must broadcast with the others'.
        value: number.

    Raises:
        RuntimeError: if the shapes do not broadcast, or `tensor1` and `tensor2` are integers.

    Example:
        >>> import raxis
        >>> raxis.addcdiv(raxis.tensor([1.0]), raxis.tensor([3.0]), raxis.tensor([2.0]))
        tensor([2.5000])
    """
    return input + (tensor1 * value if given(value) else tensor1) / tensor2
