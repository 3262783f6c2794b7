"""Variance, order statistics and relatives."""

from __future__ import annotations

import warnings
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.layout import Layout, wrap_dim
from raxis.ops.definitions.extrema import require_elements, require_ordered, spread
from raxis.ops.definitions.reductions import (
    Dims,
    filled_like,
    is_nan,
    kept_shape,
    reduce,
    reduced_count,
    restore_dims,
)  # fmt: skip
from raxis.ops.formulas import wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.tensor import Tensor

# ---- variance --------------------------------------------------------------------------------------------------------


def _variance(name: str, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """While tracing: the variance, in float32 for half precision."""
    if input.dtype.category < Category.FLOAT:
        raise RuntimeError("std and var only support floating point and complex dtypes")
    operand = wide(input)
    shape = operand._layout.shape
    count = reduced_count(input._layout, dim)
    if count - correction <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input numel divided by output numel).",
            UserWarning,
            stacklevel=2,
        )
    total = reduce("reduce_sum", operand, dim, True)
    mean = emit("div", total, filled_like(total, count))
    deviation = emit("abs", emit("sub", operand, broadcast(mean, shape)))
    squares = reduce("reduce_sum", emit("mul", deviation, deviation), dim, keepdim)
    return emit("div", squares, filled_like(squares, max(count - correction, 0)))


