"""Collects the cases for a device and runs them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

from raxis.testing.case import Case, Declined, Outcome, Skipped, Subject, Verdict
from raxis.testing.exclusions import Exclusion
from raxis.testing.levels import (
    behaviour,
    interop,
    optional_dtypes,
    packaging,
    primitives,
    programs,
    speed,
    storage,
    tensors,
)

Level = Callable[[], Iterable[Case]]

LEVELS: Mapping[str, Level] = {
    packaging.LEVEL: packaging.cases,
    storage.LEVEL: storage.cases,
    programs.LEVEL: programs.cases,
    primitives.LEVEL: primitives.cases,
    tensors.COMPOSITES: tensors.composites,
    tensors.AUTOGRAD: tensors.autograd,
    tensors.TRAINING: tensors.training,
    tensors.COMPILE: tensors.compiling,
    interop.LEVEL: interop.cases,
    behaviour.LEVEL: behaviour.cases,
    optional_dtypes.LEVEL: optional_dtypes.cases,
    speed.LEVEL: speed.cases,
}
"""The parts of the kit, in the order in which a backend is best brought up."""


def collect(levels: Iterable[str] = LEVELS, pattern: str = "*") -> list[Case]:
    """The cases of some levels whose ids match a shell pattern."""
    return [case for level in levels for case in LEVELS[level]() if fnmatchcase(case.id, pattern)]


def run_case(case: Case, subject: Subject, exclusion: Exclusion | None = None) -> Outcome:
    """What becomes of a case; one that is excluded and passes fails, so that exclusions do not outlive their reason."""
    start = time.perf_counter()
    verdict, detail = _verdict(case, subject)
    seconds = time.perf_counter() - start
    if exclusion is None:
        return Outcome(case, verdict, detail, seconds)
    if verdict is Verdict.FAILED:
        return Outcome(case, Verdict.EXCLUDED, exclusion.reason, seconds)
    text = (
        f"it is excluded ({exclusion.reason}), but {verdict.value}; remove the exclusion {exclusion.case!r}."
    )
    return Outcome(case, Verdict.FAILED, text, seconds)


def _verdict(case: Case, subject: Subject) -> tuple[Verdict, str]:
    try:
        case.check(subject)
    except Declined as reason:
        return Verdict.DECLINED, str(reason)
    except Skipped as reason:
        return Verdict.SKIPPED, str(reason)
    except (Exception, SystemExit) as error:
        return Verdict.FAILED, f"{type(error).__name__}: {error}"
    return Verdict.PASSED, ""


def run(subject: Subject, cases: Iterable[Case], exclusions: Iterable[Exclusion] = ()) -> Iterator[Outcome]:
    """Run cases one after another; then, a failure for every exclusion that matched none of them."""
    rules, used = list(exclusions), set()
    for case in cases:
        matching = next((rule for rule in rules if rule.matches(case)), None)
        used.add(matching)
        yield run_case(case, subject, matching)
    for rule in rules:
        if rule not in used:
            yield unmatched(rule)


def unmatched(rule: Exclusion) -> Outcome:
    """The failure of an exclusion that matches no case."""

    def check(_: Subject) -> None:
        raise LookupError(f"the exclusion {rule.case!r} matches no case; remove it.")

    case = Case("exclusions", rule.case, check)
    return Outcome(case, Verdict.FAILED, f"the exclusion {rule.case!r} matches no case; remove it.")
