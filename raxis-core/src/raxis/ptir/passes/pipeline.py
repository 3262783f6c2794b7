"""The table of passes, the order in which they run, and `optimise`, which runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
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


NORMALISE: Pipeline = (SIMPLIFY, DCE, LAYOUT, TRANSPOSES, SIMPLIFY, DCE)
"""What brings programs, and the patterns looked for in them, into one form."""


def pipeline(backend: BackendPasses | None = None, patterns: Sequence[Pattern] = ()) -> Pipeline:
    """The default passes, with a backend's own at their stages, and the composites it claims recognised."""
    own = backend or {}
    return (
        *own.get("legalise", ()),
        *NORMALISE,
        *((recognition(patterns),) if patterns else ()),
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
    context = Context(fast_math, frozenset(frozen))
    write = None if dump is None else writer(dump)
    rows = Report() if report is None else report
    last = () if memory_budget is None else (rematerialisation(memory_budget),)
    for step in _steps((*(pipeline() if passes is None else passes), *last)):
        rounds = 1 if len(step) == 1 else ROUNDS
        for _ in range(rounds):
            before = program
            for each in step:
                program = _run(each, program, context, rows, verify)
                if write is not None and rows.runs[-1].rewrites:
                    write(f"{len(rows.runs):02}-{each.name}", program)
            if program is before:
                break
    return program


def _steps(passes: Pipeline) -> Iterator[tuple[Pass, ...]]:
    for step in passes:
        yield step if isinstance(step, tuple) else (step,)


def _run(each: Pass, program: Program, context: Context, report: Report, verify: bool) -> Program:
    context.rewrites = Counter()
    start = perf_counter()
    made = each.run(program, context)
    seconds = perf_counter() - start
    sizes = len(program.instructions), len(made.instructions)
    report.runs.append(PassRun(each.name, *sizes, dict(context.rewrites), seconds))
    if verify:
        verify_program(made)
    return made
