"""Gradients of convolutions' kernels, in LLVM IR: the bodies that tasks run, in the terms of `sliding_ir`.

Few outputs are multiplied at many places at a time (`dots`); vectors of outputs, place by place (`products`).
"""

from __future__ import annotations

from raxis_cpu.library.bodies_ir import Body
from raxis_cpu.library.sliding_slots import GRADIENT_TILE, TILE, Slot, clear, outputs_of, table_from
from raxis_cpu.llvm.ir import I64, PTR, Value, fma


def fill_responses(body: Body, task: Value) -> None:
    function = body.function
    image, output = body.divided(task, body[Slot.GROUPS] * body[Slot.OUTPUTS])
    source = (body[Slot.FIRST_IMAGE] + image) * body[Slot.RESULT_STRIDE] + output * body[Slot.OUTPUT_STRIDE]
    places = body[Slot.RESULT_PLACES]
    with function.loop(0, body[Slot.RESULT_SLICES]) as slice_:
        target = body.address(Slot.RESPONSES, (task * body[Slot.RESULT_SLICES] + slice_) * body[Slot.RUN_GAP])
        clear(body, target, function.constant(I64, 0), body[Slot.RUN_GAP])
        with function.loop(0, body[Slot.RESULT_ROWS]) as row:
            seen = source + (slice_ * body[Slot.RESULT_ROWS] + row) * places
            body.run("copy", body.address(Slot.RESULT, seen), 1, body.moved(target, row * body[Slot.PLANE_PLACES]), 1,
                     places, function.constant(body.element, 0))  # fmt: skip


def dots(body: Body, task: Value) -> None:
    function = body.function
    rest, block = body.divided(task, body[Slot.DEPTH_BLOCKS])
    group, tile = body.divided(rest, body[Slot.OUTPUT_TILES])
    first = block * body[Slot.DEPTH_BLOCK]
    stop = first + body.rest(body[Slot.DEPTH], first, body[Slot.DEPTH_BLOCK])
    alone = body[Slot.OUTPUTS].compare("eq", 1)
    with function.loop(first, stop, TILE) as element:
        with function.when(alone):
            _dots_of_tile(body, group, tile, 1, element)
        with function.when(~alone):
            _dots_of_tile(body, group, tile, TILE, element)


def _dots_of_tile(body: Body, group: Value, tile: Value, rows: int, element: Value) -> None:
    """Gradients of `TILE` kernel elements for some outputs; the last element or output is repeated beyond the end."""
    function, lanes = body.function, body.vector.lanes
    outputs, depth, gap = body[Slot.OUTPUTS], body[Slot.DEPTH], body[Slot.RESULT_SLICES] * body[Slot.RUN_GAP]
    own = [(tile * rows + row).intrinsic("smin", outputs - 1) for row in range(rows)]
    offsets = [
        body.number_at(Slot.OFFSETS, (element + number).intrinsic("smin", depth - 1) * 2 + 1)
        for number in range(TILE)
    ]
    sums = [function.variable(body.vector, 0.0) for _ in range(rows * TILE)]
    with function.loop(0, body[Slot.IMAGES]) as image, function.loop(0, body[Slot.RESULT_SLICES]) as slice_:
        number = image * body[Slot.GROUPS] + group
        planes = number * body[Slot.CHANNELS] * body[Slot.CHANNEL_GAP]
        planes = planes + slice_ * body[Slot.PLANE_ROWS] * body[Slot.PLANE_PLACES]
        seen = [body.address(Slot.PLANES, planes + offset) for offset in offsets]
        start = slice_ * body[Slot.RUN_GAP]
        given = [body.address(Slot.RESPONSES, (number * outputs + output) * gap + start) for output in own]
        with function.loop(0, body[Slot.RUN_GAP], lanes) as place:
            left = [function.load(body.vector, body.moved(address, place)) for address in given]
            right = [function.load(body.vector, body.moved(address, place)) for address in seen]
            for index, total in enumerate(sums):
                row, column = divmod(index, TILE)
                total.set(fma(left[row], right[column], total.get()))
    _store_sums(
        body, (group * body[Slot.OUTPUT_TILES] + tile) * rows, element, [total.get() for total in sums]
    )


def _store_sums(body: Body, output: Value, element: Value, sums: list[Value]) -> None:
    function, scalar = body.function, body.element
    later = body[Slot.FIRST_IMAGE].compare("gt", 0)
    for index, total in enumerate(sums):
        row, column = divmod(index, TILE)
        place = body.address(Slot.SUMS, (output + row) * body[Slot.SUMS_GAP] + element + column)
        before = function.variable(scalar, 0.0)
        with function.when(later):
            before.set(function.load(scalar, place))
        name = f"@llvm.vector.reduce.fadd.{body.vector.suffix}"
        added = function.emit(scalar, f"call reassoc {scalar} {name}({before.get()}, {total})")
        function.store(added, place)


