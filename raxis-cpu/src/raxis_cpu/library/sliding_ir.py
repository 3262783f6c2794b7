"""Convolution of any stride, spacing and number of dims up to three, in LLVM IR: the bodies that tasks run.

Images are copied into padded planes, one for every remainder of places by the stride. There, what a kernel element sees
of neighbouring results is contiguous: its beginning, an offset that all results share, comes from a table, and nothing
is rearranged any further. The inner loops are those of `register_tiles_ir`; few outputs are computed at many places at
a time instead: then results of a run of rows are as long as rows of the planes, and what is too much is cropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from typing import NamedTuple

from raxis.dtypes import DType, float32, float64
from raxis_cpu.library import panels_ir, places_ir
from raxis_cpu.library import sliding_gradients_ir as gradients
from raxis_cpu.library.bodies_ir import INTRINSICS, Body, Writer, body_ir
from raxis_cpu.library.sliding_slots import BLOCK, FILL, Slot, clear, outputs_of, table_from
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, fma
from raxis_cpu.llvm.lanes import every_second
from raxis_cpu.threads import keep_for_ever

ELEMENTS = {float32: "float", float64: "double"}
"""The dtypes served, and what LLVM calls their elements."""
_BODIES = (
    "fill", "pack", "arrange", "narrow", "convolve", "fill_responses", "dots", "gather_responses", "products", "unpack",
    "unpack_tiles",
)  # fmt: skip


class Drivers(NamedTuple):
    """Addresses of functions ``void (description)``."""

    convolution: int
    gradient: int


@cache
def drivers(dtype: DType) -> Drivers:
    """What runs a convolution, and what computes the gradient of its kernels, described by a `Description`.

    They run bodies in parallel, one after another:

    - fill: the planes of a channel
    - pack: the kernels of an output panel
    - arrange: put them into the order of the table
    - narrow: a block of results of few outputs
    - convolve: a block of results of an output panel
    - fill_responses: the responses of an output
    - dots: gradients of kernel elements of a tile of outputs
    - gather_responses: the responses of an output panel, place by place
    - products: gradients of some kernel elements for an output panel
    - unpack, unpack_tiles: write them to where they belong
    """
    code = Code(compile(f'target triple = "{host().triple}"\n{sliding_ir(vector_of(dtype))}', host()))
    keep_for_ever(code)
    return Drivers(*(code.address(name) for name in Drivers._fields))


def vector_of(dtype: DType) -> Type:
    """A register full of elements."""
    return Type(ELEMENTS[dtype], host().vector_bytes // dtype.itemsize)


def few_outputs(vector: Type) -> int:
    """Up to so many outputs, half a vector's lanes, are computed at many places at a time."""
    return vector.lanes // 2


def sliding_ir(vector: Type) -> str:
    """The module."""
    makers = (
        _fill, _pack, _arrange, _narrow, _convolve, gradients.fill_responses, gradients.dots,
        gradients.gather_responses, gradients.products, gradients.unpack, gradients.unpack_tiles,
    )  # fmt: skip
    scalar = vector.element
    return "\n".join([
        places_ir.intrinsics_ir(vector),
        panels_ir.intrinsics_ir(vector),
        INTRINSICS,
        f"declare {scalar} @llvm.vector.reduce.fadd.{vector.suffix}({scalar}, {vector})",
        places_ir.gather_ir("gather", vector, sparse=True),
        places_ir.scatter_ir("scatter", vector),
        _copy_ir(vector),
        *(_Narrow(vector, outputs).text() for outputs in range(1, few_outputs(vector) + 1)),
        *(body_ir(vector, name, Slot, maker) for name, maker in zip(_BODIES, makers, strict=True)),
        _driver_ir(vector, "convolution", _drive_convolution),
        _driver_ir(vector, "gradient", _drive_gradient),
    ])  # fmt: skip


