"""Products of a few rows with many, both contiguous along the inner dimension, in LLVM IR: sums of whole vectors.

The *wide* matrix has many rows and is read once, where it is; nothing is packed. The *thin* one has a few rows, which
stay in the first cache. Both are read along their rows: the product of a batch with the weights of a linear layer is of
this kind, as is that of a matrix with a vector. Tasks are blocks of rows of the wide matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from raxis_cpu.library.elements_ir import Elements
from raxis_cpu.library.tasks_ir import FIRST_SLOT, Task, TaskEntry
from raxis_cpu.library.tiles_ir import lanes_below
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, multiply_add
from raxis_cpu.llvm.lanes import shuffled

NUMBERS = (
    "table", "thin", "thin_rows", "wide_rows", "inner", "thin_gap", "wide_gap", "thin_step", "wide_step", "stack",
    "part", "parts", "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`thin` is the argument (0 or 1) that is the thin matrix, gaps are elements between the rows of a matrix, steps those
between results of neighbouring rows, `part` is the rows of a task, `parts` the tasks of one product, `large` says
whether threads take part. Then come, for every product of the stack, where its thin, wide and result matrix begin.
"""


class _Shape(NamedTuple):
    """Rows of both matrices that are multiplied at once, with a vector of sums for every pair."""

    wide: int
    thin: int

    @property
    def name(self) -> str:
        """Of the function."""
        return f"tile_{self.wide}_{self.thin}"


SHAPES = (_Shape(4, 4), _Shape(1, 4), _Shape(4, 2), _Shape(1, 2), _Shape(8, 1), _Shape(1, 1))
"""Most rows of the thin matrix first, then most of the wide one."""