def gather_responses(body: Body, task: Value) -> None:
    rest, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    image, group = body.divided(rest, body[Slot.GROUPS])
    source = (body[Slot.FIRST_IMAGE] + image) * body[Slot.RESULT_STRIDE]
    source = source + (group * body[Slot.OUTPUTS] + panel * body.width) * body[Slot.OUTPUT_STRIDE]
    count = body[Slot.RESULT_SLICES] * body[Slot.RESULT_ROWS] * body[Slot.RESULT_PLACES]
    body.run("gather", body.address(Slot.RESULT, source), body[Slot.OUTPUT_STRIDE], outputs_of(body, panel), count,
             body.row(body.address(Slot.RESPONSES), task * count), 0, count + 1, 0)  # fmt: skip


def products(body: Body, task: Value) -> None:
    function = body.function
    panels, block = body.divided(task, body[Slot.TILE_BLOCKS])
    group, panel = body.divided(panels, body[Slot.OUTPUT_PANELS])
    pair = outputs_of(body, panel).compare("gt", body.vector.lanes)
    first = block * body[Slot.TILE_BLOCK]
    stop = first + body.rest(body[Slot.TILE_COUNT], first, body[Slot.TILE_BLOCK])
    pitch, rows, places = body[Slot.PLANE_PLACES], body[Slot.RESULT_ROWS], body[Slot.RESULT_PLACES]
    sums = body.row(body.address(Slot.SUMS), panels * body[Slot.DEPTH])
    begin, end = (body.number_at(Slot.TILES, tile * GRADIENT_TILE) * body.width for tile in (first, stop))
    with (
        function.when(body[Slot.FIRST_IMAGE].compare("eq", 0)),
        function.loop(begin, end, body.vector.lanes) as place,
    ):
        function.store(function.constant(body.vector, 0), body.moved(sums, place))
    with (
        function.loop(0, body[Slot.IMAGES]) as image,
        function.loop(0, body[Slot.RESULT_SLICES]) as slice_,
        function.loop(0, rows, body[Slot.ROW_BLOCK]) as row,
    ):
        number = image * body[Slot.GROUPS] + group
        given = ((number * body[Slot.OUTPUT_PANELS] + panel) * body[Slot.RESULT_SLICES] + slice_) * rows + row
        planes = number * body[Slot.CHANNELS] * body[Slot.CHANNEL_GAP]
        planes = planes + (slice_ * body[Slot.PLANE_ROWS] + row) * pitch
        with function.loop(first, stop) as tile:
            element, one, two = (
                body.number_at(Slot.TILES, tile * GRADIENT_TILE + item) for item in range(GRADIENT_TILE)
            )
            run = function.emit(PTR, f"inttoptr {pair.select(two, one)} to ptr")
            arguments = (
                body.row(body.address(Slot.RESPONSES), given * places), table_from(body, Slot.OFFSETS, element, 2),
                body.address(Slot.PLANES, planes), body.rest(rows, row, body[Slot.ROW_BLOCK]), places, pitch,
                body.row(sums, element),
            )  # fmt: skip
            function.line(f"call void {run.name}({', '.join(map(str, arguments))})")


def unpack(body: Body, task: Value) -> None:
    group, panel = body.divided(task, body[Slot.OUTPUT_PANELS])
    target = group * body[Slot.WEIGHT_GROUP] + panel * body.width * body[Slot.WEIGHT_OUTPUT]
    body.run("scatter", body.address(Slot.WEIGHT, target), body[Slot.WEIGHT_OUTPUT], outputs_of(body, panel),
             body[Slot.DEPTH], body.row(body.address(Slot.SUMS), task * body[Slot.DEPTH]), 0, body[Slot.DEPTH] + 1,
             0)  # fmt: skip


def unpack_tiles(body: Body, task: Value) -> None:
    group, output = body.divided(task, body[Slot.OUTPUTS])
    rows = body[Slot.OUTPUTS].compare("eq", 1).select(body[Slot.OUTPUT_TILES], body[Slot.OUTPUT_TILES] * TILE)
    source = body.address(Slot.SUMS, (group * rows + output) * body[Slot.SUMS_GAP])
    body.run("copy", source, 1, body.address(Slot.WEIGHT, task * body[Slot.DEPTH]), 1, body[Slot.DEPTH],
             body.function.constant(body.element, 0))  # fmt: skip
