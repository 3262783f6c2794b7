"""Scaled dot-product attention and its gradients in LLVM IR, one block of queries at a time.

A task has a workspace of its own: the transposed keys, and the scores of one block of queries. The scores of a row
become weights while they are in the cache (Dao et al., "FlashAttention", NeurIPS 2022, without blocks of keys).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from raxis_cpu.library.tasks_ir import FIRST_SLOT, Task, TaskEntry
from raxis_cpu.library.tiles_ir import lanes_below, masked_load, product_ir, transpose_ir
from raxis_cpu.llvm import philox, runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import DOUBLE, I1, I8, I64, PTR, Function, Type, Value, fma
from raxis_cpu.llvm.math.exponential import exp_of_negative

Mask = Literal["", "bool", "float"]

NUMBERS = (
    "table", "stack", "queries", "keys", "width", "value_width", "scale", "causal", "dropout", "kept", "block",
    "padded", "part", "parts", "nbytes", "large",
)  # fmt: skip
"""What `self` holds first, as int64.

`scale`, `dropout` and `kept` (what kept weights are multiplied with) are the bits of a float64; `padded` is the length
of a row of scores, `part` the queries of a task (a multiple of `block`), `parts` the tasks of one matrix of the stack,
`nbytes` the size of a workspace. Then come, for every array, the elements between its rows, and for every matrix of
the stack, where it begins in every array.
"""


class Kind(NamedTuple):
    """What is computed: the elements, the mask, whether gradients are, and whether weights are dropped."""

    vector: Type
    mask: Mask
    gradients: bool
    drops: bool

    @property
    def operands(self) -> tuple[str, ...]:
        """The arrays that are read, in the order of the arguments."""
        masks = ("mask",) if self.mask else ()
        return ("grad",) * self.gradients + ("query", "key", "value", *masks)

    @property
    def results_at(self) -> int:
        """The argument where results begin: behind seed and offset of the random numbers, if there are any."""
        return 2 * len(self.operands) + 2 * self.drops

    @property
    def arrays(self) -> tuple[str, ...]:
        """All arrays, in the order of the arguments."""
        return (*self.operands, *(("by_query", "by_key", "by_value") if self.gradients else ("result",)))


def attention_ir(kind: Kind) -> str:
    """The module: ``entry(array, offset, ...)`` for the arrays of `kind`."""
    return "\n".join([
        product_ir("multiply", kind.vector, transposed=False),
        product_ir("multiply_transposed", kind.vector, transposed=True),
        transpose_ir("transpose", kind.vector),
        *([_kept_ir(kind.vector)] if kind.drops else []),
        (_Gradients if kind.gradients else _Forward)(kind).text(),
        _Entry(kind).text(),
    ])  # fmt: skip


_SEED, _OFFSET, _ADDRESSES = range(FIRST_SLOT, FIRST_SLOT + 3)
"""Slots of the context: the place in the sequence of random numbers, then the arrays' addresses."""


class _Entry(TaskEntry):
    def __init__(self, kind: Kind) -> None:
        super().__init__(NUMBERS, _ADDRESSES - FIRST_SLOT + len(kind.arrays))
        self._kind = kind

    def _fill_own(self) -> None:
        operands = len(self._kind.operands)
        if self._kind.drops:
            for slot, place in ((_SEED, 0), (_OFFSET, 1)):
                self._fill(slot, self._number(2 * operands + place))
        for place, array in enumerate(self._kind.arrays):
            first = 2 * place if place < operands else self._kind.results_at + 2 * (place - operands)
            self._fill(_ADDRESSES + place, self._address(first, _itemsize(self._kind, array)))

    def _number(self, place: int) -> Value:
        """The 64 bits of an argument that is a number."""
        return self._function.call(I64, self._numbers.function(runtime.AS_BITS), self._argument(place))

    def _count(self) -> Value:
        return self._numbers["stack"] * self._numbers["parts"]


def _itemsize(kind: Kind, array: str) -> int:
    return 1 if array == "mask" and kind.mask == "bool" else kind.vector.bits // 8