def thin_ir(elements: Elements) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``."""
    tiles = [_Tile(elements, shape).text() for shape in SHAPES]
    declarations = [*elements.declarations(), "declare i64 @llvm.smin.i64(i64, i64)"]
    return "\n".join([*tiles, _Task(elements.size).text(), _Entry(elements.size).text(), *declarations])


class _Tile:
    """``void tile_W_T(wide, thin, result)``, then the distances of rows and of results, and the inner dimension."""

    def __init__(self, elements: Elements, shape: _Shape) -> None:
        places = "ptr %wide, ptr %thin, ptr noalias %result"
        sizes = "i64 %wide_gap, i64 %thin_gap, i64 %wide_step, i64 %thin_step, i64 %inner"
        self._function = Function(f"internal void @{shape.name}({places}, {sizes}) noinline")
        self._elements = elements
        self._size = elements.size
        self._shape = shape

    def text(self) -> str:
        """The definition."""
        function, elements = self._function, self._elements
        wide, thin = self._rows("wide", self._shape.wide), self._rows("thin", self._shape.thin)
        sums = [function.variable(elements.vector, 0.0) for _ in wide for _ in thin]

        def add(place: Value, mask: Value | None) -> None:
            parts, others = ([self._load(row, place, mask) for row in rows] for rows in (wide, thin))
            pairs = ((part, other) for part in parts for other in others)
            for total, pair in zip(sums, pairs, strict=True):
                for part, other in zip(*pair, strict=True):
                    total.set(multiply_add(part, other, total.get()))

        inner = function.argument(I64, "inner")
        whole = inner & -elements.width
        with function.loop(0, whole, elements.width) as place:
            add(place, None)
        with function.when(inner.compare("gt", whole)):
            add(whole, lanes_below(inner - whole, elements.width))
        totals = lane_sums([total.get() for total in sums])
        for number, total in enumerate(totals):
            elements.store_one(total, self._result(*divmod(number, self._shape.thin)))
        function.line("ret void")
        return function.text

    def _rows(self, matrix: str, count: int) -> list[Value]:
        start, gap = self._function.argument(PTR, matrix), self._function.argument(I64, f"{matrix}_gap")
        return [self._function.advance(start, gap * row, self._size) for row in range(count)]

    def _load(self, row: Value, place: Value, mask: Value | None) -> list[Value]:
        return self._elements.load(self._function.advance(row, place, self._size), mask)

    def _result(self, wide: int, thin: int) -> Value:
        wide_step, thin_step = (self._function.argument(I64, f"{name}_step") for name in ("wide", "thin"))
        place = wide_step * wide + thin_step * thin
        return self._function.advance(self._function.argument(PTR, "result"), place, self._size)


class _Sums(NamedTuple):
    """A vector whose groups of lanes, equally wide, add up to one of several totals each."""

    value: Value
    totals: tuple[int, ...]


def lane_sums(vectors: Sequence[Value]) -> list[Value]:
    """The sum of the lanes of each of some vectors: two at a time are added up to halves of one."""
    lanes = vectors[0].type.lanes
    found = [_Sums(vector, (number,)) for number, vector in enumerate(vectors)]
    width = lanes
    while width > 1:
        pairs = [(found[place], found[min(place + 1, len(found) - 1)]) for place in range(0, len(found), 2)]
        found = [_halved(*pair, width) for pair in pairs]
        width //= 2
    places = {total: (sums.value, lane) for sums in found for lane, total in enumerate(sums.totals)}
    return [value.part(lane, 1) for value, lane in (places[number] for number in range(len(vectors)))]


def _halved(one: _Sums, other: _Sums, width: int) -> _Sums:
    """Groups of half the width: those of two vectors in turn."""
    half, lanes = width // 2, one.value.type.lanes
    starts = [side + group for group in range(0, lanes, width) for side in (0, lanes)]
    low, high = (
        shuffled(one.value, other.value, [start + more + lane for start in starts for lane in range(half)])
        for more in (0, half)
    )
    totals = tuple(chain.from_iterable(zip(one.totals, other.totals, strict=True)))
    return _Sums(low + high, totals)


class _Task(Task):
    def __init__(self, size: int) -> None:
        super().__init__(NUMBERS)
        self._size = size

    def text(self) -> str:
        """The definition."""
        function, numbers = self._function, self._numbers
        parts = numbers["parts"]
        item = function.emit(I64, f"sdiv {self._index}, {parts.name}")
        begin = (self._index - item * parts) * numbers["part"]
        end = (begin + numbers["part"]).intrinsic("smin", numbers["wide_rows"])
        thin, wide, result = (
            function.advance(
                self._slot(FIRST_SLOT + place, PTR), numbers.at(item * 3 + (len(NUMBERS) + place)), self._size
            )
            for place in range(3)
        )
        first_thin = first_wide = function.constant(I64, 0)
        for shape in SHAPES:
            if shape.wide > 1:
                last_thin = self._last(first_thin, numbers["thin_rows"], shape.thin)
                first_wide = begin
            last_wide = self._last(first_wide, end, shape.wide)
            with (
                function.loop(first_thin, last_thin, shape.thin) as row,
                function.loop(first_wide, last_wide, shape.wide) as column,
            ):
                self._multiply(shape, (thin, wide, result), row, column)
            first_wide = last_wide
            if shape.wide == 1:
                first_thin = last_thin
        function.line("ret void")
        return function.text

    def _last(self, first: Value, end: Value, step: int) -> Value:
        """Where whole steps from `first` on end."""
        return first + ((end - first) & -step)

    def _multiply(self, shape: _Shape, places: tuple[Value, Value, Value], row: Value, column: Value) -> None:
        function, numbers = self._function, self._numbers
        thin_gap, wide_gap, thin_step, wide_step = (
            numbers[f"{name}_{what}"] for what in ("gap", "step") for name in ("thin", "wide")
        )
        thin, wide, result = places
        thin = function.advance(thin, row * thin_gap, self._size)
        wide = function.advance(wide, column * wide_gap, self._size)
        result = function.advance(result, row * thin_step + column * wide_step, self._size)
        sizes = f"{wide_gap}, {thin_gap}, {wide_step}, {thin_step}, {numbers['inner']}"
        function.line(f"call void @{shape.name}({wide}, {thin}, {result}, {sizes})")


class _Entry(TaskEntry):
    def __init__(self, size: int) -> None:
        super().__init__(NUMBERS, 3)
        self._size = size

    def _fill_own(self) -> None:
        thin = self._numbers["thin"]
        for slot, place in enumerate((thin, 1 - thin, self._function.constant(I64, 2)), FIRST_SLOT):
            self._fill(slot, self._address(place * 2, self._size))

    def _count(self) -> Value:
        return self._numbers["stack"] * self._numbers["parts"]
