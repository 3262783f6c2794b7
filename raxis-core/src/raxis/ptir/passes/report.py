"""What the passes did: sizes, rules and times; and the program after each, for who wants to look."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from raxis.ptir.program import Program

Dump: TypeAlias = "Callable[[str, Program], None] | str | os.PathLike[str]"
"""Called with a name like ``03-fold`` and the program after each pass that changed it, or a folder for such files."""


class PassRun(NamedTuple):
    """One run of one pass.

    Attributes:
        name: of the pass.
        before: how many instructions the program had.
        after: how many it has.
        rewrites: how often each rule was applied.
        seconds: how long it took.
    """

    name: str
    before: int
    after: int
    rewrites: Mapping[str, int]
    seconds: float


@dataclass
class Report:
    """Every pass that ran, in order.

    Attributes:
        runs: one for each.
        running: the pass that is running now, or that failed.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> from raxis.ptir.passes import optimise
        >>> report = Report()
        >>> _ = optimise(Builder("empty").build([]), report=report)
        >>> report.runs[0].name, report.rewrites
        ('canonicalise', 0)
    """

    runs: list[PassRun] = field(default_factory=list)
    running: str | None = None

    @property
    def rewrites(self) -> int:
        """How many rules were applied in all."""
        return sum(sum(run.rewrites.values()) for run in self.runs)

    @property
    def seconds(self) -> float:
        """How long all passes took."""
        return sum(run.seconds for run in self.runs)

    def __str__(self) -> str:
        lines = [f"{'pass':<16}{'instructions':>16}{'ms':>9}  rewrites"]
        for run in self.runs:
            sizes = f"{run.before} -> {run.after}"
            rules = ", ".join(f"{rule}: {count}" for rule, count in sorted(run.rewrites.items()))
            lines.append(f"{run.name:<16}{sizes:>16}{run.seconds * 1e3:>9.2f}  {rules}".rstrip())
        return "\n".join(lines)


def writer(dump: Dump) -> Callable[[str, Program], None]:
    """`dump` as a function; a folder is made, and gets one text file per call."""
    if callable(dump):
        return dump
    folder = Path(dump)
    folder.mkdir(parents=True, exist_ok=True)

    def write(name: str, program: Program) -> None:
        (folder / f"{name}.ptir").write_text(program.text(), encoding="utf-8")

    return write