class _Matrix(NamedTuple):
    """Where a matrix begins and how many elements lie between its rows."""

    start: Value
    distance: Value


class _AttentionTask(Task):
    """Some queries of one matrix of the stack."""

    _keys: _Matrix  # transposed
    _scores: _Matrix  # of one block, as all that follows
    _notes: _Matrix  # one number for every row

    def __init__(self, kind: Kind) -> None:
        super().__init__(NUMBERS, scales=host().has_masks)
        self._kind = kind
        self._vector = kind.vector
        self._element = Type(kind.vector.element)
        self._size = kind.vector.bits // 8
        parts = self._numbers["parts"]
        self._stack = self._function.emit(I64, f"sdiv {self._index}, {parts.name}")
        self._part = self._index - self._stack * parts
        self._scale = self._real("scale")

    def _real(self, name: str) -> Value:
        """One of the numbers that are bits of a float64."""
        number = self._numbers[name].convert("bitcast", "double")
        return number if self._element == DOUBLE else number.convert("fptrunc", "float")

    def _first_weight(self, query: Value) -> Value:
        """The place of a row of weights among all of them."""
        numbers = self._numbers
        return (self._stack * numbers["queries"] + query) * numbers["keys"]

    def _kept(self, place: Value) -> Value:
        """Which weights, as many as a vector has lanes, are kept."""
        function = self._function
        seed, offset = (self._slot(slot, I64) for slot in (_SEED, _OFFSET))
        return function.call(self._vector.of("i1"), "@kept", place, seed, offset, self._numbers["dropout"])

    def text(self) -> str:
        """The definition."""
        function, numbers = self._function, self._numbers
        with self._workspace(numbers["nbytes"]) as memory:
            begin = self._part * numbers["part"]
            end = (begin + numbers["part"]).intrinsic("smin", numbers["queries"])
            self._prepare(memory)
            with function.loop(begin, end, numbers["block"]) as first:
                rows = (end - first).intrinsic("smin", numbers["block"])
                self._block(first, rows, self._visible(first + rows))
        function.line("ret void")
        return function.text

    def _prepare(self, memory: Value) -> None:
        """What the blocks share."""
        raise NotImplementedError

    def _block(self, first: Value, rows: Value, keys: Value) -> None:
        """`rows` queries from `first` on, which see the first `keys` keys or fewer."""
        raise NotImplementedError

    def _visible(self, queries: Value) -> Value:
        """How many keys the first `queries` queries see together."""
        keys = self._numbers["keys"]
        causal = self._numbers["causal"].compare("ne", 0)
        return causal.select(queries.intrinsic("smin", keys), keys)

    def _matrix(self, name: str) -> _Matrix:
        """This task's matrix in an array."""
        function, arrays = self._function, self._kind.arrays
        place = arrays.index(name)
        start = self._slot(_ADDRESSES + place, PTR)
        offset = self._numbers.at(self._stack * len(arrays) + (len(NUMBERS) + len(arrays) + place))
        size = _itemsize(self._kind, name)
        return _Matrix(function.advance(start, offset, size), self._numbers.at(len(NUMBERS) + place))

    def _matrices(self, memory: Value, rows: Sequence[Value]) -> list[_Matrix]:
        """Matrices of so many rows of scores, one after the other."""
        padded, found = self._numbers["padded"], []
        for count in rows:
            found.append(_Matrix(memory, padded))
            memory = self._function.advance(memory, count * padded, self._size)
        return found

    def _row(self, matrix: _Matrix, row: Value, array: str = "") -> _Matrix:
        start = self._function.advance(matrix.start, row * matrix.distance, _itemsize(self._kind, array))
        return matrix._replace(start=start)

    def _transpose(self, source: _Matrix, target: _Matrix, columns: Value) -> None:
        keys, padded = self._numbers["keys"], self._numbers["padded"]
        self._function.line(
            f"call void @transpose({source.start}, {source.distance}, {target.start}, {target.distance}, {keys}, "
            f"{columns}, {padded})"
        )

    def _multiply(
        self, a: _Matrix, b: _Matrix, c: _Matrix, sizes: tuple[Value, Value, Value], *, transposed: bool = False,
        add: bool = False,
    ) -> None:  # fmt: skip
        """c = a @ b for (rows, columns, inner)."""
        operands = ", ".join(f"{matrix.start}, {matrix.distance}" for matrix in (a, b, c))
        name = "multiply_transposed" if transposed else "multiply"
        rows, columns, inner = sizes
        self._function.line(
            f"call void @{name}({operands}, {rows}, {columns}, {inner}, i1 {str(add).lower()})"
        )

    def _rounded(self, count: Value) -> Value:
        """`count` rounded up to whole vectors."""
        lanes = self._vector.lanes
        return (count + (lanes - 1)) & -lanes

    def _place(self, row: _Matrix, column: Value, array: str = "") -> Value:
        return self._function.advance(row.start, column, _itemsize(self._kind, array))

    def _load(self, row: _Matrix, column: Value) -> Value:
        return self._function.load(self._vector, self._place(row, column), self._size)

    def _store(self, value: Value, row: _Matrix, column: Value) -> None:
        self._function.store(value, self._place(row, column), self._size)

    def _scaled(self, source: _Matrix, target: _Matrix, row: Value, count: Value, factor: Value) -> None:
        """Write a row of `source`, times `factor`, to `target`."""
        function, lanes = self._function, self._vector.lanes
        source, target = self._row(source, row), self._row(target, row)
        whole = count & -lanes
        with function.loop(0, whole, lanes) as column:
            self._store(self._load(source, column) * factor.splat(lanes), target, column)
        with function.loop(whole, count) as column:
            value = function.load(self._element, self._place(source, column)) * factor
            function.store(value, self._place(target, column))

    def _scores_of(self, first: Value, rows: Value, scores: _Matrix, scaled: _Matrix, stop: Value) -> None:
        """Products of a block's queries with the first `stop` keys; `scaled` becomes the queries times the scale."""
        query, width = self._row(self._matrix("query"), first), self._numbers["width"]
        with self._function.loop(0, rows) as row:
            self._scaled(query, scaled, row, width, self._scale)
        self._multiply(scaled, self._keys, scores, (rows, stop, width))

    def _mask_rows(self, first: Value, rows: Value, stop: Value) -> None:
        """Mask a block's scores and note the greatest of every row.

        All rows before any is turned into weights: none waits for what becomes of the one before.
        """
        function = self._function
        with function.loop(0, rows) as row:
            query, scores = first + row, self._row(self._scores, row)
            mask = self._row(self._matrix("mask"), query, "mask") if self._kind.mask else None
            greatest = self._greatest(scores, mask, self._visible(query + 1), stop)
            function.store(greatest, self._place(self._notes, row))

    def _noted(self, row: Value) -> Value:
        return self._function.load(self._element, self._place(self._notes, row))

    def _greatest(self, scores: _Matrix, mask: _Matrix | None, seen: Value, stop: Value) -> Value:
        """Mask a row of scores, up to `stop`; its greatest number, or 0 if that is -inf.

        NaN is passed over: it makes the whole row NaN later on.
        """
        function, lanes = self._function, self._vector.lanes
        least = function.constant(self._vector, float("-inf"))
        greatest = function.variable(self._vector, least)
        whole = seen & -lanes
        with function.loop(0, whole, lanes) as column:
            score = self._load(scores, column)
            if mask is not None:
                score = self._masked(score, self._place(mask, column, "mask"), None)
                self._store(score, scores, column)
            greatest.set(score.compare("gt", greatest.get()).select(score, greatest.get()))
        with function.loop(whole, stop, lanes) as column:
            inside = lanes_below(seen - column, lanes)
            score = self._load(scores, column)
            if mask is not None:
                score = self._masked(score, self._place(mask, column, "mask"), inside)
            score = inside.select(score, least)
            self._store(score, scores, column)
            greatest.set(score.compare("gt", greatest.get()).select(score, greatest.get()))
        name = f"@llvm.vector.reduce.fmax.{self._vector.suffix}"
        found = function.emit(self._element, f"call nnan {self._element} {name}({greatest.get()})")
        return found.compare("eq", float("-inf")).select(0.0, found)

    def _masked(self, score: Value, place: Value, inside: Value | None) -> Value:
        """A vector of scores under the mask; lanes that are not `inside` are not read."""
        is_float = self._kind.mask == "float"
        type = self._vector if is_float else I8._replace(lanes=self._vector.lanes)
        mask = self._function.load(type, place) if inside is None else masked_load(type, place, inside)
        return score + mask if is_float else mask.compare("ne", 0).select(score, float("-inf"))

    def _sum(self, total: Value) -> Value:
        """The sum of all lanes."""
        name = f"@llvm.vector.reduce.fadd.{self._vector.suffix}"
        return self._function.emit(
            self._element, f"call reassoc {self._element} {name}({self._element} 0.0, {total})"
        )

    def _reciprocal(self, total: Value) -> Value:
        """1 / total; 1 for a query that sees nothing."""
        return 1.0 / total.compare("eq", 0.0).select(1.0, total)

    def _factor(self, total: Value) -> Value:
        """What kept powers are multiplied with."""
        factor = self._reciprocal(total)
        return factor * self._real("kept") if self._kind.drops else factor

    def _powers(self, scores: _Matrix, greatest: Value, column: Value) -> Value:
        """The weights of some keys, before they are divided by their sum."""
        return exp_of_negative(self._load(scores, column) - greatest.splat(self._vector.lanes))


