"""Softmax, scans and normalization over the elements that a mask marks."""

from __future__ import annotations

from typing import Any

from raxis.dtypes import DType
from raxis.layout import wrap_dim
from raxis.ops.definitions.comparison import maximum
from raxis.ops.definitions.masked_operands import (
    IN_MASKED,
    NORMALIZATION,
    OPTIONS,
    counted,
    greatest,
    lowest,
)
from raxis.ops.definitions.masked_reductions import masked_norm
from raxis.ops.definitions.softmax import log_softmax, softmax
from raxis.ops.table import composed
from raxis.tensor import Tensor


@composed(f"softmax(Tensor input, {NORMALIZATION}) -> Tensor", **IN_MASKED)
def masked_softmax(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """``exp(input) / sum(exp(input))`` along `dim` among the marked elements, 0 at others.

    Args:
        input: any shape.
        dim: dimension.
        dtype: of the result; default: `input`'s.
        mask: bool, must broadcast to `input`; default: all elements.

    Raises:
        IndexError: if `dim` is out of range, or the mask has more dimensions than `input`.
        RuntimeError: if the mask does not broadcast.

    Example:
        >>> import raxis
        >>> raxis.masked.softmax(raxis.tensor([0.0, 9.0, 0.0]), 0, mask=raxis.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    result: Tensor = softmax(
        counted(input, mask, lowest(input)), wrap_dim(dim, input.ndim), dtype=dtype or input.dtype
    )
    return result


@composed(f"log_softmax(Tensor input, {NORMALIZATION}) -> Tensor", **IN_MASKED)
def masked_log_softmax(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of `raxis.masked.softmax`, which has the same arguments.

    Example:
        >>> import raxis
        >>> raxis.masked.log_softmax(raxis.tensor([0.0, 9.0, 0.0]), 0, mask=raxis.tensor([True, False, True]))
        tensor([-0.6931,    -inf, -0.6931])
    """
    result: Tensor = log_softmax(
        counted(input, mask, lowest(input)), wrap_dim(dim, input.ndim), dtype=dtype or input.dtype
    )
    return result


@composed(f"softmin(Tensor input, {NORMALIZATION}) -> Tensor", **IN_MASKED)
def masked_softmin(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """`raxis.masked.softmax` of ``-input``; the same arguments.

    Example:
        >>> import raxis
        >>> raxis.masked.softmin(raxis.tensor([0.0, 9.0, 0.0]), 0, mask=raxis.tensor([True, False, True]))
        tensor([0.5000, 0.0000, 0.5000])
    """
    operand = -counted(input, mask, greatest(input))
    result: Tensor = softmax(operand, wrap_dim(dim, input.ndim), dtype=dtype or input.dtype)
    return result


@composed(f"cumsum(Tensor input, {NORMALIZATION}) -> Tensor", **IN_MASKED)
def masked_cumsum(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running sums of the marked elements, in `input`'s dtype; arguments as `raxis.masked.softmax`.

    Example:
        >>> import raxis
        >>> raxis.masked.cumsum(raxis.tensor([1, 9, 2]), 0, mask=raxis.tensor([True, False, True]))
        tensor([1, 1, 3])
    """
    axis = wrap_dim(dim, input.ndim)
    return counted(input, mask, 0).cumsum(axis, dtype=dtype or input.dtype)


@composed(f"cumprod(Tensor input, {NORMALIZATION}) -> Tensor", **IN_MASKED)
def masked_cumprod(
    input: Tensor, dim: int, *, dtype: DType | None = None, mask: Tensor | None = None
) -> Tensor:
    """Running products of the marked elements, in `input`'s dtype; arguments as `raxis.masked.softmax`.

    Example:
        >>> import raxis
        >>> raxis.masked.cumprod(raxis.tensor([3, 9, 2]), 0, mask=raxis.tensor([True, False, True]))
        tensor([3, 3, 6])
    """
    axis = wrap_dim(dim, input.ndim)
    return counted(input, mask, 1).cumprod(axis, dtype=dtype or input.dtype)


@composed(
    f"normalize(Tensor input, float ord, int dim, *, float eps=1e-12, {OPTIONS}) -> Tensor", **IN_MASKED
)
def masked_normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Any:
    """The marked elements divided by their norm along `dim`, 0 at others; other arguments as `raxis.masked.softmax`.

    Args:
        ord: order of the norm.
        eps: least divisor.

    Example:
        >>> import raxis
        >>> raxis.masked.normalize(raxis.tensor([3.0, 9.0, 4.0]), 2.0, 0, mask=raxis.tensor([True, False, True]))
        tensor([0.6000, 0.0000, 0.8000])
    """
    norm = masked_norm(input, ord, dim, keepdim=True, dtype=dtype or input.dtype, mask=mask)
    return counted(input, mask, 0) / maximum(norm, norm.new_full((), eps))
