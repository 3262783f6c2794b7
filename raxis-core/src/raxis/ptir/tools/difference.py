"""What differs between two programs, as a unified diff of their texts in which equal values have equal names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import TypeVar

from raxis.ptir.attributes import attributes_key
from raxis.ptir.program import Instruction, Numbering, Parameter, Program, Region, Value
from raxis.ptir.text import Names, program_lines

_T = TypeVar("_T")

CONTEXT = 3
"""Lines shown around a difference."""


def difference(first: Program, second: Program) -> list[str]:
    """Lines of a unified diff from `first` to `second`; none if the programs are equal.

    Instructions are matched by primitive, attributes and types. In the lines of `second`, the value of a matched
    instruction is called as in `first`, any other ``%+n``, so a line that was only renumbered is no difference.

    Example:
        >>> from raxis.ptir import parse
        >>> text = '''ptir 1.0
        ... program "p"(%0: f32[2]) {
        ...   %1 = exp(%0) : f32[2]
        ...   return %1
        ... }'''
        >>> print(*difference(parse(text), parse(text.replace("exp", "log")))[3:], sep=chr(10))
         ptir 1.0
         program "p"(%0: f32[2]) {
        -  %1 = exp(%0) : f32[2]
        -  return %1
        +  %+1 = log(%0) : f32[2]
        +  return %+1
         }
    """
    if first == second:
        return []
    old, new = _Given(), _Given()
    _number(old, _whole(first), "")
    _number(new, _whole(second), "+")
    _match(old, new, _whole(first), _whole(second))
    before, after = list(program_lines(first, old)), list(program_lines(second, new))
    return list(unified_diff(before, after, "first", "second", n=CONTEXT, lineterm=""))


class _Given(Names):
    """Names given in advance, in all regions."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[Value, str] = {}

    def __call__(self, value: Value) -> str:
        return self.given[value]

    def inner(self) -> Names:
        return self


def _whole(program: Program) -> Region:
    return Region(program.parameters, program.instructions, program.results)


def _match(old: _Given, new: _Given, first: Region, second: Region) -> None:
    """Give matched values of two functions the same names."""
    for one, other in _pairs(first.parameters, second.parameters, _parameter_key):
        new.given[other] = old.given[one]
    for here, there in _pairs(first.instructions, second.instructions, _instruction_key):
        new.given.update(zip(there.results, map(old, here.results), strict=True))
        for region, counterpart in zip(here.regions, there.regions, strict=True):
            _match(old, new, region, counterpart)


def _number(names: _Given, function: Region, mark: str) -> None:
    """Name all values by their numbers, with a mark."""
    number = Numbering()
    for parameter in function.parameters:
        names.given[parameter] = f"%{mark}{number(parameter)}"
    for instruction in function.instructions:
        for value in instruction.results:
            names.given[value] = f"%{mark}{number(value)}"
        for region in instruction.regions:
            _number(names, region, mark)


def _pairs(
    first: Sequence[_T], second: Sequence[_T], key: Callable[[_T], Hashable]
) -> Iterator[tuple[_T, _T]]:
    """Items with equal keys, in an order common to both sequences."""
    matcher = SequenceMatcher(
        None, [key(item) for item in first], [key(item) for item in second], autojunk=False
    )
    for start, other_start, count in matcher.get_matching_blocks():
        yield from zip(first[start : start + count], second[other_start : other_start + count], strict=True)


def _parameter_key(parameter: Parameter) -> Hashable:
    return parameter.type, parameter.by_value, parameter.name, parameter.stable_id


def _instruction_key(instruction: Instruction) -> Hashable:
    types = [tuple(value.type for value in values) for values in (instruction.operands, instruction.results)]
    return instruction.primitive, attributes_key(instruction.attributes), *types, len(instruction.regions)
