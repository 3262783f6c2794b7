"""What convolutions read and write in `sliding_ir`: padded planes of images, and blocks of results, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import NamedTuple

import numpy as np

from raxis_cpu.library.panels_ir import panel_width
from raxis_cpu.library.register_tiles_ir import Tile, most_places, results_tile
from raxis_cpu.library.routine import Array
from raxis_cpu.library.sliding_ir import few_outputs
from raxis_cpu.llvm.ir import Type

_BLOCK_PLACES = 512
"""Most places of a block of results: those of a panel of outputs fit into the cache."""
_LEAST_PLACES = 96
"""Fewer places are not worth a task."""
TASKS = 16
"""So many tasks keep all threads busy."""

Triple = tuple[int, ...]


class Sizes(NamedTuple):
    """Sizes of a correlation over three dims (missing ones have size 1); channels and outputs are those of a group."""

    images: int
    groups: int
    channels: int
    outputs: int
    image: Triple
    result: Triple
    kernel: Triple
    step: Triple
    spread: Triple
    before: Triple

    @property
    def taps(self) -> int:
        """Elements of a kernel of one channel."""
        return prod(self.kernel)


class Planes(NamedTuple):
    """The padded planes of a channel, one of `extent` for every remainder, and the tables of `sliding_ir`."""

    extent: Triple
    remainders: int
    step: Triple
    fills: Array
    offsets: Array
    blocks: Array

    @property
    def channel_gap(self) -> int:
        """Elements of a channel."""
        return self.remainders * prod(self.extent)


def _fill(at: int, start: Sequence[int], step: int, size: int, extent: int) -> list[int]:
    """One entry of the table: the planes' first place is `start` in the image, whose rows have `size` places."""
    low = min(max(0, -(start[2] // step)), extent)
    stop = min(max(low, -((start[2] - size) // step)), extent)
    return [at, *start, low, stop]


class _Piece(NamedTuple):
    """Rows of results and, if there is one row, some of its places."""

    row: int
    rows: int
    place: int
    places: int


def _pieces(rows: int, places: int, most: int) -> list[_Piece]:
    """Rows of `places` results in pieces of at most `most`."""
    if places <= most:
        count = -(-rows // (most // places))
        bounds = [rows * number // count for number in range(count + 1)]
        return [_Piece(first, stop - first, 0, places) for first, stop in pairwise(bounds)]
    count = -(-places // most)
    bounds = [places * number // count for number in range(count + 1)]
    return [_Piece(row, 1, first, stop - first) for row in range(rows) for first, stop in pairwise(bounds)]


class ResultTiles:
    """Blocks of results, and the functions that compute their tiles."""

    def __init__(self, vector: Type, sizes: Sizes) -> None:
        self._vector = vector
        outputs = sizes.outputs
        places = sizes.images * sizes.groups * -(-outputs // panel_width(vector)) * prod(sizes.result)
        # Fewer if there are few tasks.
        self._block_places = max(_LEAST_PLACES, min(_BLOCK_PLACES, places // TASKS))
        self._is_narrow = outputs <= few_outputs(vector)
        last = (outputs - 1) % panel_width(vector) + 1
        # Of one vector of outputs, and of two.
        self._used = (last <= vector.lanes, last > vector.lanes or outputs > panel_width(vector))

    def blocks(
        self, counts: Triple, extent: Triple, elements: tuple[int, int], start: int, gaps: Triple
    ) -> list[list[int]]:
        """Entries of the table for evenly spaced results.

        Args:
            counts: slices, rows and places of the results.
            extent: of the planes.
            elements: the first of the kernel, and how many.
            start: where the first result is.
            gaps: between slices, rows and places in the result.
        """
        return [
            [*elements, (slice_ * extent[1] + piece.row) * extent[2] + piece.place, piece.rows, piece.places,
             start + slice_ * gaps[0] + piece.row * gaps[1] + piece.place * gaps[2], *gaps[1:],
             *self._numbers(piece.rows, piece.places)]
            for slice_ in range(counts[0])
            for piece in _pieces(counts[1], counts[2], self._block_places)
        ]  # fmt: skip

    def _numbers(self, rows: int, places: int) -> list[int]:
        """The last numbers of a block of so many rows and places."""
        if self._is_narrow:
            return [0] * 6
        most = most_places(1 + self._used[1])
        width = -(-places // -(-places // most))
        height = -(-rows // -(-rows // (most // width)))
        rest = (rows - 1) % height + 1
        return [height, width, *self._addresses(height, width), *self._addresses(rest, width)]

    def _addresses(self, rows: int, places: int) -> list[int]:
        return [
            results_tile(self._vector, Tile(rows, places, vectors)) if used else 0
            for vectors, used in enumerate(self._used, 1)
        ]


def _table(rows: list[list[int]]) -> Array:
    return np.array(rows, np.int64)


def _dense_gaps(sizes: Sizes) -> Triple:
    """Gaps between slices, rows and places of a dense result."""
    return (sizes.result[1] * sizes.result[2], sizes.result[2], 1)


def forward_planes(sizes: Sizes, tiles: ResultTiles | None) -> Planes:
    """The planes of a convolution; without `tiles` there are no blocks of results."""
    used = [
        sorted({tap * spread % step for tap in range(count)})
        for count, spread, step in zip(sizes.kernel, sizes.spread, sizes.step, strict=True)
    ]
    extent = tuple(
        places + (count - 1) * spread // step
        for places, count, spread, step in zip(
            sizes.result, sizes.kernel, sizes.spread, sizes.step, strict=True
        )
    )
    plane, count = prod(extent), prod(map(len, used))
    fills = []
    for number, remainders in enumerate(product(*used)):
        start = [remainder - before for remainder, before in zip(remainders, sizes.before, strict=True)]
        fills.append(_fill(number * plane, start, sizes.step[2], sizes.image[2], extent[2]))
    places = (np.arange(sizes.channels)[:, None] * (plane * count) + _offsets(sizes, used, extent)).ravel()
    offsets = np.stack([np.arange(places.size), places], -1)
    blocks = tiles.blocks(sizes.result, extent, (0, places.size), 0, _dense_gaps(sizes)) if tiles else []
    return Planes(extent, count, sizes.step, _table(fills), offsets, _table(blocks))


def _offsets(sizes: Sizes, used: list[list[int]], extent: Triple) -> Array:
    """Where, in the planes of a channel, the place is that each kernel element meets at the first result."""
    offsets = np.zeros(sizes.kernel, np.int64)
    number, pitch = prod(extent), 1
    for axis in (2, 1, 0):
        reach = np.arange(sizes.kernel[axis]) * sizes.spread[axis]
        which = np.searchsorted(used[axis], reach % sizes.step[axis])
        own = which * number + reach // sizes.step[axis] * pitch
        offsets += own.reshape(-1, *(1,) * (2 - axis))
        number, pitch = number * len(used[axis]), pitch * extent[axis]
    return offsets.ravel()


class _Part(NamedTuple):
    """Along one dim, the results of a transpose whose places have the same remainder by the step."""

    first: int
    places: int
    taps: list[int]
    shifts: list[int]


def _parts(result: int, kernel: int, step: int, spread: int, before: int) -> list[_Part]:
    parts = []
    for first in range(min(step, result)):
        seen = [(tap, first + before - tap * spread) for tap in range(kernel)]
        whole = [(tap, reach // step) for tap, reach in seen if reach % step == 0]
        parts.append(
            _Part(first, -(-(result - first) // step), [tap for tap, _ in whole], [at for _, at in whole])
        )
    return parts


def transposed_planes(sizes: Sizes, tiles: ResultTiles) -> Planes:
    """As if `result` were the image of a correlation and `image` its result."""
    by_dim = [
        _parts(*numbers)
        for numbers in zip(sizes.result, sizes.kernel, sizes.step, sizes.spread, sizes.before, strict=True)
    ]
    lowest = [min((at for part in parts for at in part.shifts), default=0) for parts in by_dim]
    extent = tuple(
        max(part.places + max(part.shifts, default=low) for part in parts) - low
        for parts, low in zip(by_dim, lowest, strict=True)
    )
    offsets: list[Array] = []
    blocks: list[list[int]] = []
    done, dense = 0, _dense_gaps(sizes)
    gaps = tuple(gap * step for gap, step in zip(dense, sizes.step, strict=True))
    for parts in product(*by_dim):
        offsets.append(_offsets_of(parts, sizes, lowest, extent))
        start = sum(part.first * gap for part, gap in zip(parts, dense, strict=True))
        counts = tuple(part.places for part in parts)
        blocks += tiles.blocks(counts, extent, (done, len(offsets[-1])), start, gaps)
        done += len(offsets[-1])
    # The table has an entry for every kernel element, also for those that no result meets.
    offsets.append(np.zeros((sizes.channels * sizes.taps - done, 2), np.int64))
    fills = [_fill(0, lowest, 1, sizes.image[2], extent[2])]
    return Planes(extent, 1, (1, 1, 1), _table(fills), np.concatenate(offsets), _table(blocks))


def _offsets_of(parts: Sequence[_Part], sizes: Sizes, lowest: Sequence[int], extent: Triple) -> Array:
    """Entries of the table of offsets: the kernel elements that the results of these parts meet."""
    taps = [
        (a * sizes.kernel[1] + b) * sizes.kernel[2] + c for a, b, c in product(*(part.taps for part in parts))
    ]
    shifts = [
        ((a - lowest[0]) * extent[1] + b - lowest[1]) * extent[2] + c - lowest[2]
        for a, b, c in product(*(part.shifts for part in parts))
    ]
    channels = np.arange(sizes.channels)[:, None]
    rows = channels * sizes.taps + np.array(taps, np.int64)
    places = channels * prod(extent) + np.array(shifts, np.int64)
    return np.stack([rows.ravel(), places.ravel()], -1)
