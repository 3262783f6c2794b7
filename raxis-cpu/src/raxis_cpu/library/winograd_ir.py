"""Convolution with 3x3 kernels by Winograd's transforms in LLVM IR: the bodies that tasks run.

Images are rearranged so that a vector holds one place of several channels. Then tiles are transformed, a matrix product
is computed for each of the 36 elements of a transformed tile, and its results are transformed back.
A line is a row of tiles of one image; lines of all images are numbered one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from raxis_cpu.library import panels_ir, places_ir
from raxis_cpu.library import winograd_tiles_ir as tiles
from raxis_cpu.library.bodies_ir import INTRINSICS, Body, body_ir
from raxis_cpu.library.winograd_functions_ir import functions_ir, outputs_of, weight_at
from raxis_cpu.library.winograd_slots import Slot
from raxis_cpu.library.winograd_tiles_ir import POSITIONS, REACH, TAPS
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, Type, Value
from raxis_cpu.threads import keep_for_ever

_SINGLE = (1, 0, 0, 0)
"""Last arguments of ``multiply``: one product, and so no steps to the matrices of the next one."""


@cache
def bodies() -> dict[str, int]:
    """Addresses of bodies for `parallel_for` whose argument is a `Description`.

    - kernels: transform the kernels of an output panel
    - blocks: the results of some lines from transformed kernels
    - image_tiles: transform all tiles of a channel panel
    - output_panels: the results of an output panel from transformed tiles
    - all_tiles: transform tiles of a channel panel, or responses of an output panel, of some lines
    - products: add the products of tiles and responses at one position for an output panel
    - gradients: gradients of the kernels of an output panel from all products
    - panel_gradients: the same from tiles and responses
    """
    code = Code(compile(f'target triple = "{host().triple}"\n{winograd_ir(_vector())}', host()))
    keep_for_ever(code)
    return {name: code.address(name) for name in _BODIES}


@cache
def panel_width() -> int:
    """Channels of a panel."""
    return panels_ir.panel_width(_vector())


def _vector() -> Type:
    return Type("float", host().vector_bytes // 4)


def winograd_ir(vector: Type) -> str:
    """The module."""
    parts = [
        places_ir.intrinsics_ir(vector),
        panels_ir.intrinsics_ir(vector),
        INTRINSICS,
        places_ir.gather_ir("gather", vector),
        places_ir.scatter_ir("scatter", vector),
        panels_ir.product_ir("multiply", vector, transposed=False),
        panels_ir.product_ir("multiply_transposed", vector, transposed=True),
        tiles.image_ir("transform_image", vector),
        tiles.response_ir("transform_response", vector),
        tiles.kernel_ir("transform_kernel", vector, range(REACH)),
        *(tiles.kernel_ir(f"transform_kernel_{line}", vector, [line]) for line in range(REACH)),
        tiles.result_ir("transform_result", vector),
        tiles.weight_ir("transform_weight", vector),
        functions_ir(vector),
        *(body_ir(vector, name, Slot, write) for name, write in _BODIES.items()),
    ]
    return "\n".join(parts)


def _transform_kernels(body: Body, name: str, count: Value, target: Value) -> None:
    """Those that `taps` wrote."""
    taps = body.part(body.workspace, Slot.TAPS_AT)
    with body.function.loop(0, count) as channel:
        source = body.row(taps, channel * TAPS + body[Slot.FIRST_TAP])
        body.run(
            name, source, body[Slot.TAP_STEP] * body.width, body.row(target, channel), body[Slot.FACTOR_GAP]
        )


def _kernels(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    target = body.row(body.address(Slot.FACTORS), task * body[Slot.CHANNELS])
    with _chunks(body) as (first, count):
        body.call("taps", group, panel, first, count)
        _transform_kernels(body, "transform_kernel", count, body.row(target, first))


def _blocks(body: Body, task: Value) -> None:
    function = body.function
    group, block = body.divided(task, body[Slot.BLOCKS])
    first = block * body[Slot.BLOCK_LINES]
    stop = (first + body[Slot.BLOCK_LINES]).intrinsic("smin", body[Slot.STOP_LINE])
    tiles_ = body.part(body.workspace, Slot.TILES_AT)
    products = body.part(body.workspace, Slot.PRODUCTS_AT)
    rows = body[Slot.BLOCK_TILES]
    with function.loop(0, body[Slot.CHANNEL_PANELS]) as panel:
        body.call(
            "tiles_of_image", group, panel, first, stop, body.row(tiles_, panel * rows), body[Slot.TILE_GAP]
        )
    count = (stop - first) * body[Slot.LINE_TILES]
    factors = body.row(body.address(Slot.FACTORS), group * body[Slot.OUTPUT_PANELS] * body[Slot.CHANNELS])
    with function.loop(0, function.constant(I64, POSITIONS)) as position:
        left = body.moved(tiles_, position * body[Slot.TILE_GAP])
        with function.loop(0, body[Slot.OUTPUT_PANELS]) as panel:
            right = body.row(
                body.moved(factors, position * body[Slot.FACTOR_GAP]), panel * body[Slot.CHANNELS]
            )
            target = body.row(body.moved(products, position * body[Slot.PRODUCT_GAP]), panel * rows)
            body.run("multiply", left, rows * body.width, right, target, body.width, count, body[Slot.CHANNELS],
                     body.flag(False), *_SINGLE)  # fmt: skip
    with function.loop(0, body[Slot.OUTPUT_PANELS]) as panel:
        body.call("results", group, panel, first, stop, body.row(products, panel * rows), body.check)


def _image_tiles(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.CHANNEL_PANELS])
    target = body.row(body.address(Slot.TILES), task * body[Slot.BLOCK_TILES])
    body.call("tiles_of_image", group, panel, 0, body[Slot.STOP_LINE], target, body[Slot.TILE_GAP])


def _output_panels(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    factors = body.part(body.workspace, Slot.FACTORS_AT)
    products = body.part(body.workspace, Slot.PRODUCTS_AT)
    rows, factor_gap = body[Slot.BLOCK_TILES], body[Slot.FACTOR_GAP]
    tile_gap, product_gap = body[Slot.TILE_GAP], body[Slot.PRODUCT_GAP]
    tiles_ = body.row(body.address(Slot.TILES), group * body[Slot.CHANNEL_PANELS] * rows)
    with _chunks(body) as (first, count):
        body.call("taps", group, panel, first, count)
        before = first & -body.width
        seen = body.moved(tiles_, before * rows + (first - before))
        # A line of positions at a time, so that its factors stay in the first cache.
        for line in range(REACH):
            _transform_kernels(body, f"transform_kernel_{line}", count, factors)
            start = line * REACH
            body.run("multiply", body.moved(seen, tile_gap * start), rows * body.width, factors,
                     body.moved(products, product_gap * start), body.width, rows, count, first.compare("gt", 0),
                     REACH, tile_gap, factor_gap, product_gap)  # fmt: skip
    body.call("results", group, panel, 0, body[Slot.STOP_LINE], products, body.check)


def _all_tiles(body: Body, task: Value) -> None:
    function = body.function
    channel_panels, output_panels, rows = (
        body[Slot.CHANNEL_PANELS],
        body[Slot.OUTPUT_PANELS],
        body[Slot.BLOCK_TILES],
    )
    group, panel = body.divided(task, channel_panels + output_panels)
    bounds = body[Slot.FIRST_LINE], body[Slot.STOP_LINE]
    is_image = panel.compare("lt", channel_panels)
    with function.when(is_image):
        target = body.row(body.address(Slot.TILES), (group * channel_panels + panel) * rows)
        body.call("tiles_of_image", group, panel, *bounds, target, body[Slot.TILE_GAP])
    with function.when(~is_image):
        number = panel - channel_panels
        target = body.row(body.address(Slot.RESPONSES), (group * output_panels + number) * rows)
        body.call("tiles_of_response", group, number, *bounds, target, body[Slot.RESPONSE_GAP])


def _products(body: Body, task: Value) -> None:
    channels = body[Slot.CHANNELS]
    rest, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    position, group = body.divided(rest, body[Slot.GROUPS])
    number = group * body[Slot.OUTPUT_PANELS] + panel
    target = body.row(body.address(Slot.FACTORS, position * body[Slot.FACTOR_GAP]), number * channels)
    _multiply_responses(body, group, panel, position, (body.function.constant(I64, 0), channels), target)


def _multiply_responses(
    body: Body, group: Value, panel: Value, position: Value, channels: tuple[Value, Value], target: Value
) -> None:
    """Write, or add from the second lines on, the products of tiles and responses for some channels."""
    rows, (first, stop) = body[Slot.BLOCK_TILES], channels
    count = (body[Slot.STOP_LINE] - body[Slot.FIRST_LINE]) * body[Slot.LINE_TILES]
    number = group * body[Slot.OUTPUT_PANELS] + panel
    right = body.row(body.address(Slot.RESPONSES, position * body[Slot.RESPONSE_GAP]), number * rows)
    left = body.address(Slot.TILES, position * body[Slot.TILE_GAP])
    left = body.row(left, group * body[Slot.CHANNEL_PANELS] * rows)
    with body.function.loop(first, stop, body.width) as channel:
        body.run("multiply_transposed", body.moved(left, channel * rows), 0, right,
                 body.row(target, channel - first), body.width, (stop - channel).intrinsic("smin", body.width), count,
                 body[Slot.FIRST_LINE].compare("gt", 0), *_SINGLE)  # fmt: skip


def _gradients(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    source = body.row(body.address(Slot.FACTORS), task * body[Slot.CHANNELS])
    with _chunks(body) as (first, count):
        _write_gradients(body, group, panel, first, count, body.row(source, first))


def _panel_gradients(body: Body, task: Value) -> None:
    function = body.function
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    factors = body.part(body.workspace, Slot.FACTORS_AT)
    with _chunks(body) as (first, count):
        with function.loop(0, function.constant(I64, POSITIONS)) as position:
            target = body.moved(factors, position * body[Slot.FACTOR_GAP])
            _multiply_responses(body, group, panel, position, (first, first + count), target)
        _write_gradients(body, group, panel, first, count, factors)


@contextmanager
def _chunks(body: Body) -> Iterator[tuple[Value, Value]]:
    """Where chunks of channels begin, and how many channels they have."""
    with body.function.loop(0, body[Slot.CHANNELS], body[Slot.CHUNK]) as first:
        yield first, (body[Slot.CHANNELS] - first).intrinsic("smin", body[Slot.CHUNK])


def _write_gradients(
    body: Body, group: Value, panel: Value, first: Value, count: Value, source: Value
) -> None:
    """Gradients of the kernels of `count` channels, at most a chunk, from those of transformed ones."""
    taps = body.part(body.workspace, Slot.TAPS_AT)
    with body.function.loop(0, count) as channel:
        body.run("transform_weight", body.row(source, channel), body[Slot.FACTOR_GAP], body.row(taps, channel * TAPS),
                 body.width, body.check)  # fmt: skip
    target, run = body.address(Slot.WEIGHT, weight_at(body, group, panel, first)), count * TAPS
    outputs = outputs_of(body, panel)
    body.run("scatter", target, body[Slot.WEIGHT_OUTPUT], outputs, run, taps, 0, run + 1, 0)


_BODIES: Mapping[str, Callable[[Body, Value], None]] = {
    "kernels": _kernels,
    "blocks": _blocks,
    "image_tiles": _image_tiles,
    "output_panels": _output_panels,
    "all_tiles": _all_tiles,
    "products": _products,
    "gradients": _gradients,
    "panel_gradients": _panel_gradients,
}
