"""Convolutions, their transposes and the gradients of their kernels by the bodies of `sliding_ir`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from raxis.dtypes import DType
from raxis_cpu.library.panels_ir import panel_width
from raxis_cpu.library.routine import Array, address_of, workspace
from raxis_cpu.library.sliding_ir import FEW, TILE, Description, Slot, drivers, vector_of
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
        for places, count, spread, step in zip(
            sizes.result, sizes.kernel, sizes.spread, sizes.step, strict=True
        )
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
        parts.append(
            _Part(first, -(-(result - first) // step), [tap for tap, _ in whole], [at for _, at in whole])
        )
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
        taps = [
            (a * sizes.kernel[1] + b) * sizes.kernel[2] + c
            for a, b, c in product(*(part.taps for part in parts))
        ]
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


class _Memory:
    """Parts of one piece of memory, by the slots that hold their addresses."""

    def __init__(self, itemsize: int) -> None:
        self._itemsize = itemsize
        self.places: list[tuple[Slot, int]] = []
        self.nbytes = 0

    def add(self, slot: Slot, elements: int) -> None:
        """Room for so many elements, at the beginning of a line of the cache."""
        self.places.append((slot, self.nbytes))
        self.nbytes += -(-elements * self._itemsize // _LINE) * _LINE


class _Plan(NamedTuple):
    """All of a call's description but the addresses."""

    description: Any
    memory: _Memory


