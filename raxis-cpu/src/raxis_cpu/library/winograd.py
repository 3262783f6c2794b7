"""Convolution of images with 3x3 kernels, and the kernels' gradients, by the bodies of `winograd_ir`."""

from __future__ import annotations

import ctypes
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from raxis.backends.api import Strides
from raxis_cpu.library.bodies_ir import MOST_WORKSPACES, unused
from raxis_cpu.library.routine import Array, address_of, workspace
from raxis_cpu.library.winograd_ir import bodies, panel_width
from raxis_cpu.library.winograd_slots import Description, Slot
from raxis_cpu.library.winograd_tiles_ir import POSITIONS, REACH, TAPS, TILE
from raxis_cpu.machine import whole_lines
from raxis_cpu.threads import thread_pool

_FEW_TILES, _FEW_TILES_OF_OUTPUTS = 64, 0.25
"""With no more tiles than this, or than so many per output, kernels are transformed where they are used, and never
written to memory: each tile is read for every panel of outputs then, but the kernels are larger than the tiles."""
_TILE_COST, _KERNEL_COST, _KERNEL_COST_OF_FEW, _PACK_COST, _CALL_COST = 32, 25, 10, 20, 4_000_000
"""Measured costs, in multiplications: of an element of a transformed tile, of transformed kernels, of kernels that are
used as they are, of the calls of all phases."""
_BLOCK_BYTES = 1 << 20
"""Transformed tiles and products of a block: about half of what a core's own cache holds."""
_BLOCK_TILES = 56
"""With fewer tiles in a block, the transformed kernels would be read too often."""
_CHUNK, _SMALL_CHUNK = 64, 16
"""Channels whose kernels are transformed at a time, usually and where the first cache holds all that they meet."""
_LINE_BYTES = 1 << 14
"""Products of a line of positions that leave room for kernels and tiles in a core's first cache."""
_SIZE = 4
"""Bytes of a float32."""
_MOST_PLANS = 256
"""Plans that are kept: a large model has about as many convolutions of different sizes, forward and backward."""


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
    kernels = _KERNEL_COST_OF_FEW if _has_few_tiles(sizes) else _KERNEL_COST
    direct = TAPS * work * (stack * rows * places + _PACK_COST * sizes.groups)
    own = POSITIONS * (stack * tiles * (work + _TILE_COST * _columns(sizes)) + kernels * work * sizes.groups)
    return own + _CALL_COST < direct


