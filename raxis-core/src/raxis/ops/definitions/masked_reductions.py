"""Reductions over the elements that a mask marks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import wrap_dim, wrap_dims
from raxis.ops.definitions.comparison import maximum
from raxis.ops.definitions.exponentials import logaddexp, sqrt
from raxis.ops.definitions.extrema import argmax, argmin
from raxis.ops.definitions.masked_operands import (
    IN_MASKED,
    OPTIONS,
    REDUCTION,
    counted,
    greatest,
    lowest,
    mask_like,
    sum_dtype,
)
from raxis.ops.definitions.norms import vector_norm
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.ops.table import composed
from raxis.tensor import Tensor

Dims = int | Sequence[int] | None


@composed(f"sum(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sum of the marked elements.

    Args:
        input: any shape.
        dim: dimensions to reduce; default: all.
        keepdim: keep them, of size 1.
        dtype: of the result; default: `input`'s, int64 for smaller integers and bools.
        mask: bool, must broadcast to `input`; default: all elements.

    Raises:
        IndexError: if a dimension is out of range, or the mask has more dimensions than `input`.
        RuntimeError: if the mask does not broadcast.

    Example:
        >>> import raxis
        >>> raxis.masked.sum(raxis.tensor([1, 2, 4]), mask=raxis.tensor([True, False, True]))
        tensor(5)
    """
    operand = counted(input, mask, 0)
    result: Tensor = operand.sum(wrap_dims(dim, input.ndim), keepdim, dtype=sum_dtype(input, dtype))
    return result


