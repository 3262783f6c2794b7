"""Functions that sort packed numbers, and that select some of them, in LLVM IR.

Which way depends on the row: insertion for a few elements; counting where keys take few values; else distribution by
leading bits, and insertion where these spread the elements well; where they do not, merging of short rows, and in long
ones the same again for the elements of every leading digit.
"""

from __future__ import annotations

from raxis_cpu.library.sorting_keys_ir import Packing
from raxis_cpu.llvm.ir import I1, I32, I64, PTR, Function, Type, Value, Variable

INSERTED = 32
"""Elements that insertion sorts fastest."""
_FULLEST = 32
"""Elements of one bucket that are still sorted by insertion."""
_MERGED = 512
"""Elements from which distribution beats merging, however they crowd."""
_DIGIT = 11
"""Bits by which elements are distributed at once."""
_LEVELS = 8
"""Digits of the longest key, at ten bits or more, and one for what is merged."""
COUNTS_BYTES = _LEVELS * (4 << _DIGIT)
"""Memory for what `@count` writes, for every level a table."""


def functions_ir(packing: Packing) -> str:
    """All of them.

    - ``ptr order(a, b, counts, count, least, bits)``: sort elements whose distances from the least key have `bits` bits
      at most, with b as room; where they are
    - ``narrow``, with two ranks behind these: see `narrow`
    """
    functions = (_insert, _count, _distribute, _merge, _merge_sort, _order, _order_digits, _narrow)
    return "\n".join(write(packing) for write in functions)


def insert_into(packing: Packing, base: Value, stop: Value, number: Value) -> None:
    """Move the elements before `stop` that are greater than `number` up by one, and put it in."""
    function = base.function
    place = function.variable(I64, stop)
    with function.repeat_while() as repetition:
        repetition.test(place.get().compare("gt", 0))
        before = packing.load(base, place.get() - 1)
        repetition.test(before.compare("ugt", number))
        packing.store(before, base, place.get())
        place.set(place.get() - 1)
    packing.store(number, base, place.get())


def _insert(packing: Packing) -> str:
    """Insertion sort."""
    function = Function("internal void @insert(ptr %a, i64 %count)")
    base = function.argument(PTR, "a")
    with function.loop(1, function.argument(I64, "count")) as index:
        number = packing.load(base, index)
        insert_into(packing, base, index, number)
    function.line("ret void")
    return function.text


def _count(packing: Packing) -> str:
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
        packed = packing.load(base, index)
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


def _start_of(counts: Value, digit: Value) -> Value:
    """What the table says of a digit, as i64."""
    function = counts.function
    return function.load(I32, function.advance(counts, digit, 4)).convert("zext", "i64")


def _distribute(packing: Packing) -> str:
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
        packed = packing.load(base, index)
        place = function.advance(counts, packing.digit(packed, least, shift) & (size - 1), 4)
        start = function.load(I32, place)
        function.store(start + 1, place)
        packing.store(packed, target, start.convert("zext", "i64"))
    function.line("ret void")
    return function.text


def _merge(packing: Packing) -> str:
    """Merge a[low, middle) and a[middle, high) into b[low, high)."""
    function = Function("internal void @merge(ptr %a, ptr %b, i64 %low, i64 %middle, i64 %high)")
    base, target = function.argument(PTR, "a"), function.argument(PTR, "b")
    low, middle, high = (function.argument(I64, name) for name in ("low", "middle", "high"))
    left, right = function.variable(I64, low), function.variable(I64, middle)
    with function.repeat_while() as repetition:
        repetition.test(left.get().compare("lt", middle) & right.get().compare("lt", high))
        ours, theirs = (packing.load(base, side.get()) for side in (left, right))
        takes = theirs.compare("ult", ours)
        packing.store(takes.select(theirs, ours), target, left.get() + right.get() - middle)
        step = takes.convert("zext", "i64")
        right.set(right.get() + step)
        left.set(left.get() + 1 - step)
    for side, stop in ((left, middle), (right, high)):
        place = packing.place(target, left.get() + right.get() - middle)
        source = packing.place(base, side.get())
        nbytes = (stop - side.get()) * packing.nbytes
        function.line(f"call void @llvm.memcpy.p0.p0.i64({place}, {source}, {nbytes}, i1 false)")
        if side is left:
            # What is left of the other run goes behind it.
            left.set(middle)
    function.line("ret void")
    return function.text


