"""Sorting and selecting rows, in LLVM IR.

An element becomes a *packed* number: its key, unsigned and in the order wanted, above its position. Packed numbers are
all different, so every way to sort them is stable. They are half as wide again as the keys: 64 bits for elements of up
to 32 bits, else 128.

Which way depends on the row: insertion for a few elements; counting where keys take few values; else distribution by
leading bits, and insertion where these spread the elements well; where they do not, merging of short rows, and in long
ones the same again for the elements of every leading digit.
"""

from __future__ import annotations

from functools import cache

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.ir import I32, I64, PTR, Function, Type, Value, Variable, is_null

NUMBERS = (
    "length", "flip", "rule", "first", "last", "inner",
    "x_outer", "x_along", "x_inner", "values_outer", "values_along", "values_inner",
    "indices_outer", "indices_along", "indices_inner", "scratch_indices",
)  # fmt: skip
"""`flip` is -1 for descending order, else 0; `rule` says which ranks are wanted; indices may go to scratch memory."""

RANKS, MEDIAN, NANMEDIAN = range(3)
"""Rules: ranks from `first` up to `last`; that of the median (the first NaN if there is one); that of all but NaNs."""

_DIGIT = 11
"""Bits by which elements are distributed at once."""
_INSERTED = 32
"""Elements that insertion sorts fastest."""
_FULLEST = 32
"""Elements of one bucket that are still sorted by insertion."""
_MERGED = 512
"""Elements from which distribution beats merging, however they crowd."""
_LEVELS = 8
"""Digits of the longest key, at ten bits or more, and one for what is merged."""
_KEPT = 16
"""Greatest number of selected elements that are kept in order while the row is read."""


class _Packing:
    """How elements of a dtype are packed."""

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype
        self.bits = 64 if dtype.itemsize == 8 else 32
        self.key = Type(f"i{self.bits}")
        self.packed = Type(f"i{2 * self.bits}")
        self.nbytes = self.bits // 4

    def key_of(self, address: Value) -> Value:
        """The key of the element at an address, ascending; NaN has the greatest."""
        function = address.function
        if not self.dtype.is_floating_point:
            return self._integer_key(function.load(Type(f"i{8 * self.dtype.itemsize}"), address))
        number = self._number(address)
        zero = number + 0.0  # makes -0 equal to 0
        bits = zero.bits()
        ordered = bits ^ (bits.arithmetic_shift(self.bits - 1) | (1 << (self.bits - 1)))
        return zero.compare("ne", zero).select(-1, ordered)

    def _number(self, address: Value) -> Value:
        function = address.function
        if self.dtype is dtypes.float16:
            return function.load(Type("half"), address).convert("fpext", "float")
        if self.dtype is dtypes.bfloat16:
            wide = function.load(Type("i16"), address).convert("zext", "i32") << 16
            return wide.convert("bitcast", "float")
        return function.load(Type("float" if self.bits == 32 else "double"), address)

    def _integer_key(self, number: Value) -> Value:
        if self.dtype.category is Category.BOOL or not self.dtype.is_signed:
            return number.convert("zext", self.key.element)
        return number.convert("sext", self.key.element) ^ (1 << (self.bits - 1))

    def pack(self, key: Value, position: Value) -> Value:
        """Key and position in one."""
        wide = position if self.bits == 32 else position.convert("zext", "i128")
        return (key.convert("zext", self.packed.element) << self.bits) | wide

    def digit(self, packed: Value, least: Value, shift: Value) -> Value:
        """The key's distance from the least one, shifted, as i64."""
        key = (packed >> self.bits).convert("trunc", self.key.element)
        distance = key - least
        return (distance if self.bits == 64 else distance.convert("zext", "i64")) >> shift

    def position(self, packed: Value) -> Value:
        """The position in a packed number, as i64."""
        return packed & 0xFFFFFFFF if self.bits == 32 else packed.convert("trunc", "i64")


@cache
def sorting(dtype: DType) -> Module:
    """The phase ``rows`` for elements of a dtype; a unit is a row."""
    return Module("sort", sorting_ir(dtype), NUMBERS)


def sorting_ir(dtype: DType) -> str:
    """The text of the phase and what it calls."""
    packing = _Packing(dtype)
    functions = (
        _insert(packing), _count(packing), _distribute(packing), _merge(packing), _merge_sort(packing),
        _order(packing), _order_digits(packing), _narrow(packing), _Rows(packing).text(),
    )  # fmt: skip
    return "\n".join(functions)


def _element(function: Function, packing: _Packing, base: Value, index: Value) -> Value:
    return function.advance(base, index, packing.nbytes)


