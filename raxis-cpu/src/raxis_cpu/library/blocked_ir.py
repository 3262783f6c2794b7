"""Matrix products of any size in LLVM IR: panels of the right matrix are packed, tiles of the result stay in registers.

The left matrix is read where it is. A block of the inner dimension is short enough for a panel of the right matrix to
stay in the first cache, a block of rows for its part of the left matrix to stay in the second (Goto and van de Geijn,
"Anatomy of High-Performance Matrix Multiplication", 2008). Tasks are blocks of rows or columns of one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from raxis_cpu.library.block_tasks_ir import BlockEntry, BlockTask, Part
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store, transpose_ir
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I1, I64, PTR, Function, Type, Value, Variable, multiply_add, multiply_add_ir

NUMBERS = (
    "table", "left", "rows", "columns", "inner", "left_gap", "right_gap", "result_gap", "stack", "block", "row_block",
    "copy_gap", "copy_elements", "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`left` is the argument (0 or 1) that is the left matrix, gaps are elements between the lines of a matrix, `block` is the
part of the inner dimension and `row_block` that of the rows that are multiplied at once, `copy_gap` and `copy_elements`
belong to copies of blocks of the left matrix, `large` says whether threads take part. Then come, for every product of
the stack, where its left, right and result matrix begin, in elements, and its bias, if there is one.
"""

VECTORS = 2
"""Vectors in a row of a panel and of a tile."""
DEPTH = 256
"""The inner dimension of a block is at most this."""
_UNROLLED = 4
"""Steps of the inner dimension between two tests of the loop."""
_CHAINS = 8
"""Sums that grow independently keep both units for fused multiplication and addition busy."""


class Form(NamedTuple):
    """What the code is specialised on.

    Attributes:
        vector: the elements.
        left_transposed: whether the left matrix lies column by column.
        right_transposed: whether the right one does.
        has_bias: whether every row has a bias.
        copies: whether blocks of the left matrix, which lies row by row, are copied: of rows that are multiples of a
            page apart, few fit into the first cache.
    """

    vector: Type
    left_transposed: bool
    right_transposed: bool
    has_bias: bool = False
    copies: bool = False

    @property
    def arrays(self) -> int:
        """How many arrays there are: the result is the last argument, a bias the one before."""
        return 4 if self.has_bias else 3


def tile_rows() -> tuple[int, ...]:
    """Rows of tiles, in the order in which they are tried: the largest leaves no register unused."""
    return (4, 1) if host().vector_bytes == 32 else (12, 4, 2, 1)


def blocked_ir(form: Form) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``, if there is a bias with that before the result."""
    parts = [
        tile_ir(form.vector, rows, left_transposed=form.left_transposed, has_bias=form.has_bias)
        for rows in tile_rows()
    ]
    if form.right_transposed:
        parts.append(transpose_ir("transpose", form.vector))
    entry = BlockEntry(NUMBERS, form.arrays, form.vector.bits // 8)
    return "\n".join([*parts, _Task(form).text(), entry.text(), _declarations(form)])


def _declarations(form: Form) -> str:
    vector, mask = form.vector, form.vector.of("i1")
    return f"""{multiply_add_ir(vector)}