def _has_few_tiles(sizes: Sizes) -> bool:
    """Whether all tiles are transformed first, and every task computes the results of an output panel."""
    tiles = sizes.lines * sizes.line_tiles
    most = max(_FEW_TILES, int(_FEW_TILES_OF_OUTPUTS * sizes.outputs))
    return tiles <= min(most, _BLOCK_BYTES // (POSITIONS * panel_width() * _SIZE))


def _panels(count: int) -> int:
    return -(-count // panel_width())


def _columns(sizes: Sizes) -> int:
    """Those of the panels of a group, of channels and of outputs."""
    return (_panels(sizes.channels) + _panels(sizes.outputs)) * panel_width()


def _gap(rows: int) -> int:
    """Elements for so many rows of a panel; equal places in several such are not in the same sets of a cache."""
    return (rows | 1) * panel_width()


class _Step(NamedTuple):
    """Tasks of one body, on some of the lines."""

    body: str
    tasks: int
    first_line: int
    stop_line: int


class _Plan:
    """What all calls on arrays of one kind have in common: their steps, their memory, all slots but addresses."""

    def __init__(self, sizes: Sizes, weight: Weight, image: Strides, result: Strides, threads: int) -> None:
        self.sizes = sizes
        self.values = dict.fromkeys(Slot, 0)
        self.threads = threads
        self.steps: list[_Step] = []
        self._nbytes = 0
        self._shared: list[tuple[Slot, str, int]] = []
        self.set(
            GROUPS=sizes.groups, CHANNELS=sizes.channels, OUTPUTS=sizes.outputs,
            CHANNEL_PANELS=_panels(sizes.channels), OUTPUT_PANELS=_panels(sizes.outputs), HEIGHT=sizes.image[0],
            WIDTH=sizes.image[1], ROWS=sizes.result[0], PLACES=sizes.result[1], TOP=sizes.before[0],
            LEFT=sizes.before[1], IMAGE_STRIDE=image[0] // _SIZE, CHANNEL_STRIDE=image[1] // _SIZE,
            RESULT_STRIDE=result[0] // _SIZE, OUTPUT_STRIDE=result[1] // _SIZE, WEIGHT_GROUP=weight.group,
            WEIGHT_OUTPUT=weight.output, WEIGHT_CHANNEL=weight.channel,
            FIRST_TAP=TAPS - 1 if weight.turned else 0, TAP_STEP=-1 if weight.turned else 1,
            IMAGE_LINES=sizes.image_lines, LINE_TILES=sizes.line_tiles,
            FACTOR_GAP=_gap(sizes.groups * _panels(sizes.outputs) * sizes.channels),
        )  # fmt: skip

    def set(self, **values: int) -> None:
        """Fill slots by name."""
        for name, value in values.items():
            self.values[Slot[name]] = value

    def share(self, slot: Slot, name: str, elements: int) -> None:
        """Memory that all tasks use."""
        self._shared.append((slot, name, elements))

    def reserve(self, slot: Slot, elements: int) -> None:
        """Room for a part of every workspace."""
        self.values[slot] = self._nbytes
        self._nbytes += whole_lines(elements * _SIZE)

    def reserve_places(self, lines: int) -> None:
        """Room for what some lines see, and for one more row that is read in vain."""
        rows = min(lines, self.sizes.image_lines) * TILE + REACH - TILE
        columns = self.sizes.line_tiles * TILE + REACH - TILE
        self.reserve(Slot.PLACES_AT, (rows * columns + columns) * panel_width())

    def reserve_taps(self, chunk: int) -> None:
        """Room for the kernels of so many channels, which are transformed at a time."""
        is_dense = self.values[Slot.WEIGHT_CHANNEL] == TAPS
        self.set(CHUNK=chunk, WEIGHT_RUN=chunk if is_dense else 1)
        self.reserve(Slot.TAPS_AT, (chunk * TAPS + 1) * panel_width())

    def add(self, body: str, tasks: int, first_line: int = 0, stop_line: int | None = None) -> None:
        """One more step, on all lines if none are given."""
        self.steps.append(
            _Step(body, tasks, first_line, self.sizes.lines if stop_line is None else stop_line)
        )

    @property
    def _workspaces(self) -> int:
        return min(self.threads, MOST_WORKSPACES)

    @cached_property
    def _template(self) -> Any:
        """The description without addresses; no more slots can be filled from now on."""
        self.set(USED=unused(self._workspaces), WORKSPACE_BYTES=self._nbytes)
        return Description(*(self.values[slot] for slot in Slot))

    def run(self, x: Array, kernels: Array, bias: Array | None, result: Array) -> bool:
        """Run all steps; whether what they wrote is finite."""
        description = Description.from_buffer_copy(self._template)
        arrays = (Slot.IMAGE, x), (Slot.WEIGHT, kernels), (Slot.BIAS, bias), (Slot.RESULT, result)
        for slot, array in arrays:
            if array is not None:
                description[slot] = address_of(array)
        description[Slot.WORKSPACES] = workspace.lines("winograd workspaces", self._workspaces * self._nbytes)
        for slot, name, elements in self._shared:
            description[slot] = workspace.lines(f"winograd {name}", elements * _SIZE)
        for step in self.steps:
            description[Slot.FIRST_LINE], description[Slot.STOP_LINE] = step.first_line, step.stop_line
            body = ctypes.c_void_p(bodies()[step.body])
            thread_pool().run(body, ctypes.addressof(description), step.tasks, 1)
        return not description[Slot.STRANGE]


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
    margins = np.zeros((sizes.groups, _panels(sizes.outputs) * panel_width()), np.float32)
    if bias is not None:
        margins[:, : sizes.outputs] = bias.reshape(sizes.groups, -1)
    plan = _convolution_plan(sizes, weight, x.strides, out.strides, thread_pool().num_threads)
    return plan.run(x, kernels, margins, out)


@lru_cache(maxsize=_MOST_PLANS)
def _convolution_plan(sizes: Sizes, weight: Weight, image: Strides, result: Strides, threads: int) -> _Plan:
    plan = _Plan(sizes, weight, image, result, threads)
    (_convolve_few if _has_few_tiles(sizes) else _convolve_blocks)(plan)
    return plan


def _convolve_few(plan: _Plan) -> None:
    """All tiles are transformed, then every task computes an output panel."""
    sizes = plan.sizes
    tiles = sizes.lines * sizes.line_tiles
    panels = sizes.groups * _panels(sizes.channels)
    chunk = _SMALL_CHUNK if tiles * REACH * panel_width() * _SIZE <= _LINE_BYTES else _CHUNK
    tile_gap, product_gap, factor_gap = _gap(panels * tiles), _gap(tiles), _gap(chunk)
    plan.set(BLOCK_TILES=tiles, TILE_GAP=tile_gap, PRODUCT_GAP=product_gap, FACTOR_GAP=factor_gap)
    plan.share(Slot.TILES, "tiles", POSITIONS * tile_gap)
    plan.reserve(Slot.PRODUCTS_AT, POSITIONS * product_gap)
    plan.reserve(Slot.FACTORS_AT, REACH * factor_gap)
    plan.reserve_taps(chunk)
    plan.reserve_places(sizes.lines)
    plan.add("image_tiles", panels)
    plan.add("output_panels", sizes.groups * _panels(sizes.outputs))


def _convolve_blocks(plan: _Plan) -> None:
    """Kernels are transformed, then every task computes a block of lines."""
    sizes = plan.sizes
    most = max(_BLOCK_TILES, _BLOCK_BYTES // (_columns(sizes) * POSITIONS * _SIZE))
    lines = _share(sizes.lines, most // sizes.line_tiles, plan.threads)
    tiles, blocks = lines * sizes.line_tiles, -(-sizes.lines // lines)
    tile_gap, product_gap = (_gap(_panels(count) * tiles) for count in (sizes.channels, sizes.outputs))
    plan.set(BLOCK_LINES=lines, BLOCKS=blocks, BLOCK_TILES=tiles, TILE_GAP=tile_gap, PRODUCT_GAP=product_gap)
    plan.share(Slot.FACTORS, "factors", POSITIONS * plan.values[Slot.FACTOR_GAP])
    plan.reserve(Slot.TILES_AT, POSITIONS * tile_gap)
    plan.reserve(Slot.PRODUCTS_AT, POSITIONS * product_gap)
    plan.reserve_taps(_CHUNK)
    plan.reserve_places(lines)
    plan.add("kernels", sizes.groups * _panels(sizes.outputs))
    plan.add("blocks", sizes.groups * blocks)


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
    plan = _gradient_plan(sizes, weight, x.strides, response.strides, thread_pool().num_threads)
    return plan.run(x, out, None, response)


@lru_cache(maxsize=_MOST_PLANS)
def _gradient_plan(sizes: Sizes, weight: Weight, image: Strides, response: Strides, threads: int) -> _Plan:
    plan = _Plan(sizes, weight, image, response, threads)
    row = _columns(sizes) * sizes.groups * POSITIONS * _SIZE
    most = max(_BLOCK_TILES, sizes.channels, 2 * threads * _BLOCK_BYTES // row)
    lines = _share(sizes.lines, most // sizes.line_tiles, 1)
    tiles = lines * sizes.line_tiles
    panels = [sizes.groups * _panels(count) for count in (sizes.channels, sizes.outputs)]
    tile_gap, response_gap = (_gap(count * tiles) for count in panels)
    plan.set(BLOCK_TILES=tiles, TILE_GAP=tile_gap, RESPONSE_GAP=response_gap)
    plan.share(Slot.TILES, "tiles", POSITIONS * tile_gap)
    plan.share(Slot.RESPONSES, "responses", POSITIONS * response_gap)
    plan.reserve_places(lines)
    if tiles <= _FEW_TILES and lines == sizes.lines:
        _gradient_of_few(plan)
    else:
        _gradient_of_blocks(plan, lines)
    return plan


def _gradient_of_few(plan: _Plan) -> None:
    """All tiles are transformed, then every task computes the gradient of an output panel."""
    sizes = plan.sizes
    plan.set(FACTOR_GAP=_gap(_CHUNK))
    plan.reserve_taps(_CHUNK)
    plan.reserve(Slot.FACTORS_AT, POSITIONS * plan.values[Slot.FACTOR_GAP])
    plan.add("all_tiles", sizes.groups * (_panels(sizes.channels) + _panels(sizes.outputs)))
    plan.add("panel_gradients", sizes.groups * _panels(sizes.outputs))


def _gradient_of_blocks(plan: _Plan, lines: int) -> None:
    """Products of some lines at a time are added up."""
    sizes = plan.sizes
    output_panels = sizes.groups * _panels(sizes.outputs)
    plan.share(Slot.FACTORS, "factors", POSITIONS * plan.values[Slot.FACTOR_GAP])
    plan.reserve_taps(_CHUNK)
    for first in range(0, sizes.lines, lines):
        bounds = first, min(first + lines, sizes.lines)
        plan.add("all_tiles", sizes.groups * _panels(sizes.channels) + output_panels, *bounds)
        plan.add("products", POSITIONS * output_panels, *bounds)
    plan.add("gradients", output_panels)
