"""The text form of programs: lossless, ``parse(to_text(program)) == program``.

::

    ptir 1.0
    program "scale"(%0: f32[2,3], %1 "factor": scalar f32[]) {
      %2 = broadcast(%1) {dims=[], shape=[2, 3]} : f32[2,3]
      %3 = mul(%0, %2) : f32[2,3]
      return %3
    }

Regions follow their instruction's types as ``region(parameters) { ... }``. Value ids start at 0 in the program
and in every region. Floats are hexadecimal, so none loses a bit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raxis.dtypes import DType
from raxis.ptir.attributes import float_text
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.types import SHORT_NAMES

VERSION = (1, 0)
"""Major and minor version of the text form and of the table of primitives."""

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
    scope = _Scope()
    parameters = ", ".join(_parameter_text(parameter, scope) for parameter in program.parameters)
    attributes = f" with {_attributes_text(program.attributes)}" if program.attributes else ""
    lines = [
        f"ptir {VERSION[0]}.{VERSION[1]}",
        f"program {json.dumps(program.name)}({parameters}){attributes} {{",
    ]
    lines += _body_lines(program.instructions, program.results, scope)
    return "\n".join([*lines, "}", ""])


class _Scope:
    """Numbers the values of one function in order of their definition."""

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}

    def __call__(self, value: Value) -> str:
        return f"%{self._numbers.setdefault(value, len(self._numbers))}"

    def all(self, values: Sequence[Value]) -> str:
        return ", ".join(map(self, values))


def _parameter_text(parameter: Parameter, scope: _Scope) -> str:
    name = "" if parameter.name is None else f" {json.dumps(parameter.name)}"
    kind = "scalar " if parameter.by_value else ""
    return f"{scope(parameter)}{name}: {kind}{parameter.type}"


def _body_lines(
    instructions: Sequence[Instruction], results: Sequence[Value], scope: _Scope
) -> Iterator[str]:
    for instruction in instructions:
        yield from (f"  {line}" for line in _instruction_lines(instruction, scope))
    yield f"  return {scope.all(results)}".rstrip()


def _instruction_lines(instruction: Instruction, scope: _Scope) -> Iterator[str]:
    operands = scope.all(instruction.operands)
    results = f"{scope.all(instruction.results)} = " if instruction.results else ""
    attributes = f" {_attributes_text(instruction.attributes)}" if instruction.attributes else ""
    types = ", ".join(str(value.type) for value in instruction.results)
    yield f"{results}{instruction.primitive}({operands}){attributes} : {types}".rstrip()
    for region in instruction.regions:
        yield from (f"  {line}" for line in _region_lines(region))


def _region_lines(region: Region) -> Iterator[str]:
    scope = _Scope()
    yield f"region({', '.join(f'{scope(value)}: {value.type}' for value in region.parameters)}) {{"
    yield from _body_lines(region.instructions, region.results, scope)
    yield "}"


def _attributes_text(attributes: Mapping[str, Any]) -> str:
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
