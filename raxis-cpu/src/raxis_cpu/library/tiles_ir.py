"""Products and transposes of matrices that lie in a core's own caches, in LLVM IR: no packing, no call of BLAS.

A tile of the result stays in registers while the inner dimension is passed over: vectors of a row of `b` are multiplied
by elements of `a` in all lanes (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).
"""

from __future__ import annotations

from raxis.dtypes import DType
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I1, I64, PTR, Function, Type, Value, Variable, fma
from raxis_cpu.llvm.registers import load, real
from raxis_cpu.llvm.turning import turned

_ROWS, _VECTORS = 8, 2
"""A tile's size in registers: 16 sums keep both units for fused multiplication and addition busy."""


def product_ir(name: str, vector: Type, *, transposed: bool) -> str:
    """``void name(a, lda, b, ldb, c, ldc, rows, columns, inner, add)``: c = a @ b, or c += a @ b if `add`.

    All matrices are row-major, `ld*` are elements between rows; `a` is [rows, inner], if `transposed` [inner, rows].
    """
    return _Product(name, vector, transposed).text()


class _Product:
    def __init__(self, name: str, vector: Type, transposed: bool) -> None:
        sizes = "i64 %rows, i64 %columns, i64 %inner, i1 %add"
        self._function = Function(
            f"internal void @{name}(ptr %a, i64 %lda, ptr %b, i64 %ldb, ptr noalias %c, i64 %ldc, {sizes})"
        )
        self._vector = vector
        self._size = vector.bits // 8
        self._transposed = transposed

    def text(self) -> str:
        """The definition."""
        function = self._function
        columns = self._integer("columns")
        panel = _VECTORS * self._vector.lanes
        whole = columns & -panel
        with function.loop(0, whole, panel) as first:
            self._panel(first, _VECTORS, None)
        with function.loop(whole, columns, self._vector.lanes) as first:
            self._panel(first, 1, lanes_below(columns - first, self._vector.lanes))
        function.line("ret void")
        return function.text

    def _integer(self, name: str) -> Value:
        return self._function.argument(I64, name)

    def _panel(self, first: Value, vectors: int, mask: Value | None) -> None:
        """All rows of the columns from `first` on."""
        rows = self._integer("rows")
        whole = rows & -_ROWS
        with self._function.loop(0, whole, _ROWS) as row:
            self._tile(row, _ROWS, first, vectors, mask)
        with self._function.loop(whole, rows) as row:
            self._tile(row, 1, first, vectors, mask)

    def _place(self, matrix: str, row: Value, column: Value | int) -> Value:
        start = row * self._integer(f"ld{matrix}") + column
        return self._function.advance(self._function.argument(PTR, matrix), start, self._size)

    def _tile(self, row: Value, rows: int, first: Value, vectors: int, mask: Value | None) -> None:
        function, lanes = self._function, self._vector.lanes
        targets = [
            self._place("c", row + down, first + right * lanes)
            for down in range(rows)
            for right in range(vectors)
        ]
        sums = [function.variable(self._vector, 0.0) for _ in targets]
        with function.when(function.argument(I1, "add")):
            for target, total in zip(targets, sums, strict=True):
                total.set(self._load(target, mask))
        with function.loop(0, self._integer("inner")) as step:
            self._step(step, row, rows, first, sums, mask)
        for target, total in zip(targets, sums, strict=True):
            self._store(total.get(), target, mask)

    def _step(
        self, step: Value, row: Value, rows: int, first: Value, sums: list[Variable], mask: Value | None
    ) -> None:
        """Add the products of one element of every row of `a` with a part of a row of `b`."""
        function, lanes = self._function, self._vector.lanes
        vectors = len(sums) // rows
        parts = [self._load(self._place("b", step, first + right * lanes), mask) for right in range(vectors)]
        for down in range(rows):
            source = (
                self._place("a", step, row + down) if self._transposed else self._place("a", row + down, step)
            )
            factor = function.load(Type(self._vector.element), source).splat(lanes)
            for right, part in enumerate(parts):
                total = sums[down * vectors + right]
                total.set(fma(factor, part, total.get()))

    def _load(self, address: Value, mask: Value | None) -> Value:
        if mask is None:
            return self._function.load(self._vector, address, self._size)
        return masked_load(self._vector, address, mask)

    def _store(self, value: Value, address: Value, mask: Value | None) -> None:
        if mask is None:
            self._function.store(value, address, self._size)
            return
        masked_store(value, address, mask)


