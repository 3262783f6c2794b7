"""Products in half precision with packed operands and float32 sums, in LLVM IR: what their kernels share.

A block of the left matrix is packed, small enough for the second cache, then a panel of columns of the right one after
the other, small enough for the first cache, or near it (Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication", 2008). Sums stay in memory of the task's own until the end of the inner dimension; then they are
rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from raxis_cpu.library.block_tasks_ir import BlockEntry, BlockTask, Part
from raxis_cpu.llvm.ir import I64, PTR, Function, Value

NUMBERS = (
    "table", "left", "rows", "columns", "inner", "left_gap", "right_gap", "result_gap", "stack", "block", "row_block",
    "column_block", "packed_gap", "packed_bytes", "panel_bytes", "sums_row", "sums_gap", "sums_bytes", "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`left` is the argument (0 or 1) that is the left matrix, gaps are elements between the lines of a matrix. Blocks are
parts of the inner dimension, of rows and of columns that are multiplied at once. `packed_gap` are bytes between the
lines or stripes of a packed block of the left matrix, `packed_bytes` those of such a block, `panel_bytes` those of a
panel of the right one, `sums_row` and `sums_gap` those between the sums of two rows and of two panels, `sums_bytes`
those of all; `large` says whether threads take part. Then come, for every product of the stack, where its left, right
and result matrix begin, in elements.
"""

_SIZE = 2
"""Bytes of an element in half precision."""
SUM_BYTES = 4
"""Those of a sum."""


def result_function() -> Function:
    """``void result(sums, target, gap, rows, columns)``, to be written: a tile of sums, rounded, where it belongs."""
    return Function(
        "internal void @result(ptr %sums, ptr noalias %target, i64 %gap, i64 %rows, i64 %columns) noinline"
    )


class PackedTask(BlockTask):
    """Writes ``@task``; a kernel says how operands are packed, and how tiles are multiplied and become the result.

    Args:
        width: columns of a panel, and of a row of sums.
        heights: rows of tiles, the largest first; the last may be cut off.
    """

    def __init__(self, width: int, heights: tuple[int, ...]) -> None:
        super().__init__(NUMBERS, 3, _SIZE)
        self._width = width
        self._heights = heights

    def text(self) -> str:
        """The definition."""
        function, numbers = self._function, self._numbers
        sums, panel = numbers["sums_bytes"], numbers["panel_bytes"]
        with self._workspace(sums + panel + numbers["packed_bytes"]) as self._sums:
            self._panel = function.advance(self._sums, sums, 1)
            self._packed = function.advance(self._panel, panel, 1)
            with self._ready():
                self._multiply(self._part())
        function.line("ret void")
        return function.text

    @contextmanager
    def _ready(self) -> Iterator[None]:
        """The state of the processor in which tiles are multiplied."""
        yield

    def _multiply(self, part: Part) -> None:
        """Block by block of the result, each of them by blocks of the inner dimension."""
        function, numbers = self._function, self._numbers
        with (
            self._blocks(part.rows, "row_block") as rows,
            self._blocks(part.columns, "column_block") as columns,
            function.loop(0, numbers["inner"], numbers["block"]) as step,
        ):
            depth = (numbers["inner"] - step).intrinsic("smin", numbers["block"])
            self._pack_left(part.starts[0], rows, (step, depth))
            sums = function.variable(PTR, self._sums)
            with function.loop(*columns, self._width) as column:
                panel = column, (columns[1] - column).intrinsic("smin", self._width)
                self._pack_right(part.starts[1], (step, depth), panel)
                self._tiles(part.starts[2], rows, (step, depth), panel, sums.get())
                sums.set(function.advance(sums.get(), numbers["sums_gap"], 1))

    @contextmanager
    def _blocks(self, range: tuple[Value, Value], size: str) -> Iterator[tuple[Value, Value]]:
        """The parts of a range, of a size that is one of the numbers."""
        with self._function.loop(*range, self._numbers[size]) as first:
            yield first, (first + self._numbers[size]).intrinsic("smin", range[1])

    def _tiles(
        self,
        start: Value,
        rows: tuple[Value, Value],
        inner: tuple[Value, Value],
        columns: tuple[Value, Value],
        panel_sums: Value,
    ) -> None:
        """All rows of a panel's columns, in tiles as large as possible."""
        function, numbers = self._function, self._numbers
        add, is_last = inner[0].compare("gt", 0), (inner[0] + inner[1]).compare("ge", numbers["inner"])
        gap, first = numbers["result_gap"], rows[0]
        for height in self._heights:
            end = rows[1] if height == self._heights[-1] else first + self._whole(rows[1] - first, height)
            with function.loop(first, end, height) as row:
                behind = row - rows[0]
                sums = function.advance(panel_sums, behind * numbers["sums_row"], 1)
                self._multiply_tile(height, behind, inner[1], sums, add)
                with function.when(is_last):
                    target = function.advance(start, row * gap + columns[0], _SIZE)
                    count = (end - row).intrinsic("smin", height)
                    function.line(f"call void @result({sums}, {target}, {gap}, {count}, {columns[1]})")
            first = end

    def _whole(self, count: Value, size: int) -> Value:
        """`count` rounded down to a multiple of `size`."""
        return self._function.emit(I64, f"sdiv {count}, {size}") * size

    def _place(self, start: Value, gap: Value, line: Value, step: Value, *, by_lines: bool) -> Value:
        """Where an element of a matrix is: lines are rows of the left matrix, columns of the right one."""
        return self._function.advance(start, line * gap + step if by_lines else step * gap + line, _SIZE)

    def _pack_left(self, start: Value, rows: tuple[Value, Value], inner: tuple[Value, Value]) -> None:
        """Rows from the first to the end, over a block of the inner dimension: its begin and its size."""
        raise NotImplementedError

    def _pack_right(self, start: Value, inner: tuple[Value, Value], columns: tuple[Value, Value]) -> None:
        """A panel: a block of the inner dimension and of columns, each by where it begins and how many there are."""
        raise NotImplementedError

    def _multiply_tile(self, height: int, row: Value, depth: Value, sums: Value, add: Value) -> None:
        """The product of packed rows and the panel; added to the sums if `add`."""
        raise NotImplementedError


def entry_ir() -> str:
    """``entry(a, offset, b, offset, c, offset)``, and what it and tasks call."""
    return f"""{BlockEntry(NUMBERS, 3, _SIZE).text()}
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare i64 @llvm.smin.i64(i64, i64)"""
