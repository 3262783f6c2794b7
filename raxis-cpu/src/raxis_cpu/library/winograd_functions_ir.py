"""Functions that bring images, kernels and results to and from panels, in LLVM IR: what bodies of `winograd_ir` call.

A line is a row of tiles of one image; lines of all images are numbered one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from raxis_cpu.library.bodies_ir import Writer
from raxis_cpu.library.winograd_slots import Slot
from raxis_cpu.library.winograd_tiles_ir import REACH, TAPS, TILE
from raxis_cpu.llvm.ir import I64, Type, Value


def functions_ir(vector: Type) -> str:
    """All of them: ``tiles_of_image`` and ``tiles_of_response`` (`_Lines`), ``taps``, ``results``."""
    functions = (
        _Lines(vector, "tiles_of_image", _IMAGE), _Lines(vector, "tiles_of_response", _RESPONSE), _Taps(vector),
        _Results(vector),
    )  # fmt: skip
    return "\n".join(function.text() for function in functions)


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


def outputs_of(writer: Writer, panel: Value) -> Value:
    """How many outputs an output panel has."""
    return _channels_of(writer, panel, Slot.OUTPUTS)


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
        start = weight_at(self, self.integer("group"), panel, self.integer("first"))
        outputs = outputs_of(self, panel)
        with function.loop(0, count, self[Slot.WEIGHT_RUN]) as done:
            run = (count - done).intrinsic("smin", self[Slot.WEIGHT_RUN]) * TAPS
            source = self.address(Slot.WEIGHT, start + done * self[Slot.WEIGHT_CHANNEL])
            self.run("gather", source, self[Slot.WEIGHT_OUTPUT], outputs, run, self.row(taps, done * TAPS), 0, run + 1,
                     0)  # fmt: skip
        function.line("ret void")
        return function.text


def weight_at(writer: Writer, group: Value, panel: Value, channel: Value) -> Value:
    """Elements before the kernel of a channel and the first output of a panel."""
    start = group * writer[Slot.WEIGHT_GROUP] + panel * writer.width * writer[Slot.WEIGHT_OUTPUT]
    return start + channel * writer[Slot.WEIGHT_CHANNEL]


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
                     outputs_of(self, panel), rows * width, places, 0, width,
                     (columns - width) * self.width)  # fmt: skip
        function.line("ret void")
        return function.text
