"""Convolutions, their transposes and the gradients of their kernels by the bodies of `sliding_ir`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.panels_ir import panel_width
from raxis_cpu.library.routine import Array, workspace
from raxis_cpu.library.sliding_ir import FEW, TILE, Description, Slot, bodies, vector_of
from raxis_cpu.threads import thread_pool

_PLANES_BYTES = 1 << 20
"""Planes for one thread at a time: about half of what a core's own cache holds."""
_COLUMN_BYTES = 3 << 18
"""What kernels see from a block of places: it stays in the cache while all outputs are computed."""
_BLOCK_PLACES = 1024
"""Most places of a block of results: those of a panel of outputs fit into the cache beside it."""
_PLACE_BLOCK = 256
"""Places whose products with responses are added at a time."""
_TASKS = 16
"""So many tasks keep all threads busy."""
_MOST_WORKSPACES = 64
"""There is a bit for each in one integer."""
_LINE = 64
"""Bytes of a line of the cache."""

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


class _Planes(NamedTuple):
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


def _pieces(rows: int, places: int, pitch: int, depth: int, width: int) -> list[_Piece]:
    """Rows of `places` results, `pitch` apart in the planes, in pieces whose columns fit into the cache."""
    panels = max(1, min(_BLOCK_PLACES, _COLUMN_BYTES // (max(depth, 1) * 8)) // width)
    most = max(0, panels * width - places) // pitch + 1
    if most > 1 or places <= panels * width:
        count = -(-rows // most)
        bounds = [rows * number // count for number in range(count + 1)]
        return [_Piece(first, stop - first, 0, places) for first, stop in pairwise(bounds)]
    return [
        _Piece(row, 1, first, min(panels * width, places - first))
        for row in range(rows)
        for first in range(0, places, panels * width)
    ]


def _table(rows: list[list[int]] | list[tuple[int, ...]]) -> Array:
    return np.array(rows, np.int64)


def _forward_planes(sizes: Sizes, width: int) -> _Planes:
    used = [
        sorted({tap * spread % step for tap in range(count)})
        for count, spread, step in zip(sizes.kernel, sizes.spread, sizes.step, strict=True)
    ]
    extent = tuple(
        places + (count - 1) * spread // step
        for places, count, spread, step in zip(sizes.result, sizes.kernel, sizes.spread, sizes.step, strict=True)
    )
    plane, count = prod(extent), prod(map(len, used))
    fills, at = [], 0
    for remainders in product(*used):
        start = [remainder - before for remainder, before in zip(remainders, sizes.before, strict=True)]
        fills.append(_fill(at, start, sizes.step[2], sizes.image[2], extent[2]))
        at += plane
    offsets = np.zeros((sizes.channels, *sizes.kernel), np.int64)
    offsets += (np.arange(sizes.channels) * plane * count).reshape(-1, 1, 1, 1)
    number, pitch = plane, 1
    for axis in (2, 1, 0):
        reach = np.arange(sizes.kernel[axis]) * sizes.spread[axis]
        which = np.searchsorted(used[axis], reach % sizes.step[axis])
        own = which * number + reach // sizes.step[axis] * pitch
        offsets += own.reshape(-1, *(1,) * (2 - axis))
        number, pitch = number * len(used[axis]), pitch * extent[axis]
    rows = np.arange(offsets.size)
    blocks = [
        [0, offsets.size, (slice_ * extent[1] + piece.row) * extent[2] + piece.place, piece.rows, piece.places,
         (slice_ * sizes.result[1] + piece.row) * sizes.result[2] + piece.place, sizes.result[2], 1]
        for slice_ in range(sizes.result[0])
        for piece in _pieces(sizes.result[1], sizes.result[2], extent[2], offsets.size, width)
    ]  # fmt: skip
    table = np.stack([rows, offsets.ravel()], -1)
    return _Planes(extent, count, sizes.step, _table(fills), table, _table(blocks))


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
        parts.append(_Part(first, -(-(result - first) // step), [tap for tap, _ in whole], [at for _, at in whole]))
    return parts


def _transposed_planes(sizes: Sizes, width: int) -> _Planes:
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
    channels = np.arange(sizes.channels)
    offsets: list[Array] = []
    blocks: list[list[int]] = []
    done = 0
    gaps = (sizes.result[1] * sizes.result[2], sizes.result[2], 1)
    for parts in product(*by_dim):
        taps = [(a * sizes.kernel[1] + b) * sizes.kernel[2] + c for a, b, c in product(*(part.taps for part in parts))]
        shifts = [
            ((a - lowest[0]) * extent[1] + b - lowest[1]) * extent[2] + c - lowest[2]
            for a, b, c in product(*(part.shifts for part in parts))
        ]
        rows = channels[:, None] * sizes.taps + np.array(taps, np.int64)
        places = channels[:, None] * prod(extent) + np.array(shifts, np.int64)
        offsets.append(np.stack([rows.ravel(), places.ravel()], -1))
        start = sum(part.first * gap for part, gap in zip(parts, gaps, strict=True))
        row_gap = sizes.step[1] * gaps[1]
        blocks += [
            [done, rows.size, (slice_ * extent[1] + piece.row) * extent[2] + piece.place, piece.rows, piece.places,
             start + slice_ * sizes.step[0] * gaps[0] + piece.row * row_gap + piece.place * sizes.step[2], row_gap,
             sizes.step[2]]
            for slice_ in range(parts[0].places)
            for piece in _pieces(parts[1].places, parts[2].places, extent[2], rows.size, width)
        ]  # fmt: skip
        done += rows.size
    fills = [_fill(0, lowest, 1, sizes.image[2], extent[2])]
    return _Planes(extent, 1, (1, 1, 1), _table(fills), np.concatenate(offsets), _table(blocks))


class _Runner:
    """What calls of one convolution have in common.

    Args:
        sizes: of the convolution.
        dtype: float32 or float64.
        planes: the padded planes.
    """

    def __init__(self, sizes: Sizes, dtype: DType, planes: _Planes) -> None:
        self._sizes, self._planes, self._dtype = sizes, planes, dtype.numpy
        self._width = panel_width(vector_of(dtype))
        self._bodies = {name: ctypes.c_void_p(address) for name, address in bodies(dtype).items()}
        self._depth = sizes.channels * sizes.taps
        self._output_panels = -(-sizes.outputs // self._width)
        extent = planes.extent
        self._image_bytes = sizes.groups * sizes.channels * planes.channel_gap * dtype.itemsize
        self._fixed = {
            "FILLS": planes.fills.ctypes.data, "FILL_COUNT": len(planes.fills), "OFFSETS": planes.offsets.ctypes.data,
            "BLOCKS": planes.blocks.ctypes.data, "BLOCK_COUNT": len(planes.blocks), "GROUPS": sizes.groups,
            "CHANNELS": sizes.channels, "OUTPUTS": sizes.outputs, "OUTPUT_PANELS": self._output_panels,
            "SLICES": sizes.image[0], "ROWS": sizes.image[1], "SLICE_STEP": planes.step[0], "ROW_STEP": planes.step[1],
            "PLACE_STEP": planes.step[2], "PLANE_SLICES": extent[0], "PLANE_ROWS": extent[1],
            "PLANE_PLACES": extent[2], "CHANNEL_GAP": planes.channel_gap, "DEPTH": self._depth,
            "RESULT_SLICES": sizes.result[0], "RESULT_ROWS": sizes.result[1], "RESULT_PLACES": sizes.result[2],
        }  # fmt: skip

    def _describe(self, x: Array, result: Array, **more: int) -> Any:
        names = ("IMAGE", "CHANNEL", "SLICE", "ROW", "PLACE")
        strides = {f"{name}_STRIDE": stride // x.itemsize for name, stride in zip(names, x.strides, strict=True)}
        values = dict.fromkeys(Slot, 0)
        for name, value in {
            **self._fixed, **strides, **more, "IMAGE": x.ctypes.data, "RESULT": result.ctypes.data,
            "RESULT_STRIDE": result.strides[0] // x.itemsize, "OUTPUT_STRIDE": result.strides[1] // x.itemsize,
            "PLANES": self._memory("sliding planes", self._chunk * self._image_bytes // x.itemsize, clear=True),
        }.items():  # fmt: skip
            values[Slot[name]] = value
        return Description(*values.values())

    def _memory(self, name: str, elements: int, *, clear: bool = False) -> int:
        """Address of memory at the beginning of a line of the cache; `clear` is for what is read behind its end."""
        more = 2 * self._width
        array = workspace.array(name, (elements + more + _LINE,), self._dtype)
        start = -array.ctypes.data % _LINE // array.itemsize
        if clear:
            array[start + elements :] = 0
        return array.ctypes.data + start * array.itemsize

    @property
    def _chunk(self) -> int:
        """Images whose planes exist at a time."""
        threads = thread_pool().num_threads
        return min(self._sizes.images, threads * max(1, _PLANES_BYTES // self._image_bytes))

    def _chunks(self, description: Any) -> Iterator[int]:
        """Make the planes of some images at a time; their number."""
        chunk = self._chunk
        for first in range(0, self._sizes.images, chunk):
            count = min(chunk, self._sizes.images - first)
            description[Slot.FIRST_IMAGE], description[Slot.IMAGES] = first, count
            self._run("fill", description, count * self._sizes.groups * self._sizes.channels)
            yield count

    def _run(self, name: str, description: Any, tasks: int) -> None:
        thread_pool().run(self._bodies[name], ctypes.addressof(description), tasks, 1)


class Convolution(_Runner):
    """A convolution of fixed sizes, or the transpose of one (then `result` is larger than `image` as a rule).

    Args:
        sizes: of the convolution; of a transpose `image` is what is given, `step` and `before` are those of the
            convolution that it transposes.
        dtype: float32 or float64.
        transposed: whether it is a transpose.
    """

    def __init__(self, sizes: Sizes, dtype: DType, *, transposed: bool = False) -> None:
        width = panel_width(vector_of(dtype))
        super().__init__(sizes, dtype, (_transposed_planes if transposed else _forward_planes)(sizes, width))
        taps, depth = sizes.taps, self._depth
        if transposed:
            run = {"RUNS": sizes.channels, "RUN": taps, "RUN_STRIDE": sizes.outputs * taps, "WEIGHT_OUTPUT": taps}
        else:
            run = {"RUNS": 1, "RUN": depth, "RUN_STRIDE": 0, "WEIGHT_OUTPUT": depth}
        self._fixed |= run | {"WEIGHT_GROUP": sizes.outputs * depth}

    def __call__(self, x: Array, weight: Array, bias: Array | None, out: Array) -> None:
        """Write the result.

        Args:
            x: [images, groups * channels, *image].
            weight: dense; [groups * outputs, channels, *kernel], if transposed [groups * channels, outputs, *kernel].
            bias: dense [groups * outputs].
            out: dense [images, groups * outputs, *result].
        """
        sizes, blocks, width = self._sizes, self._planes.blocks, self._width
        threads = min(thread_pool().num_threads, _MOST_WORKSPACES)
        tasks = min(sizes.images, self._chunk) * sizes.groups * len(blocks)
        part = -(-self._output_panels // -(-2 * threads // tasks)) if threads > 1 else self._output_panels
        parts = -(-self._output_panels // part)
        panels = sizes.groups * self._output_panels
        results = self._most_places * width
        elements = results + self._most_places * int(blocks[:, 1].max())
        description = self._describe(
            x, out, WEIGHT=weight.ctypes.data, BIAS=0 if bias is None else bias.ctypes.data,
            KERNELS=self._memory("sliding kernels", panels * self._depth * width),
            PANELS=self._memory("sliding panels", panels * self._depth * width), PART_PANELS=part, PARTS=parts,
            USED=-1 << threads if threads < _MOST_WORKSPACES else 0, COLUMNS_AT=results * x.itemsize,
            WORKSPACES=self._memory("sliding results", threads * elements), WORKSPACE_BYTES=elements * x.itemsize,
        )  # fmt: skip
        self._run("pack", description, panels)
        if self._is_in_order or sizes.outputs <= FEW:
            description[Slot.PANELS] = description[Slot.KERNELS]
        else:
            self._run("arrange", description, panels)
        for images in self._chunks(description):
            self._run("convolve", description, images * sizes.groups * len(blocks) * parts)

    @cached_property
    def _is_in_order(self) -> bool:
        """Whether the table names the kernels' elements one after another."""
        return bool((self._planes.offsets[:, 0] == np.arange(self._depth)).all())

    @cached_property
    def _most_places(self) -> int:
        """Places of the largest block, as many as in whole panels."""
        blocks = self._planes.blocks
        most = int(((blocks[:, 3] - 1) * self._planes.extent[2] + blocks[:, 4]).max())
        return -(-most // (2 * self._width)) * 2 * self._width


class WeightGradient(_Runner):
    """The gradient of a convolution's kernels."""

    def __init__(self, sizes: Sizes, dtype: DType) -> None:
        super().__init__(sizes, dtype, _forward_planes(sizes, panel_width(vector_of(dtype))))
        lanes = self._width // 2
        run = (sizes.result[1] - 1) * self._planes.extent[2] + sizes.result[2]
        self._run_gap = -(-run // lanes) * lanes
        self._fixed |= {"RUN_GAP": self._run_gap}
        self._has_panels = sizes.outputs >= lanes

    def __call__(self, x: Array, response: Array, out: Array) -> bool:
        """Write the gradient; whether all of it is finite (else more of it may be NaN than should be).

        Args:
            x: [images, groups * channels, *image].
            response: gradient of the result [images, groups * outputs, *result] with dense planes.
            out: [groups * outputs, channels, *kernel].
        """
        found = (self._by_panels if self._has_panels else self._by_tiles)(x, response)
        out.reshape(self._sizes.groups, -1, self._depth)[...] = found
        return bool(np.isfinite(out).all())

    def _by_panels(self, x: Array, response: Array) -> Array:
        """Products of columns and responses, [group, output, element]; the elements are in panels."""
        sizes, width = self._sizes, self._width
        panels, output_panels = -(-self._depth // width), self._output_panels
        sums = np.empty((sizes.groups, panels, output_panels * width, width), self._dtype)
        threads = min(thread_pool().num_threads, _MOST_WORKSPACES)
        elements = _PLACE_BLOCK * width
        responses = self._chunk * sizes.groups * output_panels * sizes.result[0] * self._run_gap * width
        description = self._describe(
            x, response, SUMS=sums.ctypes.data, RESPONSES=self._memory("sliding responses", responses),
            DEPTH_PANELS=panels, PLACE_BLOCK=_PLACE_BLOCK, USED=-1 << threads if threads < _MOST_WORKSPACES else 0,
            WORKSPACES=self._memory("sliding results", threads * elements), WORKSPACE_BYTES=elements * x.itemsize,
        )  # fmt: skip
        for images in self._chunks(description):
            self._run("gather_responses", description, images * sizes.groups * output_panels)
            self._run("products", description, sizes.groups * panels)
        joined = sums[:, :, : sizes.outputs].transpose(0, 2, 1, 3).reshape(sizes.groups, sizes.outputs, -1)
        return joined[:, :, : self._depth]

    def _by_tiles(self, x: Array, response: Array) -> Array:
        """Products of few outputs, [group, output, element]: vectors hold places."""
        sizes = self._sizes
        rows = 1 if sizes.outputs == 1 else TILE
        tiles, elements = -(-sizes.outputs // rows), -(-self._depth // TILE)
        block = -(-elements // min(elements, -(-_TASKS // (sizes.groups * tiles)))) * TILE
        blocks = -(-self._depth // block)
        sums = np.empty((sizes.groups, tiles * rows, elements * TILE), self._dtype)
        responses = self._chunk * sizes.groups * sizes.outputs * sizes.result[0] * self._run_gap
        description = self._describe(
            x, response, SUMS=sums.ctypes.data, RESPONSES=self._memory("sliding responses", responses),
            DEPTH_BLOCK=block, DEPTH_BLOCKS=blocks, OUTPUT_TILES=tiles, SUMS_GAP=elements * TILE,
        )  # fmt: skip
        for images in self._chunks(description):
            self._run("fill_responses", description, images * sizes.groups * sizes.outputs)
            self._run("dots", description, sizes.groups * tiles * blocks)
        return sums[:, : sizes.outputs, : self._depth]