def _insert_into(function: Function, packing: _Packing, base: Value, stop: Value, number: Value) -> None:
    """Move the elements before `stop` that are greater than `number` up by one, and put it in."""
    place = function.variable(I64, stop)
    with function.repeat_while() as repetition:
        repetition.test(place.get().compare("gt", 0))
        before = function.load(packing.packed, _element(function, packing, base, place.get() - 1), 8)
        repetition.test(before.compare("ugt", number))
        function.store(before, _element(function, packing, base, place.get()), 8)
        place.set(place.get() - 1)
    function.store(number, _element(function, packing, base, place.get()), 8)


def _insert(packing: _Packing) -> str:
    """Insertion sort."""
    function = Function("internal void @insert(ptr %a, i64 %count)")
    base = function.argument(PTR, "a")
    with function.loop(1, function.argument(I64, "count")) as index:
        number = function.load(packing.packed, _element(function, packing, base, index), 8)
        _insert_into(function, packing, base, index, number)
    function.line("ret void")
    return function.text


def _count(packing: _Packing) -> str:
    """Where the elements of each digit start, in `counts`; returns the greatest number of one digit."""
    key = packing.key
    function = Function(
        f"internal i32 @count(ptr %a, i64 %count, {key} %least, i64 %shift, i64 %size, ptr %counts)"
    )
    base, counts = function.argument(PTR, "a"), function.argument(PTR, "counts")
    least, shift, size = (
        function.argument(type, name) for type, name in ((key, "least"), (I64, "shift"), (I64, "size"))
    )
    function.line(f"call void @llvm.memset.p0.i64({counts}, i8 0, {size * 4}, i1 false)")
    with function.loop(0, function.argument(I64, "count")) as index:
        packed = function.load(packing.packed, _element(function, packing, base, index), 8)
        place = function.advance(counts, packing.digit(packed, least, shift) & (size - 1), 4)
        function.store(function.load(I32, place) + 1, place)
    total, most = function.variable(I32, 0), function.variable(I32, 0)
    with function.loop(0, size) as digit:
        place = function.advance(counts, digit, 4)
        own = function.load(I32, place)
        function.store(total.get(), place)
        total.set(total.get() + own)
        most.set(most.get().intrinsic("umax", own))
    function.line(f"ret {most.get()}")
    return function.text


def _distribute(packing: _Packing) -> str:
    """Move elements to where `counts` says those of their digit start."""
    key = packing.key
    function = Function(
        f"internal void @distribute(ptr %a, ptr %b, i64 %count, {key} %least, i64 %shift, i64 %size, ptr %counts)"
    )
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    least, shift, size = (
        function.argument(type, name) for type, name in ((key, "least"), (I64, "shift"), (I64, "size"))
    )
    with function.loop(0, function.argument(I64, "count")) as index:
        packed = function.load(packing.packed, _element(function, packing, base, index), 8)
        place = function.advance(counts, packing.digit(packed, least, shift) & (size - 1), 4)
        start = function.load(I32, place)
        function.store(start + 1, place)
        function.store(packed, _element(function, packing, target, start.convert("zext", "i64")), 8)
    function.line("ret void")
    return function.text


def _merge(packing: _Packing) -> str:
    """Merge a[low, middle) and a[middle, high) into b[low, high)."""
    function = Function("internal void @merge(ptr %a, ptr %b, i64 %low, i64 %middle, i64 %high)")
    base, target = function.argument(PTR, "a"), function.argument(PTR, "b")
    low, middle, high = (function.argument(I64, name) for name in ("low", "middle", "high"))
    left, right = function.variable(I64, low), function.variable(I64, middle)
    with function.repeat_while() as repetition:
        repetition.test(left.get().compare("lt", middle) & right.get().compare("lt", high))
        ours, theirs = (
            function.load(packing.packed, _element(function, packing, base, side.get()), 8)
            for side in (left, right)
        )
        place = _element(function, packing, target, left.get() + right.get() - middle)
        takes = theirs.compare("ult", ours)
        function.store(takes.select(theirs, ours), place, 8)
        step = takes.convert("zext", "i64")
        right.set(right.get() + step)
        left.set(left.get() + 1 - step)
    for side, stop in ((left, middle), (right, high)):
        place = _element(function, packing, target, left.get() + right.get() - middle)
        source = _element(function, packing, base, side.get())
        nbytes = (stop - side.get()) * packing.nbytes
        function.line(f"call void @llvm.memcpy.p0.p0.i64({place}, {source}, {nbytes}, i1 false)")
        if side is left:
            # What is left of the other run goes behind it.
            left.set(middle)
    function.line("ret void")
    return function.text