class _Driver(Writer):
    """Runs bodies in parallel."""

    def parallel(self, name: str, *counts: Value) -> None:
        """As many tasks as the product of the counts."""
        count = prod(counts[1:], start=counts[0])
        target = self.function.emit(PTR, f"inttoptr {self[Slot.PARALLEL_FOR]} to ptr")
        one = self.function.constant(I64, 1)
        self.function.line(
            f"call void {target.name}(ptr @{name}, {self.pointer('description')}, {count}, {one})"
        )

    def clear_margin(self) -> None:
        """What is read behind the planes."""
        end = self[Slot.CHUNK] * self[Slot.GROUPS] * self[Slot.CHANNELS] * self[Slot.CHANNEL_GAP]
        for part in range(2 * panels_ir.VECTORS):
            place = self.address(Slot.PLANES, end + part * self.vector.lanes)
            self.function.store(self.function.constant(self.vector, 0), place)

    @contextmanager
    def chunks(self) -> Iterator[Value]:
        """Make the planes of some images at a time, unless the images are such; their number."""
        with self.function.loop(0, self[Slot.COUNT], self[Slot.CHUNK]) as first:
            count = self.rest(self[Slot.COUNT], first, self[Slot.CHUNK])
            self.function.store(first, self.place(Slot.FIRST_IMAGE))
            self.function.store(count, self.place(Slot.IMAGES))
            filled = self[Slot.FILL_COUNT].compare("ne", 0)
            with self.function.when(filled):
                self.parallel("fill", count, self[Slot.GROUPS], self[Slot.CHANNELS])
            with self.function.when(~filled):
                images = self[Slot.IMAGE] + first * self[Slot.IMAGE_STRIDE] * self.size
                self.function.store(images, self.place(Slot.PLANES))
            yield count


def _driver_ir(vector: Type, name: str, write: Callable[[_Driver], None]) -> str:
    driver = _Driver(vector, f"void @{name}(ptr %description)", Slot)
    with driver.function.when(driver[Slot.FILL_COUNT].compare("ne", 0)):
        driver.clear_margin()
    write(driver)
    driver.function.line("ret void")
    return driver.function.text


def _drive_convolution(driver: _Driver) -> None:
    panels = (driver[Slot.GROUPS], driver[Slot.OUTPUT_PANELS])
    driver.parallel("pack", *panels)
    with driver.function.when(driver[Slot.ARRANGES].compare("ne", 0)):
        driver.parallel("arrange", *panels)
    is_narrow, blocks = driver[Slot.IS_NARROW].compare("ne", 0), driver[Slot.BLOCK_COUNT]
    with driver.chunks() as images:
        with driver.function.when(is_narrow):
            driver.parallel("narrow", images, driver[Slot.GROUPS], blocks)
        with driver.function.when(~is_narrow):
            driver.parallel("convolve", *panels, images, blocks)


def _drive_gradient(driver: _Driver) -> None:
    groups, by_tiles = driver[Slot.GROUPS], driver[Slot.BY_TILES].compare("ne", 0)
    with driver.chunks() as images:
        with driver.function.when(by_tiles):
            driver.parallel("fill_responses", images, groups, driver[Slot.OUTPUTS])
            driver.parallel("dots", groups, driver[Slot.OUTPUT_TILES], driver[Slot.DEPTH_BLOCKS])
        with driver.function.when(~by_tiles):
            driver.parallel("gather_responses", images, groups, driver[Slot.OUTPUT_PANELS])
            driver.parallel("products", groups, driver[Slot.OUTPUT_PANELS], driver[Slot.TILE_BLOCKS])
    with driver.function.when(by_tiles):
        driver.parallel("unpack_tiles", groups, driver[Slot.OUTPUTS])
    with driver.function.when(~by_tiles):
        driver.parallel("unpack", groups, driver[Slot.OUTPUT_PANELS])


def _copy_ir(vector: Type) -> str:
    """``void copy(source, source_gap, target, target_gap, count, add)``: copy elements and add a number to them."""
    function = Function(
        "internal void @copy(ptr %source, i64 %source_gap, ptr %target, i64 %target_gap, i64 %count, "
        f"{vector.element} %add) noinline"
    )
    size, element = vector.bits // 8, Type(vector.element)
    source, target = function.argument(PTR, "source"), function.argument(PTR, "target")
    gaps = [function.argument(I64, f"{name}_gap") for name in ("source", "target")]
    count, add = function.argument(I64, "count"), function.argument(element, "add")
    dense = (gaps[0].compare("eq", 1)) & gaps[1].compare("eq", 1)
    with function.when(dense), function.loop(0, count, vector.lanes) as first:
        mask = lanes_below(count - first, vector.lanes)
        value = masked_load(vector, function.advance(source, first, size), mask) + add.splat(vector.lanes)
        masked_store(value, function.advance(target, first, size), mask)
    skips_one = gaps[0].compare("eq", 2) & gaps[1].compare("eq", 1)
    with function.when(skips_one), function.loop(0, count, vector.lanes) as first:
        mask = lanes_below(count - first, vector.lanes)
        value = _every_second(vector, function.advance(source, first * 2, size), count - first)
        masked_store(value + add.splat(vector.lanes), function.advance(target, first, size), mask)
    with function.when(~(dense | skips_one)), function.loop(0, count) as index:
        value = function.load(element, function.advance(source, index * gaps[0], size)) + add
        function.store(value, function.advance(target, index * gaps[1], size))
    function.line("ret void")
    return function.text


