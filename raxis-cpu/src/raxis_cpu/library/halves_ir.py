"""Products in half precision in float32 arithmetic, in LLVM IR: operands are converted while they are packed.

Tiles of the result are those of `blocked_ir`; nothing but the packed blocks is ever float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from raxis.dtypes import DType
from raxis_cpu.library.blocked_ir import VECTORS, tile_ir, tile_rows
from raxis_cpu.library.packed_ir import SUM_BYTES, PackedTask, entry_ir, result_function
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store, transpose_ir
from raxis_cpu.llvm.ir import I64, PTR, Type, Value
from raxis_cpu.llvm.registers import load, narrowed, raw_type, real, rounded, widened


class Form(NamedTuple):
    """What the code is specialised on.

    Attributes:
        dtype: of the matrices.
        lanes: float32 numbers in a register.
        left_transposed: whether the left matrix lies column by column.
        right_transposed: whether the right one does.
    """

    dtype: DType
    lanes: int
    left_transposed: bool
    right_transposed: bool

    @property
    def vector(self) -> Type:
        """Of sums."""
        return Type("float", self.lanes)

    @property
    def width(self) -> int:
        """Columns of a panel."""
        return VECTORS * self.lanes


def halves_ir(form: Form) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``."""
    parts = [tile_ir(form.vector, rows, left_transposed=form.left_transposed) for rows in tile_rows()]
    if form.right_transposed:
        parts.append(transpose_ir("transpose", form.vector, form.dtype))
    return "\n".join([*parts, _result(form), _Task(form).text(), entry_ir(), _declarations(form)])


def _declarations(form: Form) -> str:
    vector, raw, mask = form.vector, raw_type(form.dtype, form.lanes), form.vector.of("i1")
    return f"""declare {vector} @llvm.fma.{vector.suffix}({vector}, {vector}, {vector})
declare {vector} @llvm.masked.load.{vector.suffix}.p0(ptr, i32, {mask}, {vector})
declare void @llvm.masked.store.{vector.suffix}.p0({vector}, ptr, i32, {mask})
declare {raw} @llvm.masked.load.{raw.suffix}.p0(ptr, i32, {mask}, {raw})
declare void @llvm.masked.store.{raw.suffix}.p0({raw}, ptr, i32, {mask})
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"""


def _result(form: Form) -> str:
    """See `result_function`."""
    function, lanes, dtype = result_function(), form.lanes, form.dtype
    sums, target = (function.argument(PTR, name) for name in ("sums", "target"))
    gap, rows, columns = (function.argument(I64, name) for name in ("gap", "rows", "columns"))
    places = range(0, form.width, lanes)

    def write(masks: Sequence[Value | None]) -> None:
        with function.loop(0, rows) as row:
            for place, mask in zip(places, masks, strict=True):
                source = function.advance(sums, row * form.width + place, SUM_BYTES)
                total = narrowed(dtype, rounded(dtype, function.load(form.vector, source)))
                address = function.advance(target, row * gap + place, dtype.itemsize)
                if mask is None:
                    function.store(total, address)
                else:
                    masked_store(total, address, mask)

    whole = columns.compare("ge", form.width)
    with function.when(whole):
        write([None for _ in places])
    with function.when(~whole):
        write([lanes_below(columns - place, lanes) for place in places])
    function.line("ret void")
    return function.text


class _Task(PackedTask):
    """Writes ``@task``: the left matrix is converted as it lies, line by line."""

    def __init__(self, form: Form) -> None:
        super().__init__(form.width, tile_rows())
        self._form = form

    def _pack_left(self, start: Value, rows: tuple[Value, Value], inner: tuple[Value, Value]) -> None:
        function, numbers, form = self._function, self._numbers, self._form
        gap, (lines, length) = numbers["left_gap"], (rows[1] - rows[0], inner[1])
        if form.left_transposed:
            lines, length = length, lines
        source = self._place(start, gap, rows[0], inner[0], by_lines=not form.left_transposed)
        with function.loop(0, lines) as line:
            place = function.advance(source, line * gap, form.dtype.itemsize)
            target = function.advance(self._packed, line * numbers["packed_gap"], 1)
            self._convert(place, target, length)

    def _convert(self, source: Value, target: Value, count: Value) -> None:
        """Numbers that follow each other, as float32; zeros up to a whole register follow them."""
        function, lanes = self._function, self._form.lanes
        whole = count & -lanes
        with function.loop(0, whole, lanes) as place:
            self._convert_some(source, target, place, None)
        with function.when(count.compare("gt", whole)):
            self._convert_some(source, target, whole, lanes_below(count - whole, lanes))

    def _convert_some(self, source: Value, target: Value, place: Value, mask: Value | None) -> None:
        function = self._function
        value = self._load(function.advance(source, place, self._form.dtype.itemsize), mask)
        function.store(value, function.advance(target, place, SUM_BYTES))

    def _load(self, address: Value, mask: Value | None) -> Value:
        dtype, lanes = self._form.dtype, self._form.lanes
        if mask is None:
            return real(load(dtype, address, lanes))
        return real(widened(dtype, masked_load(raw_type(dtype, lanes), address, mask)))

    def _pack_right(self, start: Value, inner: tuple[Value, Value], columns: tuple[Value, Value]) -> None:
        function, gap, form = self._function, self._numbers["right_gap"], self._form
        (step, depth), (column, count) = inner, columns
        source = self._place(start, gap, column, step, by_lines=form.right_transposed)
        if form.right_transposed:
            operands = f"{source}, {gap}, {self._panel}, i64 {form.width}, {count}, {depth}, i64 {form.width}"
            function.line(f"call void @transpose({operands})")
            return
        whole = count.compare("ge", form.width)
        with function.when(whole):
            self._copy_rows(source, depth, [None] * VECTORS)
        with function.when(~whole):
            starts = [part * form.lanes for part in range(VECTORS)]
            self._copy_rows(source, depth, [lanes_below(count - start, form.lanes) for start in starts])

    def _copy_rows(self, source: Value, depth: Value, masks: Sequence[Value | None]) -> None:
        """Rows of the right matrix, as wide as a panel but for what is masked out."""
        function, gap, form = self._function, self._numbers["right_gap"], self._form
        with function.loop(0, depth) as row:
            for part, mask in enumerate(masks):
                place = function.advance(source, row * gap + part * form.lanes, form.dtype.itemsize)
                target = function.advance(self._panel, row * form.width + part * form.lanes, SUM_BYTES)
                function.store(self._load(place, mask), target)

    def _multiply_tile(self, height: int, row: Value, depth: Value, sums: Value, add: Value) -> None:
        gap, width = self._numbers["packed_gap"], self._form.width
        behind = row * SUM_BYTES if self._form.left_transposed else row * gap
        left = self._function.advance(self._packed, behind, 1)
        lines = gap >> (SUM_BYTES.bit_length() - 1)
        operands = f"{left}, {lines}, {self._panel}, {sums}, i64 {width}, {depth}, i64 {width}, {add}"
        self._function.line(f"call void @tile_{height}({operands})")