def _var_vjp(grad: Tensor, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    layout = input._layout
    freedom = reduced_count(layout, dim) - correction
    grad = restore_dims(grad, layout, dim, keepdim)
    deviation = input - input.mean(dim, True)
    return grad * deviation * (2 / freedom if freedom > 0 else float("nan"))


def _std_vjp(grad: Tensor, result: Tensor, input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    of_variance = (grad / (result * 2)).masked_fill(result == 0, 0)
    return _var_vjp(of_variance, input, dim, correction, keepdim)


@lowered(
    "_var(Tensor input, int[]? dim, number correction, bool keepdim) -> Tensor",
    vjp={"input": _var_vjp},
    method=False,
    function=False,
)
def _var(input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The variance over `dim`."""
    return cast(_variance("var", input, dim, correction, keepdim), input.dtype.to_real())


@lowered(
    "_std(Tensor input, int[]? dim, number correction, bool keepdim) -> Tensor",
    vjp={"input": _std_vjp},
    method=False,
    function=False,
)
def _std(input: Tensor, dim: Dims, correction: float, keepdim: bool) -> Any:
    """The standard deviation over `dim`."""
    return cast(emit("sqrt", _variance("std", input, dim, correction, keepdim)), input.dtype.to_real())


def _spread_arguments(dim: Any, unbiased: bool | None, correction: float | None) -> tuple[Dims, float]:
    """`dim` and `correction` of the overloads ``(unbiased)`` and ``(dim, unbiased, keepdim)``."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return tuple(dim) if isinstance(dim, list) else dim, correction


_SPREAD = (
    "(Tensor input, any dim=None, bool? unbiased=None, bool keepdim=False, *, number? correction=None) -> Tensor"
)


@composed("var" + _SPREAD, out=False)
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Any:
    """The variance over `dim`, or of all elements: ``sum(abs(x - mean) ** 2) / max(0, n - correction)``.

    Args:
        input: floating point or complex; the variance is real.
        dim: dimension or dimensions; None: all.
        unbiased: True for correction 1, False for 0.
        keepdim: keep these dimensions with size 1.
        correction: subtracted from the number of elements; default 1 (Bessel's correction).

    Raises:
        RuntimeError: if `input` is neither floating point nor complex.

    Example:
        >>> import raxis
        >>> raxis.var(raxis.tensor([1.0, 2.0, 3.0, 6.0]), correction=0)
        tensor(3.5000)
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim, out=out)


@composed("std" + _SPREAD, out=False)
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
    out: Tensor | None = None,
) -> Any:
    """The standard deviation over `dim`, or of all elements: the root of `var`.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.std(raxis.tensor([1.0, 2.0, 3.0]))
        tensor(1.)
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim, out=out)


@composed("var_mean" + _SPREAD, method=False, out=False)
def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """The pair of `var` and `mean` over `dim`, or of all elements.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.var_mean(raxis.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _var(input, dim, correction, keepdim), input.mean(dim, keepdim)


@composed("std_mean" + _SPREAD, method=False, out=False)
def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Any, Any]:
    """The pair of `std` and `mean` over `dim`, or of all elements.

    Args: as `var`.

    Raises: as `var`.

    Example:
        >>> import raxis
        >>> raxis.std_mean(raxis.tensor([1.0, 2.0, 3.0]))
        (tensor(1.), tensor(2.))
    """
    dim, correction = _spread_arguments(dim, unbiased, correction)
    return _std(input, dim, correction, keepdim), input.mean(dim, keepdim)


# ---- order statistics ------------------------------------------------------------------------------------------------


def select_along(values: Tensor, indices: Tensor, position: Tensor, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """While tracing: one of the sorted `values`, and where it came from, at `position` (size 1 along `dim`)."""
    found = emit("gather", values, position, dim=dim), emit("gather", indices, position, dim=dim)
    if keepdim:
        return found
    shape = values._layout.shape[:dim] + values._layout.shape[dim + 1 :]
    return emit("reshape", found[0], shape=shape), emit("reshape", found[1], shape=shape)


def _select_vjp(grad: Tensor, results: Any, input_layout: Layout, dim: int, keepdim: bool) -> Any:
    return spread(grad, results[1], input_layout, dim, keepdim)


def _median(name: str, input: Tensor, dim: int, keepdim: bool, *, skip_nan: bool) -> tuple[Any, Any]:
    require_ordered(name, input.dtype, dtypes.bool_)
    require_elements(name, input._layout, dim)
    if input.ndim == 0:
        return input, constant(0, dtypes.int64)
    axis = wrap_dim(dim, input.ndim)
    size = input.shape[axis]
    values, indices = emit("sort", input, dim=axis, descending=False, stable=True)
    position = constant((size - 1) // 2, dtypes.int64, kept_shape(input._layout.shape, (axis,)))
    if input.dtype.is_floating_point:
        nans = reduce("reduce_sum", cast(is_nan(input), dtypes.int64), axis, True)
        position = _median_position(nans, size, position, skip_nan=skip_nan)
    return select_along(values, indices, position, axis, keepdim)


def _median_position(nans: Tensor, size: int, middle: Tensor, *, skip_nan: bool) -> Any:
    """Where the median is among sorted values that end with NaNs."""
    numbers = emit("sub", filled_like(nans, size), nans)
    if not skip_nan:
        return emit("select", as_any(nans), numbers, middle)
    last = emit("maximum", emit("sub", numbers, filled_like(nans, 1)), filled_like(nans, 0))
    return emit("div", last, filled_like(nans, 2))


def as_any(counts: Tensor) -> Any:
    """While tracing: where a count is not zero."""
    return emit("ne", counts, filled_like(counts, 0))


_ALONG = "(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"


@lowered("_median_dim" + _ALONG, vjp={"input": _select_vjp}, method=False, function=False)
def _median_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Medians along `dim` and where they are."""
    return _median("median", input, dim, keepdim, skip_nan=False)


@lowered("_nanmedian_dim" + _ALONG, vjp={"input": _select_vjp}, method=False, function=False)
def _nanmedian_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Medians of the elements along `dim` that are not NaN, and where they are."""
    return _median("nanmedian", input, dim, keepdim, skip_nan=True)


def _median_of_all(input: Tensor, along: Any) -> Any:
    if input.numel() == 0:
        return input.new_full((), float("nan") if input.dtype.is_floating_point else _least(input))
    return along(input.reshape(-1), 0)[0]


def _least(input: Tensor) -> int:
    bits = 8 * input.dtype.itemsize
    return -(2 ** (bits - 1)) if input.dtype.is_signed else 0


@composed("median(Tensor input, int? dim=None, bool keepdim=False) -> Tensor", out=False)
def median(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median of all elements, or along `dim` with its index; of an even number, the lower of the two.

    NaN if any element is NaN (see `nanmedian`).

    Args:
        input: any shape, integer or floating point.
        dim: dimension; None: all elements, giving a 0-d tensor.
        keepdim: keep the dimension with size 1.

    Raises:
        IndexError: if `dim` is out of range or has size 0.

    Example:
        >>> import raxis
        >>> raxis.median(raxis.tensor([3, 1, 4, 2]))
        tensor(2)
    """
    return _median_of_all(input, _median_dim) if dim is None else _median_dim(input, dim, keepdim, out=out)


@composed("nanmedian(Tensor input, int? dim=None, bool keepdim=False) -> Tensor", out=False)
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The median, as `median`, of the elements that are not NaN; NaN if all are.

    Args: as `median`.

    Raises: as `median`.

    Example:
        >>> import raxis
        >>> raxis.nanmedian(raxis.tensor([1.0, float("nan"), 0.0]))
        tensor(0.)
    """
    return _median_of_all(input, _nanmedian_dim) if dim is None else _nanmedian_dim(input, dim, keepdim, out=out)


@lowered("mode" + _ALONG, vjp={"input": _select_vjp})
def mode(input: Tensor, dim: int, keepdim: bool) -> Any:
    """The most frequent element along `dim` and an index of it; of several, the smallest.

    Args:
        input: any shape, real or bool.
        dim: dimension.
        keepdim: keep the dimension with size 1.

    Raises:
        IndexError: if `dim` is out of range or has size 0.

    Example:
        >>> import raxis
        >>> raxis.mode(raxis.tensor([1, 2, 2, 1, 3])).values
        tensor(1)
    """
    require_ordered("mode", input.dtype)
    require_elements("mode", input._layout, dim)
    if input.ndim == 0:
        return input, constant(0, dtypes.int64)
    axis = wrap_dim(dim, input.ndim)
    values, indices = emit("sort", input, dim=axis, descending=False, stable=True)
    place = emit("iota", shape=values._layout.shape, dtype=dtypes.int64, dim=axis)
    start = emit("select", starts_run(values, axis), place, filled_like(place, 0))
    length = emit("sub", place, emit("cummax", start, dim=axis))
    position = emit("argmax", length, dim=axis)
    return select_along(
        values, indices, emit("reshape", position, shape=kept_shape(values._layout.shape, (axis,))), axis, keepdim
    )


def starts_run(values: Tensor, dim: int) -> Any:
    """While tracing: where an element differs from its predecessor along `dim` (the first always does)."""
    shape = values._layout.shape
    first, last = [0] * len(shape), list(shape)
    first[dim], last[dim] = 1, shape[dim] - 1
    steps = (1,) * len(shape)
    after = emit("slice", values, start=tuple(first), stop=shape, step=steps)
    before = emit("slice", values, start=(0,) * len(shape), stop=tuple(last), step=steps)
    return emit(
        "concatenate", constant(True, dtypes.bool_, kept_shape(shape, (dim,))), emit("ne", after, before), dim=dim
    )


# ---- quantiles -------------------------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
_QUANTILE = (
    "(Tensor input, Tensor|Scalar q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
)


def _quantile(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, *, skip_nan: bool
) -> Any:
    q = _checked_q(name, input, q, interpolation)
    if dim is None:
        shape: tuple[int, ...] = (1,) * input.ndim
        operand = input.reshape(-1)
    else:
        axis = wrap_dim(dim, input.ndim)
        shape = kept_shape(input._layout.shape, (axis,))
        operand = input.unsqueeze(-1).transpose(axis, -1).squeeze(axis) if input.ndim else input.reshape(1)
    if operand.shape[-1] == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    found = _interpolated(operand.sort(-1)[0], q.reshape(-1), interpolation, skip_nan=skip_nan)
    found = found.movedim(-1, 0) if q.ndim else found.squeeze(-1)
    return found.reshape((*q.shape, *shape)) if keepdim else found


def _checked_q(name: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return input.new_full((), q)
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def _interpolated(ordered: Tensor, q: Tensor, interpolation: str, *, skip_nan: bool) -> Any:
    size = ordered.shape[-1]
    nans = (ordered != ordered).sum(-1, True)  # noqa: PLR0124  NaN
    if skip_nan:
        ranks = (q * (size - 1 - nans)).clamp(min=0)
    else:
        ranks = (q * (size - 1)).expand((*ordered.shape[:-1], q.shape[0]))
        ranks = ranks.masked_fill(nans > 0, size - 1)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
        return ordered.gather(-1, ranks.to(dtypes.int64))
    below = ranks.to(dtypes.int64)
    low, high = ordered.gather(-1, below), ordered.gather(-1, ranks.ceil().to(dtypes.int64))
    return low.lerp(high, ranks - below) if interpolation == "linear" else low.lerp(high, 0.5)


@composed("quantile" + _QUANTILE)
def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The `q`-th quantiles along `dim`, or of all elements; NaN where any element is NaN.

    Args:
        input: float32 or float64, not empty.
        q: number or 1-D tensor in [0, 1]; a tensor adds a leading dimension to the result.
        dim: dimension; None: all elements.
        keepdim: keep the dimension with size 1.
        interpolation: between two elements: linear, lower, higher, midpoint or nearest.

    Raises:
        RuntimeError: if an argument is not of these kinds.

    Example:
        >>> import raxis
        >>> raxis.quantile(raxis.tensor([0.0, 1.0, 2.0, 3.0]), 0.5)
        tensor(1.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, skip_nan=False)


@composed("nanquantile" + _QUANTILE)
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Any:
    """The `q`-th quantiles, as `quantile`, of the elements that are not NaN.

    Args: as `quantile`.

    Raises: as `quantile`.

    Example:
        >>> import raxis
        >>> raxis.nanquantile(raxis.tensor([0.0, float("nan"), 2.0]), 0.5)
        tensor(1.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, skip_nan=True)


# ---- covariance ------------------------------------------------------------------------------------------------------


@composed(
    "cov(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor", out=False
)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Any:
    """The covariance matrix of the variables in the rows of `input`, observations in columns.

    Args:
        input: at most 2-D.
        correction: subtracted from the number of observations.
        fweights: 1-D integers, how often each observation was made.
        aweights: 1-D, the weight of each observation.

    Raises:
        RuntimeError: if `input` has more than 2 dimensions or weights do not fit.

    Example:
        >>> import raxis
        >>> raxis.cov(raxis.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    observations = input.reshape(1, -1) if input.ndim < 2 else input
    weights = _observation_weights(observations, fweights, aweights)
    total: Any = observations.shape[1] if weights is None else weights.sum()
    weighted = observations if weights is None else observations * weights
    mean = weighted.sum(1, True) / total
    factor = _normalisation(total, correction, weights, aweights)
    deviation = observations - mean
    right = deviation if weights is None else deviation * weights
    return (deviation @ right.mH / factor).squeeze()


def _normalisation(total: Any, correction: int, weights: Tensor | None, aweights: Tensor | None) -> Any:
    if weights is None:
        return max(total - correction, 0)
    if aweights is None or correction == 0:
        return (total - correction).clamp(min=0)
    return (total - correction * (weights * aweights).sum() / total).clamp(min=0)


def _observation_weights(observations: Tensor, fweights: Tensor | None, aweights: Tensor | None) -> Tensor | None:
    weights = None
    for name, given, category in (
        ("fweights", fweights, Category.INTEGER),
        ("aweights", aweights, Category.FLOAT),
    ):
        if given is None:
            continue
        _check_weights(name, given, category, observations.shape[1])
        weights = given if weights is None else weights * given
    return weights


def _check_weights(name: str, weights: Tensor, category: Category, count: int) -> None:
    if weights.ndim > 1 or weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to be 1-D with one element per observation ({count}), but got shape "
            f"{list(weights.shape)}"
        )
    if weights.dtype.category is not category:
        kind = "integral" if category is Category.INTEGER else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype, but got {weights.dtype.name}")
    if count and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composed("corrcoef(Tensor input) -> Tensor", out=False)
def corrcoef(input: Tensor) -> Any:
    """Pearson's correlation coefficients of the variables in the rows of `input`.

    Args:
        input: at most 2-D, observations in columns.

    Raises:
        RuntimeError: if `input` has more than 2 dimensions.

    Example:
        >>> import raxis
        >>> raxis.corrcoef(raxis.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
        tensor([[ 1., -1.],
                [-1.,  1.]])
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    covariance = cov(input)
    if covariance.ndim == 0:
        return covariance / covariance
    deviations = covariance.diagonal().real.sqrt() if covariance.dtype.is_complex else covariance.diagonal().sqrt()
    coefficients = covariance / deviations.unsqueeze(-1) / deviations
    return coefficients if coefficients.dtype.is_complex else coefficients.clamp(-1, 1)