def _merge_sort(packing: _Packing) -> str:
    """Runs sorted by insertion, merged to and fro; returns where the sorted elements are."""
    function = Function("internal ptr @merge_sort(ptr %a, ptr %b, i64 %count)")
    count = function.argument(I64, "count")
    source, target = (function.variable(PTR, function.argument(PTR, name)) for name in ("a", "b"))
    with function.loop(0, count, _INSERTED) as start:
        size = (count - start).intrinsic("smin", _INSERTED)
        function.line(f"call void @insert({_element(function, packing, source.get(), start)}, {size})")
    width = function.variable(I64, _INSERTED)
    with function.repeat_while() as repetition:
        repetition.test(width.get().compare("lt", count))
        with function.loop(0, count, width.get() * 2) as start:
            middle = (start + width.get()).intrinsic("smin", count)
            high = (middle + width.get()).intrinsic("smin", count)
            function.line(f"call void @merge({source.get()}, {target.get()}, {start}, {middle}, {high})")
        _swap(source, target)
        width.set(width.get() * 2)
    function.line(f"ret {source.get()}")
    return function.text


def _swap(one: Variable, other: Variable) -> None:
    first, second = one.get(), other.get()
    one.set(second)
    other.set(first)


_SORT_ARGUMENTS = "ptr %a, ptr %b, ptr %counts, i64 %count, {key} %least, i64 %bits"


def _bit_length(number: Value) -> Value:
    """How many bits an i64 has."""
    zeros = number.function.emit(I64, f"call i64 @llvm.ctlz.i64({number}, i1 false)")
    return 64 - zeros


def _order(packing: _Packing) -> str:
    """Sort by what suits number and keys, whose distances from the least have `bits` bits; returns where they are."""
    function = Function(f"internal ptr @order({_SORT_ARGUMENTS.format(key=packing.key)})")
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    count, bits, least = (
        function.argument(type, name)
        for type, name in ((I64, "count"), (I64, "bits"), (packing.key, "least"))
    )
    with function.when(count.compare("le", _INSERTED)):
        function.line(f"call void @insert({base}, {count})")
        _leave(function, base)
    width = bits.intrinsic("smin", _bit_length(count)).intrinsic("smin", _DIGIT)
    shift, size = bits - width, function.constant(I64, 1) << width
    most = function.call(I32, "@count", base, count, least, shift, size, counts)
    exact, even = shift.compare("eq", 0), most.compare("ule", _FULLEST)
    with function.when(~exact & ~even & count.compare("le", _MERGED)):
        _leave(function, function.call(PTR, "@merge_sort", base, target, count))
    function.line(f"call void @distribute({base}, {target}, {count}, {least}, {shift}, {size}, {counts})")
    with function.when(~exact & even):
        function.line(f"call void @insert({target}, {count})")
    with function.when(~exact & ~even):
        function.line(f"call void @order_digits({base}, {target}, {counts}, {size}, {least}, {shift})")
    function.line(f"ret {target}")
    return function.text


def _leave(function: Function, result: Value) -> None:
    function.line(f"ret {result}")
    function.label(function.fresh("unreachable"))


def _order_digits(packing: _Packing) -> str:
    """Sort the elements of every digit, which `counts` says where they end in b, by their `shift` further bits."""
    key = packing.key
    function = Function(
        f"internal void @order_digits(ptr %a, ptr %b, ptr %counts, i64 %size, {key} %least, i64 %shift)"
    )
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    size, shift, least = (
        function.argument(type, name) for type, name in ((I64, "size"), (I64, "shift"), (key, "least"))
    )
    deeper = function.advance(counts, 1 << _DIGIT, 4)
    begin = function.variable(I64, 0)
    with function.loop(0, size) as digit:
        start = begin.get()
        end = function.load(I32, function.advance(counts, digit, 4)).convert("zext", "i64")
        begin.set(end)
        count = end - start
        with function.when(count.compare("gt", 1)):
            ours, theirs = (_element(function, packing, memory, start) for memory in (target, base))
            offset = digit << shift
            moved = least + (offset if packing.bits == 64 else offset.convert("trunc", "i32"))
            found = function.call(PTR, "@order", ours, theirs, deeper, count, moved, shift)
            with function.when(function.emit(Type("i1"), f"icmp ne {found}, {ours.name}")):
                nbytes = count * packing.nbytes
                function.line(f"call void @llvm.memcpy.p0.p0.i64({ours}, {found}, {nbytes}, i1 false)")
    function.line("ret void")
    return function.text