class _Forward(_AttentionTask):
    def _prepare(self, memory: Value) -> None:
        width, block = self._numbers["width"], self._numbers["block"]
        self._keys, self._scores, rest = self._matrices(memory, [width, block, block])
        self._queries = rest._replace(distance=width)
        self._notes = self._row(self._queries, block)
        self._transpose(self._matrix("key"), self._keys, width)

    def _block(self, first: Value, rows: Value, keys: Value) -> None:
        function, numbers = self._function, self._numbers
        stop, values = self._rounded(keys), numbers["value_width"]
        result = self._row(self._matrix("result"), first)
        self._scores_of(first, rows, self._scores, self._queries, stop)
        self._mask_rows(first, rows, stop)
        with function.loop(0, rows) as row:
            total = self._weigh(first + row, row, stop)
            function.store(self._factor(total), self._place(self._notes, row))
        self._multiply(self._scores, self._matrix("value"), result, (rows, values, keys))
        with function.loop(0, rows) as row:
            self._scaled(result, result, row, values, self._noted(row))

    def _weigh(self, query: Value, row: Value, stop: Value) -> Value:
        """Turn a row of scores into powers; their sum, that of dropped ones included."""
        function, scores, greatest = self._function, self._row(self._scores, row), self._noted(row)
        total = function.variable(self._vector, 0.0)
        with function.loop(0, stop, self._vector.lanes) as column:
            power = self._powers(scores, greatest, column)
            total.set(total.get() + power)
            if self._kind.drops:
                power = self._kept(self._first_weight(query) + column).select(power, 0.0)
            self._store(power, scores, column)
        return self._sum(total.get())


