"""Products of a few rows with a matrix that lies row by row, in LLVM IR: it is read once, where it is.

All rows of the *flat* matrix are multiplied at once with some vectors of each row of the *wide* one, while as many sums
stay in registers; its elements may lie anywhere. Tasks are columns of the wide matrix.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from raxis_cpu.library.elements_ir import Elements
from raxis_cpu.library.tasks_ir import FIRST_SLOT, Task, TaskEntry
from raxis_cpu.library.tiles_ir import lanes_below
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, multiply_add

NUMBERS = (
    "table", "flat", "columns", "inner", "flat_row", "flat_step", "wide_gap", "result_gap", "stack", "part", "parts",
    "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`flat` is the argument (0 or 1) that is the flat matrix, whose elements are `flat_row` and `flat_step` apart; gaps are
elements between rows of the others, `part` is the columns of a task, `parts` the tasks of one product, `large` says
whether threads take part. Then come, for every product of the stack, where its flat, wide and result matrix begin.
"""

_MOST_REGISTERS = 8
_AHEAD = 6
"""So many rows of the wide matrix are fetched in advance: the machine does not foresee the next row by itself."""


class Form(NamedTuple):
    """The elements, how many rows the flat matrix has, and how many sums fit into registers."""

    elements: Elements
    rows: int
    sums: int

    @property
    def parts(self) -> int:
        """How many parts of a row of the wide matrix, each loaded at once, are used together."""
        registers = min(_MOST_REGISTERS, self.sums // self.rows)
        return max(1, registers // self.elements.registers)

    @property
    def width(self) -> int:
        """As many columns."""
        return self.parts * self.elements.width


def flat_ir(form: Form) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``."""
    return "\n".join(
        [_Tile(form).text(), _Task(form).text(), _Entry(form.elements.size).text(), _declarations(form)]
    )


def _declarations(form: Form) -> str:
    return "\n".join([
        *form.elements.declarations(),
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        "declare i64 @llvm.smin.i64(i64, i64)",
    ])  # fmt: skip


class _Tile:
    """``void tile(flat, flat_row, flat_step, wide, wide_gap, result, result_gap, inner, columns)``."""

    def __init__(self, form: Form) -> None:
        self._function = Function(
            "internal void @tile(ptr %flat, i64 %flat_row, i64 %flat_step, ptr %wide, i64 %wide_gap, "
            "ptr noalias %result, i64 %result_gap, i64 %inner, i64 %columns) noinline"
        )
        self._form = form
        self._size = form.elements.size

    def _number(self, name: str) -> Value:
        return self._function.argument(I64, name)

    def text(self) -> str:
        """The definition."""
        function, elements, rows = self._function, self._form.elements, range(self._form.rows)
        starts = [part * elements.width for part in range(self._form.parts)]
        masks = [lanes_below(self._number("columns") - start, elements.width) for start in starts]
        sums = [
            [[function.variable(elements.vector, 0.0) for _ in range(elements.registers)] for _ in starts]
            for _ in rows
        ]
        flat, wide = (function.variable(PTR, function.argument(PTR, name)) for name in ("flat", "wide"))
        with function.loop(0, self._number("inner")):
            here, there = flat.get(), wide.get()
            parts = [self._part(there, start, mask) for start, mask in zip(starts, masks, strict=True)]
            for row in rows:
                source = function.advance(here, self._number("flat_row") * row, self._size)
                factor = elements.load_one(source).splat(elements.lanes)
                for total, value in zip(chain(*sums[row]), chain(*parts), strict=True):
                    total.set(multiply_add(factor, value, total.get()))
            flat.set(function.advance(here, self._number("flat_step"), self._size))
            wide.set(function.advance(there, self._number("wide_gap"), self._size))
        for row in rows:
            result = function.advance(
                function.argument(PTR, "result"), self._number("result_gap") * row, self._size
            )
            for start, mask, totals in zip(starts, masks, sums[row], strict=True):
                place = function.advance(result, start, self._size)
                elements.store([total.get() for total in totals], place, mask)
        function.line("ret void")
        return function.text

    def _part(self, row: Value, start: int, mask: Value) -> list[Value]:
        """Some of a row of the wide matrix; those of a later row are fetched."""
        function = self._function
        place = function.advance(row, start, self._size)
        later = function.advance(place, self._number("wide_gap") * _AHEAD, self._size)
        function.line(f"call void @llvm.prefetch.p0({later}, i32 0, i32 3, i32 1)")
        return self._form.elements.load(place, mask)


class _Task(Task):
    def __init__(self, form: Form) -> None:
        super().__init__(NUMBERS)
        self._width = form.width
        self._size = form.elements.size

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
    def __init__(self, size: int) -> None:
        super().__init__(NUMBERS, 3)
        self._size = size

    def _fill_own(self) -> None:
        flat = self._numbers["flat"]
        for slot, place in enumerate((flat, 1 - flat, self._function.constant(I64, 2)), FIRST_SLOT):
            self._fill(slot, self._address(place * 2, self._size))

    def _count(self) -> Value:
        return self._numbers["stack"] * self._numbers["parts"]
