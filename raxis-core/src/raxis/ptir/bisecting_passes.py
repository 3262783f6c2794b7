"""Finds the pass that changes what a program computes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raxis.backends.reference.backend import ReferenceBackend
from raxis.ptir.bisecting import spreads
from raxis.ptir.comparing import Mismatch, Tolerance
from raxis.ptir.passes import optimise
from raxis.ptir.program import Program
from raxis.ptir.running import checked_inputs, run_on

if TYPE_CHECKING:
    from raxis.ptir.passes.pipeline import Pipeline


@dataclass(frozen=True)
class PassFinding:
    """What `bisect_passes` found.

    Attributes:
        name: the pass, with its number among those that ran.
        before: the last program that computes the same as the first.
        after: what the pass made of it.
        mismatch: the largest difference of a result.
        result: which result it is.
        files: where both programs and the inputs are saved.
    """

    name: str
    before: Program
    after: Program
    mismatch: Mismatch
    result: int
    files: tuple[Path, ...]

    def __str__(self) -> str:
        return (
            f"Pass {self.name} changes what program {self.before.name!r} computes.\n"
            f"  result      {self.mismatch} (result {self.result})\n"
            f"  reproducer  {', '.join(map(str, self.files))}"
        )


def bisect_passes(
    program: Program,
    inputs: Sequence[Any],
    passes: Pipeline | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    folder: str | Path | None = None,
) -> PassFinding | None:
    """The first pass after which the reference gives other results; None if no pass changes them.

    Args:
        program: what the passes begin with.
        inputs: an array, or a number, for every parameter.
        passes: which passes; default: core's.
        rtol: as for `raxis.ptir.bisect`.
        atol: likewise.
        folder: where programs and inputs are saved; default: a new folder among the system's temporary ones.

    Example:
        >>> import raxis
        >>> from raxis.ptir import capture
        >>> program = capture(lambda x: x * 1 + 0, raxis.ones(3))
        >>> bisect_passes(program, [np.ones(3, np.float32)]) is None
        True
    """
    arrays = checked_inputs(program, inputs)
    steps: list[tuple[str, Program]] = [("as given", program)]
    optimise(program, passes=passes, dump=lambda name, made: steps.append((name, made)))
    expected = run_on(ReferenceBackend(), 0, program, arrays)
    spread = spreads(program, arrays, expected)
    tolerance = Tolerance(rtol, atol)
    for (_, before), (name, after) in pairwise(steps):
        given = run_on(ReferenceBackend(), 0, after, arrays)
        for at, value in enumerate(program.results):
            dtype, allowed = value.type.dtype, spread[value]
            mismatch = tolerance.mismatch(dtype, expected[at], given[at], spread=allowed)
            if mismatch is not None:
                return PassFinding(name, before, after, mismatch, at, _save(before, after, arrays, folder))
    return None


def _save(
    before: Program, after: Program, inputs: Sequence[np.ndarray], folder: str | Path | None
) -> tuple[Path, ...]:
    target = Path(tempfile.mkdtemp(prefix="raxis-bisect-") if folder is None else folder)
    target.mkdir(parents=True, exist_ok=True)
    files = target / "before.ptir", target / "after.ptir", target / "inputs.npz"
    before.save(files[0])
    after.save(files[1])
    arrays: dict[str, Any] = {str(at): array for at, array in enumerate(inputs)}
    np.savez(files[2], **arrays)
    return files
