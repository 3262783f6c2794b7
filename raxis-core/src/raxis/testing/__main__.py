"""``python -m raxis.testing --device foo [--report foo.md]``: the kit without pytest; exit status 1 if it fails."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from raxis.testing import exclusions, report, running
from raxis.testing.case import Outcome, Subject, Verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    subject = Subject(chosen.device)
    unknown = sorted(set(chosen.level or ()) - set(running.LEVELS))
    if unknown:
        parser.error(f"unknown levels: {', '.join(unknown)}; there are {', '.join(running.LEVELS)}.")
    cases = running.collect(chosen.level or running.LEVELS, chosen.cases)
    whole = chosen.cases == "*" and not chosen.level
    rules = exclusions.read(chosen.pyproject or exclusions.nearest_pyproject(Path.cwd()))
    used = rules if whole else [rule for rule in rules if any(map(rule.matches, cases))]
    outcomes = []
    for outcome in running.run(subject, cases, used):
        outcomes.append(outcome)
        _show(outcome, chosen.verbose)
    for path in chosen.report or ():
        _write(path, subject, outcomes)
    counted = report.totals(outcomes)
    print(f"{subject.name}: {', '.join(f'{count} {verdict}' for verdict, count in counted.items() if count)}")
    return 1 if counted[Verdict.FAILED.value] or not outcomes else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m raxis.testing", description="Check a device of raxis.")
    parser.add_argument("--device", required=True, help="the device, such as foo or foo:1")
    parser.add_argument("--level", action="append", help=f"a part of the kit: {', '.join(running.LEVELS)}")
    parser.add_argument("--cases", default="*", help="a shell pattern over ids of cases, such as 'storage/*'")
    parser.add_argument("--report", action="append", type=Path, help="write a report: name.md or name.json")
    parser.add_argument("--pyproject", type=Path, help="the file with the exclusions; default: the nearest")
    parser.add_argument("--verbose", action="store_true", help="show every case")
    return parser


def _show(outcome: Outcome, verbose: bool) -> None:
    if verbose or outcome.verdict is Verdict.FAILED:
        print(f"{outcome.verdict.value:9}{outcome.case.id}  {outcome.detail}".rstrip(), flush=True)


def _write(path: Path, subject: Subject, outcomes: Sequence[Outcome]) -> None:
    render = report.as_json if path.suffix == ".json" else report.as_markdown
    path.write_text(render(subject, outcomes), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