def _narrow(packing: _Packing) -> str:
    """Copy to b the elements whose leading digit is that of a rank in [first, last).

    Returns { how many there are, how many come before them, bits of their distance from the new least key, that key }.
    """
    key = packing.key
    result = f"{{ i64, i64, i64, {key} }}"
    function = Function(
        f"internal {result} @narrow({_SORT_ARGUMENTS.format(key=key)}, i64 %first, i64 %last)"
    )
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    count, bits, first, last = (function.argument(I64, name) for name in ("count", "bits", "first", "last"))
    least = function.argument(key, "least")
    # Some eight elements a digit: fewer would cost more to count than they save to sort.
    digits = (_bit_length(count) - 3).intrinsic("smax", 1).intrinsic("smin", _DIGIT)
    width = bits.intrinsic("smin", digits)
    shift, size = bits - width, function.constant(I64, 1) << width
    function.call(I32, "@count", base, count, least, shift, size, counts)
    low = function.variable(I64, 0)
    _advance_to_rank(function, counts, size, low, first)
    start = function.load(I32, function.advance(counts, low.get(), 4)).convert("zext", "i64")
    high = function.variable(I64, low.get())
    _advance_to_rank(function, counts, size, high, last - 1)
    kept = function.variable(I64, 0)
    span = high.get() - low.get()
    with function.loop(0, count) as index:
        packed = function.load(packing.packed, _element(function, packing, base, index), 8)
        function.store(packed, _element(function, packing, target, kept.get()), 8)
        inside = (packing.digit(packed, least, shift) - low.get()).compare("ule", span)
        kept.set(kept.get() + inside.convert("zext", "i64"))
    offset = low.get() << shift
    moved = least + (offset if packing.bits == 64 else offset.convert("trunc", "i32"))
    remaining = (shift + _bit_length(span)).intrinsic("smin", packing.bits)
    text = "undef"
    for place, value in enumerate((kept.get(), start, remaining, moved)):
        text = function.emit(Type(result), f"insertvalue {result} {text}, {value}, {place}").name
    function.line(f"ret {result} {text}")
    return function.text


def _advance_to_rank(function: Function, counts: Value, size: Value, digit: Variable, rank: Value) -> None:
    """Move on to the digit of the element of a rank."""
    with function.repeat_while() as repetition:
        following = digit.get() + 1
        repetition.test(following.compare("lt", size))
        start = function.load(I32, function.advance(counts, following, 4)).convert("zext", "i64")
        repetition.test(start.compare("le", rank))
        digit.set(following)