class _Gradients(_AttentionTask):
    def _prepare(self, memory: Value) -> None:
        function, numbers = self._function, self._numbers
        width, values, block = (numbers[name] for name in ("width", "value_width", "block"))
        sizes = [width, values, block, block, block]
        self._keys, self._values, self._scores, self._slopes, self._notes = self._matrices(memory, sizes)
        self._transpose(self._matrix("key"), self._keys, width)
        self._transpose(self._matrix("value"), self._values, values)
        for name, count in (("by_key", width), ("by_value", values)):
            start, nbytes = self._matrix(name).start, numbers["keys"] * count * self._size
            function.line(f"call void @llvm.memset.p0.i64({start}, i8 0, {nbytes}, i1 false)")

    def _block(self, first: Value, rows: Value, keys: Value) -> None:
        function, numbers = self._function, self._numbers
        grad, by_query = (self._row(self._matrix(name), first) for name in ("grad", "by_query"))
        stop, width, values = self._rounded(keys), numbers["width"], numbers["value_width"]
        # Until the gradient is written, its memory holds the scaled queries.
        self._scores_of(first, rows, self._scores, by_query, stop)
        self._multiply(grad, self._values, self._slopes, (rows, stop, values))
        self._mask_rows(first, rows, stop)
        with function.loop(0, rows) as row:
            self._derive(first + row, row, stop)
        for slopes, factors, target, count in (
            (self._scores, grad, "by_value", values), (self._slopes, by_query, "by_key", width),
        ):  # fmt: skip
            self._multiply(
                slopes, factors, self._matrix(target), (keys, count, rows), transposed=True, add=True
            )
        self._multiply(self._slopes, self._matrix("key"), by_query, (rows, width, keys))
        with function.loop(0, rows) as row:
            self._scaled(by_query, by_query, row, width, self._scale)

    def _derive(self, query: Value, row: Value, stop: Value) -> None:
        """Turn a row of scores into weights, and a row of gradients by weights into those by scores.

        Until the sum is known, dropped powers are kept as negative ones.
        """
        function, lanes = self._function, self._vector.lanes
        scores, slopes, greatest = (
            self._row(self._scores, row),
            self._row(self._slopes, row),
            self._noted(row),
        )
        total, inner = (function.variable(self._vector, 0.0) for _ in range(2))
        with function.loop(0, stop, lanes) as column:
            power = self._powers(scores, greatest, column)
            total.set(total.get() + power)
            slope, stored = self._load(slopes, column), power
            if self._kind.drops:
                kept = self._kept(self._first_weight(query) + column)
                slope = kept.select(slope * self._real("kept").splat(lanes), 0.0)
                stored = kept.select(power, -power)
                self._store(slope, slopes, column)
            self._store(stored, scores, column)
            inner.set(fma(power, slope, inner.get()))
        sum = self._sum(total.get())
        factor = self._reciprocal(sum)
        mean = (self._sum(inner.get()) * factor).splat(lanes)
        with function.loop(0, stop, lanes) as column:
            power = self._load(scores, column)
            weight = power * factor.splat(lanes)
            if self._kind.drops:
                kept_weight = power.compare("lt", 0.0).select(0.0, power * self._factor(sum).splat(lanes))
                self._store(kept_weight, scores, column)
                weight = weight.intrinsic("fabs")
            else:
                self._store(weight, scores, column)
            self._store(weight * (self._load(slopes, column) - mean), slopes, column)


