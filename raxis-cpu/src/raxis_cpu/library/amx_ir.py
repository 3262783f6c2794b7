"""Products of bfloat16 matrices by the tile registers of Intel's AMX, in LLVM IR.

Eight registers hold 16 rows of 64 bytes. An instruction adds the product of a tile of 16 rows with 32 numbers and one
of 16 pairs of rows with 16 columns to a tile of float32 sums. Four tiles of sums and two of either operand take all
registers: 32 rows and columns of the result. Operands are packed into tiles, filled up with zeros at their edges.

The unit rounds to nearest, but takes numbers below 2**-126 in magnitude as zeros, those of operands as well as sums. A
result is off by less than 2**-126 for every sum, and for every such operand by less than 2**-126 times the other one;
PyTorch's products by AMX are, too. (Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3.)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import NamedTuple

from raxis.dtypes import bfloat16
from raxis_cpu.library.packed_ir import SUM_BYTES, PackedTask, entry_ir, result_function
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, masked_store
from raxis_cpu.llvm.ir import I1, I64, PTR, Function, Type, Value
from raxis_cpu.llvm.turning import turned

SIDE = 32
"""Rows and columns of the result that are computed at once, and numbers in a row of a tile."""
_LINES = 16
"""Of a tile: rows of the left matrix, columns of the right one, pairs of numbers of the inner dimension."""
_LINE = 64
"""Bytes of a row of a tile."""
TILE = _LINES * _LINE
"""Bytes of a tile."""
_SUMS, _LEFT, _RIGHT = (0, 1, 2, 3), (4, 5), (6, 7)
"""The registers."""
_SHIFT = SIDE.bit_length() - 1
_NUMBER = bfloat16.itemsize
_PAIRS = Type("i32", _LINES)
_WORDS, _HALVES = Type("i16", SIDE), Type("bfloat", SIDE)
_FLOATS = Type("float", _LINES)


class Form(NamedTuple):
    """Which matrices lie column by column."""

    left_transposed: bool
    right_transposed: bool


def amx_ir(form: Form) -> str:
    """The module: ``entry(a, offset, b, offset, c, offset)``."""
    left = _Fill("left", is_left=True, runs_inwards=not form.left_transposed)
    right = _Fill("right", is_left=False, runs_inwards=form.right_transposed)
    return "\n".join([
        _CONFIGURATION, left.text(), right.text(), _square(), _result(), _Task(form).text(), entry_ir(), _declarations()
    ])  # fmt: skip


_PALETTE = bytes([1, *[0] * 15, *(_LINE, 0) * 8, *[0] * 16, *[_LINES] * 8, *[0] * 8])
"""All eight registers with 16 rows of 64 bytes."""
_CONFIGURATION = (
    f"@configuration = private constant [{len(_PALETTE)} x i8] "
    f"[{', '.join(f'i8 {byte}' for byte in _PALETTE)}], align 64"
)


def _declarations() -> str:
    return f"""declare {_WORDS} @llvm.masked.load.{_WORDS.suffix}.p0(ptr, i32, {_WORDS.of("i1")}, {_WORDS})
