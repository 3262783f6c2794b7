"""Running sums, products and extrema along a dimension, and differences."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis.layout import Layout, wrap_dim
from raxis.ops.definitions.extrema import require_ordered, scatter_along
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.reductions import constant_like, exclusive_cumprod, is_nan, scalar_type, sum_dtype
from raxis.ops.formulas import conj, wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

# ---- sums and products -----------------------------------------------------------------------------------------------


def _scan(primitive: str, input: Tensor, dim: int, dtype: DType | None) -> Any:
    axis = wrap_dim(dim, input.ndim)
    operand = cast(input, dtype or sum_dtype(input.dtype))
    return emit(primitive, operand, dim=axis) if input.ndim else operand


@lowered(
    "_reverse_cumsum(Tensor input, int dim) -> Tensor",
    vjp={"input": lambda grad, dim: grad.cumsum(dim)},
    method=False,
    function=False,
    out=False,
)
def _reverse_cumsum(input: Tensor, dim: int) -> Any:
    """Sums of the elements from each to the last along `dim`."""
    if input.ndim == 0:
        return input
    axis = wrap_dim(dim, input.ndim)
    backwards = emit("cumsum", emit("reverse", input, dims=(axis,)), dim=axis)
    return emit("reverse", backwards, dims=(axis,))


def _cumsum_vjp(grad: Tensor, dim: int) -> Any:
    return _reverse_cumsum(grad, dim)


@lowered(
    "cumsum(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    inplace=True,
    vjp={"input": _cumsum_vjp},
    adopts=True,
)
def cumsum(input: Tensor, dim: int, dtype: DType | None) -> Any:
    """Sums of the elements up to and with each, along `dim`.

    Args:
        input: any shape.
        dim: dimension.
        dtype: cast to it first; default: int64 for bool and integers, else the input's.

    Raises:
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.cumsum(raxis.tensor([1, 2, 3]), dim=0)
        tensor([1, 3, 6])
    """
    return _scan("cumsum", input, dim, dtype)


def _recurrence_input_vjp(grad: Tensor, factor: Tensor, dim: int) -> Any:
    return recurrence(grad.flip(dim), _shifted(conj(factor).flip(dim), dim), dim).flip(dim)


def _recurrence_factor_vjp(grad: Tensor, factor: Tensor, result: Tensor, dim: int) -> Any:
    return _recurrence_input_vjp(grad, factor, dim) * conj(_shifted(result, dim))


@lowered(
    "_recurrence(Tensor input, Tensor factor, int dim) -> Tensor",
    vjp={
        "input": _recurrence_input_vjp,
        "factor": _recurrence_factor_vjp,
    },
    method=False,
    function=False,
    out=False,
)
def recurrence(input: Tensor, factor: Tensor, dim: int) -> Any:
    """``y[i] = input[i] + factor[i] * y[i - 1]`` along `dim`, with nothing before the first.

    By doubling (Hillis and Steele, 1986): after k steps each element covers the 2**k up to it.
    """
    total, product = input, factor
    step = 1
    while step < input.shape[dim]:
        total = emit("add", total, emit("mul", product, delayed(total, dim, step, 0)))
        product = emit("mul", product, delayed(product, dim, step, 0))
        step *= 2
    return total


def _shifted(operand: Tensor, dim: int) -> Any:
    """Each element's predecessor along `dim`; zero before the first."""
    first = operand.narrow(dim, 0, 1)
    return cat([first.new_zeros(first.shape), operand.narrow(dim, 0, operand.shape[dim] - 1)], dim)


def delayed(operand: Tensor, dim: int, step: int, fill: float) -> Any:
    """While tracing: each element's predecessor `step` places before, `fill` where there is none."""
    ndim = operand._layout.ndim
    low = tuple(step if axis == dim else 0 for axis in range(ndim))
    filling = constant(fill, operand._layout.dtype)
    return emit("pad", operand, filling, low=low, high=tuple(-count for count in low), interior=(0,) * ndim)


