"""The entry point of library routines, in LLVM IR: one built-in for all, that runs the phases its `self` names.

``entry(array, offset, ...)`` takes an array of bytes and an offset in elements for every operand and result. It works
out where they start, and runs one phase after the other, each a function ``void(context, begin, end)`` over a range of
units that the threads share. A phase that sets the status ends the call with an exception.
"""

from __future__ import annotations

from enum import IntEnum

from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.llvm.native import ARRAY_DATA, PAYLOAD


class Header(IntEnum):
    """The int64 numbers at the start of `self`.

    Then come the sizes of the arrays' elements in bytes; address, units and parts of every phase; the routine's own.
    """

    TABLE = 0  # address of the runtime table
    LARGE = 1  # whether the GIL is worth releasing
    SCRATCH = 2  # bytes of memory that phases share
    ARRAYS = 3  # how many
    PHASES = 4


class Slot(IntEnum):
    """The 64-bit slots of the context; the arrays' addresses follow."""

    STATUS = 0
    VALUE = 1  # of an index out of range: itself, its dimension, that one's size
    DIM = 2
    SIZE = 3
    TABLE = 4
    NUMBERS = 5  # address of the routine's own numbers
    SCRATCH = 6  # address
    ARRAYS = 7


class Status(IntEnum):
    """How a call ended."""

    DONE = 0
    NO_MEMORY = 1
    INDEX_OUT_OF_RANGE = 2


_PARTS_PER_THREAD = 4
_MESSAGE = "index %lld is out of bounds for dimension %lld with size %lld"


def entry_ir() -> str:
    """The module's text but for the target."""
    text = _MESSAGE.encode() + b"\0"
    message = f'@message = private constant [{len(text)} x i8] c"{_MESSAGE}\\00"'
    return "\n".join([message, _Entry().text(), _task()])