def transpose_ir(name: str, vector: Type, stored: DType | None = None) -> str:
    """``void name(source, lds, target, ldt, rows, columns, padded)``: the transpose of [rows, columns].

    Columns of the target from `rows` up to `padded` become 0. `stored` is the dtype of the source, if it is in half
    precision and the target is float32.
    """
    return _Transpose(name, vector, stored).text()


class _Transpose:
    def __init__(self, name: str, vector: Type, stored: DType | None) -> None:
        matrices = "ptr %source, i64 %lds, ptr noalias %target, i64 %ldt"
        self._function = Function(f"internal void @{name}({matrices}, i64 %rows, i64 %columns, i64 %padded)")
        self._vector = vector
        self._stored = stored
        self._size = vector.bits // 8

    def text(self) -> str:
        """The definition."""
        function, lanes = self._function, self._vector.lanes
        rows, columns, padded = (function.argument(I64, name) for name in ("rows", "columns", "padded"))
        whole_rows, whole_columns = rows & -lanes, columns & -lanes
        with function.loop(0, whole_rows, lanes) as row, function.loop(0, whole_columns, lanes) as column:
            self._square(row, column)
        with function.loop(0, whole_rows) as row, function.loop(whole_columns, columns) as column:
            self._element(row, column)
        with function.loop(whole_rows, rows) as row, function.loop(0, columns) as column:
            self._element(row, column)
        zero = function.constant(Type(self._vector.element), 0.0)
        with function.loop(0, columns) as column, function.loop(rows, padded) as row:
            function.store(zero, self._target(column, row))
        function.line("ret void")
        return function.text

    def _target(self, row: Value, column: Value) -> Value:
        start = row * self._function.argument(I64, "ldt") + column
        return self._function.advance(self._function.argument(PTR, "target"), start, self._size)

    def _load(self, row: Value, column: Value, lanes: int) -> Value:
        function, size = self._function, self._stored.itemsize if self._stored else self._size
        start = row * function.argument(I64, "lds") + column
        place = function.advance(function.argument(PTR, "source"), start, size)
        if self._stored is not None:
            return real(load(self._stored, place, lanes))
        return function.load(Type(self._vector.element, lanes), place, size)

    def _element(self, row: Value, column: Value) -> None:
        self._function.store(self._load(row, column, 1), self._target(column, row))

    def _square(self, row: Value, column: Value) -> None:
        """As many rows as a vector has lanes."""
        lines = [self._load(row + down, column, self._vector.lanes) for down in range(self._vector.lanes)]
        for right, line in enumerate(turned(lines)):
            self._function.store(line, self._target(column + right, row), self._size)


def lanes_of(dtype: DType) -> int:
    """How many elements a register holds."""
    return host().vector_bytes // dtype.itemsize


def lanes_below(count: Value, lanes: int) -> Value:
    """Which lanes are among the first `count`."""
    function = count.function
    numbers = ", ".join(f"i32 {lane}" for lane in range(lanes))
    ladder = Value(function, Type("i32", lanes), f"<{numbers}>")
    bound = count.intrinsic("smin", lanes).convert("trunc", "i32")
    return ladder.compare("lt", bound.splat(lanes))


def masked_load(type: Type, address: Value, mask: Value) -> Value:
    """The lanes that are chosen; the others are 0, and their memory is not touched."""
    size = max(1, type.bits // 8)
    text = f"call {type} @llvm.masked.load.{type.suffix}.p0({address}, i32 {size}, {mask}, {type} zeroinitializer)"
    return address.function.emit(type, text)


def masked_store(value: Value, address: Value, mask: Value) -> None:
    """Write the lanes that are chosen; the memory of the others is not touched."""
    size = value.type.bits // 8
    name = f"@llvm.masked.store.{value.type.suffix}.p0"
    value.function.line(f"call void {name}({value}, {address}, i32 {size}, {mask})")
