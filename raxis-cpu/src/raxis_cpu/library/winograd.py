"""Convolution of images with 3x3 kernels, and the kernels' gradients, by the bodies of `winograd_ir`."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from raxis_cpu.library.routine import Array, workspace
from raxis_cpu.library.winograd_ir import TAPS, Description, Slot, bodies, panel_width
from raxis_cpu.library.winograd_tiles_ir import POSITIONS, REACH, TILE
from raxis_cpu.threads import thread_pool

_FEW_TILES = 64
"""With no more tiles than this, kernels are transformed where they are used, and never written to memory."""
_TILE_COST, _KERNEL_COST, _KERNEL_COST_OF_FEW, _PACK_COST, _CALL_COST = 32, 25, 10, 20, 4_000_000
"""Measured costs, in multiplications: of an element of a transformed tile, of transformed kernels, of kernels that are
used as they are, of the calls of all phases."""
_BLOCK_BYTES = 1 << 20
"""Transformed tiles and products of a block: about half of what a core's own cache holds."""
_BLOCK_TILES = 56
"""With fewer tiles in a block, the transformed kernels would be read too often."""
_CHUNK = 64
"""Channels whose kernels are transformed at a time."""
_MOST_WORKSPACES = 64
"""There is a bit for each in one integer."""
_LINE = 64
"""Bytes of a line of the cache."""


class Weight(NamedTuple):
    """How kernels [group, output, channel, 3, 3] lie in memory; strides in elements."""

    group: int
    output: int
    channel: int
    turned: bool = False


