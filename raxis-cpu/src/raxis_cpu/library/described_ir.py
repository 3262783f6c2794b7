"""A built-in for small work that is described by an array of 64-bit integers, in LLVM IR.

``entry(array, offset, ...)`` copies the description that its `self` holds, fills in where arrays and parts of new
memory begin, and runs the driver whose address `self` holds in this thread. Arguments are arrays of bytes and offsets
in elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from raxis.backends.api import Executable
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Value, is_null
from raxis_cpu.llvm.native import ARRAY_DATA, PAYLOAD, built_in, method_definition
from raxis_cpu.machine import CACHE_LINE

_HEAD = 6
"""Numbers at the start of `self`: the runtime table, the driver, bytes of memory, how many arrays, parts of memory and
integers of the description. Then come slots and element sizes of the arrays, slots and offsets of the parts, and the
description."""


def described(
    driver: int, arrays: Sequence[tuple[int, int]], parts: Sequence[tuple[int, int]], nbytes: int,
    description: Sequence[int], owner: object,
) -> Executable:  # fmt: skip
    """The built-in.

    Args:
        driver: address of a function ``void (description)``.
        arrays: the slot for the address of each, and bytes of an element.
        parts: slots for addresses in the memory, and how many bytes after its beginning these are.
        nbytes: of the memory.
        description: all but these addresses.
        owner: keeps what the description points to alive.
    """
    head = [runtime.ADDRESS, driver, nbytes, len(arrays), len(parts), len(description)]
    pairs = [number for pair in (*arrays, *parts) for number in pair]
    entry = _entry()
    return built_in(entry.definition, [*head, *pairs, *description], (entry, owner))


def serial_for() -> int:
    """Address of a ``parallel_for`` that runs everything in the calling thread."""
    return _entry().serial_for


class _Entry:
    """The compiled module."""

    def __init__(self) -> None:
        self._code = Code(compile(f'target triple = "{host().triple}"\n{described_ir()}', host()))
        self.definition = method_definition("described", self._code.address("entry"))
        self.serial_for = self._code.address("serial_for")


_entry = lru_cache(maxsize=1)(_Entry)


def described_ir() -> str:
    """The module."""
    function = Function("ptr @entry(ptr %self, ptr %arguments, i64 %given)")
    numbers = function.advance(function.argument(PTR, "self"), PAYLOAD, 1)
    head = [function.load(I64, function.advance(numbers, place, 8)) for place in range(_HEAD)]
    _, driver, nbytes, arrays, parts, slots = head
    array_pairs = function.advance(numbers, _HEAD, 8)
    pairs = function.advance(array_pairs, arrays * 2, 8)
    template = function.advance(pairs, parts * 2, 8)
    memory = function.call(
        PTR, runtime.function_pointer(function, numbers, runtime.MALLOC), nbytes + CACHE_LINE
    )
    with function.when(is_null(memory)):
        failed = function.call(PTR, runtime.function_pointer(function, numbers, runtime.NO_MEMORY))
        function.line(f"ret {failed}")
        function.label(function.fresh("unreachable"))
    description = function.emit(PTR, f"alloca i64, {slots}, align 16")
    with function.loop(0, slots) as place:
        number = function.load(I64, function.advance(template, place, 8))
        function.store(number, function.advance(description, place, 8))
    as_integer = runtime.function_pointer(function, numbers, runtime.AS_INTEGER)
    with function.loop(0, arrays) as index:
        pair = function.advance(function.argument(PTR, "arguments"), index * 2, 8)
        array, given = (function.load(PTR, function.advance(pair, item, 8)) for item in (0, 1))
        slot, itemsize = (
            function.load(I64, function.advance(array_pairs, index * 2 + item, 8)) for item in (0, 1)
        )
        start = function.load(PTR, function.advance(array, ARRAY_DATA, 1))
        start = function.advance(start, function.call(I64, as_integer, given) * itemsize, 1)
        function.store(start, function.advance(description, slot, 8))
    first = (function.emit(I64, f"ptrtoint {memory} to i64") + (CACHE_LINE - 1)) & -CACHE_LINE
    with function.loop(0, parts) as index:
        slot, offset = (function.load(I64, function.advance(pairs, index * 2 + item, 8)) for item in (0, 1))
        function.store(first + offset, function.advance(description, slot, 8))
    function.line(f"call void {function.emit(PTR, f'inttoptr {driver} to ptr').name}({description})")
    function.line(f"call void {runtime.function_pointer(function, numbers, runtime.FREE)}({memory})")
    none = Value(function, PTR, runtime.function_pointer(function, numbers, runtime.NONE))
    function.line(f"call void {runtime.function_pointer(function, numbers, runtime.INCREMENT)}({none})")
    function.line(f"ret {none}")
    return f"{function.text}\n{_serial_ir()}"


def _serial_ir() -> str:
    function = Function("void @serial_for(ptr %body, ptr %argument, i64 %count, i64 %grain)")
    body, argument, count = (function.argument(type, name) for type, name in
                             ((PTR, "body"), (PTR, "argument"), (I64, "count")))  # fmt: skip
    function.line(f"call void {body.name}({argument}, i64 0, {count})")
    function.line("ret void")
    return function.text
