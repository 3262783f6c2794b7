"""Products divided into blocks of rows or of columns, one a task, in LLVM IR: what all kernels with blocks share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from raxis_cpu.library.tasks_ir import FIRST_SLOT, Numbers, Task, TaskEntry
from raxis_cpu.llvm.ir import I64, PTR, Function, Value

_LEAST_BLOCK = 64
"""Rows or columns of a task are a multiple of this."""


class Part(NamedTuple):
    """A part of a product: where its matrices begin, then the first of its rows and of its columns, and their ends."""

    starts: Sequence[Value]
    rows: tuple[Value, Value]
    columns: tuple[Value, Value]


class BlockTask(Task):
    """Writes ``@task``: a block of rows or of columns of one product.

    Args:
        names: of the numbers, "rows", "columns", "stack" and "large" among them.
        arrays: how many there are, left and right matrix first.
        size: bytes of an element.
    """

    def __init__(self, names: Sequence[str], arrays: int, size: int) -> None:
        super().__init__(names)
        self._names = names
        self._arrays = arrays
        self._size = size

    def _part(self) -> Part:
        """What the task multiplies."""
        function, numbers = self._function, self._numbers
        parts, by_columns = _division(function, numbers)
        item = function.emit(I64, f"sdiv {self._index}, {parts.name}")
        number = self._index - item * parts
        whole = function.constant(I64, 0)
        columns = self._share(
            by_columns.select(number, whole), by_columns.select(parts, 1), numbers["columns"]
        )
        rows = self._share(by_columns.select(whole, number), by_columns.select(1, parts), numbers["rows"])
        starts = [
            function.advance(
                self._slot(FIRST_SLOT + place, PTR),
                numbers.at(item * self._arrays + (len(self._names) + place)),
                self._size,
            )
            for place in range(self._arrays)
        ]
        return Part(starts, rows, columns)

    def _share(self, number: Value, parts: Value, total: Value) -> tuple[Value, Value]:
        """Begin and end of one of several parts of a range."""
        size = self._function.emit(
            I64, f"sdiv {total + parts * _LEAST_BLOCK - 1}, {(parts * _LEAST_BLOCK).name}"
        )
        size = size * _LEAST_BLOCK
        begin = (number * size).intrinsic("smin", total)
        return begin, (begin + size).intrinsic("smin", total)


class BlockEntry(TaskEntry):
    """Writes ``@entry``; the arguments are those of `BlockTask`, and "left" among the names."""

    def __init__(self, names: Sequence[str], arrays: int, size: int) -> None:
        super().__init__(names, arrays)
        self._arrays = arrays
        self._size = size

    def _fill_own(self) -> None:
        left = self._numbers["left"]
        others = (self._function.constant(I64, place) for place in range(self._arrays - 1, 1, -1))
        for slot, place in enumerate((left, 1 - left, *others), FIRST_SLOT):
            self._fill(slot, self._address(place * 2, self._size))

    def _count(self) -> Value:
        parts, _ = _division(self._function, self._numbers)
        return self._numbers["stack"] * parts


def _division(function: Function, numbers: Numbers) -> tuple[Value, Value]:
    """Into how many tasks a product is divided, and whether by columns: by the longer side, if threads take part."""
    threads = numbers.threads()
    stack, rows, columns = (numbers[name] for name in ("stack", "rows", "columns"))
    by_columns = columns.compare("ge", rows)
    most = function.emit(I64, f"sdiv {by_columns.select(columns, rows) + (_LEAST_BLOCK - 1)}, {_LEAST_BLOCK}")
    wanted = function.emit(I64, f"sdiv {threads * 2 + stack - 1}, {stack.name}")
    parallel = threads.compare("gt", 1) & numbers["large"].compare("ne", 0)
    return parallel.select(wanted.intrinsic("smin", most), 1), by_columns
