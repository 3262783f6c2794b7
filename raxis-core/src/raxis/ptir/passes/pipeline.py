"""The table of passes, the order in which they run, and `optimise`, which runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from time import perf_counter
from typing import TypeAlias

from raxis.ptir.passes.algebra import ALGEBRA, STRENGTH
from raxis.ptir.passes.canonical import CANONICALISE
from raxis.ptir.passes.contraction import TRANSPOSES
from raxis.ptir.passes.elimination import CSE, DCE
from raxis.ptir.passes.folding import FOLD
from raxis.ptir.passes.layout import LAYOUT
from raxis.ptir.passes.patterns import Pattern, recognition
from raxis.ptir.passes.record import BackendPasses, Context, Pass
from raxis.ptir.passes.rematerialisation import rematerialisation
from raxis.ptir.passes.report import Dump, PassRun, Report, writer
from raxis.ptir.passes.scaling import SCALING
from raxis.ptir.program import Program
from raxis.ptir.verifier import verify as verify_program

Pipeline: TypeAlias = "Sequence[Pass | tuple[Pass, ...]]"
"""Passes in order; those in a tuple are repeated until none of them finds anything."""

PASSES: tuple[Pass, ...] = (CANONICALISE, ALGEBRA, FOLD, CSE, DCE, LAYOUT, TRANSPOSES, STRENGTH, SCALING)
"""Every pass of core's, in the order of their first run."""

ROUNDS = 4
"""How often passes are repeated at most; two rounds are usual."""

SIMPLIFY: tuple[Pass, ...] = (CANONICALISE, ALGEBRA, FOLD, CSE)
"""What is repeated, since each may give the others something to do."""


NORMALISE: Pipeline = (SIMPLIFY, DCE, LAYOUT, TRANSPOSES, DCE, SIMPLIFY)
"""What brings programs, and the patterns looked for in them, into one form."""


def pipeline(backend: BackendPasses | None = None, patterns: Sequence[Pattern] = ()) -> Pipeline:
    """The default passes, with a backend's own at their stages, and the composites it claims recognised."""
    own = backend or {}
    return (
        *own.get("legalise", ()),
        *NORMALISE,
        *((DCE, recognition(patterns)) if patterns else ()),
        STRENGTH,
        SCALING,
        SIMPLIFY,
        DCE,
        *own.get("fuse", ()),
        *own.get("cleanup", ()),
        DCE,
    )


def optimise(
    program: Program,
    *,
    passes: Pipeline | None = None,
    fast_math: bool = False,
    frozen: Collection[int] = (),
    memory_budget: int | None = None,
    verify: bool = False,
    report: Report | None = None,
    dump: Dump | None = None,
) -> Program:
    """`program` after all passes; it has the same parameters, and results of the same types.

    Args:
        program: what to improve.
        passes: which passes, in which order; default: `pipeline()`.
        fast_math: permit rules that lose NaN, infinities, the sign of zero, or digits.
        frozen: positions of parameters whose values do not change between calls, such as weights in inference.
        memory_budget: bytes that temporaries shall take at most, as far as recomputing cheap values brings them there.
        verify: check the program after each pass.
        report: gets one row for each pass that ran.
        dump: a folder for the program after each pass that changed it, or a function of a name and that program.

    Raises:
        VerificationError: if `verify` is true and a pass made an invalid program.

    Example:
        >>> from raxis.ptir import parse
        >>> program = parse('''ptir 1.0
        ... program "p"(%0: f32[4]) {
        ...   %1 = constant() {dtype=f32, shape=[4], value=0x1.0000000000000p+0} : f32[4]
        ...   %2 = mul(%1, %0) : f32[4]
        ...   return %2
        ... }''')
        >>> len(optimise(program).instructions)
        0
    """
    last = () if memory_budget is None else (rematerialisation(memory_budget),)
    steps = (*(pipeline() if passes is None else passes), *last)
    runner = _Runner(Context(fast_math, frozenset(frozen)), verify, report, dump)
    for step in steps:
        program = runner.repeat(step, program) if isinstance(step, tuple) else runner.run(step, program)
    return program


class _Runner:
    """Runs passes, writes down what they did, and leaves out what is known to find nothing."""

    def __init__(self, context: Context, verify: bool, report: Report | None, dump: Dump | None) -> None:
        self._context = context
        self._verify = verify
        self._report = Report() if report is None else report
        self._write = None if dump is None else writer(dump)
        self._settled: dict[Pass, Program] = {}

    def repeat(self, passes: tuple[Pass, ...], program: Program) -> Program:
        """Run passes until none of them finds anything."""
        for _ in range(ROUNDS):
            before = program
            for each in passes:
                program = self.run(each, program)
            if program is before:
                break
        return program

    def run(self, each: Pass, program: Program) -> Program:
        """Run one pass, unless it has seen this program and found nothing."""
        if self._settled.get(each) is program:
            return program
        self._context.rewrites = Counter()
        self._report.running = each.name
        start = perf_counter()
        made = each.run(program, self._context)
        seconds = perf_counter() - start
        sizes = len(program.instructions), len(made.instructions)
        self._report.runs.append(PassRun(each.name, *sizes, dict(self._context.rewrites), seconds))
        if made is program:
            self._settled[each] = program
        elif self._write is not None:
            self._write(f"{len(self._report.runs):02}-{each.name}", made)
        if self._verify:
            verify_program(made)
        self._report.running = None
        return made