class _Entry:
    """Writes ``@entry``."""

    def __init__(self) -> None:
        self._function = function = Function("ptr @entry(ptr %self, ptr %arguments, i64 %given)")
        self._payload = function.advance(function.argument(PTR, "self"), PAYLOAD, 1)
        self._arrays, self._phases = (self._header(place) for place in (Header.ARRAYS, Header.PHASES))
        slots = self._arrays + int(Slot.ARRAYS)
        self._context = function.emit(PTR, f"alloca i64, {slots}, align 16")
        self._job = function.variable(Type("[4 x i64]"), align=16).address

    def text(self) -> str:
        """The definition."""
        function = self._function
        self._fill_context()
        large = self._header(Header.LARGE).compare("ne", 0)
        state = function.variable(PTR)
        with function.when(large):
            state.set(self._call(PTR, runtime.RELEASE_GIL))
        self._allocate()
        self._run_phases()
        function.line(f"call void {self._entry(runtime.FREE)}({self._slot(Slot.SCRATCH, PTR)})")
        with function.when(large):
            function.line(f"call void {self._entry(runtime.ACQUIRE_GIL)}({state.get()})")
        self._raise()
        none = Value(function, PTR, self._entry(runtime.NONE))
        function.line(f"call void {self._entry(runtime.INCREMENT)}({none})")
        function.line(f"ret {none}")
        return function.text

    def _header(self, place: Header) -> Value:
        return self._function.load(I64, self._function.advance(self._payload, int(place), 8))

    def _place(self, slot: Slot) -> Value:
        return self._function.advance(self._context, int(slot), 8)

    def _slot(self, slot: Slot, type: Type = I64) -> Value:
        return self._function.load(type, self._place(slot), 8)

    def _entry(self, entry: int) -> str:
        return runtime.function_pointer(self._function, self._payload, entry)

    def _call(self, type: Type, entry: int, *arguments: Value) -> Value:
        return self._function.call(type, self._entry(entry), *arguments)

    def _fill_context(self) -> None:
        function = self._function
        function.store(function.constant(I64, int(Status.DONE)), self._place(Slot.STATUS))
        function.store(self._header(Header.TABLE), self._place(Slot.TABLE))
        sizes = function.advance(self._payload, len(Header), 8)
        numbers = function.advance(sizes, self._arrays + self._phases * 3, 8)
        function.store(numbers, self._place(Slot.NUMBERS))
        arguments, addresses = function.argument(PTR, "arguments"), self._place(Slot.ARRAYS)
        as_integer = self._entry(runtime.AS_INTEGER)
        with function.loop(0, self._arrays) as index:
            pair = function.advance(arguments, index * 2, 8)
            data = function.advance(function.load(PTR, pair), ARRAY_DATA, 1)
            offset = function.call(I64, as_integer, function.load(PTR, function.advance(pair, 1, 8)))
            nbytes = offset * function.load(I64, function.advance(sizes, index, 8))
            start = function.advance(function.load(PTR, data), nbytes, 1)
            function.store(start, function.advance(addresses, index, 8))

    def _allocate(self) -> None:
        function, wanted = self._function, self._header(Header.SCRATCH)
        found = function.variable(PTR, Value(function, PTR, "null"))
        with function.when(wanted.compare("ne", 0)):
            found.set(self._call(PTR, runtime.MALLOC, wanted))
            with function.when(function.emit(Type("i1"), f"icmp eq {found.get()}, null")):
                function.store(function.constant(I64, int(Status.NO_MEMORY)), self._place(Slot.STATUS))
        function.store(found.get(), self._place(Slot.SCRATCH))

    def _run_phases(self) -> None:
        function = self._function
        first = function.advance(self._payload, self._arrays + len(Header), 8)
        threads = function.load(I64, function.advance(function.load(PTR, self._payload), runtime.THREADS, 8))
        with function.loop(0, self._phases) as index:
            phase = function.advance(first, index * 3, 8)
            address = function.load(PTR, phase)
            units, parts = (function.load(I64, function.advance(phase, place, 8)) for place in (1, 2))
            good = self._slot(Slot.STATUS).compare("eq", int(Status.DONE))
            parallel = parts.compare("gt", 1) & threads.compare("gt", 1)
            with function.when(good & ~parallel):
                function.line(f"call void {address.name}({self._context}, i64 0, {units})")
            with function.when(good & parallel):
                count = parts.intrinsic("smin", threads * _PARTS_PER_THREAD)
                for place, value in enumerate((self._context, address, units, count)):
                    function.store(value, function.advance(self._job, place, 8))
                function.line(
                    f"call void {self._entry(runtime.PARALLEL_FOR)}(ptr @task, {self._job}, {count})"
                )

    def _raise(self) -> None:
        function = self._function
        status = self._slot(Slot.STATUS)
        with function.when(status.compare("eq", int(Status.NO_MEMORY))):
            self._call(PTR, runtime.NO_MEMORY)
            self._leave()
        with function.when(status.compare("eq", int(Status.INDEX_OUT_OF_RANGE))):
            details = ", ".join(str(self._slot(slot)) for slot in (Slot.VALUE, Slot.DIM, Slot.SIZE))
            error = self._entry(runtime.INDEX_ERROR)
            setter = self._entry(runtime.FORMAT_ERROR)
            function.line(f"call ptr (ptr, ptr, ...) {setter}(ptr {error}, ptr @message, {details})")
            self._leave()

    def _leave(self) -> None:
        self._function.line("ret ptr null")
        self._function.label(self._function.fresh("unreachable"))


def _task() -> str:
    """Part `index` of a phase: its share of the units."""
    function = Function("internal void @task(ptr %job, i64 %index)")
    job, index = function.argument(PTR, "job"), function.argument(I64, "index")
    context, address = (function.load(PTR, function.advance(job, place, 8)) for place in (0, 1))
    units, count = (function.load(I64, function.advance(job, place, 8)) for place in (2, 3))
    begin, end = (function.emit(I64, f"sdiv {units * at}, {count.name}") for at in (index, index + 1))
    function.line(f"call void {address.name}({context}, {begin}, {end})")
    function.line("ret void")
    return function.text
