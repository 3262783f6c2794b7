"""Median and mode."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import wrap_dim
from raxis.numeric_limits import iinfo
from raxis.ops.definitions.extrema import require_elements, require_ordered, selection_vjp
from raxis.ops.definitions.reductions import constant_like, is_nan, kept_shape, reduce
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor


def select_along(
    values: Tensor, indices: Tensor, position: Tensor, dim: int, keepdim: bool
) -> tuple[Any, Any]:
    """While tracing: one of the sorted `values`, and where it came from, at `position` (size 1 along `dim`)."""
    found = emit("gather", values, position, dim=dim), emit("gather", indices, position, dim=dim)
    if keepdim:
        return found
    shape = values._layout.shape[:dim] + values._layout.shape[dim + 1 :]
    return emit("reshape", found[0], shape=shape), emit("reshape", found[1], shape=shape)


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
    numbers = emit("sub", constant_like(nans, size), nans)
    if not skip_nan:
        return emit("select", as_any(nans), numbers, middle)
    last = emit("maximum", emit("sub", numbers, constant_like(nans, 1)), constant_like(nans, 0))
    return emit("div", last, constant_like(nans, 2))


def as_any(counts: Tensor) -> Any:
    """While tracing: where a count is not zero."""
    return emit("ne", counts, constant_like(counts, 0))


_ALONG = "(Tensor input, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)"


@lowered("_median_dim" + _ALONG, composite=True, vjp={"input": selection_vjp}, method=False, function=False)
def _median_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Medians along `dim` and where they are."""
    return _median("median", input, dim, keepdim, skip_nan=False)


@lowered(
    "_nanmedian_dim" + _ALONG, composite=True, vjp={"input": selection_vjp}, method=False, function=False
)
def _nanmedian_dim(input: Tensor, dim: int, keepdim: bool) -> Any:
    """Medians of the elements along `dim` that are not NaN, and where they are."""
    return _median("nanmedian", input, dim, keepdim, skip_nan=True)


def _median_of_all(input: Tensor, along: Any) -> Any:
    if input.numel() == 0:
        return input.new_full((), float("nan") if input.dtype.is_floating_point else iinfo(input.dtype).min)
    return along(input if input._layout.ndim == 1 else input.reshape(-1), 0)[0]


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
    return (
        _median_of_all(input, _nanmedian_dim) if dim is None else _nanmedian_dim(input, dim, keepdim, out=out)
    )


@lowered("mode" + _ALONG, vjp={"input": selection_vjp})
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
    start = emit("select", starts_run(values, axis), place, constant_like(place, 0))
    length = emit("sub", place, emit("cummax", start, dim=axis))
    position = emit("argmax", length, dim=axis)
    return select_along(
        values,
        indices,
        emit("reshape", position, shape=kept_shape(values._layout.shape, (axis,))),
        axis,
        keepdim,
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
        "concatenate",
        constant(True, dtypes.bool_, kept_shape(shape, (dim,))),
        emit("ne", after, before),
        dim=dim,
    )
