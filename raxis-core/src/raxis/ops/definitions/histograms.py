"""Histograms of one and of several variables, with the edges of their bins."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any

from raxis.dtypes import float32, float64
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.sequences import linspace
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import emit
from raxis.return_types import named_results
from raxis.tensor import Tensor

_OPTIONS = "float[]? range=None, Tensor? weight=None, bool density=False"


@composed(f"histogram(Tensor input, any bins, *, {_OPTIONS}) -> (Tensor hist, Tensor bin_edges)")
def histogram(
    input: Tensor,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many elements fall in each bin, and the edges of the bins; the last bin has both its edges.

    Args:
        input: any shape, float32 or float64.
        bins: number of equal bins, or their edges, ascending.
        range: lower edge of the first and upper edge of the last bin, when `bins` is a number; default: the extrema.
        weight: what each element counts, in `input`'s shape and dtype.
        density: divide by the total and by the width of each bin.

    Raises:
        RuntimeError: if `bins`, `range` or `weight` does not fit.
        NotImplementedError: if the dtype is another.

    Example:
        >>> import raxis
        >>> raxis.histogram(raxis.tensor([1.0, 2.0, 1.0]), bins=3, range=(0.0, 3.0)).hist
        tensor([0., 2., 1.])
    """
    edges = [bins] if isinstance(bins, Tensor) else [_checked(bins)]
    found, bounds = _count("histogram", input.reshape(-1, 1), edges, range, _flat(input, weight, 0), density)
    return named_results("histogram", found, bounds[0])


@composed(
    "histogramdd(Tensor input, any bins, float[]? range=None, Tensor? weight=None, bool density=False) "
    "-> (Tensor hist, Tensor bin_edges)",
    method=False,
    out=False,
)
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many points fall in each bin of a grid, and a list of the edges along each dimension.

    Args:
        input: points, [..., N], float32 or float64.
        bins: number of bins for all dimensions or for each, or a list of the edges along each.
        range: lower and upper bound of each dimension one after the other, when `bins` are numbers; default: extrema.
        weight: what each point counts, in `input`'s shape but the last dimension.
        density: divide by the total and by the volume of each bin.

    Raises:
        RuntimeError: if `bins`, `range` or `weight` does not fit.
        NotImplementedError: if the dtype is another.

    Example:
        >>> import raxis
        >>> points = raxis.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9]])
        >>> raxis.histogramdd(points, bins=2).hist
        tensor([[1., 0.],
                [0., 2.]])
    """
    if input.ndim < 2:
        raise RuntimeError(
            f"histogramdd: input tensor should have at least 2 dimensions, but got {input.ndim}"
        )
    count = input.shape[-1]
    along = [bins] * count if isinstance(bins, int) else list(bins)
    if len(along) != count:
        raise RuntimeError(
            f"histogramdd: expected {count} sequences of bin edges for {count}-D points, but got {len(along)}"
        )
    edges = [item if isinstance(item, Tensor) else _checked(item) for item in along]
    points, weights = input.reshape(-1, count), _flat(input, weight, 1)
    found, bounds = _count("histogramdd", points, edges, range, weights, density)
    return named_results("histogramdd", found, tuple(bounds))


def _checked(bins: int) -> int:
    if bins <= 0:
        raise RuntimeError(f"histogram: bins must be > 0, but got {bins}")
    return bins


def _flat(input: Tensor, weight: Tensor | None, inner: int) -> Tensor | None:
    """The weights, one per point, of which the last `inner` dimensions of the input are the coordinates."""
    if weight is None:
        return None
    expected = list(input.shape)[: input.ndim - inner]
    if list(weight.shape) != expected or weight.dtype is not input.dtype:
        raise RuntimeError(
            f"histogram: expected weight of shape {expected} and dtype {input.dtype}, but got {list(weight.shape)} and "
            f"{weight.dtype}."
        )
    return weight.reshape(-1)


def _count(
    name: str,
    points: Tensor,
    bins: Sequence[Any],
    bounds: Sequence[float] | None,
    weights: Tensor | None,
    density: bool,
) -> tuple[Tensor, list[Tensor]]:
    if points.dtype not in (float32, float64):
        raise NotImplementedError(f'"{name}_cpu" not implemented for {points.dtype}')
    edges = _edges(points, bins, bounds)
    sizes = [len(item) - 1 for item in edges]
    amounts = points.new_ones(len(points)) if weights is None else weights
    # What is outside is counted as well, ahead of the first bin.
    totals = points.new_zeros(1 + prod(sizes)).index_add(0, _places(points, edges) + 1, amounts)
    counts = totals[1:].reshape(sizes)
    return (_density(counts, edges) if density else counts), edges


def _edges(points: Tensor, bins: Sequence[Any], bounds: Sequence[float] | None) -> list[Tensor]:
    if bounds is not None and len(bounds) != 2 * len(bins):
        raise RuntimeError(
            f"histogram: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, but got "
            f"{len(bounds)}"
        )
    found = []
    for axis, item in enumerate(bins):
        if isinstance(item, Tensor):
            found.append(_given_edges(points, item))
        else:
            low, high = _extent(points[:, axis], None if bounds is None else bounds[2 * axis : 2 * axis + 2])
            found.append(linspace(low, high, item + 1, dtype=points.dtype, device=points.device))
    return found


def _given_edges(points: Tensor, edges: Tensor) -> Tensor:
    if edges.ndim != 1 or edges.dtype is not points.dtype or len(edges) < 2:
        raise RuntimeError(
            f"histogram: bins tensors should be 1-D, of dtype {points.dtype} and have 2 or more elements, but got "
            f"{list(edges.shape)} of {edges.dtype}"
        )
    return edges.clone()


def _extent(values: Tensor, given: Sequence[float] | None) -> tuple[float, float]:
    if given is not None:
        low, high = given
    elif len(values) == 0:
        low, high = 0.0, 1.0
    else:
        low, high = (bound.item() for bound in values.aminmax())
    if not (isfinite(low) and isfinite(high)):
        raise RuntimeError(f"histogram: range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"histogram: min should not exceed max, but got min {low:g} max {high:g}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


@lowered("_bin_places(Tensor values, Tensor edges) -> Tensor", **INTERNAL)
def _bin_places(values: Tensor, edges: Tensor) -> Any:
    """The number of each value's bin, -1 for values outside and NaN."""
    found = emit("searchsorted", edges, values, right=True) - 1
    inside = (values >= edges[0]) & (values <= edges[-1])
    return where(inside, found.clamp(max=edges._layout.numel - 2), -1)


def _places(points: Tensor, edges: Sequence[Tensor]) -> Tensor:
    """The number of each point's bin in row-major order, -1 for points outside."""
    places = _bin_places(points[:, 0], edges[0])
    for axis, bounds in enumerate(edges[1:], 1):
        found = _bin_places(points[:, axis], bounds)
        places = where((places < 0) | (found < 0), -1, places * (len(bounds) - 1) + found)
    return places


def _density(counts: Tensor, edges: Sequence[Tensor]) -> Tensor:
    result = counts / counts.sum()
    for axis, bounds in enumerate(edges):
        shape = [-1 if place == axis else 1 for place in range(counts.ndim)]
        result = result / bounds.diff().reshape(shape)
    return result
