"""Writes at computed positions, in LLVM IR: check, copy, combine.

Arrays are seen as [outer, along the dimension, inner]. The phases are

- ``check``: every index is one of the dimension; a unit is an index;
- ``separate``: index and updates that are the result's own memory are copied; there is one unit;
- ``copy``: the operand to the result, or to scratch memory in a wider type; a unit is an element;
- ``rows``, ``elements``: updates combined with what is there, in the order along the dimension; where a whole row goes
  to one position, and where every element has its own; a unit is a block of inner elements of one slice;
- ``narrow``: scratch memory to the result; a unit is an element.
"""

from __future__ import annotations

from functools import cache

from raxis import dtypes
from raxis.dtypes import HALF, DType
from raxis_cpu.library.call_ir import Status
from raxis_cpu.library.phases import Body, Module
from raxis_cpu.llvm import registers, runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.llvm.ir import I64, PTR, Type, Value, is_null

NUMBERS = (
    "dim", "size", "count", "inner", "block", "check_stride", "nbytes",
    "index_outer", "index_along", "index_inner",
    "updates_outer", "updates_along", "updates_inner",
    "out_outer", "out_along", "out_inner",
)  # fmt: skip
_CHECKED = 1024
"""Indices that are compared before one looks at the results."""


class Cells:
    """The elements of a result: how they look while updates are combined with them."""

    def __init__(self, dtype: DType, reduce: str) -> None:
        self.dtype = dtype
        self.reduce = reduce
        self.is_wide = dtype in HALF and reduce != "set"
        self.size = 4 if self.is_wide else dtype.itemsize
        if dtype is dtypes.bool_:
            self.reduce = {"add": "max", "mul": "min"}.get(reduce, reduce)
        if self.reduce == "set":
            self._unit = Type("i64", 2) if dtype.itemsize == 16 else Type(f"i{8 * dtype.itemsize}")
        elif dtype is dtypes.bool_:
            self._unit = Type("i8")
        else:
            self._unit = Type(registers.register_type(dtype).element, 2 if dtype.is_complex else 1)

    @property
    def is_served(self) -> bool:
        """Whether the reduction is one of single parts."""
        return not self.dtype.is_complex or self.reduce in {"set", "add"}

    def type(self, lanes: int) -> Type:
        """So many cells."""
        return Type(self._unit.element, self._unit.lanes * lanes)

    def update(self, address: Value, lanes: int) -> Value:
        """Updates as cells."""
        if not self.is_wide:
            return address.function.load(self.type(lanes), address)
        value = registers.load(self.dtype, address, lanes)
        if not isinstance(value, Value):
            raise TypeError("half precision is real.")
        return value

    def combined(self, old: Value, new: Value) -> Value:
        """A cell and an update."""
        if self.reduce == "add":
            return old + new
        if self.reduce == "mul":
            return old * new
        if self.dtype.is_floating_point:
            return (new.compare("gt" if self.reduce == "max" else "lt", old) | new.compare("ne", new)).select(
                new, old
            )
        sign = "s" if self.dtype.category.name == "INTEGER" and self.dtype.is_signed else "u"
        return old.intrinsic(f"{sign}{self.reduce}", new)


@cache
def scattering(dtype: DType, reduce: str) -> Module:
    """The phases for elements of a dtype."""
    cells = Cells(dtype, reduce)
    functions = [_check(), _separate(), _copy(cells), _rows(cells), _elements(cells)]
    if cells.is_wide:
        functions.append(_narrow(cells))
    return Module("scatter", "\n".join(functions), NUMBERS)


def _check() -> str:
    body = Body("check", NUMBERS)
    numbers, index = body.numbers, body.array(1)
    size, stride = numbers["size"], numbers["check_stride"]
    lanes = host().vector_bytes // 8
    dense = stride.compare("eq", 1)
    with body.loop(body.begin, body.end, _CHECKED) as start:
        stop = (start + _CHECKED).intrinsic("smin", body.end)
        wrong = body.variable(Type("i1"), False)
        whole = dense.select(start + ((stop - start) & -lanes), start)
        wide = body.variable(Type("i64", lanes), body.constant(Type("i64", lanes), 0))
        with body.loop(start, whole, lanes) as place:
            values = body.load(Type("i64", lanes), body.advance(index, place, 8))
            outside = values.compare("uge", size.splat(lanes)).convert("zext", "i64")
            wide.set(wide.get() | outside)
        seen = body.emit(I64, f"call i64 @llvm.vector.reduce.or.{wide.type.suffix}({wide.get()})")
        wrong.set(seen.compare("ne", 0))
        with body.loop(whole, stop) as place:
            value = body.load(I64, body.advance(index, place * stride, 8))
            wrong.set(wrong.get() | value.compare("uge", size))
        with body.when(wrong.get()), body.loop(start, stop) as place:
            value = body.load(I64, body.advance(index, place * stride, 8))
            with body.when(value.compare("uge", size)):
                body.fail(Status.INDEX_OUT_OF_RANGE, value=value, dim=numbers["dim"], size=size)
    return body.text