@composed(f"prod(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product of the marked elements; arguments as `raxis.masked.sum`.

    Example:
        >>> import raxis
        >>> raxis.masked.prod(raxis.tensor([3, 2, 4]), mask=raxis.tensor([True, False, True]))
        tensor(12)
    """
    result = counted(input, mask, 1).to(sum_dtype(input, dtype))
    for axis in reversed(wrap_dims(dim, input.ndim)):
        result = result.prod(axis, keepdim)
    return result


@composed(f"amax(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The greatest marked element, the dtype's lowest value where none is; arguments as `raxis.masked.sum`.

    Example:
        >>> import raxis
        >>> raxis.masked.amax(raxis.tensor([3.0, 9.0]), mask=raxis.tensor([True, False]))
        tensor(3.)
    """
    operand = counted(input, mask, lowest(input))
    return operand.amax(wrap_dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


@composed(f"amin(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The least marked element, the dtype's greatest value where none is; arguments as `raxis.masked.sum`.

    Example:
        >>> import raxis
        >>> raxis.masked.amin(raxis.tensor([3.0, 1.0]), mask=raxis.tensor([True, False]))
        tensor(3.)
    """
    operand = counted(input, mask, greatest(input))
    return operand.amin(wrap_dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


_PLACE = f"int? dim=None, *, bool keepdim=False, {OPTIONS}"


@composed(f"argmax(Tensor input, {_PLACE}) -> Tensor", **IN_MASKED)
def masked_argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place of the greatest marked element, in `input`'s dtype; other arguments as `raxis.masked.sum`.

    Args:
        dim: dimension to reduce; default: places are those of the flattened input.

    Example:
        >>> import raxis
        >>> raxis.masked.argmax(raxis.tensor([3, 1, 9]), mask=raxis.tensor([True, True, False]))
        tensor(0)
    """
    found: Tensor = argmax(counted(input, mask, lowest(input)), dim, keepdim)
    return found.to(dtype or input.dtype)


@composed(f"argmin(Tensor input, {_PLACE}) -> Tensor", **IN_MASKED)
def masked_argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The place of the least marked element, in `input`'s dtype; arguments as `raxis.masked.argmax`.

    Example:
        >>> import raxis
        >>> raxis.masked.argmin(raxis.tensor([3, 4, 1]), mask=raxis.tensor([True, True, False]))
        tensor(0)
    """
    found: Tensor = argmin(counted(input, mask, greatest(input)), dim, keepdim)
    return found.to(dtype or input.dtype)


@composed(f"mean(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean of the marked elements, NaN where none is; arguments as `raxis.masked.sum`.

    Raises:
        ValueError: if the result's dtype is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.masked.mean(raxis.tensor([3.0, 9.0, 5.0]), mask=raxis.tensor([True, False, True]))
        tensor(4.)
    """
    chosen = dtype or input.dtype
    if not (chosen.is_floating_point or chosen.is_complex):
        raise ValueError(f"mean(): the dtype must be either a floating point or complex dtype. Got: {chosen}")
    total = masked_sum(input, dim, keepdim=keepdim, dtype=chosen, mask=mask)
    return total / _count(input, mask, wrap_dims(dim, input.ndim), keepdim)


def _count(input: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements are marked."""
    if mask is None:
        marked = input.new_ones(input.shape, dtype=dtypes.int64)
    else:
        marked = mask_like(input, mask)
    result: Tensor = marked.sum(dims, keepdim)
    return result


@composed(f"median(Tensor input, int dim=-1, *, bool keepdim=False, {OPTIONS}) -> Tensor", **IN_MASKED)
def masked_median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The median of the marked elements, NaN where none is; other arguments as `raxis.masked.sum`.

    Args:
        dim: dimension to reduce.

    Raises:
        ValueError: if `input` holds integers and somewhere no element is marked.

    Example:
        >>> import raxis
        >>> raxis.masked.median(raxis.tensor([3.0, 9.0, 5.0]), mask=raxis.tensor([True, False, True]))
        tensor(3.)
    """
    floating = input.dtype.is_floating_point
    operand = counted(input if floating else input.to(dtypes.float32), mask, math.nan)
    found: Tensor = operand.nanmedian(wrap_dim(dim, input.ndim), keepdim)[0]
    if floating:
        return found
    sentence = "masked median expects no fully masked out rows if dtype is not floating point"
    require_none(found.isnan(), saying(ValueError, sentence))
    return found.to(dtype or input.dtype)


@composed(f"logsumexp(Tensor input, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The logarithm of the sum of the exponentials of the marked elements; arguments as `raxis.masked.sum`.

    Example:
        >>> import raxis
        >>> raxis.masked.logsumexp(raxis.tensor([0.0, 9.0, 0.0]), mask=raxis.tensor([True, False, True]))
        tensor(0.6931)
    """
    operand = counted(input, mask, -math.inf if input.dtype.is_complex else lowest(input))
    return operand.logsumexp(wrap_dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


@composed(
    "logaddexp(Tensor input, Tensor other, *, dtype? dtype=None, Tensor? input_mask=None, Tensor? other_mask=None) "
    "-> Tensor",
    **IN_MASKED,
)
def masked_logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: DType | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``log(exp(input) + exp(other))``, where elements that are not marked count as -inf.

    Args:
        input: floating point.
        other: its shape must broadcast with `input`'s.
        dtype: of the result; default: `input`'s.
        input_mask: the marked elements of `input`; default: all.
        other_mask: those of `other`.

    Raises:
        IndexError: if a mask has more dimensions than its operand.
        RuntimeError: if shapes do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.masked.logaddexp(raxis.zeros(1), raxis.zeros(1), other_mask=raxis.tensor([False]))
        tensor([0.])
    """
    first = counted(input, input_mask, lowest(input))
    result: Tensor = logaddexp(first, counted(other, other_mask, lowest(other)))
    return result.to(dtype or input.dtype)


@composed(f"norm(Tensor input, float? ord=2.0, {REDUCTION}) -> Tensor", **IN_MASKED)
def masked_norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of the marked elements; other arguments as `raxis.masked.sum`.

    Args:
        ord: order of the norm, see `raxis.linalg.vector_norm`.

    Example:
        >>> import raxis
        >>> raxis.masked.norm(raxis.tensor([3.0, 9.0, 4.0]), mask=raxis.tensor([True, False, True]))
        tensor(5.)
    """
    operand = counted(input, mask, math.inf if ord == -math.inf else 0)
    order = 2.0 if ord is None else ord
    result: Tensor = vector_norm(
        operand, order, wrap_dims(dim, input.ndim), keepdim, dtype=dtype or input.dtype
    )
    return result


_SPREAD = "int[]? dim=None, bool? unbiased=None, *, float? correction=None, bool keepdim=False, " + OPTIONS


@composed(f"var(Tensor input, {_SPREAD}) -> Tensor", **IN_MASKED)
def masked_var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the marked elements; other arguments as `raxis.masked.sum`.

    Args:
        unbiased: False divides by the number of elements, True (default) by one less.
        correction: what to subtract from the number of elements instead.

    Raises:
        ValueError: if both `unbiased` and `correction` are given.

    Example:
        >>> import raxis
        >>> raxis.masked.var(raxis.tensor([3.0, 9.0, 5.0]), mask=raxis.tensor([True, False, True]))
        tensor(2.)
    """
    return _variance(
        input, wrap_dims(dim, input.ndim), _correction(unbiased, correction), keepdim, dtype, mask
    )


@composed(f"std(Tensor input, {_SPREAD}) -> Tensor", **IN_MASKED)
def masked_std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation of the marked elements; arguments as `raxis.masked.var`.

    Example:
        >>> import raxis
        >>> raxis.masked.std(raxis.tensor([3.0, 9.0, 5.0]), mask=raxis.tensor([True, False, True]))
        tensor(1.4142)
    """
    result: Tensor = sqrt(
        _variance(input, wrap_dims(dim, input.ndim), _correction(unbiased, correction), keepdim, dtype, mask)
    )
    return result


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    if correction is not None:
        return correction
    return 0.0 if unbiased is False else 1.0


def _variance(
    input: Tensor,
    dims: tuple[int, ...],
    correction: float,
    keepdim: bool,
    dtype: DType | None,
    mask: Tensor | None,
) -> Tensor:
    inexact = input.dtype.is_floating_point or input.dtype.is_complex
    chosen = dtype or (input.dtype if inexact else dtypes.float32)
    count = _count(input, mask, dims, True)
    mean = masked_sum(input, dims, keepdim=True, dtype=chosen, mask=mask) / count
    deviation = input - mean
    squares = deviation * deviation.conj()
    computed = chosen if chosen.is_floating_point or chosen.is_complex else dtypes.float32
    total = masked_sum(squares, dims, keepdim=keepdim, dtype=computed, mask=mask)
    freedom = count.reshape(total.shape).to(computed.to_real()) - correction
    return (total / maximum(freedom, freedom.new_zeros(()))).to(chosen)