class _Runner:
    """What calls of one convolution have in common.

    Args:
        sizes: of the convolution.
        dtype: float32 or float64.
        planes: the padded planes.
        driver: address of the function that does the work.
    """

    def __init__(self, sizes: Sizes, dtype: DType, planes: _Planes, driver: int) -> None:
        self._sizes, self._planes, self._dtype = sizes, planes, dtype.numpy
        self._width = panel_width(vector_of(dtype))
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(driver)
        self._depth = sizes.channels * sizes.taps
        self._output_panels = -(-sizes.outputs // self._width)
        self._plans: dict[int, _Plan] = {}
        extent = planes.extent
        self._image_elements = sizes.groups * sizes.channels * planes.channel_gap
        self._fixed = {
            "FILLS": planes.fills.ctypes.data, "FILL_COUNT": len(planes.fills), "OFFSETS": planes.offsets.ctypes.data,
            "BLOCKS": planes.blocks.ctypes.data, "BLOCK_COUNT": len(planes.blocks), "GROUPS": sizes.groups,
            "CHANNELS": sizes.channels, "OUTPUTS": sizes.outputs, "OUTPUT_PANELS": self._output_panels,
            "SLICES": sizes.image[0], "ROWS": sizes.image[1], "SLICE_STEP": planes.step[0], "ROW_STEP": planes.step[1],
            "PLACE_STEP": planes.step[2], "PLANE_SLICES": extent[0], "PLANE_ROWS": extent[1],
            "PLANE_PLACES": extent[2], "CHANNEL_GAP": planes.channel_gap, "DEPTH": self._depth,
            "RESULT_SLICES": sizes.result[0], "RESULT_ROWS": sizes.result[1], "RESULT_PLACES": sizes.result[2],
            "COUNT": sizes.images, "PARALLEL_FOR": thread_pool().parallel_for,
        }  # fmt: skip

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        """Numbers that depend on how many threads there are; reserves the memory."""
        raise NotImplementedError

    def _planned(self) -> _Plan:
        threads = min(thread_pool().num_threads, _MOST_WORKSPACES)
        found = self._plans.get(threads)
        if found is None:
            found = self._plans[threads] = self._new_plan(threads)
        return found

    def _new_plan(self, threads: int) -> _Plan:
        images = max(1, _PLANES_BYTES // (self._image_elements * self._dtype.itemsize))
        chunk = min(self._sizes.images, threads * images)
        memory = _Memory(self._dtype.itemsize)
        memory.add(Slot.PLANES, chunk * self._image_elements + 2 * self._width)
        # Bits of workspaces that do not exist are taken.
        used = -1 << threads if threads < _MOST_WORKSPACES else 0
        numbers = {**self._fixed, "CHUNK": chunk, "USED": used, **self._plan(threads, chunk, memory)}
        values = dict.fromkeys(Slot, 0)
        values.update({Slot[name]: number for name, number in numbers.items()})
        return _Plan(Description(*values.values()), memory)

    def _call(self, x: Array, weight: int, bias: int, result: Array, sums: int) -> None:
        """Run; addresses of what is not here are 0."""
        template, memory = self._planned()
        description = Description.from_buffer_copy(template)
        itemsize = x.itemsize
        start = -(-address_of(workspace.array("sliding", (memory.nbytes + _LINE,), _BYTES)) // _LINE) * _LINE
        for slot, offset in memory.places:
            description[slot] = start + offset
        description[Slot.IMAGE : Slot.BIAS + 1] = [address_of(x), weight, bias]
        description[Slot.RESULT] = address_of(result)
        if sums:
            description[Slot.SUMS] = sums
        description[Slot.IMAGE_STRIDE : Slot.PLACE_STRIDE + 1] = [stride // itemsize for stride in x.strides]
        distances = [stride // itemsize for stride in result.strides[:2]]
        description[Slot.RESULT_STRIDE], description[Slot.OUTPUT_STRIDE] = distances
        self._run(ctypes.addressof(description))


_BYTES = np.dtype(np.uint8)


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
        planes = (_transposed_planes if transposed else _forward_planes)(sizes, width)
        super().__init__(sizes, dtype, planes, drivers(dtype).convolution)
        taps, depth = sizes.taps, self._depth
        if transposed:
            run = {
                "RUNS": sizes.channels,
                "RUN": taps,
                "RUN_STRIDE": sizes.outputs * taps,
                "WEIGHT_OUTPUT": taps,
            }
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
        self._call(x, address_of(weight), 0 if bias is None else address_of(bias), out, 0)

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        blocks, width = self._planes.blocks, self._width
        tasks = chunk * self._sizes.groups * len(blocks)
        part = -(-self._output_panels // -(-2 * threads // tasks)) if threads > 1 else self._output_panels
        kernels = self._sizes.groups * self._output_panels * self._depth * width
        in_order = bool((self._planes.offsets[:, 0] == np.arange(self._depth)).all()) if len(blocks) else True
        arranges = not in_order and self._sizes.outputs > FEW
        memory.add(Slot.KERNELS, kernels)
        if arranges:
            memory.add(Slot.PANELS, kernels)
        else:
            memory.places.append((Slot.PANELS, memory.places[-1][1]))
        results = self._most_places * width
        elements = -(-(results + self._most_places * int(blocks[:, 1].max())) // _LINE) * _LINE
        memory.add(Slot.WORKSPACES, threads * elements)
        itemsize = self._dtype.itemsize
        return {
            "PART_PANELS": part, "PARTS": -(-self._output_panels // part), "ARRANGES": int(arranges),
            "COLUMNS_AT": results * itemsize, "WORKSPACE_BYTES": elements * itemsize,
        }  # fmt: skip

    @property
    def _most_places(self) -> int:
        """Places of the largest block, as many as are computed."""
        blocks = self._planes.blocks
        most = int(((blocks[:, 3] - 1) * self._planes.extent[2] + blocks[:, 4]).max())
        return -(-most // (2 * self._width)) * 2 * self._width


class WeightGradient(_Runner):
    """The gradient of a convolution's kernels."""

    def __init__(self, sizes: Sizes, dtype: DType) -> None:
        planes = _forward_planes(sizes, panel_width(vector_of(dtype)))
        super().__init__(sizes, dtype, planes, drivers(dtype).gradient)
        lanes = self._width // 2
        run = (sizes.result[1] - 1) * planes.extent[2] + sizes.result[2]
        self._run_gap = -(-run // lanes) * lanes
        self._fixed |= {"RUN_GAP": self._run_gap}
        self._by_tiles = sizes.outputs < lanes
        self._shape: tuple[int, ...]
        if self._by_tiles:
            rows = 1 if sizes.outputs == 1 else TILE
            tiles, elements = -(-sizes.outputs // rows), -(-self._depth // TILE)
            block = -(-elements // min(elements, -(-_TASKS // (sizes.groups * tiles)))) * TILE
            self._fixed |= {
                "BY_TILES": 1, "DEPTH_BLOCK": block, "DEPTH_BLOCKS": -(-self._depth // block), "OUTPUT_TILES": tiles,
                "SUMS_GAP": elements * TILE,
            }  # fmt: skip
            self._shape = (sizes.groups, tiles * rows, elements * TILE)
        else:
            panels = -(-self._depth // self._width)
            self._fixed |= {"DEPTH_PANELS": panels, "PLACE_BLOCK": _PLACE_BLOCK}
            self._shape = (sizes.groups, panels, self._output_panels * self._width, self._width)

    def __call__(self, x: Array, response: Array, out: Array) -> bool:
        """Write the gradient; whether all of it is finite (else more of it may be NaN than should be).

        Args:
            x: [images, groups * channels, *image].
            response: gradient of the result [images, groups * outputs, *result] with dense planes.
            out: [groups * outputs, channels, *kernel].
        """
        sizes = self._sizes
        sums = np.empty(self._shape, self._dtype)
        self._call(x, 0, 0, response, address_of(sums))
        found = sums[..., : sizes.outputs, :]
        if not self._by_tiles:
            found = found.swapaxes(1, 2).reshape(sizes.groups, sizes.outputs, -1)
        out.reshape(sizes.groups, sizes.outputs, self._depth)[...] = found[..., : self._depth]
        return bool(np.isfinite(out).all())

    def _plan(self, threads: int, chunk: int, memory: _Memory) -> dict[str, int]:
        sizes = self._sizes
        outputs = sizes.outputs if self._by_tiles else self._output_panels * self._width
        memory.add(Slot.RESPONSES, chunk * sizes.groups * outputs * sizes.result[0] * self._run_gap)
        elements = _PLACE_BLOCK * self._width
        memory.add(Slot.WORKSPACES, threads * elements)
        return {"WORKSPACE_BYTES": elements * self._dtype.itemsize}