def _every_second(vector: Type, source: Value, count: Value) -> Value:
    """Elements 0, 2, 4, ..., at most `count`."""
    function, lanes = source.function, vector.lanes
    seen = count * 2 - 1
    low, high = (
        masked_load(
            vector, function.advance(source, first, vector.bits // 8), lanes_below(seen - first, lanes)
        )
        for first in (0, lanes)
    )
    return every_second(low, high, 0)


def _wide(outputs: int) -> int:
    """Vectors of places that are computed together for few outputs: as many as there are registers for."""
    return 4 if 2 * outputs < panels_ir.tile_rows() else 2


class _Narrow:
    """``void narrow_<outputs>(kernels, table, depth, planes, target, line)``: few outputs at many places.

    The table has a row of the kernels and an offset in the planes for every element of the inner dimension.
    """

    def __init__(self, vector: Type, outputs: int) -> None:
        arguments = "ptr %kernels, ptr %table, i64 %depth, ptr %planes, ptr noalias %target, i64 %line"
        self._function = Function(f"internal void @narrow_{outputs}({arguments}) noinline")
        self._vector, self._outputs, self._size = vector, outputs, vector.bits // 8

    def text(self) -> str:
        """The definition."""
        function, size = self._function, self._size
        outputs, wide = range(self._outputs), range(_wide(self._outputs))
        sums = [[function.variable(self._vector, 0.0) for _ in wide] for _ in outputs]
        with function.loop(0, function.argument(I64, "depth")) as step:
            entry = function.advance(function.argument(PTR, "table"), step * 2, 8)
            row, offset = (function.load(I64, function.advance(entry, item, 8)) for item in (0, 1))
            left = function.advance(
                function.argument(PTR, "kernels"), row * panels_ir.panel_width(self._vector), size
            )
            right = function.advance(function.argument(PTR, "planes"), offset, size)
            parts = [function.load(self._vector, self._part(right, part)) for part in wide]
            for output, totals in enumerate(sums):
                factor = function.load(Type(self._vector.element), function.advance(left, output, size))
                for part, total in zip(parts, totals, strict=True):
                    total.set(fma(factor.splat(self._vector.lanes), part, total.get()))
        for output, totals in enumerate(sums):
            line = function.argument(I64, "line") * output
            target = function.advance(function.argument(PTR, "target"), line, size)
            for place, total in enumerate(totals):
                function.store(total.get(), self._part(target, place))
        function.line("ret void")
        return function.text

    def _part(self, start: Value, part: int) -> Value:
        return self._function.advance(start, part * self._vector.lanes, self._size)


def _fill(body: Body, task: Value) -> None:
    function = body.function
    image, channel = body.divided(task, body[Slot.GROUPS] * body[Slot.CHANNELS])
    source = (body[Slot.FIRST_IMAGE] + image) * body[Slot.IMAGE_STRIDE] + channel * body[Slot.CHANNEL_STRIDE]
    gap = body[Slot.PLACE_STEP] * body[Slot.PLACE_STRIDE]
    dense = gap.compare("eq", 1)
    with function.loop(0, body[Slot.FILL_COUNT]) as fill:
        at, slice_, row, place, low, stop = (
            body.number_at(Slot.FILLS, fill * FILL + item) for item in range(FILL)
        )
        seen, target = source + place * body[Slot.PLACE_STRIDE], task * body[Slot.CHANNEL_GAP] + at
        with function.when(dense):
            _fill_strips(body, seen, target, (slice_, row), (low, stop))
        with function.when(~dense), _plane_rows(body, seen, target, (slice_, row)) as (line, start, inside):
            first, end = (inside.select(bound, 0) for bound in (low, stop))
            clear(body, start, function.constant(I64, 0), first)
            clear(body, start, end, body[Slot.PLANE_PLACES])
            body.run("copy", body.address(Slot.IMAGE, line + first * gap), gap, body.moved(start, first), 1,
                     end - first, function.constant(body.element, 0))  # fmt: skip


@contextmanager
def _plane_rows(
    body: Body, seen: Value, target: Value, start: tuple[Value, Value]
) -> Iterator[tuple[Value, Value, Value]]:
    """Rows of a plane: where they are in the image, their addresses, and whether they are inside of it."""
    function, (slice_, row) = body.function, start
    with function.loop(0, body[Slot.PLANE_SLICES]) as far, function.loop(0, body[Slot.PLANE_ROWS]) as down:
        seen_slice, seen_row = far * body[Slot.SLICE_STEP] + slice_, down * body[Slot.ROW_STEP] + row
        inside = seen_slice.compare("ult", body[Slot.SLICES]) & seen_row.compare("ult", body[Slot.ROWS])
        place = (far * body[Slot.PLANE_ROWS] + down) * body[Slot.PLANE_PLACES]
        line = seen + seen_slice * body[Slot.SLICE_STRIDE] + seen_row * body[Slot.ROW_STRIDE]
        yield line, body.address(Slot.PLANES, target + place), inside


def _fill_strips(
    body: Body, seen: Value, target: Value, start: tuple[Value, Value], bounds: tuple[Value, Value]
) -> None:
    """A plane from rows whose places are neighbours, a vector's width of all rows at a time."""
    function, lanes, (low, stop) = body.function, body.vector.lanes, bounds
    with function.loop(0, body[Slot.PLANE_PLACES], lanes) as place:
        among = lanes_below(stop - place, lanes) & ~lanes_below(low - place, lanes)
        mask = lanes_below(body[Slot.PLANE_PLACES] - place, lanes)
        with _plane_rows(body, seen + place, target + place, start) as (line, address, inside):
            value = function.variable(body.vector, 0.0)
            with function.when(inside):
                value.set(masked_load(body.vector, body.address(Slot.IMAGE, line), among))
            masked_store(value.get(), address, mask)


def _pack(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    start = group * body[Slot.WEIGHT_GROUP] + panel * body.width * body[Slot.WEIGHT_OUTPUT]
    outputs, channel = outputs_of(body, panel), group * body[Slot.OUTPUTS] + panel * body.width
    given = body[Slot.BIAS].compare("ne", 0).select(outputs, 0)
    for part in range(0, body.width, body.vector.lanes):
        mask = lanes_below(given - part, body.vector.lanes)
        bias = masked_load(body.vector, body.address(Slot.BIAS, channel + part), mask)
        body.function.store(bias, body.moved(body.row(body.address(Slot.BIASES), task), part))
    target = body.row(body.address(Slot.KERNELS), task * body[Slot.DEPTH])
    with body.function.loop(0, body[Slot.RUNS]) as run:
        source = body.address(Slot.WEIGHT, start + run * body[Slot.RUN_STRIDE])
        body.run("gather", source, body[Slot.WEIGHT_OUTPUT], outputs, body[Slot.RUN],
                 body.row(target, run * body[Slot.RUN]), 0, body[Slot.RUN] + 1, 0)  # fmt: skip


def _arrange(body: Body, task: Value) -> None:
    start = task * body[Slot.DEPTH]
    with body.function.loop(0, body[Slot.DEPTH]) as index:
        source = body.row(body.address(Slot.KERNELS), start + body.number_at(Slot.OFFSETS, index * 2))
        _copy_row(body, source, body.row(body.address(Slot.PANELS), start + index))


def _copy_row(body: Body, source: Value, target: Value) -> None:
    """A row of a panel."""
    for part in range(panels_ir.VECTORS):
        first = part * body.vector.lanes
        body.function.store(
            body.function.load(body.vector, body.moved(source, first)), body.moved(target, first)
        )


def _block(body: Body, block: Value) -> list[Value]:
    return [body.number_at(Slot.BLOCKS, block * BLOCK + item) for item in range(BLOCK)]


def _narrow(body: Body, task: Value) -> None:
    function = body.function
    rest, block = body.divided(task, body[Slot.BLOCK_COUNT])
    image, group = body.divided(rest, body[Slot.GROUPS])
    first, depth, at, rows, places, result, row_gap, place_gap, *_ = _block(body, block)
    count = (rows - 1) * body[Slot.PLANE_PLACES] + places
    planes = body.address(Slot.PLANES, rest * body[Slot.CHANNELS] * body[Slot.CHANNEL_GAP] + at)
    start = (body[Slot.FIRST_IMAGE] + image) * body[Slot.RESULT_STRIDE] + result
    kernels = body.row(body.address(Slot.KERNELS), group * body[Slot.DEPTH])
    table = table_from(body, Slot.OFFSETS, first, 2)
    for outputs in range(1, few_outputs(body.vector) + 1):
        step = _wide(outputs) * body.vector.lanes
        line = (count + (step - 1)) & -step
        with function.when(body[Slot.OUTPUTS].compare("eq", outputs)):
            with function.loop(0, count, step) as place:
                source, target = body.moved(planes, place), body.moved(body.workspace, place)
                body.run(f"narrow_{outputs}", kernels, table, depth, source, target, line)
            lines = (body.workspace, line, body[Slot.PLANE_PLACES])
            biases = body.row(body.address(Slot.BIASES), group)
            _crop(body, group * outputs, body[Slot.OUTPUTS], lines, start, (rows, row_gap), (places, place_gap),
                  biases)  # fmt: skip


def _convolve(body: Body, task: Value) -> None:
    function = body.function
    rest, block = body.divided(task, body[Slot.BLOCK_COUNT])
    panels, image = body.divided(rest, body[Slot.IMAGES])
    group, panel = body.divided(panels, body[Slot.OUTPUT_PANELS])
    first, depth, at, rows, places, result, row_gap, place_gap, *tiles = _block(body, block)
    number = image * body[Slot.GROUPS] + group
    planes = body.address(Slot.PLANES, number * body[Slot.CHANNELS] * body[Slot.CHANNEL_GAP] + at)
    outputs = outputs_of(body, panel)
    kernels = body.row(body.address(Slot.PANELS), panels * body[Slot.DEPTH] + first)
    biases = body.row(body.address(Slot.BIASES), panels)
    _tiles(body, (kernels, table_from(body, Slot.OFFSETS, first, 2), depth), planes, biases, (rows, places), outputs,
           tiles)  # fmt: skip
    channel = group * body[Slot.OUTPUTS] + panel * body.width
    start = (body[Slot.FIRST_IMAGE] + image) * body[Slot.RESULT_STRIDE] + result
    target, gap = (
        body.address(Slot.RESULT, start + channel * body[Slot.OUTPUT_STRIDE]),
        body[Slot.OUTPUT_STRIDE],
    )
    count, neighbours = rows * places, place_gap.compare("eq", 1)
    dense = neighbours & row_gap.compare("eq", places)
    with function.when(dense):
        body.run("scatter", target, gap, outputs, count, body.workspace, 0, count + 1, 0)
    with function.when(neighbours & ~dense), function.loop(0, rows) as row:
        body.run("scatter", body.moved(target, row * row_gap), gap, outputs, places,
                 body.row(body.workspace, row * places), 0, places + 1, 0)  # fmt: skip
    with function.when(~neighbours):
        lines = body.part(body.workspace, Slot.LINES_AT)
        body.run("scatter", lines, count, outputs, count, body.workspace, 0, count + 1, 0)
        _crop(
            body, channel, outputs, (lines, count, places), start, (rows, row_gap), (places, place_gap), None
        )


def _tiles(
    body: Body, elements: tuple[Value, Value, Value], planes: Value, biases: Value, sizes: tuple[Value, Value],
    outputs: Value, tiles: list[Value],
) -> None:  # fmt: skip
    """All tiles of a block of results, as rows of a panel in the workspace."""
    function, (rows, places) = body.function, sizes
    tile_rows, tile_places, *addresses = tiles
    pair, pitch = outputs.compare("gt", body.vector.lanes), body[Slot.PLANE_PLACES]
    whole, rest = (pair.select(addresses[kind + 1], addresses[kind]) for kind in (0, 2))
    with function.loop(0, rows, tile_rows) as row:
        run = (rows - row).compare("lt", tile_rows).select(rest, whole)
        run = function.emit(PTR, f"inttoptr {run} to ptr")
        with function.loop(0, places, tile_places) as place:
            # The last tile may lie over the one before.
            begin = place.intrinsic("smin", places - tile_places)
            arguments = (*elements, body.moved(planes, row * pitch + begin), pitch, biases,
                         body.row(body.workspace, row * places + begin), places * body.width)  # fmt: skip
            function.line(f"call void {run.name}({', '.join(map(str, arguments))})")


def _crop(
    body: Body, channel: Value, outputs: Value, lines: tuple[Value, Value, Value], start: Value,
    rows: tuple[Value, Value], places: tuple[Value, Value], biases: Value | None,
) -> None:  # fmt: skip
    """Write results of some outputs, plus biases, to where they belong.

    Args:
        lines: where they are, and the gaps of outputs and rows there.
        rows: how many, and their gap in the result.
        places: the same.
    """
    function, (source, line, pitch) = body.function, lines
    with function.loop(0, outputs) as output:
        bias = function.constant(body.element, 0)
        if biases is not None:
            bias = function.load(body.element, body.moved(biases, output))
        with function.loop(0, rows[0]) as row:
            target = start + (channel + output) * body[Slot.OUTPUT_STRIDE] + row * rows[1]
            body.run("copy", body.moved(source, output * line + row * pitch), 1, body.address(Slot.RESULT, target),
                     places[1], places[0], bias)  # fmt: skip
