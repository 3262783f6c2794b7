"""Builds programs instruction by instruction; every instruction is type-checked as it is emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from raxis.ptir.attributes import canonical
from raxis.ptir.primitives import lookup
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.types import TensorType

if TYPE_CHECKING:
    from raxis.dtypes import DType


class Builder:
    """Collects the instructions of one program or region.

    Example:
        >>> import raxis
        >>> builder = Builder("double")
        >>> x = builder.parameter(TensorType(raxis.float32, (2,)))
        >>> program = builder.build([builder.emit("add", x, x)])
        >>> program.results[0].type
        TensorType(dtype=raxis.float32, shape=(2,))
    """

    def __init__(self, name: str = "region") -> None:
        self.name = name
        self._ids = count()
        self._parameters: list[Parameter] = []
        self._instructions: list[Instruction] = []

    def parameter(
        self, type: TensorType, by_value: bool = False, name: str | None = None, stable_id: int | None = None
    ) -> Parameter:
        """A new parameter; `by_value` ones are Python numbers at the call and must have rank 0.

        Raises:
            ValueError: for a by-value parameter with dimensions.
        """
        if by_value and type.rank:
            raise ValueError(f"a by-value parameter must have rank 0, but its type is {type}.")
        value = Parameter(next(self._ids), type, by_value, name, stable_id)
        self._parameters.append(value)
        return value

    def emit(
        self, primitive: str, *operands: Value, regions: Sequence[Region] = (), **attributes: object
    ) -> Value | tuple[Value, ...]:
        """Append an instruction; its value, or the tuple of its values when the primitive has several.

        Raises:
            PrimitiveError: if the primitive does not exist or does not admit these operands.
        """
        results = self.emit_all(primitive, operands, attributes, regions)
        return results if lookup(primitive).several_results else results[0]

    def emit_all(
        self,
        primitive: str,
        operands: Sequence[Value],
        attributes: Mapping[str, object],
        regions: Sequence[Region] = (),
    ) -> tuple[Value, ...]:
        """Like `emit`, always with a tuple of values; attributes may have any names."""
        record = lookup(primitive)
        checked = record.canonical({name: canonical(value) for name, value in attributes.items()})
        types = record.infer([value.type for value in operands], checked, regions)
        results = tuple(Value(next(self._ids), type) for type in types)
        self._instructions.append(Instruction(primitive, tuple(operands), checked, results, tuple(regions)))
        return results

    @property
    def instructions(self) -> Sequence[Instruction]:
        """What was appended so far."""
        return self._instructions

    def inline(self, program: Program, operands: Sequence[Value]) -> tuple[Value, ...]:
        """Append the instructions of a program with `operands` for its parameters; the values of its results."""
        values: dict[Value, Value] = dict(zip(program.parameters, operands, strict=True))
        for instruction in program.instructions:
            results = tuple(Value(next(self._ids), result.type) for result in instruction.results)
            values.update(zip(instruction.results, results, strict=True))
            inner = tuple(values[operand] for operand in instruction.operands)
            self._instructions.append(replace(instruction, operands=inner, results=results))
        return tuple(values[result] for result in program.results)

    def constant(self, value: object, dtype: DType, shape: tuple[int, ...] = ()) -> Value:
        """A constant: one number for all elements, or a flat row-major sequence of numbers."""
        return self.emit_all("constant", (), {"value": value, "dtype": dtype, "shape": shape})[0]

    def build(self, results: Sequence[Value], attributes: Mapping[str, object] | None = None) -> Program:
        """The finished program, without instructions that no result depends on."""
        checked = {name: canonical(value) for name, value in (attributes or {}).items()}
        instructions = live_instructions(self._instructions, results)
        return Program(self.name, tuple(self._parameters), instructions, tuple(results), checked)

    def region(self, results: Sequence[Value]) -> Region:
        """What was built, as a region of an instruction of another builder."""
        instructions = live_instructions(self._instructions, results)
        return Region(tuple(self._parameters), instructions, tuple(results))


def live_instructions(
    instructions: Sequence[Instruction], results: Sequence[Value]
) -> tuple[Instruction, ...]:
    """Those `instructions` that `results` depend on, in order."""
    needed = set(results)
    live = []
    for instruction in reversed(instructions):
        if not needed.isdisjoint(instruction.results):
            live.append(instruction)
            needed.update(instruction.operands)
    return tuple(reversed(live))
