"""Images between planes and places, in LLVM IR: a plane per channel, or one row of a panel (all channels) per place."""

from __future__ import annotations

from collections.abc import Sequence

from raxis_cpu.library.panels_ir import VECTORS, panel_width
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, Variable
from raxis_cpu.llvm.turning import turned


def gather_ir(name: str, vector: Type, *, sparse: bool = False) -> str:
    """``void name(planes, gap, channels, count, panel, at, width, jump)``: planes to rows of a panel.

    `count` elements that lie one after another are read from each of `channels` planes, `gap` elements apart, the
    first of them `at` elements after the beginning of an image row of `width`. Between image rows, `jump` elements of
    the panel are left as they are. Channels that do not exist repeat the last one; if `sparse`, vectors without any
    channel are left as they are.
    """
    return _Gather(name, vector, sparse).text()


def scatter_ir(name: str, vector: Type) -> str:
    """``void name(planes, gap, channels, count, panel, at, width, jump)``: the way back, with the same arguments."""
    return _Scatter(name, vector).text()


def intrinsics_ir(vector: Type) -> str:
    """What the functions call."""
    mask = f"<{vector.lanes} x i1>"
    return f"""declare {vector} @llvm.masked.load.{vector.suffix}.p0(ptr, i32, {mask}, {vector})
declare void @llvm.masked.store.{vector.suffix}.p0({vector}, ptr, i32, {mask})
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)"""


class _Exchange:
    """What both directions have in common: blocks of as many places as a vector has lanes."""

    def __init__(self, name: str, vector: Type, sparse: bool = True) -> None:
        numbers = "i64 %gap, i64 %channels, i64 %count"
        self._function = Function(
            f"internal void @{name}(ptr %planes, {numbers}, ptr %panel, i64 %at, i64 %width, i64 %jump) noinline"
        )
        self._vector = vector
        self._sparse = sparse
        self._size = vector.bits // 8

    def text(self) -> str:
        """The definition."""
        function, lanes = self._function, self._vector.lanes
        count, at = self._integer("count"), function.variable(I64, self._integer("at"))
        row = function.variable(PTR, function.argument(PTR, "panel"))
        with function.loop(0, count, lanes) as first:
            left = count - first
            rows = [self._next(row, at, left.compare("gt", place)) for place in range(lanes)]
            mask = lanes_below(left, lanes)
            for part in range(VECTORS):
                exists = self._integer("channels").compare("gt", part * lanes if self._sparse else 0)
                with function.when(exists):
                    self._block(first, part, rows, left, mask)
        function.line("ret void")
        return function.text

    def _integer(self, name: str) -> Value:
        return self._function.argument(I64, name)

    def _next(self, row: Variable, at: Variable, exists: Value) -> Value:
        """The panel's row of a place; behind the last place, what would be the next one."""
        here = row.get()
        following = at.get() + 1
        ends = following.compare("eq", self._integer("width"))
        width = panel_width(self._vector)
        step = ends.select(self._integer("jump") + width, self._function.constant(I64, width))
        at.set(ends.select(self._function.constant(I64, 0), following))
        row.set(exists.select(self._function.advance(here, step, self._size), here))
        return here

    def _block(self, first: Value, part: int, rows: Sequence[Value], left: Value, mask: Value) -> None:
        raise NotImplementedError

    def _plane(self, channel: Value, first: Value) -> Value:
        start = channel * self._integer("gap") + first
        return self._function.advance(self._function.argument(PTR, "planes"), start, self._size)


class _Gather(_Exchange):
    def __init__(self, name: str, vector: Type, sparse: bool) -> None:
        super().__init__(name, vector, sparse)
        self._nowhere = self._function.room(vector)

    def _block(self, first: Value, part: int, rows: Sequence[Value], left: Value, mask: Value) -> None:
        function, lanes = self._function, self._vector.lanes
        lines = []
        for lane in range(lanes):
            channel = function.constant(I64, part * lanes + lane).intrinsic(
                "smin", self._integer("channels") - 1
            )
            lines.append(masked_load(self._vector, self._plane(channel, first), mask))
        for place, (line, row) in enumerate(zip(turned(lines), rows, strict=True)):
            target = function.advance(row, part * lanes, self._size)
            function.store(line, left.compare("gt", place).select(target, self._nowhere))


class _Scatter(_Exchange):
    def _block(self, first: Value, part: int, rows: Sequence[Value], left: Value, mask: Value) -> None:
        function, lanes = self._function, self._vector.lanes
        lines = [function.load(self._vector, function.advance(row, part * lanes, self._size)) for row in rows]
        for lane, line in enumerate(turned(lines)):
            channel = function.constant(I64, part * lanes + lane)
            with function.when(channel.compare("lt", self._integer("channels"))):
                masked_store(line, self._plane(channel, first), mask)
