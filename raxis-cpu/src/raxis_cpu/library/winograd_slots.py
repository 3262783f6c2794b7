"""What describes a convolution to the bodies of `winograd_ir`."""

from __future__ import annotations

import ctypes
from enum import auto

from raxis_cpu.library.bodies_ir import Slots


class Slot(Slots):
    """What stands where in the 64-bit integers that describe a convolution; gaps and strides are in elements."""

    IMAGE = auto()  # addresses
    WEIGHT = auto()
    BIAS = auto()  # a row of a panel for every output panel
    RESULT = auto()
    FACTORS = auto()  # transformed kernels [position, group, output panel, channel]
    TILES = auto()  # transformed tiles [position, channel panel, tile], if tasks share them
    RESPONSES = auto()  # the same of the result's gradient
    USED = auto()  # bits of the workspaces in use
    WORKSPACES = auto()
    WORKSPACE_BYTES = auto()
    TILES_AT = auto()  # where in a workspace each part begins
    PRODUCTS_AT = auto()
    PLACES_AT = auto()
    FACTORS_AT = auto()
    TAPS_AT = auto()
    STRANGE = auto()  # becomes 1 if a result is not finite
    GROUPS = auto()
    CHANNELS = auto()  # of a group, as the outputs
    OUTPUTS = auto()
    CHANNEL_PANELS = auto()
    OUTPUT_PANELS = auto()
    HEIGHT = auto()
    WIDTH = auto()
    ROWS = auto()  # of the result
    PLACES = auto()  # in a row of the result
    TOP = auto()
    LEFT = auto()
    IMAGE_STRIDE = auto()
    CHANNEL_STRIDE = auto()
    RESULT_STRIDE = auto()
    OUTPUT_STRIDE = auto()
    WEIGHT_GROUP = auto()
    WEIGHT_OUTPUT = auto()
    WEIGHT_CHANNEL = auto()
    WEIGHT_RUN = auto()  # channels whose kernels lie one after another
    FIRST_TAP = auto()
    TAP_STEP = auto()
    IMAGE_LINES = auto()  # of one image
    LINE_TILES = auto()
    FIRST_LINE = auto()
    STOP_LINE = auto()
    BLOCK_LINES = auto()
    BLOCKS = auto()
    BLOCK_TILES = auto()  # rows of a panel of tiles
    TILE_GAP = auto()  # between the positions of transformed tiles, of products, of responses, of kernels
    PRODUCT_GAP = auto()
    RESPONSE_GAP = auto()
    FACTOR_GAP = auto()
    CHUNK = auto()  # channels whose kernels are transformed at a time: some panels, or a part of one


Description = ctypes.c_int64 * len(Slot)
