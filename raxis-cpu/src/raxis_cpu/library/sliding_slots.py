"""What describes a convolution to the bodies of `sliding_ir` and `sliding_gradients_ir`, and how they read it."""

from __future__ import annotations

import ctypes
from enum import auto

from raxis_cpu.library.bodies_ir import Body, Slots, Writer
from raxis_cpu.llvm.ir import PTR, Value


class Slot(Slots):
    """What stands where in the 64-bit integers that describe a convolution; gaps and strides are in elements."""

    IMAGE = auto()  # addresses
    WEIGHT = auto()
    BIAS = auto()  # of every output, or 0
    RESULT = auto()
    PLANES = auto()  # padded planes of some images; if there are no fills, the images themselves
    KERNELS = auto()  # panels [group, output panel, depth], as they come
    PANELS = auto()  # the same in the order of the table
    BIASES = auto()  # panels of one row, zeros if there is no bias
    RESPONSES = auto()  # gradients of results, in rows as long as those of the planes
    SUMS = auto()  # gradients of kernels: tiles or panels
    USED = auto()  # bits of the workspaces in use
    WORKSPACES = auto()
    WORKSPACE_BYTES = auto()
    STRANGE = auto()
    PARALLEL_FOR = auto()  # address
    COUNT = auto()  # images
    CHUNK = auto()  # images whose planes exist at a time
    IS_NARROW = auto()  # whether there are few outputs
    ARRANGES = auto()  # whether kernels are put into the order of the table
    BY_TILES = auto()  # whether gradients are computed for tiles
    LINES_AT = auto()  # where in a workspace results of single outputs begin
    FILLS = auto()  # tables: `FILL` numbers for every remainder of places,
    FILL_COUNT = auto()
    OFFSETS = auto()  # row of the panel and offset in the planes, in elements, for every kernel element,
    BLOCKS = auto()  # `BLOCK` numbers for every block of results
    BLOCK_COUNT = auto()
    GROUPS = auto()
    CHANNELS = auto()  # of a group, as the outputs
    OUTPUTS = auto()
    OUTPUT_PANELS = auto()
    FIRST_IMAGE = auto()
    IMAGES = auto()
    IMAGE_STRIDE = auto()
    CHANNEL_STRIDE = auto()
    SLICE_STRIDE = auto()
    ROW_STRIDE = auto()
    PLACE_STRIDE = auto()
    SLICES = auto()  # sizes of the image
    ROWS = auto()
    SLICE_STEP = auto()  # places of the image between neighbours in a plane
    ROW_STEP = auto()
    PLACE_STEP = auto()
    PLANE_SLICES = auto()  # sizes of a plane
    PLANE_ROWS = auto()
    PLANE_PLACES = auto()
    CHANNEL_GAP = auto()  # between the planes of channels
    WEIGHT_GROUP = auto()
    WEIGHT_OUTPUT = auto()
    RUNS = auto()  # of kernel elements that lie one after another
    RUN = auto()
    RUN_STRIDE = auto()
    DEPTH = auto()  # kernel elements of an output
    RESULT_STRIDE = auto()
    OUTPUT_STRIDE = auto()
    RESULT_SLICES = auto()  # sizes of a response
    RESULT_ROWS = auto()
    RESULT_PLACES = auto()
    RUN_GAP = auto()  # between the slices of responses
    DEPTH_BLOCK = auto()
    DEPTH_BLOCKS = auto()
    OUTPUT_TILES = auto()
    SUMS_GAP = auto()
    TILES = auto()  # table: `GRADIENT_TILE` numbers for some neighbouring kernel elements, and for the end
    TILE_COUNT = auto()
    TILE_BLOCK = auto()  # tiles of a task
    TILE_BLOCKS = auto()
    ROW_BLOCK = auto()  # rows whose products are added at a time


Description = ctypes.c_int64 * len(Slot)

FILL = 6
"""Where in the planes; before which slice, row and place of the image that is; the first place inside, and the end."""
BLOCK = 14
"""First kernel element, how many, where in the planes, rows, places, where in the result, gaps of rows and places, then
rows and places of a tile and addresses of functions: for one vector and two, with as many rows and with the rest."""
GRADIENT_TILE = 3
"""First kernel element; addresses of functions for one vector of outputs and two."""
TILE = 4
"""Outputs and kernel elements whose gradients are computed together if outputs are few."""


def clear(body: Body, start: Value, first: Value, stop: Value) -> None:
    """Write zeros from `first` to `stop`."""
    with body.function.loop(first, stop) as index:
        body.function.store(body.function.constant(body.element, 0), body.moved(start, index))


def outputs_of(body: Writer, panel: Value) -> Value:
    """How many outputs an output panel has."""
    return body.rest(body[Slot.OUTPUTS], panel * body.width, body.width)


def table_from(body: Body, slot: Slot, number: Value, entry: int) -> Value:
    """The address of an entry of a table."""
    start = body.function.emit(PTR, f"inttoptr {body[slot]} to ptr")
    return body.function.advance(start, number * entry, 8)
