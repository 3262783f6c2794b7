"""Portable programs: instructions in static single assignment form over explicitly typed values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from raxis.ptir.attributes import attributes_key
from raxis.ptir.types import TensorType


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """A value: defined once, compared by identity. `id` is unique within a program."""

    id: int
    type: TensorType

    def __str__(self) -> str:
        return f"%{self.id}"


@dataclass(frozen=True, eq=False, slots=True)
class Parameter(Value):
    """A value given by the caller; a Python number when `by_value`, which needs rank 0."""

    by_value: bool = False
    name: str | None = None


@dataclass(frozen=True, eq=False)
class Instruction:
    """One application of a primitive.

    `attributes` are read-only and sorted by name; the primitive's record says which there are and of what kind.
    """

    primitive: str
    operands: tuple[Value, ...]
    attributes: Mapping[str, Any]
    results: tuple[Value, ...]
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(sorted(self.attributes.items()))))


@dataclass(frozen=True, eq=False)
class Region:
    """A function inside an instruction. It sees its own parameters only, never values around it."""

    parameters: tuple[Value, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[Value, ...]

    @property
    def parameter_types(self) -> tuple[TensorType, ...]:
        """Types of the parameters."""
        return tuple(value.type for value in self.parameters)

    @property
    def result_types(self) -> tuple[TensorType, ...]:
        """Types of the results."""
        return tuple(value.type for value in self.results)


@dataclass(frozen=True, eq=False)
class Program:
    """A whole program: name, parameters, instructions in order, results, attributes.

    Programs are equal when their structure is: value ids do not matter, everything else does. They are
    hashable, so they can key caches.

    Example:
        >>> import raxis
        >>> from raxis.ptir.builder import Builder
        >>> builder = Builder("double")
        >>> x = builder.parameter(TensorType(raxis.float32, (2,)))
        >>> print(builder.build([builder.emit("add", x, x)]))
        ptir 1.0
        program "double"(%0: f32[2]) {
          %1 = add(%0, %0) : f32[2]
          return %1
        }
        <BLANKLINE>
    """

    name: str
    parameters: tuple[Parameter, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[Value, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(sorted(self.attributes.items()))))

    @cached_property
    def key(self) -> Hashable:
        """The canonical structure, as nested tuples."""
        parameters = tuple((value.by_value, value.name) for value in self.parameters)
        body = _body_key(self.parameters, self.instructions, self.results)
        return self.name, parameters, body, attributes_key(self.attributes)

    @cached_property
    def _hash(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self is other or (self._hash == other._hash and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def text(self) -> str:
        """The lossless text form (see `raxis.ptir.text`)."""
        from raxis.ptir.text import to_text

        return to_text(self)

    def __str__(self) -> str:
        return self.text()


def _body_key(
    parameters: tuple[Value, ...], instructions: tuple[Instruction, ...], results: tuple[Value, ...]
) -> Hashable:
    numbers: dict[Value, int] = {}

    def number(value: Value) -> int:
        return numbers.setdefault(value, len(numbers))

    return (
        tuple((number(value), value.type) for value in parameters),
        tuple(_instruction_key(instruction, number) for instruction in instructions),
        tuple(number(value) for value in results),
    )


def _instruction_key(instruction: Instruction, number: Callable[[Value], int]) -> Hashable:
    return (
        instruction.primitive,
        tuple(number(value) for value in instruction.operands),
        attributes_key(instruction.attributes),
        tuple((number(value), value.type) for value in instruction.results),
        tuple(
            _body_key(region.parameters, region.instructions, region.results)
            for region in instruction.regions
        ),
    )
