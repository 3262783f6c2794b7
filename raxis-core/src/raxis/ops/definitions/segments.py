"""Reductions of consecutive segments."""

from __future__ import annotations

import math
from typing import Any

from raxis.dtypes import int64
from raxis.layout import wrap_dim
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.rearranging import owners_by_ends
from raxis.ops.definitions.verdicts import require_none, saying
from raxis.ops.table import INTERNAL, composed, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor

_REDUCTIONS = {
    "sum": ("sum", 0.0), "mean": ("sum", 0.0), "max": ("amax", -math.inf), "min": ("amin", math.inf),
    "prod": ("prod", 1.0),
}  # fmt: skip
"""By name: the reduction of `scatter_reduce`, and what no elements give."""


@composed(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, "
    "int axis=0, bool unsafe=False, number? initial=None) -> Tensor",
    method=False,
    out=False,
)
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Any:
    """Reduce consecutive segments of `data` along `axis`.

    Args:
        data: floating point.
        reduce: "sum", "mean", "max", "min" or "prod".
        lengths: of the segments, [..., S], where ... are the dimensions of `data` before `axis`.
        indices: not supported, as in PyTorch.
        offsets: where the segments begin and the last one ends, [..., S + 1]; instead of `lengths`.
        axis: the last dimension of `lengths`.
        unsafe: do not check that the lengths add up to the size of `axis`.
        initial: what each reduction begins with; default: 0 for sums, 1 for products, and so on.

    Returns:
        `data`'s shape with S at `axis`; without `initial`, the mean of an empty segment is NaN.

    Raises:
        RuntimeError: if neither or both of `lengths` and `offsets` are given, or they do not fit.

    Example:
        >>> import raxis
        >>> raxis.segment_reduce(raxis.tensor([1.0, 2.0, 4.0]), "sum", lengths=raxis.tensor([2, 0, 1]))
        tensor([3., 0., 4.])
    """
    place = wrap_dim(axis, data.ndim)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"unsupported reduction {reduce!r}: expected one of {', '.join(_REDUCTIONS)}.")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined, and not both.")
    bounds, sizes = _bounds(lengths, offsets)
    _check(data, sizes, place, unsafe)
    owners = _segment_owners(bounds, data.shape[place], offsets is None)
    return _reduced(data, reduce, owners, sizes, initial)


def _bounds(lengths: Tensor | None, offsets: Tensor | None) -> tuple[Tensor, Tensor]:
    """What segments are told by, their lengths or their ends, and their lengths."""
    if lengths is not None:
        return lengths, lengths
    assert offsets is not None
    return offsets[..., 1:], offsets.diff()


@lowered("_segment_owners(Tensor bounds, int total, bool are_lengths) -> Tensor", **INTERNAL)
def _segment_owners(bounds: Tensor, total: int, are_lengths: bool) -> Any:
    """For each place the segment it is in, by the segments' lengths or ends."""
    ends = cast(bounds, int64)
    return owners_by_ends(emit("cumsum", ends, dim=ends._layout.ndim - 1) if are_lengths else ends, total)


@lowered("_misfits(Tensor sizes, int total) -> Tensor", **INTERNAL)
def _misfits(sizes: Tensor, total: int) -> Any:
    """Whether sizes are negative or do not add up to `total`."""
    return (sizes < 0).any(-1) | (sizes.sum(-1) != total)


def _check(data: Tensor, sizes: Tensor, place: int, unsafe: bool) -> None:
    if list(sizes.shape[:-1]) != list(data.shape[:place]):
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths, whose shape {list(sizes.shape)} "
            f"must begin with {list(data.shape[:place])}."
        )
    if unsafe:
        return
    sentence = (
        "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) = "
        f"{data.shape[place]} and to have no negative values when !unsafe."
    )
    require_none(_misfits(sizes, data.shape[place]), saying(RuntimeError, sentence))


def _reduced(data: Tensor, reduce: str, owners: Tensor, sizes: Tensor, initial: float | None) -> Tensor:
    name, empty = _REDUCTIONS[reduce]
    place, count = sizes.ndim - 1, sizes.shape[-1]
    rest = (1,) * (data.ndim - place - 1)
    owners = owners.reshape((*owners.shape, *rest)).expand(data.shape)
    # Elements beyond the last segment, which only unsafe calls have, go to one more that is cut off.
    shape = (*sizes.shape[:-1], count + 1, *data.shape[place + 1 :])
    start = data.new_full(shape, empty if initial is None else initial)
    total = start.scatter_reduce(place, owners, data, name).narrow(place, 0, count)
    if reduce != "mean":
        return total
    counts = sizes.reshape((*sizes.shape, *rest))
    return total / counts if initial is None else where(counts == 0, total, total / counts.clamp_min(1))