declare void @llvm.masked.store.{_WORDS.suffix}.p0({_WORDS}, ptr, i32, {_WORDS.of("i1")})
declare {_HALVES} @llvm.x86.avx512bf16.cvtne2ps2bf16.512({_FLOATS}, {_FLOATS})
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tilezero(i8)
declare void @llvm.x86.tileloadd64(i8, ptr, i64)
declare void @llvm.x86.tilestored64(i8, ptr, i64)
declare void @llvm.x86.tdpbf16ps(i8, i8, i8)"""


class _Fill:
    """``void fill_NAME(source, gap, target, lines, depth)``: two tiles of an operand, with zeros beyond both ends.

    A line is a row of the left matrix or a column of the right one. Rows of a tile of the left matrix are lines; those
    of the right one are pairs of the inner dimension, of every line.
    """

    def __init__(self, name: str, *, is_left: bool, runs_inwards: bool) -> None:
        self._function = Function(
            f"internal void @fill_{name}(ptr %source, i64 %gap, ptr %target, i64 %lines, i64 %depth) noinline"
        )
        self._is_left = is_left
        self._runs_inwards = runs_inwards

    def text(self) -> str:
        """The definition."""
        function = self._function
        lines, depth = (function.argument(I64, name) for name in ("lines", "depth"))
        full = lines.compare("ge", SIDE) & depth.compare("ge", SIDE)
        with function.when(full):
            self._fill(None)
        with function.when(~full):
            self._fill((depth, lines) if self._runs_inwards else (lines, depth))
        function.line("ret void")
        return function.text

    def _fill(self, ends: tuple[Value, Value] | None) -> None:
        """Write the tiles; `ends` are those of what follows each other in memory, and of how often that comes."""
        function = self._function
        turns = self._is_left != self._runs_inwards
        for number, rows in enumerate(self._lines(ends) if self._runs_inwards else self._pairs(ends)):
            for row, numbers in enumerate(turned(rows) if turns else rows):
                place = function.advance(function.argument(PTR, "target"), number * TILE + row * _LINE, 1)
                function.store(numbers, place, _LINE)

    def _lines(self, ends: tuple[Value, Value] | None) -> Iterator[list[Value]]:
        """For both tiles their lines, whose numbers follow each other in memory."""
        for tile in range(2):
            words = [self._load(tile * _LINES + line, ends) for line in range(_LINES)]
            yield [self._function.emit(_PAIRS, f"bitcast {line} to {_PAIRS}") for line in words]

    def _pairs(self, ends: tuple[Value, Value] | None) -> list[list[Value]]:
        """For both tiles the pairs of the inner dimension, each of all lines, which follow each other in memory."""
        tiles: list[list[Value]] = [[], []]
        for pair in range(_LINES):
            both = [self._load(2 * pair + place, ends) for place in range(2)]
            for number, rows in enumerate(tiles):
                low, high = (words.part(number * _LINES, _LINES).convert("zext", "i32") for words in both)
                rows.append(low | (high << 16))
        return tiles

    def _load(self, number: int, ends: tuple[Value, Value] | None) -> Value:
        """What follows each other in memory, up to its end."""
        function = self._function
        gap = function.argument(I64, "gap")
        place = function.advance(function.argument(PTR, "source"), gap * number, _NUMBER)
        if ends is None:
            if not self._runs_inwards:
                self._fetch(function.advance(place, _LINE, 1))
            return function.load(_WORDS, place)
        length, count = ends
        inside = count.compare("gt", number).select(length, 0)
        return masked_load(_WORDS, place, lanes_below(inside, SIDE))

    def _fetch(self, place: Value) -> None:
        """Into the second cache: the next lines come from far apart, which the machine does not foresee by itself."""
        self._function.line(f"call void @llvm.prefetch.p0({place}, i32 0, i32 2, i32 1)")


def _tile(function: Function, name: str, register: int, address: Value, gap: int = _LINE) -> None:
    function.line(f"call void @llvm.x86.{name}(i8 {register}, {address}, i64 {gap})")


def _square() -> str:
    """``void square(left, right, sums, depth, add)``: 32 rows and columns of sums, added to them if `add`.

    The operands are packed; `depth` are steps of 32.
    """
    function = Function(
        "internal void @square(ptr %left, ptr %right, ptr %sums, i64 %depth, i1 %add) noinline"
    )
    left, right = (function.variable(PTR, function.argument(PTR, name)) for name in ("left", "right"))
    gap = SIDE * SUM_BYTES
    places = [
        function.advance(function.argument(PTR, "sums"), row * _LINES * gap + column * _LINE, 1)
        for row, column in product(range(2), repeat=2)
    ]
    adds = function.argument(I1, "add")
    with function.when(adds):
        for register, place in zip(_SUMS, places, strict=True):
            _tile(function, "tileloadd64", register, place, gap)
    with function.when(~adds):
        for register in _SUMS:
            function.line(f"call void @llvm.x86.tilezero(i8 {register})")
    with function.loop(0, function.argument(I64, "depth")):
        here, there = left.get(), right.get()
        for number in range(2):
            _tile(function, "tileloadd64", _LEFT[number], function.advance(here, number * TILE, 1))
            _tile(function, "tileloadd64", _RIGHT[number], function.advance(there, number * TILE, 1))
        for register, (row, column) in zip(_SUMS, product(_LEFT, _RIGHT), strict=True):
            function.line(f"call void @llvm.x86.tdpbf16ps(i8 {register}, i8 {row}, i8 {column})")
        left.set(function.advance(here, 2 * TILE, 1))
        right.set(function.advance(there, 2 * TILE, 1))
    for register, place in zip(_SUMS, places, strict=True):
        _tile(function, "tilestored64", register, place, gap)
    function.line("ret void")
    return function.text


def _result() -> str:
    """See `result_function`.

    The instruction that rounds to bfloat16 takes subnormal numbers as zeros, but sums are none.
    """
    function = result_function()
    gap, rows, columns = (function.argument(I64, name) for name in ("gap", "rows", "columns"))
    mask = lanes_below(columns, SIDE)
    with function.loop(0, rows) as row:
        low, high = (
            function.load(
                _FLOATS,
                function.advance(function.argument(PTR, "sums"), row * SIDE + place, SUM_BYTES),
            )
            for place in (0, _LINES)
        )
        halves = function.call(_HALVES, "@llvm.x86.avx512bf16.cvtne2ps2bf16.512", high, low)
        words = function.emit(_WORDS, f"bitcast {halves} to {_WORDS}")
        masked_store(words, function.advance(function.argument(PTR, "target"), row * gap, _NUMBER), mask)
    function.line("ret void")
    return function.text


class _Task(PackedTask):
    """Writes ``@task``: both operands become tiles, two lines of them for every step of the inner dimension."""

    def __init__(self, form: Form) -> None:
        super().__init__(SIDE, (SIDE,))
        self._form = form

    @contextmanager
    def _ready(self) -> Iterator[None]:
        self._function.line("call void @llvm.x86.ldtilecfg(ptr @configuration)")
        yield
        self._function.line("call void @llvm.x86.tilerelease()")

    def _pack_left(self, start: Value, rows: tuple[Value, Value], inner: tuple[Value, Value]) -> None:
        function, gap, (first, depth) = self._function, self._numbers["left_gap"], inner
        with function.loop(*rows, SIDE) as row, function.loop(0, depth, SIDE) as step:
            source = self._place(start, gap, row, first + step, by_lines=not self._form.left_transposed)
            target = self._tiles_of(self._stripe(row - rows[0]), step)
            function.line(f"call void @fill_left({source}, {gap}, {target}, {rows[1] - row}, {depth - step})")

    def _pack_right(self, start: Value, inner: tuple[Value, Value], columns: tuple[Value, Value]) -> None:
        function, gap, (first, depth) = self._function, self._numbers["right_gap"], inner
        with function.loop(0, depth, SIDE) as step:
            source = self._place(start, gap, columns[0], first + step, by_lines=self._form.right_transposed)
            target = self._tiles_of(self._panel, step)
            function.line(f"call void @fill_right({source}, {gap}, {target}, {columns[1]}, {depth - step})")

    def _stripe(self, row: Value) -> Value:
        """Where 32 packed rows begin."""
        return self._function.advance(self._packed, (row >> _SHIFT) * self._numbers["packed_gap"], 1)

    def _tiles_of(self, start: Value, step: Value) -> Value:
        """Where the two tiles of a step are."""
        return self._function.advance(start, step * (2 * TILE // SIDE), 1)

    def _multiply_tile(self, height: int, row: Value, depth: Value, sums: Value, add: Value) -> None:
        left, steps = self._stripe(row), (depth + (SIDE - 1)) >> _SHIFT
        self._function.line(f"call void @square({left}, {self._panel}, {sums}, {steps}, {add})")