def _kept_ir(vector: Type) -> str:
    """``<lanes x i1> kept(place, seed, offset, dropout)``: which of some weights, from a place on, are kept.

    They are those whose uniform number of [0, 1), in float32, is at least `dropout` (the bits of a float64).
    """
    numbers = "i64 %place, i64 %seed, i64 %offset, i64 %dropout"
    function = Function(f"internal {vector.of('i1')} @kept({numbers}) noinline")
    place, seed, offset = (function.argument(I64, name) for name in ("place", "seed", "offset"))
    words = function.variable(vector.of("i32"))
    ladder = ", ".join(f"i64 {lane}" for lane in range(vector.lanes))
    places = place.splat(vector.lanes) + Value(function, vector.of("i64"), f"<{ladder}>")
    # A block of random bits has four words.
    aligned = (place & 3).compare("eq", 0) if vector.lanes >= 4 else function.constant(I1, 0)
    if vector.lanes >= 4:
        with function.when(aligned):
            keys = philox.round_keys(seed, vector.lanes // 4)
            words.set(philox.consecutive(place, keys, offset, 1, vector.lanes))
    with function.when(~aligned):
        words.set(philox.scattered(places, philox.round_keys(seed, vector.lanes), offset, 1))
    uniform = (words.get() >> 8).convert("uitofp", "float") * 2.0**-24
    bound = function.argument(I64, "dropout").convert("bitcast", "double").convert("fptrunc", "float")
    function.line(f"ret {uniform.compare('ge', bound.splat(vector.lanes))}")
    return function.text