class _Rows:
    """Writes the phase."""

    def __init__(self, packing: _Packing) -> None:
        self._packing = packing
        self._body = body = Body("rows", NUMBERS)
        self._least, self._most = (body.variable(packing.key) for _ in range(2))
        self._nans = body.variable(I64)
        self._first, self._last = body.variable(I64), body.variable(I64)
        self._sorted, self._before = body.variable(PTR), body.variable(I64)

    def text(self) -> str:
        """The definition."""
        body, numbers = self._body, self._body.numbers
        room = numbers["length"] * self._packing.nbytes
        nbytes = room * 2 + _LEVELS * (4 << _DIGIT) + 64
        memory = body.call(PTR, body.entry(runtime.MALLOC), nbytes)
        with body.when(is_null(memory)):
            body.fail(Status.NO_MEMORY)
        counts = memory
        one = body.advance(memory, _LEVELS * (4 << _DIGIT), 1)
        other = body.advance(one, room + 32, 1)
        with body.loop(body.begin, body.end) as row:
            outer, inner = body.divided(row, numbers["inner"])
            x = self._start(0, "x", outer, inner, self._packing.dtype.itemsize)
            few = numbers["last"].compare("le", _KEPT) & numbers["first"].compare("eq", 0)
            few = few & numbers["rule"].compare("eq", RANKS) & numbers["length"].compare("gt", _INSERTED)
            with body.when(few):
                self._keep_best(x, one)
            with body.when(~few):
                self._pack(x, one)
                self._choose_ranks()
                self._sort(one, other, counts)
            self._write(x, outer, inner)
        body.line(f"call void {body.entry(runtime.FREE)}({memory})")
        return body.text

    def _start(self, array: int, name: str, outer: Value, inner: Value, size: int) -> Value:
        numbers = self._body.numbers
        offset = outer * numbers[f"{name}_outer"] + inner * numbers[f"{name}_inner"]
        return self._body.advance(self._body.array(array), offset, size)

    def _key(self, address: Value) -> Value:
        """The key in the order wanted."""
        flip = self._body.numbers["flip"]
        return self._packing.key_of(address) ^ (
            flip if self._packing.bits == 64 else flip.convert("trunc", "i32")
        )

    def _keep_best(self, x: Value, kept: Value) -> None:
        """The least packed numbers of the row, in order, while it is read."""
        body, packing = self._body, self._packing
        wanted = body.numbers["last"]
        with body.loop(0, wanted) as index:
            place = _element(body, packing, kept, index)
            body.store(body.constant(packing.packed, -1), place, 8)
        worst = body.variable(packing.packed, body.constant(packing.packed, -1))
        last = wanted - 1
        next_x = body.walk(x, body.numbers["x_along"], packing.dtype.itemsize)
        with body.loop(0, body.numbers["length"]) as index:
            packed = packing.pack(self._key(next_x()), index)
            with body.when(packed.compare("ult", worst.get())):
                _insert_into(body, packing, kept, last, packed)
                worst.set(body.load(packing.packed, _element(body, packing, kept, last), 8))
        self._sorted.set(kept)
        self._before.set(0)
        self._first.set(0)
        self._last.set(wanted)

    def _pack(self, x: Value, packed: Value) -> None:
        """All packed numbers of the row; least and greatest key, and how many NaNs."""
        body, packing = self._body, self._packing
        self._least.set(-1)
        self._most.set(0)
        self._nans.set(0)
        next_x = body.walk(x, body.numbers["x_along"], packing.dtype.itemsize)
        with body.loop(0, body.numbers["length"]) as index:
            key = self._key(next_x())
            self._least.set(self._least.get().intrinsic("umin", key))
            self._most.set(self._most.get().intrinsic("umax", key))
            if packing.dtype.is_floating_point:
                self._nans.set(self._nans.get() + key.compare("eq", -1).convert("zext", "i64"))
            body.store(packing.pack(key, index), _element(body, packing, packed, index), 8)

    def _choose_ranks(self) -> None:
        body, numbers, length = self._body, self._body.numbers, self._body.numbers["length"]
        self._first.set(numbers["first"])
        self._last.set(numbers["last"])
        with body.when(numbers["rule"].compare("ne", RANKS)):
            rest = length - self._nans.get()
            of_rest = (rest - 1).intrinsic("smax", 0) >> 1
            with_nan = self._nans.get().compare("gt", 0).select(rest, (length - 1) >> 1)
            rank = numbers["rule"].compare("eq", MEDIAN).select(with_nan, of_rest)
            self._first.set(rank)
            self._last.set(rank + 1)

    def _sort(self, one: Value, other: Value, counts: Value) -> None:
        body, packing, length = self._body, self._packing, self._body.numbers["length"]
        distance = self._most.get() - self._least.get()
        bits = _bit_length(distance if packing.bits == 64 else distance.convert("zext", "i64"))
        self._before.set(0)
        wanted = self._last.get() - self._first.get()
        few = (wanted * 2).compare("lt", length) & length.compare("gt", _INSERTED)
        with body.when(few):
            result = f"{{ i64, i64, i64, {packing.key} }}"
            arguments = (
                one,
                other,
                counts,
                length,
                self._least.get(),
                bits,
                self._first.get(),
                self._last.get(),
            )
            text = ", ".join(map(str, arguments))
            found = body.emit(Type(result), f"call {result} @narrow({text})")
            kinds = (I64, I64, I64, packing.key)
            kept, before, left, least = (
                body.emit(kind, f"extractvalue {found}, {place}") for place, kind in enumerate(kinds)
            )
            self._before.set(before)
            self._sorted.set(body.call(PTR, "@order", other, one, counts, kept, least, left))
        with body.when(~few):
            self._sorted.set(body.call(PTR, "@order", one, other, counts, length, self._least.get(), bits))

    def _write(self, x: Value, outer: Value, inner: Value) -> None:
        """Values and positions of the ranks wanted."""
        body, packing, numbers = self._body, self._packing, self._body.numbers
        size = packing.dtype.itemsize
        unit = Type(f"i{8 * size}")
        values = self._start(1, "values", outer, inner, size)
        offset = outer * numbers["indices_outer"] + inner * numbers["indices_inner"]
        scratch = numbers["scratch_indices"].compare("ne", 0).select(body.scratch(), body.array(2))
        indices = body.advance(scratch, offset, 8)
        first, before, found = self._first.get(), self._before.get(), self._sorted.get()
        with body.loop(0, self._last.get() - first) as place:
            rank = place + first - before
            position = packing.position(body.load(packing.packed, _element(body, packing, found, rank), 8))
            value = body.load(unit, body.advance(x, position * numbers["x_along"], size))
            body.store(value, body.advance(values, place * numbers["values_along"], size))
            body.store(position, body.advance(indices, place * numbers["indices_along"], 8))
