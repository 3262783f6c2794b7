"""Functionals written out in small ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.dtypes import HALF, Category, DType, float32
from raxis.tensor import Tensor


def wide(operand: Tensor) -> Tensor:
    """The operand in the dtype to compute in: float32 for half precision."""
    return operand.to(float32) if operand.dtype in HALF else operand


def is_float(input: Tensor, dim: int, dtype: DType | None = None) -> bool:
    """Whether softmax computes with real floats."""
    return (dtype or input.dtype).category is Category.FLOAT and input.ndim > 0 and input.shape[dim] > 0


def softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """``exp(input - max) / sum(exp(input - max))``."""
    target = dtype or input.dtype
    operand = wide(input.to(target))
    powers = (operand - operand.detach().amax(dim, keepdim=True)).exp()
    return (powers / powers.sum(dim, keepdim=True)).to(target)


def log_softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """``input - max - log(sum(exp(input - max)))``."""
    target = dtype or input.dtype
    operand = wide(input.to(target))
    shifted = operand - operand.detach().amax(dim, keepdim=True)
    return (shifted - shifted.exp().sum(dim, keepdim=True).log()).to(target)


def has_normalized_shape(
    input: Tensor, normalized_shape: Sequence[int] | int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> bool:  # fmt: skip
    """Whether the shapes of layer normalization fit."""
    wanted = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    fits = all(item is None or tuple(item.shape) == wanted for item in (weight, bias))
    return bool(wanted) and fits and tuple(input.shape)[-len(wanted) :] == wanted and input.numel() > 0


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int] | int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """``(input - mean) * rsqrt(variance + eps) * weight + bias``."""
    rank = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    dims = list(range(-rank, 0))
    operand = wide(input)
    centred = operand - operand.mean(dims, keepdim=True)
    result: Any = centred * ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return result.to(input.dtype)


def has_matrix(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    """Whether the weight of a linear layer is a matrix."""
    return weight.ndim == 2 and input.ndim > 0


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A matrix product, then a sum."""
    product: Tensor = input.matmul(weight.t())
    return product if bias is None else product + bias
