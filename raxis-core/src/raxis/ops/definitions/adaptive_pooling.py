"""Adaptive pooling: as many windows as results are wanted, of sizes that differ by at most one or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.dtypes import int64
from raxis.ops.definitions.pooling import check_input
from raxis.ops.definitions.resampling import resample
from raxis.ops.definitions.spatial import Sizes, register_by_rank
from raxis.ops.definitions.taps import area_bins
from raxis.ops.definitions.windows import average_pool, places_of, take_places, winner_of
from raxis.ops.functional import functional, shared
from raxis.ops.table import lowered
from raxis.ops.trace import emit
from raxis.tensor import Tensor

OutputSize = int | None | Sequence[int | None]


def _sizes(name: str, input: Tensor, output_size: OutputSize, rank: int) -> Sizes:
    """The wanted sizes; None keeps the input's."""
    if not (output_size is None or isinstance(output_size, int)) and input.ndim <= len(output_size):
        raise ValueError(
            f"{name}: Input dimension should be at least {len(output_size) + 1}, but got {input.ndim}."
        )
    if input.ndim not in (rank + 1, rank + 2):
        check_input(name, input, rank)
    wanted = (
        (output_size,) * rank if output_size is None or isinstance(output_size, int) else tuple(output_size)
    )
    if len(wanted) != rank:
        raise RuntimeError(
            f"{name}: output_size must be one number or {rank} of them, but got {output_size}."
        )
    own = input._layout.shape[input.ndim - rank :]
    sizes = tuple(size if given is None else given for given, size in zip(wanted, own, strict=True))
    if min(sizes) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0, but got {sizes}."
        )
    check_input(name, input, rank)
    return sizes


def adaptive_average(input: Tensor, output_size: Sizes) -> Tensor:
    """Means of bins that cover the last dimensions."""
    rank = len(output_size)
    sizes = input._layout.shape[input.ndim - rank :]
    if 0 in output_size or any(size % wanted for size, wanted in zip(sizes, output_size, strict=True)):
        return resample(input, output_size, "area", False, (None,) * rank)
    kernel = tuple(size // wanted for size, wanted in zip(sizes, output_size, strict=True))
    return average_pool(input, kernel, kernel, (0,) * rank, False, True, None)


@lowered(
    "_adaptive_places(Tensor input, int[] output_size) -> Tensor",
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _adaptive_places(input: Tensor, output_size: Sizes) -> Any:
    """The place of the greatest element of every bin."""
    rank = len(output_size)
    lead = input.ndim - rank
    sizes = input._layout.shape[lead:]
    tables = [_table(size, wanted) for size, wanted in zip(sizes, output_size, strict=True)]
    windows = input
    for axis, table in enumerate(tables):
        flat = tuple(place for places in table for place in places)
        index = emit("constant", value=flat, dtype=int64, shape=(len(table), len(table[0])))
        windows = emit("take", windows, index, dim=lead + 2 * axis)
    order = (*range(lead), *range(lead, lead + 2 * rank, 2), *range(lead + 1, lead + 2 * rank, 2))
    return places_of(winner_of(emit("transpose", windows, permutation=order), rank), tables, sizes)


def _table(size: int, wanted: int) -> list[list[int]]:
    """Elements of every bin; shorter bins repeat their last element."""
    bins = area_bins(size, wanted)
    longest = max(stop - start for start, stop in bins)
    return [[min(start + offset, stop - 1) for offset in range(longest)] for start, stop in bins]


def _maximum(rank: int, input: Tensor, output_size: OutputSize, return_indices: bool) -> Any:
    sizes = _sizes(f"adaptive_max_pool{rank}d", input, output_size, rank)
    if 0 in sizes:
        empty = (*input._layout.shape[: input.ndim - rank], *sizes)
        values, places = input.new_empty(empty), input.new_empty(empty, dtype=int64)
        return (values, places) if return_indices else values
    places = _adaptive_places(input, sizes)
    values = take_places(input, places, rank)
    return (values, places) if return_indices else values


_AVERAGE = """Means of as many windows of the last {n} dimension(s) as `output_size` says.

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        output_size: one number or one per dimension; None keeps the input's size.

    Raises:
        RuntimeError: if the input has other dimensions.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.adaptive_avg_pool{n}d(raxis.ones(1, 1, {fours}), 2).shape
        raxis.Size([1, 1, {twos}])
    """
_MAXIMUM = """Maxima of as many windows of the last {n} dimension(s) as `output_size` says.

    Args:
        input: [N, C, {shape}] or [C, {shape}].
        output_size: one number or one per dimension; None keeps the input's size.
        return_indices: also return each winner's position in the row-major order of the pooled dimensions.

    Raises:
        RuntimeError: if the input has other dimensions.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.adaptive_max_pool{n}d(raxis.ones(1, 1, {fours}), 2).shape
        raxis.Size([1, 1, {twos}])
    """


def _average_of(rank: int) -> Any:
    def body(input: Tensor, output_size: OutputSize) -> Tensor:
        return adaptive_average(input, _sizes(f"adaptive_avg_pool{rank}d", input, output_size, rank))

    schema = "adaptive_avg_pool{n}d(Tensor input, int[{n}] output_size) -> Tensor"
    return register_by_rank(shared if rank == 1 else functional, schema, body, _AVERAGE, rank)


def _maximum_of(rank: int) -> Any:
    def body(input: Tensor, output_size: OutputSize, return_indices: bool = False) -> Any:
        return _maximum(rank, input, output_size, return_indices)

    schema = "adaptive_max_pool{n}d(Tensor input, int[{n}] output_size, bool return_indices=False) -> Tensor"
    return register_by_rank(functional, schema, body, _MAXIMUM, rank)


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_average_of(rank) for rank in (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_maximum_of(rank) for rank in (1, 2, 3))
