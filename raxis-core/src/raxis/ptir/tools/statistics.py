"""What a program consists of and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from raxis.ptir.passes.cost import Cost, cost
from raxis.ptir.program import Instruction, Program

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Statistics(NamedTuple):
    """Counts over the whole program.

    Attributes:
        parameters: how many parameters there are.
        by_value: how many of them are Python numbers.
        identified: how many of them have a stable identity.
        results: how many results there are.
        primitives: how many instructions of each primitive there are, in regions too.
        depth: how many regions lie inside each other.
        cost: operations, bytes and kernels.
    """

    parameters: int
    by_value: int
    identified: int
    results: int
    primitives: Counter[str]
    depth: int
    cost: Cost

    def __str__(self) -> str:
        estimate = self.cost
        rows = {
            "parameters": f"{self.parameters} ({self.by_value} by value, {self.identified} identified), "
            f"{_size(estimate.parameter_bytes)}",
            "results": f"{self.results}, {_size(estimate.result_bytes)}",
            "instructions": f"{self.primitives.total()}, regions up to {self.depth} deep",
            "operations": f"{estimate.operations:,}",
            "kernels": f"{estimate.kernels}, reading {_size(estimate.bytes_read)}, "
            f"writing {_size(estimate.bytes_written)}",
            "temporaries": f"{_size(estimate.peak_bytes)} at most",
        }
        lines = [f"{name:<14}{text}" for name, text in rows.items()]
        lines += [f"  {name:<16}{count:>5}" for name, count in self.primitives.most_common()]
        return "\n".join(lines)


def statistics(program: Program) -> Statistics:
    """The statistics of a program.

    Example:
        >>> from raxis.ptir import parse
        >>> statistics(parse('''ptir 1.0
        ... program "p"(%0: f32[2]) {
        ...   %1 = exp(%0) : f32[2]
        ...   return %1
        ... }''')).primitives
        Counter({'exp': 1})
    """
    return Statistics(
        parameters=len(program.parameters),
        by_value=sum(parameter.by_value for parameter in program.parameters),
        identified=sum(parameter.stable_id is not None for parameter in program.parameters),
        results=len(program.results),
        primitives=Counter(item.primitive for item in _all(program.instructions)),
        depth=_depth(program.instructions),
        cost=cost(program),
    )


def _all(instructions: Sequence[Instruction]) -> Iterator[Instruction]:
    for instruction in instructions:
        yield instruction
        for region in instruction.regions:
            yield from _all(region.instructions)


def _depth(instructions: Sequence[Instruction]) -> int:
    inside = [region.instructions for instruction in instructions for region in instruction.regions]
    return 1 + max(map(_depth, inside)) if inside else 0


def _size(nbytes: float) -> str:
    for unit in _UNITS:
        if nbytes < 1024 or unit == _UNITS[-1]:
            break
        nbytes /= 1024
    return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
