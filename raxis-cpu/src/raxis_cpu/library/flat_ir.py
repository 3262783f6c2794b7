"""Products of a few rows with a matrix that lies row by row, in LLVM IR: it is read once, where it is.

All rows of the *flat* matrix are multiplied at once with some vectors of each row of the *wide* one, while as many sums
stay in registers; its elements may lie anywhere. Tasks are columns of the wide matrix.
"""

from __future__ import annotations

from typing import NamedTuple

from raxis_cpu.library.tasks_ir import FIRST_SLOT, Task, TaskEntry
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, multiply_add, multiply_add_ir

NUMBERS = (
    "table", "flat", "columns", "inner", "flat_row", "flat_step", "wide_gap", "result_gap", "stack", "part", "parts",
    "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`flat` is the argument (0 or 1) that is the flat matrix, whose elements are `flat_row` and `flat_step` apart; gaps are
elements between rows of the others, `part` is the columns of a task, `parts` the tasks of one product, `large` says
whether threads take part. Then come, for every product of the stack, where its flat, wide and result matrix begin.
"""

_MOST_VECTORS = 8
_AHEAD = 6
"""So many rows of the wide matrix are fetched in advance: the machine does not foresee the next row by itself."""


class Form(NamedTuple):
    """The elements, how many rows the flat matrix has, and how many sums fit into registers."""

    vector: Type
    rows: int
    sums: int

    @property
    def vectors(self) -> int:
        """How many of a row of the wide matrix are used at once."""
        return max(1, min(_MOST_VECTORS, self.sums // self.rows))

    @property
    def width(self) -> int:
        """As many columns."""
        return self.vectors * self.vector.lanes


def flat_ir(form: Form) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``."""
    return "\n".join([
        _Tile(form).text(), _Task(form).text(), _Entry(form).text(), _declarations(form.vector)
    ])  # fmt: skip


def _declarations(vector: Type) -> str:
    mask = vector.of("i1")
    return f"""{multiply_add_ir(vector)}
declare {vector} @llvm.masked.load.{vector.suffix}.p0(ptr, i32, {mask}, {vector})
declare void @llvm.masked.store.{vector.suffix}.p0({vector}, ptr, i32, {mask})
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.smin.i64(i64, i64)"""


class _Tile:
    """``void tile(flat, flat_row, flat_step, wide, wide_gap, result, result_gap, inner, columns)``."""

    def __init__(self, form: Form) -> None:
        self._function = Function(
            "internal void @tile(ptr %flat, i64 %flat_row, i64 %flat_step, ptr %wide, i64 %wide_gap, "
            "ptr noalias %result, i64 %result_gap, i64 %inner, i64 %columns) noinline"
        )
        self._form = form
        self._size = form.vector.bits // 8

    def _number(self, name: str) -> Value:
        return self._function.argument(I64, name)

    def text(self) -> str:
        """The definition."""
        function, form = self._function, self._form
        lanes = form.vector.lanes
        masks = [lanes_below(self._number("columns") - part * lanes, lanes) for part in range(form.vectors)]
        sums = [[function.variable(form.vector, 0.0) for _ in range(form.vectors)] for _ in range(form.rows)]
        flat, wide = (function.variable(PTR, function.argument(PTR, name)) for name in ("flat", "wide"))
        with function.loop(0, self._number("inner")):
            here, there = flat.get(), wide.get()
            parts = []
            for part, mask in enumerate(masks):
                place = function.advance(there, part * lanes, self._size)
                later = function.advance(place, self._number("wide_gap") * _AHEAD, self._size)
                function.line(f"call void @llvm.prefetch.p0({later}, i32 0, i32 3, i32 1)")
                parts.append(masked_load(form.vector, place, mask))
            for row, totals in enumerate(sums):
                source = function.advance(here, self._number("flat_row") * row, self._size)
                factor = function.load(Type(form.vector.element), source).splat(lanes)
                for total, values in zip(totals, parts, strict=True):
                    total.set(multiply_add(factor, values, total.get()))
            flat.set(function.advance(here, self._number("flat_step"), self._size))
            wide.set(function.advance(there, self._number("wide_gap"), self._size))
        for row, totals in enumerate(sums):
            start = function.advance(
                function.argument(PTR, "result"), self._number("result_gap") * row, self._size
            )
            for part, (total, mask) in enumerate(zip(totals, masks, strict=True)):
                masked_store(total.get(), function.advance(start, part * lanes, self._size), mask)
        function.line("ret void")
        return function.text


class _Task(Task):
    def __init__(self, form: Form) -> None:
        super().__init__(NUMBERS)
        self._width = form.width
        self._size = form.vector.bits // 8

    def text(self) -> str:
        """The definition."""
        function, numbers = self._function, self._numbers
        item = function.emit(I64, f"sdiv {self._index}, {numbers['parts'].name}")
        begin = (self._index - item * numbers["parts"]) * numbers["part"]
        end = (begin + numbers["part"]).intrinsic("smin", numbers["columns"])
        flat, wide, result = (
            function.advance(
                self._slot(FIRST_SLOT + place, PTR), numbers.at(item * 3 + (len(NUMBERS) + place)), self._size
            )
            for place in range(3)
        )
        with function.loop(begin, end, self._width) as column:
            wide_part, result_part = (function.advance(start, column, self._size) for start in (wide, result))
            columns = (end - column).intrinsic("smin", self._width)
            function.line(
                f"call void @tile({flat}, {numbers['flat_row']}, {numbers['flat_step']}, {wide_part}, "
                f"{numbers['wide_gap']}, {result_part}, {numbers['result_gap']}, {numbers['inner']}, {columns})"
            )
        function.line("ret void")
        return function.text


class _Entry(TaskEntry):
    def __init__(self, form: Form) -> None:
        super().__init__(NUMBERS, 3)
        self._size = form.vector.bits // 8

    def _fill_own(self) -> None:
        flat = self._numbers["flat"]
        for slot, place in enumerate((flat, 1 - flat, self._function.constant(I64, 2)), FIRST_SLOT):
            self._fill(slot, self._address(place * 2, self._size))

    def _count(self) -> Value:
        return self._numbers["stack"] * self._numbers["parts"]
