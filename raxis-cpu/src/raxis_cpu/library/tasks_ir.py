"""Built-ins whose work is a number of tasks with a workspace each, in LLVM IR: what products and attention share.

``entry(array, offset, ...)`` takes arrays of bytes and offsets in elements. It fills in a context, runs
``task(context, index)`` for every index, large work in all threads without the GIL, and raises MemoryError if a task
had no memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.llvm.native import ARRAY_DATA, PAYLOAD
from raxis_cpu.machine import CACHE_LINE

_ERROR, _SELF = range(2)
FIRST_SLOT = 2
"""The slots of a context: whether memory ran out, where the numbers are, then a routine's own."""


class Numbers:
    """The int64 numbers that `self` holds, by name; "table", the address of the runtime table, comes first."""

    def __init__(self, function: Function, place: Value, names: Sequence[str]) -> None:
        self._function = function
        self._place = place
        self._names = names

    def at(self, position: Value | int) -> Value:
        """A number by its position."""
        return self._function.load(I64, self._function.advance(self._place, position, 8))

    def __getitem__(self, name: str) -> Value:
        return self.at(self._names.index(name))

    def function(self, entry: int) -> str:
        """A function of the runtime table."""
        return runtime.function_pointer(self._function, self._place, entry)

    def threads(self) -> Value:
        """How many threads there are."""
        table = self._function.load(PTR, self._place)
        return self._function.load(I64, self._function.advance(table, runtime.THREADS, 8))


class TaskEntry:
    """Writes ``@entry``.

    Args:
        names: of the numbers; "large" among them says whether threads take part.
        slots: how many of the context are the routine's own.
    """

    def __init__(self, names: Sequence[str], slots: int) -> None:
        self._function = function = Function("ptr @entry(ptr %self, ptr %arguments, i64 %given)")
        self._place = function.advance(function.argument(PTR, "self"), PAYLOAD, 1)
        self._numbers = Numbers(function, self._place, names)
        self._context = function.variable(Type(f"[{FIRST_SLOT + slots} x i64]"), align=16).address

    def text(self) -> str:
        """The definition."""
        function, numbers = self._function, self._numbers
        self._fill(_ERROR, function.constant(I64, 0))
        self._fill(_SELF, self._place)
        self._fill_own()
        self._run(self._count())
        failed = function.load(I64, function.advance(self._context, _ERROR, 8)).compare("ne", 0)
        with function.when(failed):
            function.line(f"ret ptr {function.call(PTR, numbers.function(runtime.NO_MEMORY)).name}")
            function.label(function.fresh("unreachable"))
        none = numbers.function(runtime.NONE)
        function.line(f"call void {numbers.function(runtime.INCREMENT)}(ptr {none})")
        function.line(f"ret ptr {none}")
        return function.text

    def _fill_own(self) -> None:
        """Fill in the routine's own slots."""
        raise NotImplementedError

    def _count(self) -> Value:
        """How many tasks there are."""
        raise NotImplementedError

    def _fill(self, slot: int, value: Value) -> None:
        self._function.store(value, self._function.advance(self._context, slot, 8))

    def _argument(self, place: Value | int) -> Value:
        arguments = self._function.argument(PTR, "arguments")
        return self._function.load(PTR, self._function.advance(arguments, place, 8))

    def _address(self, place: Value | int, size: int) -> Value:
        """Where the array begins that is an argument, followed by an offset in elements of `size` bytes."""
        function = self._function
        array, offset = self._argument(place), self._argument(place + 1)
        data = function.load(PTR, function.advance(array, ARRAY_DATA, 1))
        elements = function.call(I64, self._numbers.function(runtime.AS_INTEGER), offset)
        return function.advance(data, elements, size)

    def _run(self, count: Value) -> None:
        function, numbers = self._function, self._numbers
        large = numbers["large"].compare("ne", 0)
        state = function.variable(PTR)
        with function.when(large):
            state.set(function.call(PTR, numbers.function(runtime.RELEASE_GIL)))
        parallel = large & numbers.threads().compare("gt", 1)
        with function.when(parallel):
            target = numbers.function(runtime.PARALLEL_FOR)
            function.line(f"call void {target}(ptr @task, {self._context}, {count})")
        with function.when(~parallel), function.loop(0, count) as index:
            function.line(f"call void @task({self._context}, {index})")
        with function.when(large):
            function.line(f"call void {numbers.function(runtime.ACQUIRE_GIL)}({state.get()})")


class Task:
    """Writes ``@task``.

    Args:
        names: of the numbers.
        scales: as for `Function`.
    """

    def __init__(self, names: Sequence[str], *, scales: bool = False) -> None:
        self._function = function = Function("internal void @task(ptr %context, i64 %index)", scales=scales)
        self._context = function.argument(PTR, "context")
        self._index = function.argument(I64, "index")
        self._numbers = Numbers(function, self._slot(_SELF, PTR), names)

    def _slot(self, slot: int, type: Type) -> Value:
        """What the context holds."""
        return self._function.load(type, self._function.advance(self._context, slot, 8))

    @contextmanager
    def _workspace(self, nbytes: Value) -> Iterator[Value]:
        """So many bytes at a multiple of 64; the task ends without them."""
        function, numbers = self._function, self._numbers
        memory = function.call(PTR, numbers.function(runtime.MALLOC), nbytes + CACHE_LINE)
        with function.when(function.emit(Type("i1"), f"icmp eq {memory}, null")):
            function.store(function.constant(I64, 1), function.advance(self._context, _ERROR, 8))
            function.line("ret void")
            function.label(function.fresh("unreachable"))
        inside = function.advance(memory, CACHE_LINE - 1, 1)
        yield function.emit(PTR, f"call ptr @llvm.ptrmask.p0.i64({inside}, i64 -{CACHE_LINE})")
        function.line(f"call void {numbers.function(runtime.FREE)}({memory})")