def _cumprod_vjp(grad: Tensor, input: Tensor, dim: int, dtype: DType | None) -> Any:
    """Of each element: the product before it, times a sum of products after it; no division, so zeros do no harm."""
    if input.numel() == 0 or input.ndim == 0:
        return grad
    axis = wrap_dim(dim, input.ndim)
    operand = input if dtype is None else input.to(dtype)
    ahead = _shifted(conj(operand).flip(axis), axis)
    return conj(exclusive_cumprod(operand, axis)) * recurrence(grad.flip(axis), ahead, axis).flip(axis)


@lowered(
    "cumprod(Tensor input, int dim, *, dtype? dtype=None) -> Tensor",
    inplace=True,
    vjp={"input": _cumprod_vjp},
    adopts=True,
)
def cumprod(input: Tensor, dim: int, dtype: DType | None) -> Any:
    """Products of the elements up to and with each, along `dim`.

    Args: as `cumsum`.

    Raises: as `cumsum`.

    Example:
        >>> import raxis
        >>> raxis.cumprod(raxis.tensor([1, 2, 3]), dim=0)
        tensor([1, 2, 6])
    """
    return _scan("cumprod", input, dim, dtype)


# ---- extrema ---------------------------------------------------------------------------------------------------------


def _running_extremum(primitive: str, input: Tensor, dim: int) -> tuple[Any, Any]:
    """Running extremum and the last index at which each was attained."""
    require_ordered(primitive, input.dtype)
    axis = wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        return input, constant(0, dtypes.int64)
    # The scan orders no bool; uint8 does it.
    operand = cast(input, dtypes.uint8) if input.dtype is dtypes.bool_ else input
    values = emit(primitive, operand, dim=axis)
    attained = emit("eq", operand, values)
    if input.dtype.is_floating_point:
        attained = emit("or", attained, is_nan(operand))
    place = emit("iota", shape=input._layout.shape, dtype=dtypes.int64, dim=axis)
    indices = emit("cummax", emit("select", attained, place, constant_like(place, 0)), dim=axis)
    return cast(values, input.dtype), indices


def _running_vjp(grad: Tensor, results: Any, input_layout: Layout, dim: int) -> Any:
    if input_layout.ndim == 0 or input_layout.numel == 0:
        return grad
    axis = wrap_dim(dim, input_layout.ndim)
    return scatter_along(grad, results[1], axis, input_layout.shape[axis], True)


@lowered(
    "cummax(Tensor input, int dim) -> (Tensor values, Tensor indices)",
    composite=True,
    vjp={"input": _running_vjp},
)
def cummax(input: Tensor, dim: int) -> Any:
    """The greatest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on.

    Args:
        input: any shape, real or bool.
        dim: dimension.

    Raises:
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.cummax(raxis.tensor([1, 3, 2, 3]), dim=0).indices
        tensor([0, 1, 1, 3])
    """
    return _running_extremum("cummax", input, dim)


@lowered(
    "cummin(Tensor input, int dim) -> (Tensor values, Tensor indices)",
    composite=True,
    vjp={"input": _running_vjp},
)
def cummin(input: Tensor, dim: int) -> Any:
    """The smallest element up to and with each, along `dim`, and the last index of it; NaN from the first NaN on.

    Args: as `cummax`.

    Raises: as `cummax`.

    Example:
        >>> import raxis
        >>> raxis.cummin(raxis.tensor([3, 1, 2, 1]), dim=0).values
        tensor([3, 1, 1, 1])
    """
    return _running_extremum("cummin", input, dim)


# ---- logcumsumexp ----------------------------------------------------------------------------------------------------


def _logcumsumexp_vjp(grad: Tensor, input: Tensor, result: Tensor, dim: int) -> Any:
    if input.ndim == 0:
        return grad
    if grad.dtype.is_complex:
        return (_reverse_logcumsumexp(grad.log() - conj(result), dim) + conj(input)).exp()
    magnitude, nothing = grad.abs().log(), -float("inf")
    result = result.masked_fill(result == nothing, 0)
    positive = _reverse_logcumsumexp(magnitude.masked_fill(grad <= 0, nothing) - result, dim)
    negative = _reverse_logcumsumexp(magnitude.masked_fill(grad >= 0, nothing) - result, dim)
    return (positive + input).exp() - (negative + input).exp()


