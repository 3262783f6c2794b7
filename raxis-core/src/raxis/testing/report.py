"""Coverage of a device as Markdown and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from raxis import backends, dtypes
from raxis.ptir import PRIMITIVES
from raxis.ptir.types import SHORT_NAMES
from raxis.testing.case import Outcome, Subject, Verdict
from raxis.testing.levels.primitives import LEVEL as PRIMITIVES_LEVEL
from raxis.version import __version__

SCHEMA = 1
"""Version of the JSON report. Members may be added, never removed or changed."""

_SIGNS = {
    Verdict.PASSED: "✓",
    Verdict.DECLINED: "–",
    Verdict.SKIPPED: "·",
    Verdict.EXCLUDED: "x",
    Verdict.FAILED: "**F**",
}


def as_data(subject: Subject, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The report as JSON-like data."""
    return {
        "schema": SCHEMA,
        "raxis": __version__,
        "device": subject.name,
        "name": subject.backend.properties(subject.index).name,
        "distribution": _distribution(subject),
        "totals": totals(outcomes),
        "levels": {level: totals(group) for level, group in _by_level(outcomes).items()},
        "cases": [
            {"id": o.case.id, "verdict": o.verdict.value, "detail": o.detail, "seconds": round(o.seconds, 4)}
            for o in outcomes
        ],
        "speed": subject.notes,
    }


def _distribution(subject: Subject) -> str:
    """The package that serves the device; "" for a backend that is not installed."""
    rows = (
        row for row in backends.list() if row.device == subject.type and row.state is backends.State.READY
    )
    return next((row.distribution for row in rows), "")


def totals(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How many cases had each verdict."""
    counted = Counter(outcome.verdict for outcome in outcomes)
    return {verdict.value: counted[verdict] for verdict in Verdict}


def as_json(subject: Subject, outcomes: Sequence[Outcome]) -> str:
    """The report as a JSON document."""
    return json.dumps(as_data(subject, outcomes), indent=1, ensure_ascii=False) + "\n"


def as_markdown(subject: Subject, outcomes: Sequence[Outcome]) -> str:
    """The report as a page: totals by level, primitives by dtype, what is declined, excluded or failed, and times."""
    name = subject.backend.properties(subject.index).name
    parts = [f"# Conformance of `{subject.name}`\n\n{name}, raxis-core {__version__}\n", _levels(outcomes)]
    parts.append(_primitives(outcomes))
    for verdict in (Verdict.FAILED, Verdict.EXCLUDED, Verdict.DECLINED, Verdict.SKIPPED):
        parts.append(_reasons(verdict, outcomes))
    parts.append(_speed(subject.notes))
    return "\n".join(part for part in parts if part)


def _by_level(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case.level, []).append(outcome)
    return groups


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _levels(outcomes: Sequence[Outcome]) -> str:
    names = [verdict.value for verdict in Verdict]
    rows = [[level, *totals(group).values()] for level, group in _by_level(outcomes).items()]
    return table(["level", *names], [*rows, ["all", *totals(outcomes).values()]])


def _primitives(outcomes: Sequence[Outcome]) -> str:
    verdicts = {
        outcome.case.name: outcome.verdict for outcome in outcomes if outcome.case.level == PRIMITIVES_LEVEL
    }
    if not verdicts:
        return ""
    rows = []
    for name in PRIMITIVES:
        cells = [verdicts.get(f"{name}[{dtype.name}]") for dtype in dtypes.ALL]
        rows.append([f"`{name}`", *("" if cell is None else _SIGNS[cell] for cell in cells)])
    legend = ", ".join(f"{sign} {verdict.value}" for verdict, sign in _SIGNS.items())
    return f"## Primitives\n\n{legend}\n\n" + table(
        ["primitive", *map(SHORT_NAMES.__getitem__, dtypes.ALL)], rows
    )


def _reasons(verdict: Verdict, outcomes: Sequence[Outcome]) -> str:
    rows = [[f"`{o.case.id}`", _one_line(o.detail)] for o in outcomes if o.verdict is verdict]
    return f"## {verdict.value.capitalize()}\n\n" + table(["case", "reason"], rows) if rows else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= 300 else line[:299] + "…"


def _speed(notes: Mapping[str, Mapping[str, float]]) -> str:
    if not notes:
        return ""
    columns = list(next(iter(notes.values())))
    rows = [[f"`{name}`", *figures.values()] for name, figures in notes.items()]
    return "## Speed\n\n" + table(["work", *columns], rows)