def _merge_sort(packing: Packing) -> str:
    """Runs sorted by insertion, merged to and fro; returns where the sorted elements are."""
    function = Function("internal ptr @merge_sort(ptr %a, ptr %b, i64 %count)")
    count = function.argument(I64, "count")
    source, target = (function.variable(PTR, function.argument(PTR, name)) for name in ("a", "b"))
    with function.loop(0, count, INSERTED) as start:
        size = (count - start).intrinsic("smin", INSERTED)
        function.line(f"call void @insert({packing.place(source.get(), start)}, {size})")
    width = function.variable(I64, INSERTED)
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


def bit_length(number: Value) -> Value:
    """How many bits an i64 has."""
    zeros = number.function.emit(I64, f"call i64 @llvm.ctlz.i64({number}, i1 false)")
    return 64 - zeros


def _order(packing: Packing) -> str:
    """Sort by what suits number and keys, whose distances from the least have `bits` bits; returns where they are."""
    function = Function(f"internal ptr @order({_SORT_ARGUMENTS.format(key=packing.key)})")
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    count, bits, least = (
        function.argument(type, name)
        for type, name in ((I64, "count"), (I64, "bits"), (packing.key, "least"))
    )
    with function.when(count.compare("le", INSERTED)):
        function.line(f"call void @insert({base}, {count})")
        _leave(function, base)
    width = bits.intrinsic("smin", bit_length(count)).intrinsic("smin", _DIGIT)
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


def _order_digits(packing: Packing) -> str:
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
        end = _start_of(counts, digit)
        begin.set(end)
        count = end - start
        with function.when(count.compare("gt", 1)):
            ours, theirs = (packing.place(memory, start) for memory in (target, base))
            moved = least + packing.narrowed(digit << shift)
            found = function.call(PTR, "@order", ours, theirs, deeper, count, moved, shift)
            with function.when(function.emit(I1, f"icmp ne {found}, {ours.name}")):
                nbytes = count * packing.nbytes
                function.line(f"call void @llvm.memcpy.p0.p0.i64({ours}, {found}, {nbytes}, i1 false)")
    function.line("ret void")
    return function.text


def narrow(packing: Packing, *arguments: Value) -> list[Value]:
    """Copy to b the elements whose leading digit is that of a rank in [first, last).

    Returns how many there are, how many come before them, bits of their distance from the new least key, and that key.
    """
    function, result = arguments[0].function, _narrowed(packing)
    found = function.emit(result, f"call {result} @narrow({', '.join(map(str, arguments))})")
    kinds = (I64, I64, I64, packing.key)
    return [function.emit(kind, f"extractvalue {found}, {place}") for place, kind in enumerate(kinds)]


def _narrowed(packing: Packing) -> Type:
    return Type(f"{{ i64, i64, i64, {packing.key} }}")


def _narrow(packing: Packing) -> str:
    """See `narrow`."""
    key, result = packing.key, _narrowed(packing)
    function = Function(
        f"internal {result} @narrow({_SORT_ARGUMENTS.format(key=key)}, i64 %first, i64 %last)"
    )
    base, target, counts = (function.argument(PTR, name) for name in ("a", "b", "counts"))
    count, bits, first, last = (function.argument(I64, name) for name in ("count", "bits", "first", "last"))
    least = function.argument(key, "least")
    # Some eight elements a digit: fewer would cost more to count than they save to sort.
    digits = (bit_length(count) - 3).intrinsic("smax", 1).intrinsic("smin", _DIGIT)
    width = bits.intrinsic("smin", digits)
    shift, size = bits - width, function.constant(I64, 1) << width
    function.call(I32, "@count", base, count, least, shift, size, counts)
    low = function.variable(I64, 0)
    _advance_to_rank(function, counts, size, low, first)
    start = _start_of(counts, low.get())
    high = function.variable(I64, low.get())
    _advance_to_rank(function, counts, size, high, last - 1)
    kept = function.variable(I64, 0)
    span = high.get() - low.get()
    with function.loop(0, count) as index:
        packed = packing.load(base, index)
        packing.store(packed, target, kept.get())
        inside = (packing.digit(packed, least, shift) - low.get()).compare("ule", span)
        kept.set(kept.get() + inside.convert("zext", "i64"))
    moved = least + packing.narrowed(low.get() << shift)
    remaining = (shift + bit_length(span)).intrinsic("smin", packing.bits)
    text = "undef"
    for place, value in enumerate((kept.get(), start, remaining, moved)):
        text = function.emit(result, f"insertvalue {result} {text}, {value}, {place}").name
    function.line(f"ret {result} {text}")
    return function.text


def _advance_to_rank(function: Function, counts: Value, size: Value, digit: Variable, rank: Value) -> None:
    """Move on to the digit of the element of a rank."""
    with function.repeat_while() as repetition:
        following = digit.get() + 1
        repetition.test(following.compare("lt", size))
        repetition.test(_start_of(counts, following).compare("le", rank))
        digit.set(following)
