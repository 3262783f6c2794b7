"""A call of a routine: the instruction, and where its operands and results lie."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from raxis.codegen.launching import Launch
from raxis.codegen.rendered import Numbers, Rendered, assembled, memory_types
from raxis.ptir.program import Instruction
from raxis.schedule import Buffer

if TYPE_CHECKING:
    from raxis.codegen.backend import KernelBackend


class Call(NamedTuple):
    """An instruction, the memory of operands and results by number, and how these lie."""

    backend: KernelBackend
    instruction: Instruction
    slots: tuple[int, ...]
    buffers: Sequence[Buffer]

    def launch(
        self, name: str, numbers: Numbers, body: Sequence[str], work_items: int, *, grouped: bool = False
    ) -> Launch:
        """The launch of a kernel whose slots are the call's operands and results in order."""
        dialect = self.backend.dialect
        types = memory_types([buffer.dtype for buffer in self.buffers])
        source = assembled(dialect, f"raxis_{name}", types, numbers, body)
        rendered = Rendered(f"raxis_{name}", source, tuple(numbers.entries), work_items, grouped)
        return Launch(self.backend, rendered, self.slots)


def decoded(numbers: Numbers, flat: str, sizes: Sequence[int]) -> tuple[list[str], list[str]]:
    """Lines that split a flat position, and the indices they make."""
    names = [f"{flat}{place}" for place in range(len(sizes))]
    if len(sizes) <= 1:
        return [f"const i64 {name} = {flat};" for name in names], names
    type = "u32" if prod(sizes) < 1 << 31 else "i64"
    lines = [f"{type} {flat}_rest = ({type}){flat};"]
    for name, size in reversed(list(zip(names[1:], sizes[1:], strict=True))):
        value = f"({type}){numbers.value(size)}"
        lines += [f"const i64 {name} = {flat}_rest % {value};", f"{flat}_rest /= {value};"]
    return [*lines, f"const i64 {names[0]} = {flat}_rest;"], names


def without(items: Sequence[int], dim: int) -> list[int]:
    """All items but the one of a dim."""
    return [item for place, item in enumerate(items) if place != dim]
