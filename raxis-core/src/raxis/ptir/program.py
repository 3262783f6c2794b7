"""Portable programs: instructions in static single assignment form over explicitly typed values."""

from __future__ import annotations

import os
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
    """A value given by the caller; a Python number when `by_value`, which needs rank 0.

    `stable_id` identifies a model's parameter across programs and processes (see `raxis.ptir.identity`).
    """

    by_value: bool = False
    name: str | None = None
    stable_id: int | None = None


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
    """A function inside an instruction. It sees its own parameters only, never values around it.

    A by-value parameter of a composite's region stands for a number, which a kernel of the whole may take as such.
    """

    parameters: tuple[Parameter, ...]
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

    @cached_property
    def key(self) -> Hashable:
        """The canonical structure, as nested tuples: equal exactly for regions that compute the same alike."""
        return _body_key(self.parameters, self.instructions, self.results)


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
        body = _body_key(self.parameters, self.instructions, self.results)
        return self.name, body, attributes_key(self.attributes)

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

    def to_json(self) -> str:
        """The lossless JSON form (see `raxis.ptir.json_form`)."""
        from raxis.ptir.json_form import to_json

        return to_json(self)

    def to_bytes(self) -> bytes:
        """The lossless binary form (see `raxis.ptir.binary_form`)."""
        from raxis.ptir.binary_form import to_bytes

        return to_bytes(self)

    @staticmethod
    def from_json(text: str) -> Program:
        """The program of a JSON document; malformed or invalid ones are refused as by `raxis.ptir.parse`."""
        from raxis.ptir.json_form import from_json

        return from_json(text)

    @staticmethod
    def from_bytes(data: bytes) -> Program:
        """The program of a binary form; malformed or invalid ones are refused as by `raxis.ptir.parse`."""
        from raxis.ptir.binary_form import from_bytes

        return from_bytes(data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file in the form that its suffix says (see `raxis.ptir.files`)."""
        from raxis.ptir.files import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Program:
        """Read and verify a file in the form that its suffix says (see `raxis.ptir.files`)."""
        from raxis.ptir.files import load

        return load(path)


class Numbering:
    """Numbers the values of one function from 0, in the order in which it meets them: that of their definition."""

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}

    def __call__(self, value: Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def _body_key(
    parameters: tuple[Parameter, ...], instructions: tuple[Instruction, ...], results: tuple[Value, ...]
) -> Hashable:
    number = Numbering()
    return (
        tuple((number(p), p.type, p.by_value, p.name, p.stable_id) for p in parameters),
        tuple(_instruction_key(instruction, number) for instruction in instructions),
        tuple(number(value) for value in results),
    )


def _instruction_key(instruction: Instruction, number: Callable[[Value], int]) -> Hashable:
    return (
        instruction.primitive,
        tuple(number(value) for value in instruction.operands),
        attributes_key(instruction.attributes),
        tuple((number(value), value.type) for value in instruction.results),
        tuple(region.key for region in instruction.regions),
    )
