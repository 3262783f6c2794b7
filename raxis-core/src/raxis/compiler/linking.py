"""From the log of a recording to one program.

Every buffer becomes a value; a kernel that writes into memory makes a new value of it. So the program has no
memory and no order of writes left: only what is computed from what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from raxis.compiler import views
from raxis.compiler.log import Call
from raxis.compiler.memory import Memory, Region
from raxis.compiler.numbers import InputFloat, InputInt, Source
from raxis.dtypes import Category, DType, uint8
from raxis.layout import Strides
from raxis.ptir.builder import Builder
from raxis.ptir.program import Parameter, Program, Value
from raxis.ptir.program import Region as Body
from raxis.ptir.types import TensorType


class Linked(NamedTuple):
    """A program and what its parameters and results are.

    Attributes:
        program: the program.
        inputs: for each parameter, a region of given memory, or the source of a number.
        outputs: for each result, the region of memory it is the new content of.
        lines: the user's line of values, as ``file:line``.
    """

    program: Program
    inputs: tuple[tuple[Memory, Region] | Source, ...]
    outputs: tuple[tuple[Memory, Region], ...]
    lines: Mapping[Value, str] = MappingProxyType({})

    @property
    def input_strides(self) -> list[Strides | None]:
        """Strides of the parameters; None for numbers."""
        return [None if isinstance(given, Source) else given[1].strides for given in self.inputs]

    @property
    def output_strides(self) -> list[Strides]:
        """Strides of the results."""
        return [region.strides for _, region in self.outputs]

    @property
    def in_place(self) -> int:
        """How many of the first results are written over as many of the first parameters."""
        pairs = zip(self.inputs, self.outputs, strict=False)
        return next(
            (count for count, (given, made) in enumerate(pairs) if given != made),
            min(len(self.inputs), len(self.outputs)),
        )


def link(name: str, calls: Sequence[Call], wanted: Iterable[Memory]) -> Linked:
    """The program that leaves the contents of `wanted`."""
    linker = Linker(name)
    linker.append_all(calls)
    return linker.finish(wanted)


class Linker:
    """Links kernels one after another.

    Args:
        name: the program's.
        begun: memory that earlier kernels filled, and the region in which its content is given.
    """

    def __init__(self, name: str, begun: Mapping[Memory, Region] | None = None) -> None:
        self._begun = begun or {}
        self._builder = Builder(name)
        self._homes: dict[Memory, views.Home] = {}
        self._inputs: list[tuple[Memory, Region] | Source] = []
        self._numbers: dict[Any, Value] = {}
        self._lines: dict[Value, str] = {}

    def append_all(self, calls: Iterable[Call]) -> None:
        """Continue with kernels in order."""
        for call in calls:
            self.append(call)

    @property
    def filled(self) -> dict[Memory, Region]:
        """The memory written so far that nobody outside holds, and where its content lies."""
        return {memory: home.region for memory, home in self._homes.items() if not memory.is_outside}

    def append(self, call: Call) -> None:
        """Continue with one kernel."""
        begun = len(self._builder.instructions)
        operands = [
            self._operand(operand, parameter)
            for operand, parameter in zip(call.operands, call.program.parameters, strict=True)
        ]
        if call.kernel.composite is None:
            results = self._builder.inline(call.program, operands)
        else:
            results = self._composite(call.kernel.composite, call.program, operands)
        for (memory, region), value in zip(call.results, results, strict=True):
            self._write(memory, region, value)
        for instruction in self._builder.instructions[begun:]:
            self._lines.update(dict.fromkeys(instruction.results, call.line))

    def finish_parts(self, parts: Sequence[tuple[Memory, Region]]) -> Linked:
        """The program with what these parts of memory hold as results."""
        values = [views.read(self._builder, self._home(memory, region), region) for memory, region in parts]
        program = self._builder.build(values)
        kept = _used(program)
        program = replace(program, parameters=tuple([program.parameters[at] for at in kept]))
        return Linked(program, tuple([self._inputs[at] for at in kept]), tuple(parts), self._lines)

    def finish(self, wanted: Iterable[Memory]) -> Linked:
        """The program with the contents of `wanted` as results."""
        values, outputs = [], []
        for memory in wanted:
            home = self._home(memory)
            if memory.source is not None and memory.region is not None and home.region != memory.region:
                home = views.Home(views.read(self._builder, home, memory.region), memory.region)
            values.append(home.value)
            outputs.append((memory, home.region))
        return self._in_place_first(self._builder.build(values), outputs)

    def _in_place_first(self, program: Program, outputs: Sequence[tuple[Memory, Region]]) -> Linked:
        """Results that overwrite a parameter lead, and so do these parameters, in the same order."""
        kept = _used(program)
        position = {self._inputs[at]: at for at in kept}
        results = sorted(range(len(outputs)), key=lambda at: outputs[at] not in position)
        over = [position[outputs[at]] for at in results if outputs[at] in position]
        order = over + [at for at in kept if at not in set(over)]
        program = replace(
            program,
            parameters=tuple(program.parameters[at] for at in order),
            results=tuple(program.results[at] for at in results),
        )
        return Linked(
            program,
            tuple(self._inputs[at] for at in order),
            tuple(outputs[at] for at in results),
            self._lines,
        )

    # ---- operands ----------------------------------------------------------------------------------

    def _operand(self, operand: Any, parameter: Parameter) -> Value:
        if isinstance(operand, tuple):
            memory, region = operand
            return views.read(self._builder, self._home(memory, region), region)
        dtype = parameter.type.dtype
        if isinstance(operand, (InputFloat, InputInt)):
            return self._input_number(operand.source, dtype)
        return self._builder.constant(_fitting(operand, dtype), dtype)

    def _input_number(self, source: Source, dtype: DType) -> Value:
        key = (source.key, dtype)
        if key not in self._numbers:
            self._numbers[key] = self._builder.parameter(TensorType(dtype, ()), by_value=True)
            self._inputs.append(source)
        value = self._numbers[key]
        if not source.added:
            return value
        return self._builder.emit_all("add", (value, self._builder.constant(source.added, dtype)), {})[0]

    def _composite(self, name: str, program: Program, operands: Sequence[Value]) -> tuple[Value, ...]:
        body = Body(program.parameters, program.instructions, program.results)
        return self._builder.emit_all("composite", operands, {"name": name, **_attributes(program)}, (body,))

    # ---- memory ------------------------------------------------------------------------------------

    def _home(self, memory: Memory, region: Region | None = None) -> views.Home:
        home = self._homes.get(memory)
        if home is None:
            home = self._homes[memory] = self._first_home(memory, region)
        return home

    def _first_home(self, memory: Memory, region: Region | None) -> views.Home:
        """What memory holds before anything was written."""
        dtype = memory.dtype or (region.dtype if region else uint8)  # bytes, if nothing used them
        known = self._begun.get(memory) or memory.region or views.whole(dtype, memory.nbytes)
        if memory.source is None and memory not in self._begun:
            zero = 0.0 if dtype.category >= Category.FLOAT else 0
            return views.Home(self._builder.constant(zero, dtype, known.shape), known)
        if memory.region is None and memory.source is not None:
            memory.region = known
        value = self._builder.parameter(TensorType(known.dtype, known.shape))
        self._inputs.append((memory, known))
        return views.Home(value, known)

    def _write(self, memory: Memory, region: Region, value: Value) -> None:
        fresh = memory not in self._homes and memory not in self._begun
        if fresh and memory.source is None and fills(memory, region):
            self._homes[memory] = views.Home(value, region)
        else:
            self._homes[memory] = views.write(self._builder, self._home(memory, region), region, value)


def _used(program: Program) -> list[int]:
    """Positions of the parameters that the program reads."""
    used = {operand for item in program.instructions for operand in item.operands} | set(program.results)
    return [at for at, parameter in enumerate(program.parameters) if parameter in used]


def fills(memory: Memory, region: Region) -> bool:
    """Whether a region is all of its memory, without gaps."""
    size = region.dtype.itemsize
    for length in region.shape:
        size *= length
    return region.offset == 0 and size == memory.nbytes and views.is_dense(region)


def _fitting(number: Any, dtype: DType) -> Any:
    """A Python number as a kernel with a parameter of `dtype` takes it: integers wrap around."""
    if dtype.category is Category.INTEGER:
        bits = 8 * dtype.itemsize
        wrapped = int(number) % (1 << bits)
        return wrapped - (1 << bits) if dtype.is_signed and wrapped >> (bits - 1) else wrapped
    if dtype.category is Category.FLOAT:
        return float(number)
    return bool(number) if dtype.category is Category.BOOL else complex(number)


def _attributes(program: Program) -> dict[str, Any]:
    return {name: value for name, value in program.attributes.items() if name != "name"}
