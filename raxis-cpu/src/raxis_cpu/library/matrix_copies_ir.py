"""Copying a matrix between any two layouts in LLVM IR: row by row, or turned in registers where rows become columns."""

from __future__ import annotations

from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.llvm.turning import turned

COPY = "copy_matrix"
"""``void(source, its strides of rows and columns, target, its strides, rows, columns)``, strides in elements."""
_VECTOR = 32
"""Bytes that are read at once."""
_ALIGNMENT = 4
"""What the places of elements are multiples of: complex numbers are aligned as their parts."""
_TILE = 16
"""Rows and columns that are turned one after another: whole lines of the cache are written."""


def copy_function(size: int) -> str:
    """The definition for elements of `size` bytes."""
    return _Writer(size).text()


class _Writer:
    """Writes the function."""

    def __init__(self, size: int) -> None:
        places = "ptr %source, i64 %source_row, i64 %source_column, ptr %target, i64 %target_row, i64 %target_column"
        self._function = Function(f"internal void @{COPY}({places}, i64 %rows, i64 %columns) noinline")
        self._size, self._lanes = size, max(_VECTOR // size, 2)
        self._element = Type(f"i{8 * size}")
        self._source, self._target = (self._function.argument(PTR, name) for name in ("source", "target"))
        self._read_in_lines()

    def _read_in_lines(self) -> None:
        """Rows and columns change places where the source lies column by column."""
        row, column = self._argument("source_row"), self._argument("source_column")
        flips = row.compare("eq", 1) & column.compare("ne", 1)

        def chosen(one: str, other: str) -> tuple[Value, Value]:
            first, second = self._argument(one), self._argument(other)
            return flips.select(second, first), flips.select(first, second)

        self._source_row, self._source_column = chosen("source_row", "source_column")
        self._target_row, self._target_column = chosen("target_row", "target_column")
        self._rows, self._columns = chosen("rows", "columns")

    def _argument(self, name: str) -> Value:
        return self._function.argument(I64, name)

    def text(self) -> str:
        """The definition."""
        function = self._function
        in_lines = self._source_column.compare("eq", 1)
        alike = in_lines & self._target_column.compare("eq", 1)
        turns = in_lines & self._target_row.compare("eq", 1) & ~alike
        zero = function.constant(I64, 0)
        with function.when(alike):
            self._copy_lines()
        with function.when(turns):
            self._turn()
        with function.when(~(alike | turns)):
            self._copy_elements(zero, self._rows, zero, self._columns)
        function.line("ret void")
        return function.text

    def _read(self, row: Value, column: Value, lanes: int = 1) -> Value:
        offset = row * self._source_row + column * self._source_column
        place = self._function.advance(self._source, offset, self._size)
        return self._function.load(Type(self._element.element, lanes), place, _ALIGNMENT)

    def _write(self, value: Value, row: Value, column: Value) -> None:
        offset = row * self._target_row + column * self._target_column
        self._function.store(value, self._function.advance(self._target, offset, self._size), _ALIGNMENT)

    def _copy_elements(self, row: Value, last_row: Value, column: Value, last_column: Value) -> None:
        with self._function.loop(row, last_row) as i, self._function.loop(column, last_column) as j:
            self._write(self._read(i, j), i, j)

    def _copy_lines(self) -> None:
        function, whole = self._function, self._columns & -self._lanes
        with function.loop(0, self._rows) as i:
            with function.loop(0, whole, self._lanes) as j:
                self._write(self._read(i, j, self._lanes), i, j)
            with function.loop(whole, self._columns) as j:
                self._write(self._read(i, j), i, j)

    def _turn(self) -> None:
        function, lanes = self._function, self._lanes
        zero = function.constant(I64, 0)
        whole_rows, whole_columns = self._rows & -lanes, self._columns & -lanes
        with function.loop(0, whole_rows, _TILE) as row, function.loop(0, whole_columns, _TILE) as column:
            last_row = (row + _TILE).intrinsic("smin", whole_rows)
            last_column = (column + _TILE).intrinsic("smin", whole_columns)
            with function.loop(row, last_row, lanes) as i, function.loop(column, last_column, lanes) as j:
                self._turn_square(i, j)
        self._copy_elements(zero, whole_rows, whole_columns, self._columns)
        self._copy_elements(whole_rows, self._rows, zero, self._columns)

    def _turn_square(self, row: Value, column: Value) -> None:
        lines = [self._read(row + k, column, self._lanes) for k in range(self._lanes)]
        for k, line in enumerate(turned(lines)):
            self._write(line, row, column + k)
