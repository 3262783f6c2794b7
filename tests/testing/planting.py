"""Registers broken devices, each with the pattern of the cases that must notice it, and makes them from small parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from raxis.ptir import Program
from raxis.ptir.program import Instruction
from tests.testing.loopback import Call, Loopback

FAULTS: dict[str, tuple[type[Loopback], str]] = {}
"""Class and pattern by name."""

MODULES: dict[str, tuple[str, str]] = {}
"""Faults of the plugin's own module: its source and the pattern."""


def fault(pattern: str) -> Callable[[type[Loopback]], type[Loopback]]:
    def register(cls: type[Loopback]) -> type[Loopback]:
        FAULTS[cls.__name__] = (cls, pattern)
        return cls

    return register


def broken_call(name: str, pattern: str) -> Callable[[type[Call]], type[Call]]:
    """Register a device whose executables are of a broken class."""

    def register(cls: type[Call]) -> type[Call]:
        FAULTS[name] = (type(name, (Loopback,), {"call": cls}), pattern)
        return cls

    return register


def wrong_numbers(
    name: str, primitive: str, pattern: str, change: Callable[[np.ndarray, list[Any]], Any]
) -> None:
    """Register a device that changes the first result of programs with a primitive; `change` gets operands too."""

    class Changed(Call):
        def call(self, arguments: list[Any]) -> Any:
            operands = [None if array is None else array.copy() for array in self.operands(arguments)]
            super().call(arguments)
            if self.uses(primitive):
                result = self.results(arguments)[0]
                with np.errstate(all="ignore"):
                    result[...] = change(result, operands)

    broken_call(name, pattern)(Changed)


def rewriting(name: str, pattern: str, change: Callable[[Instruction], Instruction]) -> None:
    """Register a device that runs other instructions than it was given."""

    class Rewriting(Loopback):
        def compile(self, program: Program, *rest: Any, **options: Any) -> Any:
            other = tuple(map(change, program.instructions))
            return super().compile(replace(program, instructions=other), *rest, **options)

    FAULTS[name] = (Rewriting, pattern)


def renamed(old: str, new: str) -> Callable[[Instruction], Instruction]:
    return lambda item: replace(item, primitive=new) if item.primitive == old else item


def with_attribute(
    primitive: str, name: str, change: Callable[[Any], Any]
) -> Callable[[Instruction], Instruction]:
    def changed(item: Instruction) -> Instruction:
        if item.primitive != primitive:
            return item
        return replace(item, attributes={**item.attributes, name: change(item.attributes[name])})

    return changed