declare {vector} @llvm.masked.load.{vector.suffix}.p0(ptr, i32, {mask}, {vector})
declare void @llvm.masked.store.{vector.suffix}.p0({vector}, ptr, i32, {mask})
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"""


def tile_ir(vector: Type, rows: int, *, left_transposed: bool, has_bias: bool = False) -> str:
    """``void tile_N(a, gap, b, c, ldc, depth, columns, add)``: N rows of c = a @ panel b, or c += a @ b if `add`.

    Then comes a bias of every row, if there is one, which is added unless `add`.
    """
    return _Tile(vector, rows, left_transposed, has_bias).text()


class _Tile:
    def __init__(self, vector: Type, rows: int, transposed: bool, has_bias: bool) -> None:
        sizes = "i64 %ldc, i64 %depth, i64 %columns, i1 %add" + (", ptr %bias" if has_bias else "")
        self._function = Function(
            f"internal void @tile_{rows}(ptr %a, i64 %gap, ptr %b, ptr noalias %c, {sizes}) noinline"
        )
        self._vector = vector
        self._size = vector.bits // 8
        self._rows = rows
        self._transposed = transposed
        self._has_bias = has_bias

    def text(self) -> str:
        """The definition."""
        function, lanes = self._function, self._vector.lanes
        columns, gap = function.argument(I64, "columns"), function.argument(I64, "ldc")
        masks = [lanes_below(columns - part * lanes, lanes) for part in range(VECTORS)]
        places = [
            (function.advance(function.argument(PTR, "c"), gap * row + part * lanes, self._size), masks[part])
            for row in range(self._rows)
            for part in range(VECTORS)
        ]
        # They come from afar, and are wanted when all products have been added up.
        for place, _ in places:
            function.line(f"call void @llvm.prefetch.p0({place}, i32 1, i32 3, i32 1)")
        sums, adds = [function.variable(self._vector, 0.0) for _ in places], function.argument(I1, "add")
        if self._has_bias:
            with function.when(~adds):
                for number, total in enumerate(sums):
                    place = function.advance(function.argument(PTR, "bias"), number // VECTORS, self._size)
                    total.set(function.load(Type(self._vector.element), place).splat(lanes))
        self._add_products(sums)
        with function.when(adds):
            for (place, mask), total in zip(places, sums, strict=True):
                total.set(total.get() + masked_load(self._vector, place, mask))
        for (place, mask), total in zip(places, sums, strict=True):
            masked_store(total.get(), place, mask)
        function.line("ret void")
        return function.text

    def _add_products(self, sums: Sequence[Variable]) -> None:
        """Add all products to the sums; those of a small tile grow in several chains."""
        function = self._function
        chains = max(1, _CHAINS // len(sums))
        others = [[function.variable(self._vector, 0.0) for _ in sums] for _ in range(chains - 1)]
        self._multiply([sums, *others])
        for other in others:
            for total, more in zip(sums, other, strict=True):
                total.set(total.get() + more.get())

    def _multiply(self, chains: Sequence[Sequence[Variable]]) -> None:
        function = self._function
        left, right = (function.variable(PTR, function.argument(PTR, name)) for name in "ab")
        depth, offsets = function.argument(I64, "depth"), self._row_offsets()
        steps = max(_UNROLLED, len(chains))
        whole = depth & -steps
        for start, stop, count in ((function.constant(I64, 0), whole, steps), (whole, depth, 1)):
            with function.loop(start, stop, count):
                here, there = left.get(), right.get()
                for number in range(count):
                    self._step(
                        self._moved(here, number),
                        self._panel_row(there, number),
                        offsets,
                        chains[number % len(chains)],
                    )
                left.set(self._moved(here, count))
                right.set(self._panel_row(there, count))

    def _row_offsets(self) -> list[Value]:
        """How many bytes behind the first row of the left matrix each row begins.

        Odd multiples of the gap stay in registers, where the compiler does not see what they are made of: addresses
        take their multiples by 2, 4 and 8 without an instruction.
        """
        function = self._function
        if self._transposed:
            return [function.constant(I64, row * self._size) for row in range(self._rows)]
        gap = function.argument(I64, "gap") * self._size
        odd = {
            row: function.emit(I64, f'call i64 asm "", "=r,0"({gap * row})')
            for row in range(1, self._rows, 2)
        }
        offsets = [function.constant(I64, 0)]
        for row in range(1, self._rows):
            shift = (row & -row).bit_length() - 1
            offsets.append(odd[row >> shift] << shift)
        return offsets

    def _moved(self, left: Value, steps: int) -> Value:
        gap = self._function.argument(I64, "gap")
        return self._function.advance(left, gap * steps if self._transposed else steps, self._size)

    def _panel_row(self, right: Value, steps: int) -> Value:
        return self._function.advance(right, steps * VECTORS * self._vector.lanes, self._size)

    def _step(self, left: Value, right: Value, offsets: Sequence[Value], sums: Sequence[Variable]) -> None:
        """Add the products of one element of every row with a row of the panel."""
        function, lanes = self._function, self._vector.lanes
        parts = [
            function.load(self._vector, function.advance(right, part * lanes, self._size))
            for part in range(VECTORS)
        ]
        for row, offset in enumerate(offsets):
            source = function.advance(left, offset, 1)
            factor = function.load(Type(self._vector.element), source).splat(lanes)
            for number, part in enumerate(parts):
                total = sums[row * VECTORS + number]
                total.set(multiply_add(factor, part, total.get()))


class _Task(BlockTask):
    """Writes ``@task``: a block of rows or of columns of one product."""

    def __init__(self, form: Form) -> None:
        super().__init__(NUMBERS, form.arrays, form.vector.bits // 8)
        self._form = form
        self._vector = form.vector
        self._width = VECTORS * form.vector.lanes

    def text(self) -> str:
        """The definition."""
        numbers = self._numbers
        panel = numbers["block"] * (self._width * self._size)
        with self._workspace(panel + numbers["copy_elements"] * self._size) as self._panel:
            self._copy = self._function.advance(self._panel, panel, 1)
            self._multiply(self._part())
        self._function.line("ret void")
        return self._function.text

    def _multiply(self, part: Part) -> None:
        function, numbers = self._function, self._numbers
        self._starts, rows, columns = part
        with function.loop(rows[0], rows[1], numbers["row_block"]) as first_row:
            last_row = (first_row + numbers["row_block"]).intrinsic("smin", rows[1])
            with function.loop(0, numbers["inner"], numbers["block"]) as step:
                depth = (numbers["inner"] - step).intrinsic("smin", numbers["block"])
                left = self._left((first_row, last_row), (step, depth))
                with function.loop(columns[0], columns[1], self._width) as column:
                    count = (columns[1] - column).intrinsic("smin", self._width)
                    self._pack((step, depth), (column, count))
                    self._tiles(left, (first_row, last_row), (step, depth), (column, count))

    def _left(self, rows: tuple[Value, Value], inner: tuple[Value, Value]) -> tuple[Value, Value]:
        """Where a block of the left matrix begins, and the distance of its lines."""
        function, gap, (step, depth) = self._function, self._numbers["left_gap"], inner
        place = step * gap + rows[0] if self._form.left_transposed else rows[0] * gap + step
        start = function.advance(self._starts[0], place, self._size)
        if not self._form.copies:
            return start, gap
        copy_gap = self._numbers["copy_gap"]
        with function.loop(0, rows[1] - rows[0]) as row:
            source = function.advance(start, row * gap, self._size)
            target = function.advance(self._copy, row * copy_gap, self._size)
            nbytes = depth * self._size
            function.line(f"call void @llvm.memcpy.p0.p0.i64({target}, {source}, {nbytes}, i1 false)")
        return self._copy, copy_gap

    def _pack(self, inner: tuple[Value, Value], columns: tuple[Value, Value]) -> None:
        """Copy a panel of the right matrix, filled up with zeros, so that its rows follow each other."""
        function, gap, lanes = self._function, self._numbers["right_gap"], self._vector.lanes
        (step, depth), (column, count) = inner, columns
        start = column * gap + step if self._form.right_transposed else step * gap + column
        source = function.advance(self._starts[1], start, self._size)
        if self._form.right_transposed:
            operands = (
                f"{source}, {gap}, {self._panel}, i64 {self._width}, {count}, {depth}, i64 {self._width}"
            )
            function.line(f"call void @transpose({operands})")
            return
        masks = [lanes_below(count - part * lanes, lanes) for part in range(VECTORS)]
        with function.loop(0, depth) as row:
            for part, mask in enumerate(masks):
                place = function.advance(source, row * gap + part * lanes, self._size)
                target = function.advance(self._panel, row * self._width + part * lanes, self._size)
                function.store(masked_load(self._vector, place, mask), target)

    def _tiles(
        self,
        left: tuple[Value, Value],
        rows: tuple[Value, Value],
        inner: tuple[Value, Value],
        columns: tuple[Value, Value],
    ) -> None:
        """All rows of a panel's columns, in tiles as large as possible."""
        function, numbers = self._function, self._numbers
        (block, gap), result_gap = left, numbers["result_gap"]
        add = inner[0].compare("gt", 0)
        first = rows[0]
        for size in tile_rows():
            last = first + self._whole(rows[1] - first, size)
            with function.loop(first, last, size) as row:
                behind = row - rows[0]
                start = function.advance(
                    block, behind if self._form.left_transposed else behind * gap, self._size
                )
                result = function.advance(self._starts[2], row * result_gap + columns[0], self._size)
                function.line(
                    f"call void @tile_{size}({start}, {gap}, {self._panel}, {result}, {result_gap}, "
                    f"{inner[1]}, {columns[1]}, {add}{self._bias(row)})"
                )
            first = last

    def _bias(self, row: Value) -> str:
        """The last operand of a tile, if there is one."""
        return f", {self._function.advance(self._starts[3], row, self._size)}" if self._form.has_bias else ""

    def _whole(self, count: Value, size: int) -> Value:
        """`count` rounded down to a multiple of `size`."""
        return self._function.emit(I64, f"sdiv {count}, {size}") * size
