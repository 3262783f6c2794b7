"""What a pass is, and what it is given besides the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from raxis.ptir.program import Program

Stage: TypeAlias = Literal["legalise", "fuse", "cleanup"]
"""Where a backend's own passes run: before core's rewrites, after them, and last."""

STAGES: tuple[Stage, ...] = ("legalise", "fuse", "cleanup")


@dataclass
class Context:
    """What the passes of one `optimise` share.

    Attributes:
        fast_math: whether rewrites may lose NaN, infinities, the sign of zero, or digits.
        frozen: positions of parameters whose values do not change between calls.
        rewrites: how often each rule of the pass at hand was applied.
    """

    fast_math: bool = False
    frozen: frozenset[int] = frozenset()
    rewrites: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Pass:
    """One rewriting of whole programs.

    Attributes:
        name: how reports and dumps name it.
        summary: what it does, in one line.
        run: the rewriting; it gives the program itself when there is nothing to do, and changes neither
            parameters nor the types of results.
        exact: whether results stay the same, bit for bit but for the payload of NaN, when `Context.fast_math` is off.
            Others may round differently; none loses NaN, infinities or the sign of zero.
    """

    name: str
    summary: str
    run: Callable[[Program, Context], Program]
    exact: bool = True


BackendPasses: TypeAlias = Mapping[Stage, Sequence[Pass]]
"""The passes a backend or plugin adds, by stage."""
