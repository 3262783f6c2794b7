"""The text form of programs: lossless, ``parse(to_text(program)) == program``.

::

    ptir 1.0
    program "scale"(%0: f32[2,3], %1 "factor": scalar f32[]) {
      %2 = broadcast(%1) {dims=[], shape=[2, 3]} : f32[2,3]
      %3 = mul(%0, %2) : f32[2,3]
      return %3
    }

Regions follow their instruction's types as ``region(parameters) { ... }``. Value ids start at 0 in the program
and in every region. Floats are hexadecimal, so none loses a bit. A parameter with a stable identity shows it after
its name: ``%0 "weight" @a962c72e0d59ef7a13ff91bdee235d58: f32[2]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raxis.dtypes import DType
from raxis.ptir.attributes import float_text
from raxis.ptir.program import Instruction, Numbering, Parameter, Program, Region, Value
from raxis.ptir.types import SHORT_NAMES
from raxis.ptir.version import VERSION

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def to_text(program: Program) -> str:
    """The text of a program.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> print(to_text(Builder("empty").build([])), end="")
        ptir 1.0
        program "empty"() {
          return
        }
    """
    return "\n".join([*program_lines(program, Names()), ""])


def program_lines(program: Program, names: Names) -> Iterator[str]:
    """The lines of the text, with values called as `names` says."""
    parameters = ", ".join(_parameter_text(parameter, names) for parameter in program.parameters)
    attributes = f" with {attributes_text(program.attributes)}" if program.attributes else ""
    yield f"ptir {VERSION[0]}.{VERSION[1]}"
    yield f"program {json.dumps(program.name)}({parameters}){attributes} {{"
    yield from _body_lines(program.instructions, program.results, names)
    yield "}"


class Names:
    """What the values of one function are called: their numbers."""

    def __init__(self) -> None:
        self._number = Numbering()

    def __call__(self, value: Value) -> str:
        """The name of one value."""
        return f"%{self._number(value)}"

    def all(self, values: Sequence[Value]) -> str:
        """The names of values, separated by commas."""
        return ", ".join(map(self, values))

    def inner(self) -> Names:
        """The names in a region, another function."""
        return Names()


def _parameter_text(parameter: Parameter, names: Names) -> str:
    name = "" if parameter.name is None else f" {json.dumps(parameter.name)}"
    stable_id = "" if parameter.stable_id is None else f" @{parameter.stable_id:032x}"
    kind = "scalar " if parameter.by_value else ""
    return f"{names(parameter)}{name}{stable_id}: {kind}{parameter.type}"


def _body_lines(instructions: Sequence[Instruction], results: Sequence[Value], names: Names) -> Iterator[str]:
    for instruction in instructions:
        yield from (f"  {line}" for line in instruction_lines(instruction, names))
    yield f"  return {names.all(results)}".rstrip()


def instruction_lines(instruction: Instruction, names: Names) -> Iterator[str]:
    """The lines of one instruction, with values called as `names` says."""
    operands = names.all(instruction.operands)
    results = f"{names.all(instruction.results)} = " if instruction.results else ""
    attributes = f" {attributes_text(instruction.attributes)}" if instruction.attributes else ""
    types = ", ".join(str(value.type) for value in instruction.results)
    yield f"{results}{instruction.primitive}({operands}){attributes} : {types}".rstrip()
    for region in instruction.regions:
        yield from (f"  {line}" for line in _region_lines(region, names.inner()))


def _region_lines(region: Region, names: Names) -> Iterator[str]:
    yield f"region({', '.join(_parameter_text(parameter, names) for parameter in region.parameters)}) {{"
    yield from _body_lines(region.instructions, region.results, names)
    yield "}"


def attributes_text(attributes: Mapping[str, Any]) -> str:
    """Attributes in braces."""
    entries = (f"{_key_text(name)}={_attribute_text(value)}" for name, value in attributes.items())
    return "{" + ", ".join(entries) + "}"


def _key_text(name: str) -> str:
    return name if _NAME.fullmatch(name) and name not in {"inf", "nan"} else json.dumps(name)


def _attribute_text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_attribute_text, value))}]"
    if isinstance(value, DType):
        return SHORT_NAMES[value]
    if isinstance(value, complex):
        return f"complex({float_text(value.real)}, {float_text(value.imag)})"
    if isinstance(value, float):
        return float_text(value)
    return json.dumps(value)
