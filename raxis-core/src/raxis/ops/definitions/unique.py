"""Distinct elements: ops whose result sizes depend on values."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import wrap_dim
from raxis.ops.definitions.masking import as_int, first_of, leading
from raxis.ops.definitions.order_statistics import starts_run
from raxis.ops.definitions.reductions import constant_like
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor


@lowered("_starts_run(Tensor input) -> Tensor", **INTERNAL)
def _starts_run(input: Tensor) -> Any:
    """Where an element of a 1-D tensor, or a row of a 2-D tensor, differs from its predecessor."""
    if input.shape[0] == 0:
        return constant(False, dtypes.bool_, (0,))
    differs = starts_run(input, 0)
    return differs if input.ndim == 1 else emit("reduce_or", differs, dims=(1,))


@lowered("_runs(Tensor starts) -> (Tensor run, Tensor first)", **INTERNAL)
def _runs(starts: Tensor) -> Any:
    """For each element the number of its run; and for each run, where it starts (the rest: the length)."""
    size = starts.shape[0]
    run = emit("sub", emit("cumsum", cast(starts, dtypes.int64), dim=0), constant(1, dtypes.int64, (size,)))
    place = emit("iota", shape=(size,), dtype=dtypes.int64, dim=0)
    end = constant(size, dtypes.int64, (size + 1,))
    return run, emit("scatter", end, run, place, dim=0, reduce="min")


@lowered("_unsorted(Tensor input, Tensor order) -> Tensor", **INTERNAL)
def _unsorted(input: Tensor, order: Tensor) -> Any:
    """The 1-D tensor that `order` sorts to `input`."""
    return emit("scatter", constant_like(input, 0), order, input, dim=0, reduce="set")


@lowered(
    "_distinct(Tensor input, bool consecutive) -> (Tensor values, Tensor run, Tensor first, Tensor count)",
    composite=True,
    **INTERNAL,
)
def _distinct(input: Tensor, consecutive: bool) -> Any:
    """The distinct elements of a 1-D tensor with some; with `consecutive`, the first of every run of equal ones.

    Returns: those elements packed at the front, for each element which of them it equals, where in order each starts
    (then the length), and how many they are. What follows may be anything.
    """
    packed, run, order, first, count = _runs_of(input, consecutive)
    inverse = (
        run if order is None else emit("scatter", constant_like(run, 0), order, run, dim=0, reduce="set")
    )
    return packed, inverse, first, count


@lowered(
    "_distinct_values(Tensor input, bool consecutive) -> (Tensor values, Tensor count)",
    composite=True,
    **INTERNAL,
)
def _distinct_values(input: Tensor, consecutive: bool) -> Any:
    """The first and the last result of `_distinct`."""
    packed, _, _, _, count = _runs_of(input, consecutive)
    return packed, count


def _runs_of(input: Tensor, consecutive: bool) -> tuple[Any, Any, Any, Any, Any]:
    """While tracing: the first of every run of equal elements, run of each in order, that order, starts, number."""
    size = input.shape[0]
    values, order = input, None
    if not consecutive:
        values, order = emit("sort", input, dim=0, descending=False, stable=True)
    starts = cast(starts_run(values, 0), dtypes.int64)
    run = emit("sub", emit("cumsum", starts, dim=0), constant(1, dtypes.int64, (size,)))
    place = emit("iota", shape=(size,), dtype=dtypes.int64, dim=0)
    first = emit("scatter", constant(size, dtypes.int64, (size + 1,)), run, place, dim=0, reduce="min")
    starting = emit("slice", first, start=(0,), stop=(size,), step=(1,))
    packed = emit("take", values, emit("minimum", starting, constant(size - 1, dtypes.int64, (size,))), dim=0)
    return packed, run, order, first, emit("reduce_sum", starts, dims=(0,))


def _of_elements(input: Tensor, return_inverse: bool, return_counts: bool, *, consecutive: bool) -> Any:
    """Distinct elements, and what else is asked for."""
    flat = input if input._layout.ndim == 1 else input.reshape(-1)
    if flat._edge is not None:
        flat = flat.detach()
    if flat._layout.numel == 0:
        nothing = flat.new_empty((0,), dtype=dtypes.int64)
        return _selected(
            (flat.clone(), nothing.reshape(input.shape), nothing.clone()), return_inverse, return_counts
        )
    if not (return_inverse or return_counts):
        return first_of(*_distinct_values(flat, consecutive))
    values, inverse, first, number = _distinct(flat, consecutive)
    count = as_int(number)
    found = leading(values, count)
    counts = first[1 : count + 1] - first[:count] if return_counts else None
    return _selected((found, inverse.reshape(input.shape), counts), return_inverse, return_counts)


def _grouped(rows: Tensor, order: Tensor | None) -> tuple[Any, Any, Any]:
    """First rows, inverse and counts of the runs of equal rows; `order` says what sorted `rows`."""
    size = rows.shape[0]
    if size == 0:
        nothing = rows.new_empty((0,), dtype=dtypes.int64)
        return rows.clone(), nothing, nothing.clone()
    run, first = _runs(_starts_run(rows.reshape(size, -1) if rows.ndim > 1 else rows))
    last: Any = run[-1].item()
    count = last + 1
    counts = first[1 : count + 1] - first[:count]
    inverse = run if order is None else _unsorted(run, order)
    return rows.index_select(0, first[:count]), inverse, counts


def _lexicographic_order(rows: Tensor) -> Tensor:
    """The stable order of the rows of a 2-D tensor: by the first column, then the second, and so on."""
    order = rows.select(1, rows.shape[1] - 1).argsort(stable=True)
    for column in range(rows.shape[1] - 2, -1, -1):
        order = order.index_select(0, rows.select(1, column).index_select(0, order).argsort(stable=True))
    return order


def _slices(name: str, input: Tensor, dim: int) -> Tensor:
    """`input` with `dim` in front."""
    axis = wrap_dim(dim, input.ndim)
    if any(size == 0 for position, size in enumerate(input.shape) if position != axis):
        raise RuntimeError(
            f"There are 0 sized dimensions, and they aren't selected, so {name} cannot be applied"
        )
    return input.movedim(axis, 0) if input.ndim else input.reshape(1)


def _selected(results: tuple[Any, Any, Any], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = results
    if not (return_inverse or return_counts):
        return values
    return (values, *([inverse] if return_inverse else []), *([counts] if return_counts else []))


def _by_slices(name: str, input: Tensor, dim: int, *, consecutive: bool) -> tuple[Any, Any, Any]:
    rows = _slices(name, input, dim)
    flat = rows.reshape(rows.shape[0], -1) if rows.numel() else rows.reshape(rows.shape[0])
    order = None if consecutive or not rows.numel() else _lexicographic_order(flat)
    ordered = rows if order is None else rows.index_select(0, order)
    values, inverse, counts = _grouped(ordered, order)
    return values.movedim(0, wrap_dim(dim, input.ndim)) if input.ndim else values, inverse, counts


_UNIQUE = "bool return_inverse=False, bool return_counts=False, int? dim=None) -> Tensor"


@composed("unique(Tensor input, bool sorted=True, " + _UNIQUE, out=False)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The distinct elements in ascending order, or the distinct slices along `dim`. Every NaN is distinct.

    Args:
        input: any shape, real or bool.
        sorted: whether they must be in order (they are in either case).
        return_inverse: also give, for each element, its place in the result.
        return_counts: also give how often each occurs.
        dim: compare slices along this dimension; None: elements.

    Raises:
        RuntimeError: if slices along `dim` have no elements.

    Example:
        >>> import raxis
        >>> raxis.unique(raxis.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is not None:
        return _selected(_by_slices("unique", input, dim, consecutive=False), return_inverse, return_counts)
    return _of_elements(input, return_inverse, return_counts, consecutive=False)


@composed("unique_consecutive(Tensor input, " + _UNIQUE, out=False)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first element of every run of equal elements, or the first of equal slices along `dim`.

    Args:
        input: any shape.
        return_inverse: also give, for each element, its place in the result.
        return_counts: also give the length of each run.
        dim: compare slices along this dimension; None: elements in row-major order.

    Raises:
        RuntimeError: if slices along `dim` have no elements.

    Example:
        >>> import raxis
        >>> raxis.unique_consecutive(raxis.tensor([1, 1, 2, 1]))
        tensor([1, 2, 1])
    """
    if dim is not None:
        found = _by_slices("unique_consecutive", input, dim, consecutive=True)
        return _selected(found, return_inverse, return_counts)
    return _of_elements(input, return_inverse, return_counts, consecutive=True)