def _separate() -> str:
    body = Body("separate", NUMBERS)
    result, nbytes = body.array(3), body.numbers["nbytes"]
    copied = body.variable(PTR, Value(body, PTR, "null"))
    for number in (1, 2):
        same = body.emit(Type("i1"), f"icmp eq {body.array(number)}, {result.name}")
        with body.when(same):
            with body.when(is_null(copied.get())):
                memory = body.call(PTR, body.entry(runtime.MALLOC), nbytes)
                with body.when(is_null(memory)):
                    body.fail(Status.NO_MEMORY)
                body.line(f"call void @llvm.memcpy.p0.p0.i64({memory}, {result}, {nbytes}, i1 false)")
                body.set_scratch(memory)
                copied.set(memory)
            body.replace_array(number, copied.get())
    return body.text


def _target(body: Body, cells: Cells) -> Value:
    """Where the cells are."""
    return body.scratch() if cells.is_wide else body.array(3)


def _copy(cells: Cells) -> str:
    body = Body("copy", NUMBERS)
    source, target, size = body.array(0), _target(body, cells), cells.dtype.itemsize
    if cells.is_wide:
        with body.loop(body.begin, body.end) as place:
            body.store(cells.update(body.advance(source, place, size), 1), body.advance(target, place, 4))
        return body.text
    same = body.emit(Type("i1"), f"icmp eq {source}, {target.name}")
    with body.when(~same):
        start, end = body.advance(source, body.begin, size), body.advance(target, body.begin, size)
        nbytes = (body.end - body.begin) * size
        body.line(f"call void @llvm.memcpy.p0.p0.i64({end}, {start}, {nbytes}, i1 false)")
    return body.text


def _narrow(cells: Cells) -> str:
    body = Body("narrow", NUMBERS)
    with body.loop(body.begin, body.end) as place:
        value = body.load(Type("float"), body.advance(body.scratch(), place, 4))
        target = body.advance(body.array(3), place, cells.dtype.itemsize)
        registers.store(cells.dtype, registers.rounded(cells.dtype, value), target)
    return body.text


class _Block:
    """The loops over units and along the dimension, as far as every body has them."""

    def __init__(self, body: Body, cells: Cells, unit: Value) -> None:
        self._body, self._cells, self._numbers = body, cells, body.numbers
        numbers = body.numbers
        blocks = body.emit(I64, f"udiv {numbers['inner'] + numbers['block'] - 1}, {numbers['block'].name}")
        self._outer, block = body.divided(unit, blocks)
        self._first = block * numbers["block"]
        self.count = (numbers["inner"] - self._first).intrinsic("smin", numbers["block"])
        self.index = self._start(body.array(1), "index", 8)
        self.updates = self._start(body.array(2), "updates", cells.dtype.itemsize)
        self.out = self._start(_target(body, cells), "out", cells.size)

    def _start(self, array: Value, name: str, size: int) -> Value:
        offset = self._outer * self._numbers[f"{name}_outer"] + self._first * self._numbers[f"{name}_inner"]
        return self._body.advance(array, offset, size)

    def combine(self, target: Value, source: Value, lanes: int) -> None:
        """Updates at an address with cells at another."""
        new = self._cells.update(source, lanes)
        if self._cells.reduce != "set":
            new = self._cells.combined(self._body.load(self._cells.type(lanes), target), new)
        self._body.store(new, target)


def _rows(cells: Cells) -> str:
    """Rows of dense updates to dense rows of the result."""
    body = Body("rows", NUMBERS)
    numbers = body.numbers
    lanes = max(1, host().vector_bytes // max(cells.size, 4))
    with body.loop(body.begin, body.end) as unit:
        block = _Block(body, cells, unit)
        whole = block.count & -lanes
        with body.loop(0, numbers["count"]) as place:
            position = body.load(I64, body.advance(block.index, place * numbers["index_along"], 8))
            target = body.advance(block.out, position * numbers["out_along"], cells.size)
            source = body.advance(block.updates, place * numbers["updates_along"], cells.dtype.itemsize)
            for width, bounds in ((lanes, (body.constant(I64, 0), whole)), (1, (whole, block.count))):
                with body.loop(*bounds, width) as column:
                    at = body.advance(target, column, cells.size)
                    block.combine(at, body.advance(source, column, cells.dtype.itemsize), width)
    return body.text


def _elements(cells: Cells) -> str:
    """Elements of any strides."""
    body = Body("elements", NUMBERS)
    numbers = body.numbers
    with body.loop(body.begin, body.end) as unit:
        block = _Block(body, cells, unit)
        with body.loop(0, numbers["count"]) as place:
            index = body.advance(block.index, place * numbers["index_along"], 8)
            updates = body.advance(block.updates, place * numbers["updates_along"], cells.dtype.itemsize)
            next_index = body.walk(index, numbers["index_inner"], 8)
            next_update = body.walk(updates, numbers["updates_inner"], cells.dtype.itemsize)
            next_cell = body.walk(block.out, numbers["out_inner"], cells.size)
            with body.loop(0, block.count):
                offset = body.load(I64, next_index()) * numbers["out_along"]
                block.combine(body.advance(next_cell(), offset, cells.size), next_update(), 1)
    return body.text
