"""Convolution with 3x3 kernels by Winograd's transforms in LLVM IR: the bodies that tasks run.

Images are rearranged so that a vector holds one place of several channels. Then tiles are transformed, a matrix product
is computed for each of the 36 elements of a transformed tile, and its results are transformed back.
A line is a row of tiles of one image; lines of all images are numbered one after another.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from enum import auto
from functools import cache

from raxis_cpu.library import panels_ir, places_ir
from raxis_cpu.library import winograd_tiles_ir as tiles
from raxis_cpu.library.bodies_ir import INTRINSICS, Body, Slots, Writer, body_ir
from raxis_cpu.library.winograd_tiles_ir import POSITIONS, REACH, TILE
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, Type, Value
from raxis_cpu.threads import keep_for_ever

TAPS = 9
"""Elements of a kernel."""


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
    CHUNK = (
        auto()
    )  # channels whose kernels are transformed at a time: they fill panels, or panels are filled by several


Description = ctypes.c_int64 * len(Slot)

BODIES = ("kernels", "blocks", "image_tiles", "output_panels", "all_tiles", "products", "gradients",
          "panel_gradients")  # fmt: skip


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
    vector = Type("float", host().vector_bytes // 4)
    code = Code(compile(f'target triple = "{host().triple}"\n{winograd_ir(vector)}', host()))
    keep_for_ever(code)
    return {name: code.address(name) for name in BODIES}


@cache
def panel_width() -> int:
    """Channels of a panel."""
    return panels_ir.panel_width(Type("float", host().vector_bytes // 4))


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
        _Lines(vector, "tiles_of_image", _IMAGE).text(),
        _Lines(vector, "tiles_of_response", _RESPONSE).text(),
        _Taps(vector).text(),
        _Results(vector).text(),
    ]
    makers = (
        _kernels,
        _blocks,
        _image_tiles,
        _output_panels,
        _all_tiles,
        _products,
        _gradients,
        _panel_gradients,
    )
    parts += [body_ir(vector, name, Slot, maker) for name, maker in zip(BODIES, makers, strict=True)]
    return "\n".join(parts)


class _Writer(Writer):
    """A function over `Slot`s."""

    def __init__(self, vector: Type, header: str) -> None:
        super().__init__(vector, header, Slot)

    @contextmanager
    def segments(self, first: Value, stop: Value) -> Iterator[tuple[Value, Value, Value, Value]]:
        """Lines of one image at a time: the image, its first line, how many, and the tiles before them."""
        function = self.function
        now = function.variable(I64, first)
        with function.repeat_while() as repetition:
            line = now.get()
            repetition.test(line.compare("lt", stop))
            image, own = self.divided(line, self[Slot.IMAGE_LINES])
            count = (self[Slot.IMAGE_LINES] - own).intrinsic("smin", stop - line)
            yield image, own, count, (line - first) * self[Slot.LINE_TILES]
            now.set(line + count)


def _channels_of(writer: Writer, panel: Value, total: Slot) -> Value:
    """How many channels a panel has."""
    return writer.rest(writer[total], panel * writer.width, writer.width)


class _Source:
    """Which slots describe the image whose tiles are transformed."""

    def __init__(self, reach: int, transform: str, *slots: Slot) -> None:
        self.reach, self.transform = reach, transform
        self.start, self.height, self.width, self.image, self.channel, self.channels = slots


_IMAGE = _Source(REACH, "transform_image", Slot.IMAGE, Slot.HEIGHT, Slot.WIDTH, Slot.IMAGE_STRIDE,
                 Slot.CHANNEL_STRIDE, Slot.CHANNELS)  # fmt: skip
_RESPONSE = _Source(TILE, "transform_response", Slot.RESULT, Slot.ROWS, Slot.PLACES, Slot.RESULT_STRIDE,
                    Slot.OUTPUT_STRIDE, Slot.OUTPUTS)  # fmt: skip


class _Lines(_Writer):
    """``void name(description, workspace, group, panel, first, stop, target, gap)``: transformed tiles of lines."""

    def __init__(self, vector: Type, name: str, source: _Source) -> None:
        numbers = "i64 %group, i64 %panel, i64 %first, i64 %stop, ptr %target, i64 %gap"
        super().__init__(
            vector, f"internal void @{name}(ptr %description, ptr %workspace, {numbers}) noinline"
        )
        self._source = source

    def text(self) -> str:
        """The definition."""
        function, source = self.function, self._source
        columns = self[Slot.LINE_TILES] * TILE + (source.reach - TILE)
        places = self.part(self.pointer("workspace"), Slot.PLACES_AT)
        with self.segments(self.integer("first"), self.integer("stop")) as (image, line, count, tile):
            self._gather(places, image, line, count, columns)
            with function.loop(0, count) as down, function.loop(0, self[Slot.LINE_TILES]) as right:
                seen = self.row(places, (down * columns + right) * TILE)
                target = self.row(self.pointer("target"), tile + down * self[Slot.LINE_TILES] + right)
                self.run(source.transform, seen, columns * self.width, target, self.integer("gap"))
        function.line("ret void")
        return function.text

    def _gather(self, places: Value, image: Value, line: Value, count: Value, columns: Value) -> None:
        """Write what the lines see, with zeros around the image."""
        function, source = self.function, self._source
        rows = count * TILE + (source.reach - TILE)
        with function.loop(0, rows * columns * self.width, self.vector.lanes) as index:
            function.store(function.constant(self.vector, 0), self.moved(places, index))
        is_image = source.reach > TILE
        top, left = (self[Slot.TOP], self[Slot.LEFT]) if is_image else (function.constant(I64, 0),) * 2
        above = line * TILE - top
        first = above.intrinsic("smax", 0)
        stop = (above + rows).intrinsic("smin", self[source.height])
        width, panel = self[source.width], self.integer("panel")
        channel = self.integer("group") * self[source.channels] + panel * self.width
        start = image * self[source.image] + channel * self[source.channel] + first * width
        with function.when(stop.compare("gt", first)):
            self.run(
                "gather", self.address(source.start, start), self[source.channel],
                _channels_of(self, panel, source.channels), (stop - first) * width,
                self.row(places, (first - above) * columns + left), 0, width, (columns - width) * self.width,
            )  # fmt: skip


class _Taps(_Writer):
    """``void taps(description, workspace, group, panel, first, count)``: kernels to panels of the workspace.

    Those of an output panel, of `count` channels from `first` on.
    """

    def __init__(self, vector: Type) -> None:
        numbers = "i64 %group, i64 %panel, i64 %first, i64 %count"
        super().__init__(vector, f"internal void @taps(ptr %description, ptr %workspace, {numbers}) noinline")

    def text(self) -> str:
        """The definition."""
        function = self.function
        taps = self.part(self.pointer("workspace"), Slot.TAPS_AT)
        panel, count = self.integer("panel"), self.integer("count")
        start = _weight_at(self, self.integer("group"), panel, self.integer("first"))
        outputs = _channels_of(self, panel, Slot.OUTPUTS)
        with function.loop(0, count, self[Slot.WEIGHT_RUN]) as done:
            run = (count - done).intrinsic("smin", self[Slot.WEIGHT_RUN]) * TAPS
            source = self.address(Slot.WEIGHT, start + done * self[Slot.WEIGHT_CHANNEL])
            self.run("gather", source, self[Slot.WEIGHT_OUTPUT], outputs, run, self.row(taps, done * TAPS), 0, run + 1,
                     0)  # fmt: skip
        function.line("ret void")
        return function.text


def _weight_at(writer: Writer, group: Value, panel: Value, channel: Value) -> Value:
    """Elements before the kernel of a channel and the first output of a panel."""
    start = group * writer[Slot.WEIGHT_GROUP] + panel * writer.width * writer[Slot.WEIGHT_OUTPUT]
    return start + channel * writer[Slot.WEIGHT_CHANNEL]


def _transform_kernels(body: Body, name: str, count: Value, target: Value) -> None:
    """Those that `taps` wrote."""
    taps = body.part(body.workspace, Slot.TAPS_AT)
    with body.function.loop(0, count) as channel:
        source = body.row(taps, channel * TAPS + body[Slot.FIRST_TAP])
        body.run(
            name, source, body[Slot.TAP_STEP] * body.width, body.row(target, channel), body[Slot.FACTOR_GAP]
        )


class _Results(_Writer):
    """``void results(description, workspace, group, panel, first, stop, products, check)``: of an output panel."""

    def __init__(self, vector: Type) -> None:
        numbers = "i64 %group, i64 %panel, i64 %first, i64 %stop, ptr %products, ptr %check"
        super().__init__(
            vector, f"internal void @results(ptr %description, ptr %workspace, {numbers}) noinline"
        )

    def text(self) -> str:
        """The definition."""
        function = self.function
        columns = self[Slot.LINE_TILES] * TILE
        places, panel = self.part(self.pointer("workspace"), Slot.PLACES_AT), self.integer("panel")
        group = self.integer("group")
        bias = self.row(self.address(Slot.BIAS), group * self[Slot.OUTPUT_PANELS] + panel)
        channel = group * self[Slot.OUTPUTS] + panel * self.width
        with self.segments(self.integer("first"), self.integer("stop")) as (image, line, count, tile):
            with function.loop(0, count) as down, function.loop(0, self[Slot.LINE_TILES]) as right:
                source = self.row(self.pointer("products"), tile + down * self[Slot.LINE_TILES] + right)
                target = self.row(places, (down * columns + right) * TILE)
                self.run("transform_result", source, self[Slot.PRODUCT_GAP], target, columns * self.width,
                         self.pointer("check"), bias)  # fmt: skip
            rows = (count * TILE).intrinsic("smin", self[Slot.ROWS] - line * TILE)
            width = self[Slot.PLACES]
            start = (
                image * self[Slot.RESULT_STRIDE] + channel * self[Slot.OUTPUT_STRIDE] + line * TILE * width
            )
            self.run("scatter", self.address(Slot.RESULT, start), self[Slot.OUTPUT_STRIDE],
                     _channels_of(self, panel, Slot.OUTPUTS), rows * width, places, 0, width,
                     (columns - width) * self.width)  # fmt: skip
        function.line("ret void")
        return function.text


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
                     body.flag(False), 1, 0, 0, 0)  # fmt: skip
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
                 body[Slot.FIRST_LINE].compare("gt", 0), 1, 0, 0, 0)  # fmt: skip


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
    start = group * body[Slot.WEIGHT_GROUP] + panel * body.width * body[Slot.WEIGHT_OUTPUT]
    target = body.address(Slot.WEIGHT, start + first * body[Slot.WEIGHT_CHANNEL])
    run = count * TAPS
    outputs = _channels_of(body, panel, Slot.OUTPUTS)
    body.run("scatter", target, body[Slot.WEIGHT_OUTPUT], outputs, run, taps, 0, run + 1, 0)
