"""The entry point of a kernel: a METH_FASTCALL function whose `self` is the bytes object of its parameters.

``kernel(buffer, offset, ..., number, ...)`` takes, in the order given by `Argument`s, an address or a NumPy array and
an offset in elements for every buffer, and a Python number for every scalar. It returns None, or raises

- IndexError, for an index out of range, before anything is stored,
- RuntimeError ("ZeroDivisionError"), for an integer divisor 0, before anything is stored,
- MemoryError, if there is no memory for intermediate rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from raxis import dtypes
from raxis.dtypes import Category, DType
from raxis_cpu.llvm import registers
from raxis_cpu.llvm import runtime as table
from raxis_cpu.llvm.casting import cast
from raxis_cpu.llvm.ir import DOUBLE, I32, I64, PTR, Function, Type, Value, Variable
from raxis_cpu.llvm.layout import COUNT, ERROR, ERROR_VALUE, PARAMETERS, PARTS, UNITS, Layout
from raxis_cpu.llvm.native import ARRAY_DATA, PAYLOAD
from raxis_cpu.llvm.registers import Complex, Register
from raxis_cpu.llvm.renderer import OUT_OF_MEMORY
from raxis_cpu.llvm.runtime import function_pointer

_PARTS_PER_THREAD = 32
"""So many that a part's operands fill a fraction of a processor's own cache."""


class Argument(NamedTuple):
    """What the arguments of the executable stand for, in order.

    Attributes:
        kind: "buffer" (an address and an offset), "array" (a NumPy array, of which only the address of its data is
            read, and an offset), "scalar" (a number), or "unused" (anything).
        number: the buffer slot or scalar; for "unused", how many arguments to pass over.
    """

    kind: Literal["array", "buffer", "scalar", "unused"]
    number: int

    @property
    def places(self) -> int:
        """How many Python arguments it takes."""
        if self.kind == "unused":
            return self.number
        return 1 if self.kind == "scalar" else 2


class Entry:
    """Writes ``@entry`` and ``@task``."""

    def __init__(self, layout: Layout, arguments: Sequence[Argument], *, checks: bool) -> None:
        self._layout = layout
        self._kernel = layout.plan.kernel
        self._arguments = arguments
        self._checks = checks
        self._function = Function("ptr @entry(ptr %self, ptr %arguments, i64 %count)")
        self._parameters = self._function.advance(self._function.argument(PTR, "self"), PAYLOAD, 1)
        self._context = self._function.variable(Type(f"[{layout.slots} x i64]"), align=16).address
        self._suspect: Variable = self._function.variable(Type("i1"), False)

    def render(self) -> str:
        """The text of both functions."""
        function = self._function
        self._check_count()
        self._read_arguments()
        with function.when(self._suspect.get()):
            occurred = self._call(PTR, table.ERROR_OCCURRED)
            with function.when(_is_set(occurred)):
                self._leave(None)
        function.store(function.constant(I64, 0), self._slot(ERROR))
        function.store(self._parameters, self._slot(PARAMETERS))
        self._run()
        self._raise_error()
        none = self._table(table.NONE)
        function.line(f"call void {self._pointer(table.INCREMENT)}({none})")
        function.line(f"ret {none}")
        return self._function.text + "\n" + _task()

    def _check_count(self) -> None:
        function = self._function
        expected = sum(argument.places for argument in self._arguments)
        given = function.argument(I64, "count")
        with function.when(given.compare("ne", expected)):
            text = (
                f"kernel {self._kernel.name} expected {expected} arguments, but got another number of them."
            )
            self._set_error(table.TYPE_ERROR, "count_message", text)
            self._leave(None)

    def _set_error(self, exception: int, name: str, text: str) -> None:
        function = self._function
        function.helpers[name] = lambda: _text(name, text)
        setter = self._pointer(table.SET_ERROR)
        function.line(f"call void {setter}({self._table(exception)}, ptr @{name})")

    def _leave(self, result: Value | None) -> None:
        self._function.line(f"ret {result or 'ptr null'}")
        self._function.label(self._function.fresh("unreachable"))

    def _slot(self, number: int) -> Value:
        return self._function.advance(self._context, number, 8)

    def _parameter(self, number: int) -> Value:
        return self._function.load(I64, self._function.advance(self._parameters, number, 8))

    def _pointer(self, entry: int) -> str:
        return function_pointer(self._function, self._parameters, entry)

    def _table(self, entry: int) -> Value:
        return Value(self._function, PTR, self._pointer(entry))

    def _call(self, type: Type, entry: int, *arguments: Value) -> Value:
        return self._function.call(type, self._pointer(entry), *arguments)

    def _read_arguments(self) -> None:
        place = 0
        for argument in self._arguments:
            if argument.kind == "scalar":
                self._read_scalar(argument.number, place)
            elif argument.kind != "unused":
                self._read_buffer(argument, place)
            place += argument.places

    def _argument(self, place: int) -> Value:
        function = self._function
        return function.load(PTR, function.advance(function.argument(PTR, "arguments"), place, 8))

    def _converted(self, type: Type, entry: int, place: int) -> Value:
        """An argument as a number; -1 may mean an exception."""
        number = self._call(type, entry, self._argument(place))
        self._suspect.set(self._suspect.get() | number.compare("eq", -1))
        return number

    def _read_buffer(self, argument: Argument, place: int) -> None:
        buffer = argument.number
        address = self._address(argument, place)
        offset = self._converted(I64, table.AS_INTEGER, place + 1)
        start = address + offset * self._kernel.buffers[buffer].itemsize
        self._function.store(start, self._slot(self._layout.buffer_slot(buffer)))

    def _address(self, argument: Argument, place: int) -> Value:
        if argument.kind == "buffer":
            return self._converted(I64, table.AS_INTEGER, place)
        return self._function.load(I64, self._function.advance(self._argument(place), ARRAY_DATA, 1))

    def _read_scalar(self, scalar: int, place: int) -> None:
        dtype = self._kernel.scalars[scalar]
        registers.store(dtype, self._number(dtype, place), self._slot(self._layout.scalar_slot(scalar)))

    def _number(self, dtype: DType, place: int) -> Register:
        if dtype.category is Category.BOOL:
            return self._converted(I32, table.IS_TRUE, place).compare("ne", 0)
        if dtype.category is Category.INTEGER:
            return cast(self._converted(I64, table.AS_BITS, place), dtypes.int64, dtype)
        real_entry = table.REAL_PART if dtype.is_complex else table.AS_DOUBLE
        real = self._converted(DOUBLE, real_entry, place)
        if not dtype.is_complex:
            return cast(real, dtypes.float64, dtype)
        imag = self._converted(DOUBLE, table.IMAGINARY_PART, place)
        return cast(Complex(real, imag), dtypes.complex128, dtype)

    def _run(self) -> None:
        """Check and compute; large work without the GIL and in parts."""
        function = self._function
        parts = self._parameter(PARTS)
        large = parts.compare("gt", 0)
        state = function.variable(PTR)
        with function.when(large):
            state.set(self._call(PTR, table.RELEASE_GIL))
        if self._checks:
            function.line(f"call void @check({self._context}, i64 0, {self._parameter(UNITS)})")
        failed = function.load(I64, self._slot(ERROR)).compare("ne", 0)
        threads = self._parameter_of_table(table.THREADS)
        divided = parts.compare("gt", 1)
        with function.when(~failed & ~divided):
            function.line(f"call void @part({self._context}, i64 0, {self._parameter(UNITS)})")
        with function.when(~failed & divided):
            count = parts.intrinsic("smin", threads * _PARTS_PER_THREAD)
            function.store(count, self._slot(COUNT))
            parallel = threads.compare("gt", 1)
            with function.when(parallel):
                target = self._pointer(table.PARALLEL_FOR)
                function.line(f"call void {target}(ptr @task, {self._context}, {count})")
            with function.when(~parallel):
                self._run_in_turn(count)
        if self._layout.plan.split:
            with function.when(~failed):
                function.line(f"call void @combine({self._context}, i64 0, i64 0)")
        with function.when(large):
            function.line(f"call void {self._pointer(table.ACQUIRE_GIL)}({state.get()})")

    def _run_in_turn(self, count: Value) -> None:
        """All parts, in the other direction than last time: the cache still holds what was touched last."""
        function = self._function
        place = function.advance(function.load(PTR, self._parameters), table.DIRECTION, 8)
        backwards = function.emit(I64, f"load atomic i64, {place} monotonic, align 8")
        function.line(f"store atomic {backwards ^ 1}, {place} monotonic, align 8")
        with function.loop(0, count) as index:
            part = backwards.compare("ne", 0).select(count - 1 - index, index)
            function.line(f"call void @task({self._context}, {part})")

    def _parameter_of_table(self, entry: int) -> Value:
        function = self._function
        return function.load(I64, function.advance(function.load(PTR, self._parameters), entry, 8))

    def _raise_error(self) -> None:
        function = self._function
        error = function.load(I64, self._slot(ERROR))
        with function.when(error.compare("ne", 0)):
            with function.when(error.compare("eq", OUT_OF_MEMORY)):
                self._call(PTR, table.NO_MEMORY)
                self._leave(None)
            for number in self._layout.plan.checked:
                with function.when(error.compare("eq", OUT_OF_MEMORY + 1 + number)):
                    self._raise_check(number)
            self._leave(None)

    def _raise_check(self, number: int) -> None:
        function, node = self._function, self._kernel.nodes[number]
        if node.op != "gather_load":
            self._set_error(table.RUNTIME_ERROR, "division_message", "ZeroDivisionError")
            return
        text = f"index %lld is out of bounds for dimension {node.detail.dim} with size %lld"
        name = f"index_message_{number}"
        function.helpers[name] = lambda: _text(name, text)
        value = function.load(I64, self._slot(ERROR_VALUE))
        size = self._parameter(self._layout.parameter("gather size", number))
        function.line(
            f"call ptr (ptr, ptr, ...) {self._pointer(table.FORMAT_ERROR)}"
            f"({self._table(table.INDEX_ERROR)}, ptr @{name}, {value}, {size})"
        )

    @property
    def helpers(self) -> dict[str, object]:
        """Definitions that the text refers to."""
        return dict(self._function.helpers)


def _text(name: str, text: str) -> str:
    return f'@{name} = private constant [{len(text) + 1} x i8] c"{text}\\00"'


def _is_set(address: Value) -> Value:
    return address.function.emit(Type("i1"), f"icmp ne {address}, null")


def _task() -> str:
    """Part `index` of the number of parts in the context: the units' share of it."""
    function = Function("internal void @task(ptr %context, i64 %index)")
    context, index = function.argument(PTR, "context"), function.argument(I64, "index")
    parameters = function.load(PTR, function.advance(context, PARAMETERS, 8))
    units = function.load(I64, function.advance(parameters, UNITS, 8))
    count = function.load(I64, function.advance(context, COUNT, 8))
    begin, end = (function.emit(I64, f"sdiv {units * at}, {count.name}") for at in (index, index + 1))
    function.line(f"call void @part({context}, {begin}, {end})")
    function.line("ret void")
    return function.text
