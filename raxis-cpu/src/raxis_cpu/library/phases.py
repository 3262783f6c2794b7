"""Library routines as built-ins, called as kernels are: code, phases and numbers put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from raxis.backends.api import Executable
from raxis.dtypes import DType
from raxis.layout import Strides
from raxis_cpu.library.call_ir import Slot, Status, entry_ir
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Value
from raxis_cpu.llvm.native import built_in, method_definition

_GRAIN = 1 << 15
"""Elementary operations that are worth a thread."""


class Body(Function):
    """A phase being written: ``void(context, begin, end)``, with the routine's numbers and arrays at hand.

    Args:
        name: of the function.
        numbers: names of the routine's numbers, in their order.
    """

    def __init__(self, name: str, numbers: Sequence[str]) -> None:
        super().__init__(f"void @{name}(ptr %context, i64 %begin, i64 %end)")
        self._context = self.argument(PTR, "context")
        self.numbers_address = place = self.load(PTR, self._place(Slot.NUMBERS))
        self.numbers = {name: self.load(I64, self.advance(place, k, 8)) for k, name in enumerate(numbers)}
        self.begin, self.end = self.argument(I64, "begin"), self.argument(I64, "end")

    def _place(self, slot: int) -> Value:
        return self.advance(self._context, int(slot), 8)

    def array(self, number: Value | int) -> Value:
        """Where an operand or result starts."""
        return self.load(PTR, self.advance(self._place(Slot.ARRAYS), number, 8))

    def replace_array(self, number: int, address: Value) -> None:
        """Let later phases find an array elsewhere."""
        self.store(address, self.advance(self._place(Slot.ARRAYS), number, 8))

    def set_scratch(self, address: Value) -> None:
        """Memory that is freed when the call ends; there must have been none."""
        self.store(address, self._place(Slot.SCRATCH))

    def scratch(self) -> Value:
        """Where the memory that phases share starts."""
        return self.load(PTR, self._place(Slot.SCRATCH))

    def entry(self, entry: int) -> str:
        """An entry of the runtime table."""
        return runtime.function_pointer(self, self._place(Slot.TABLE), entry)

    def fail(self, status: Status, **details: Value | int) -> None:
        """End the phase: the call raises. Details are value, dim and size of an index out of range."""
        for name, value in details.items():
            self.store(self.lifted(value), self._place(Slot[name.upper()]))
        self.store(self.constant(I64, int(status)), self._place(Slot.STATUS))
        self.line("ret void")
        self.label(self.fresh("unreachable"))

    def address(self, name: str) -> Value:
        """The number `name` as an address."""
        return self.emit(PTR, f"inttoptr {self.numbers[name]} to ptr")

    def lifted(self, value: Value | int) -> Value:
        """A number as a value."""
        return value if isinstance(value, Value) else self.constant(I64, value)

    def walk(self, start: Value, stride: Value, size: int) -> Callable[[], Value]:
        """A function that gives the address reached and steps on: for loops, where products would cost more."""
        place = self.variable(PTR, start)

        def step() -> Value:
            here = place.get()
            place.set(self.advance(here, stride, size))
            return here

        return step

    def divided(self, number: Value, by: Value) -> tuple[Value, Value]:
        """Quotient and remainder of numbers that are not negative."""
        quotient = self.emit(I64, f"udiv {number}, {by.name}")
        return quotient, number - quotient * by

    @property
    def text(self) -> str:
        """The definition."""
        self.line("ret void")
        return super().text


class Phase(NamedTuple):
    """A function of a module over `units`, which are worth `cost` elementary operations in all."""

    name: str
    units: int
    cost: int


class Module:
    """Compiled phases, and the names of the numbers they read."""

    def __init__(self, name: str, text: str, numbers: Sequence[str]) -> None:
        self._name = name
        self._code = Code(compile(f'target triple = "{host().triple}"\n{text}', host()))
        self._numbers = tuple(numbers)

    def bind(
        self,
        arrays: Sequence[DType],
        phases: Sequence[Phase],
        numbers: Mapping[str, int],
        *,
        more: Sequence[int] = (),
        scratch: int = 0,
    ) -> Executable:
        """The built-in over arrays of these dtypes that runs phases one after another.

        Args:
            arrays: dtypes of operands, then of results.
            phases: what is run.
            numbers: the routine's numbers by name; those not given are 0.
            more: numbers without names that follow.
            scratch: bytes of memory that the phases share.
        """
        cost = max((phase.cost for phase in phases), default=0)
        payload = [runtime.ADDRESS, int(cost > _GRAIN), scratch, len(arrays), len(phases)]
        payload += [dtype.itemsize for dtype in arrays]
        for phase in phases:
            payload += [self._code.address(phase.name), phase.units, min(phase.units, phase.cost // _GRAIN)]
        payload += [*(numbers.get(name, 0) for name in self._numbers), *more]
        entry = _entry()
        made: Callable[..., Any] = built_in(entry.definition, payload, (entry, self._code))
        return made


class _Entry:
    """The one entry point."""

    def __init__(self) -> None:
        self._code = Code(compile(f'target triple = "{host().triple}"\n{entry_ir()}', host()))
        self.definition = method_definition("routine", self._code.address("entry"))


@lru_cache(maxsize=1)
def _entry() -> _Entry:
    return _Entry()


class Lines(NamedTuple):
    """Strides of an array seen as [outer, along a dimension, inner]."""

    outer: int
    along: int
    inner: int


def lines_of(shape: Sequence[int], strides: Strides, dim: int) -> Lines | None:
    """An array's three strides; None if dimensions before or behind `dim` are not evenly spaced."""
    outer = _stride(shape[:dim], strides[:dim])
    inner = _stride(shape[dim + 1 :], strides[dim + 1 :])
    return None if outer is None or inner is None else Lines(outer, strides[dim], inner)


def _stride(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride of dimensions traversed as one."""
    size = stride = 0
    for own, step in zip(reversed(sizes), reversed(strides), strict=True):
        if own == 1:
            continue
        if size == 0:
            size, stride = own, step
        elif step == stride * size:
            size *= own
        else:
            return None
    return stride


def flat_stride(shape: Sequence[int], strides: Strides) -> int | None:
    """The stride of a whole array traversed as one dimension; None if it is not evenly spaced."""
    return 1 if 0 in shape else _stride(shape, strides)