def _reverse_logcumsumexp(operand: Tensor, dim: int) -> Any:
    return operand.flip(dim).logcumsumexp(dim).flip(dim)


@lowered("logcumsumexp(Tensor input, int dim) -> Tensor", composite=True, vjp={"input": _logcumsumexp_vjp})
def logcumsumexp(input: Tensor, dim: int) -> Any:
    """``log(cumsum(exp(input)))`` along `dim`, without overflow.

    Computed by doubling (Hillis and Steele, 1986): after k steps each element covers the 2**k before it.

    Args:
        input: any shape, floating point or complex.
        dim: dimension.

    Raises:
        IndexError: if `dim` is out of range.
        NotImplementedError: if `input` is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.logcumsumexp(raxis.tensor([1000.0, 1000.0]), dim=0)
        tensor([1000.0000, 1000.6932])
    """
    if input.dtype.category < Category.FLOAT:
        raise NotImplementedError(f'"logcumsumexp" not implemented for {scalar_type(input.dtype)!r}')
    axis = wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        return input
    total = wide(input)
    step = 1
    while step < input.shape[axis]:
        total = _logaddexp(total, delayed(total, axis, step, -float("inf")))
        step *= 2
    return cast(total, input.dtype)


def _logaddexp(first: Tensor, second: Tensor) -> Any:
    """While tracing: ``log(exp(first) + exp(second))``, as the greater plus a correction."""
    if first._layout.dtype.is_complex:
        ordered = emit("ge", emit("real", first), emit("real", second))
        greater, less = emit("select", ordered, first, second), emit("select", ordered, second, first)
        magnitude = emit("abs", emit("real", greater))
    else:
        greater, less = emit("maximum", first, second), emit("minimum", first, second)
        magnitude = emit("abs", greater)
    infinite = emit("eq", magnitude, constant_like(magnitude, float("inf")))
    distance = emit("select", infinite, constant_like(greater, 0), emit("sub", less, greater))
    return emit("add", greater, emit("log1p", emit("exp", distance)))


# ---- differences -----------------------------------------------------------------------------------------------------


@composed(
    "diff(Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
    exact=lambda n: n == 0,
)
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Any:
    """The `n`-th differences of neighbours along `dim` (for bool: whether they differ).

    Args:
        input: at least 1-D.
        n: how often differences are taken.
        dim: dimension.
        prepend: put before `input` along `dim` first.
        append: put after `input` along `dim` first.

    Raises:
        RuntimeError: if `input` is 0-d, `n` is negative, or the shape of `prepend` or `append` does not fit.

    Example:
        >>> import raxis
        >>> raxis.diff(raxis.tensor([1, 4, 9, 16]), n=2)
        tensor([2, 2])
    """
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = wrap_dim(dim, input.ndim)
    if n == 0:
        return input.clone()
    operand = _extended(input, axis, prepend, append)
    size = operand.shape[axis]
    if n >= size:
        return operand.narrow(axis, 0, 0)
    for remaining in range(size - 1, size - 1 - n, -1):
        after, before = operand.narrow(axis, 1, remaining), operand.narrow(axis, 0, remaining)
        operand = after.logical_xor(before) if operand.dtype is dtypes.bool_ else after - before
    return operand


def _extended(input: Tensor, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in parts:
        if part.ndim != input.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
        for axis, size in enumerate(input.shape):
            if axis != dim and part.shape[axis] != size:
                raise RuntimeError(
                    "diff expects the shape of tensor to prepend or append to match that of input except along the "
                    f"differencing dimension; input.size({axis}) = {size}, but got tensor.size({axis}) = "
                    f"{part.shape[axis]}"
                )
    return cat(parts, dim) if len(parts) > 1 else input