class Sizes(NamedTuple):
    """Sizes of a convolution with stride 1; channels and outputs are those of a group."""

    images: int
    groups: int
    channels: int
    outputs: int
    image: tuple[int, int]
    result: tuple[int, int]
    before: tuple[int, int]

    @property
    def image_lines(self) -> int:
        """Lines of tiles of one image."""
        return -(-self.result[0] // TILE)

    @property
    def line_tiles(self) -> int:
        """Tiles of a line."""
        return -(-self.result[1] // TILE)

    @property
    def lines(self) -> int:
        """Lines of all images."""
        return self.images * self.image_lines


def is_worthwhile(sizes: Sizes) -> bool:
    """Whether fewer multiplications outweigh the transforms."""
    rows, places = sizes.result
    tiles = sizes.image_lines * sizes.line_tiles
    work = sizes.channels * sizes.outputs
    stack = sizes.images * sizes.groups
    columns = (_panels(sizes.channels) + _panels(sizes.outputs)) * panel_width()
    few = sizes.lines * sizes.line_tiles <= _FEW_TILES
    kernels = _KERNEL_COST_OF_FEW if few else _KERNEL_COST
    direct = TAPS * work * (stack * rows * places + _PACK_COST * sizes.groups)
    own = POSITIONS * (stack * tiles * (work + _TILE_COST * columns) + kernels * work * sizes.groups)
    return own + _CALL_COST < direct


def _panels(count: int) -> int:
    return -(-count // panel_width())


def _gap(rows: int) -> int:
    """Elements for so many rows of a panel; equal places in several such are not in the same sets of a cache."""
    return (rows | 1) * panel_width()


class _Job:
    """Slots of one call, and the memory that tasks work in."""

    def __init__(self, sizes: Sizes, weight: Weight, x: Array, kernels: Array, result: Array) -> None:
        self.sizes = sizes
        self.values = dict.fromkeys(Slot, 0)
        self.nbytes = 0
        self.set(
            IMAGE=x.ctypes.data, WEIGHT=kernels.ctypes.data, RESULT=result.ctypes.data, GROUPS=sizes.groups,
            CHANNELS=sizes.channels, OUTPUTS=sizes.outputs, CHANNEL_PANELS=_panels(sizes.channels),
            OUTPUT_PANELS=_panels(sizes.outputs), HEIGHT=sizes.image[0], WIDTH=sizes.image[1], ROWS=sizes.result[0],
            PLACES=sizes.result[1], TOP=sizes.before[0], LEFT=sizes.before[1], IMAGE_STRIDE=x.strides[0] // 4,
            CHANNEL_STRIDE=x.strides[1] // 4, RESULT_STRIDE=result.strides[0] // 4,
            OUTPUT_STRIDE=result.strides[1] // 4, WEIGHT_GROUP=weight.group, WEIGHT_OUTPUT=weight.output,
            WEIGHT_CHANNEL=weight.channel, WEIGHT_RUN=_CHUNK if weight.channel == TAPS else 1,
            FIRST_TAP=TAPS - 1 if weight.turned else 0, TAP_STEP=-1 if weight.turned else 1,
            IMAGE_LINES=sizes.image_lines, LINE_TILES=sizes.line_tiles, STOP_LINE=sizes.lines, CHUNK=_CHUNK,
            FACTOR_GAP=_gap(sizes.groups * _panels(sizes.outputs) * sizes.channels),
        )  # fmt: skip

    def set(self, **values: int) -> None:
        """Fill slots by name."""
        for name, value in values.items():
            self.values[Slot[name]] = value

    def reserve(self, slot: Slot, elements: int) -> None:
        """Room for a part of every workspace."""
        self.values[slot] = self.nbytes
        self.nbytes += -(-elements * 4 // _LINE) * _LINE

    def reserve_places(self, lines: int) -> None:
        """Room for what some lines see, and for one more row that is read in vain."""
        rows = min(lines, self.sizes.image_lines) * TILE + REACH - TILE
        columns = self.sizes.line_tiles * TILE + REACH - TILE
        self.reserve(Slot.PLACES_AT, (rows * columns + columns) * panel_width())
        self.reserve(Slot.TAPS_AT, (_CHUNK * TAPS + 1) * panel_width())

    def describe(self) -> Any:
        """The description, with workspaces for all threads."""
        count = min(thread_pool().num_threads, _MOST_WORKSPACES)
        memory = _aligned("winograd workspaces", count * self.nbytes // 4)
        # Bits of workspaces that do not exist are taken.
        used = -1 << count if count < _MOST_WORKSPACES else 0
        self.set(USED=used, WORKSPACES=memory, WORKSPACE_BYTES=self.nbytes)
        return Description(*(self.values[slot] for slot in Slot))


def _aligned(name: str, elements: int) -> int:
    """Address of memory for float32 at the beginning of a line of the cache."""
    array = workspace.array(name, (elements + _LINE // 4,), np.dtype(np.float32))
    return -(-array.ctypes.data // _LINE) * _LINE


def _run(name: str, description: Any, tasks: int) -> None:
    body = ctypes.c_void_p(bodies()[name])
    thread_pool().run(body, ctypes.addressof(description), tasks, 1)


def convolve(sizes: Sizes, weight: Weight, x: Array, kernels: Array, bias: Array | None, out: Array) -> bool:
    """Write the convolution to a dense result; whether all of it is finite.

    If not, other elements than those that depend on an infinite or NaN one may be NaN.

    Args:
        sizes: of the convolution.
        weight: how the kernels lie in memory.
        x: [images, groups * channels, height, width] with dense planes; float32, as all.
        kernels: any array with the kernels.
        bias: [groups * outputs].
        out: dense [images, groups * outputs, rows, places].
    """
    job = _Job(sizes, weight, x, kernels, out)
    margins = np.zeros((sizes.groups, _panels(sizes.outputs) * panel_width()), np.float32)
    if bias is not None:
        margins[:, : sizes.outputs] = bias.reshape(sizes.groups, -1)
    job.set(BIAS=margins.ctypes.data)
    few = sizes.lines * sizes.line_tiles <= _FEW_TILES
    description = _convolve_few(job) if few else _convolve_blocks(job)
    return not description[Slot.STRANGE]


def _convolve_few(job: _Job) -> Any:
    """All tiles are transformed, then every task computes an output panel."""
    sizes = job.sizes
    tiles = sizes.lines * sizes.line_tiles
    panels = sizes.groups * _panels(sizes.channels)
    tile_gap, product_gap = _gap(panels * tiles), _gap(tiles)
    job.set(BLOCK_TILES=tiles, TILE_GAP=tile_gap, PRODUCT_GAP=product_gap)
    job.set(TILES=_aligned("winograd tiles", POSITIONS * tile_gap))
    job.reserve(Slot.PRODUCTS_AT, POSITIONS * product_gap)
    job.set(FACTOR_GAP=_gap(_CHUNK))
    job.reserve(Slot.FACTORS_AT, POSITIONS * job.values[Slot.FACTOR_GAP])
    job.reserve_places(sizes.lines)
    description = job.describe()
    _run("image_tiles", description, panels)
    _run("output_panels", description, sizes.groups * _panels(sizes.outputs))
    return description


def _convolve_blocks(job: _Job) -> Any:
    """Kernels are transformed, then every task computes a block of lines."""
    sizes = job.sizes
    panels = _panels(sizes.channels) + _panels(sizes.outputs)
    most = max(_BLOCK_TILES, _BLOCK_BYTES // (panels * panel_width() * POSITIONS * 4))
    lines = _share(sizes.lines, most // sizes.line_tiles, thread_pool().num_threads)
    tiles, blocks = lines * sizes.line_tiles, -(-sizes.lines // lines)
    tile_gap, product_gap = (_gap(_panels(count) * tiles) for count in (sizes.channels, sizes.outputs))
    job.set(BLOCK_LINES=lines, BLOCKS=blocks, BLOCK_TILES=tiles, TILE_GAP=tile_gap, PRODUCT_GAP=product_gap)
    job.set(FACTORS=_aligned("winograd factors", POSITIONS * job.values[Slot.FACTOR_GAP]))
    job.reserve(Slot.TILES_AT, POSITIONS * tile_gap)
    job.reserve(Slot.PRODUCTS_AT, POSITIONS * product_gap)
    job.reserve_places(lines)
    description = job.describe()
    _run("kernels", description, sizes.groups * _panels(sizes.outputs))
    _run("blocks", description, sizes.groups * blocks)
    return description


def _share(total: int, most: int, threads: int) -> int:
    """Lines of a block: at most `most`, and about as many in every one of the threads' blocks."""
    rounds = -(-total // (max(1, most) * threads))
    return -(-total // (rounds * threads))


def weight_gradient(sizes: Sizes, weight: Weight, x: Array, response: Array, out: Array) -> bool:
    """Write the gradient of the kernels; whether all of it is finite (else more of it may be NaN than should be).

    Args:
        sizes: of the convolution.
        weight: how the result lies in memory; kernels of an output's channels lie one after another.
        x: [images, groups * channels, height, width] with dense planes; float32, as all.
        response: gradient of the convolution [images, groups * outputs, rows, places] with dense planes.
        out: receives the gradient.
    """
    job = _Job(sizes, weight, x, out, response)
    threads = thread_pool().num_threads
    row = (_panels(sizes.channels) + _panels(sizes.outputs)) * panel_width() * sizes.groups * POSITIONS * 4
    most = max(_BLOCK_TILES, sizes.channels, 2 * threads * _BLOCK_BYTES // row)
    lines = _share(sizes.lines, most // sizes.line_tiles, 1)
    tiles = lines * sizes.line_tiles
    panels = [sizes.groups * _panels(count) for count in (sizes.channels, sizes.outputs)]
    tile_gap, response_gap = (_gap(count * tiles) for count in panels)
    job.set(BLOCK_TILES=tiles, TILE_GAP=tile_gap, RESPONSE_GAP=response_gap)
    job.set(TILES=_aligned("winograd tiles", POSITIONS * tile_gap))
    job.set(RESPONSES=_aligned("winograd responses", POSITIONS * response_gap))
    job.reserve_places(lines)
    few = tiles <= _FEW_TILES and lines == sizes.lines
    description = _gradient_of_few(job) if few else _gradient_of_blocks(job, lines)
    return not description[Slot.STRANGE]


def _gradient_of_few(job: _Job) -> Any:
    """All tiles are transformed, then every task computes the gradient of an output panel."""
    sizes = job.sizes
    job.set(FACTOR_GAP=_gap(_CHUNK))
    job.reserve(Slot.FACTORS_AT, POSITIONS * job.values[Slot.FACTOR_GAP])
    description = job.describe()
    _run("all_tiles", description, sizes.groups * (_panels(sizes.channels) + _panels(sizes.outputs)))
    _run("panel_gradients", description, sizes.groups * _panels(sizes.outputs))
    return description


def _gradient_of_blocks(job: _Job, lines: int) -> Any:
    """Products of some lines at a time are added up."""
    sizes = job.sizes
    output_panels = sizes.groups * _panels(sizes.outputs)
    job.set(FACTORS=_aligned("winograd factors", POSITIONS * job.values[Slot.FACTOR_GAP]))
    description = job.describe()
    for first in range(0, sizes.lines, lines):
        description[Slot.FIRST_LINE], description[Slot.STOP_LINE] = first, min(first + lines, sizes.lines)
        _run("all_tiles", description, sizes.groups * _panels(sizes.channels) + output_panels)
        _run("products", description, POSITIONS * output_panels)
    _run("gradients", description, output_panels)
    return description
