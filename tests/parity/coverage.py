"""How much of torch's operator database raxis covers: ``python -m tests.parity.coverage``.

``--write`` runs the database (half an hour of one core; ``--only 'linalg.*'`` runs a part and keeps the other results)
and writes `docs/coverage.json` and `docs/coverage.md`; ``--check`` tells, without running ops, whether they are stale.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch

from tests.parity import coverage_page
from tests.parity.catalogue import ENTRIES, function_of
from tests.parity.holes import holes_of
from tests.parity.opinfo import Case, cases

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "coverage.json"
PAGE = ROOT / "docs" / "coverage.md"

ASPECTS = ("values", "gradients", "errors", "out", "inplace")
DTYPES = (
    torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool, torch.float16, torch.bfloat16,
    torch.complex64,
)  # fmt: skip
SAMPLES = 16
"""Samples per case, taken evenly from all that torch gives."""
LEFT_OUT = ("torch.*", "_*", "*sparse*", "*quantized*", "jiterator_*")
"""Patterns of entries that are no part of PyTorch's public, dense, device-independent API."""
OPERATORS = "__*__*"
"""Python's operators, which are public although their names begin like internal ones."""


def keys() -> list[str]:
    """The entries of the database that count, by ``name:variant``."""
    return sorted(key for key in ENTRIES if fnmatch(key, OPERATORS) or not _is_left_out(key))


def _is_left_out(key: str) -> bool:
    return any(fnmatch(key, pattern) for pattern in LEFT_OUT)


@dataclass
class Cell:
    """What came of the samples of one case: how many passed of how many, and why others did not."""

    passed: int = 0
    total: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)

    def as_json(self) -> list[Any]:
        """``[passed, total]``, and the reasons if there are any."""
        reasons = sorted({*self.reasons, *(["unexplained"] if self.unexplained else [])})
        return [self.passed, self.total, *([reasons] if reasons else [])]


def measure(key: str) -> dict[str, Cell] | None:
    """The cells of one entry by aspect (and dtype, for values); None if raxis has no such function."""
    if not is_present(key):
        return None
    return {_label(case): cell_of(case) for case in _cases(key)}


def is_present(key: str) -> bool:
    """Whether raxis has the function; what it lacks inside torch's lambdas is a hole of every aspect."""
    lacking = any(hole.is_everything for hole in holes_of(key, "", None))
    return not lacking and function_of(ENTRIES[key]) is not None


def _cases(key: str) -> list[Case]:
    found = cases(key, aspects=ASPECTS, limit=SAMPLES)
    return [
        case
        for case in found
        if case.key == key
        and (case.aspect != "values" or case.dtype in DTYPES)
        and (case.aspect != "gradients" or case.dtype is torch.float64)
    ]


def _label(case: Case) -> str:
    return str(case.dtype).removeprefix("torch.") if case.aspect == "values" else case.aspect


def cell_of(case: Case) -> Cell:
    """Run one case."""
    cell = Cell()
    for outcome in case.outcomes():
        cell.total += 1
        if not outcome.problem:
            cell.passed += 1
        elif outcome.holes:
            cell.reasons[outcome.holes[0].reason] += 1
        else:
            cell.unexplained.append(f"{_label(case)}: {outcome}")
    return cell


def absence(key: str) -> str:
    """Why raxis has no such function."""
    found = holes_of(key, "", None)
    return found[0].reason if found else "unexplained"


def run(pattern: str) -> Iterator[tuple[str, Any]]:
    """Measure the entries whose name matches; prints what no hole explains."""
    for key in keys():
        if fnmatch(key, pattern):
            cells = measure(key)
            yield (
                key,
                absence(key) if cells is None else {label: cell.as_json() for label, cell in cells.items()},
            )
            for cell in (cells or {}).values():
                for text in cell.unexplained[:2]:
                    print(f"{key}: {len(cell.unexplained)} of {cell.total} {text[:1000]}", flush=True)


def stale() -> list[str]:
    """What differs between the page and what is known without running ops."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    found = []
    if sorted(results) != keys():
        found.append(f"the results lack or exceed the database: {sorted({*results} ^ {*keys()})[:9]}")
    present = {key for key, cells in results.items() if isinstance(cells, dict)}
    changed = [key for key in keys() if is_present(key) != (key in present)]
    if changed:
        found.append(f"these came or went: {changed[:9]}")
    if PAGE.read_text(encoding="utf-8") != coverage_page.page(results):
        found.append("the page does not show the results")
    return found


def write(patterns: list[str]) -> None:
    """Run what matches, and write the results and the page; kept results stay as they are."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results = {key: cells for key, cells in results.items() if key in keys()}
    for pattern in patterns:
        for key, cells in run(pattern):
            results[key] = cells
            _store(results)


def _store(results: dict[str, Any]) -> None:
    lines = [f"{json.dumps(key)}: {json.dumps(results[key])}" for key in sorted(results)]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    PAGE.write_text(coverage_page.page(results), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write the results and the page, or check that they are not stale."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity.coverage", description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--write", action="store_true", help="run the database and write results and page")
    choice.add_argument("--check", action="store_true", help="fail if results or page are stale")
    parser.add_argument(
        "--only", action="append", metavar="PATTERN", help="run entries that match; repeatable"
    )
    options = parser.parse_args(arguments)
    if options.write:
        warnings.simplefilter("ignore")
        write(options.only or ["*"])
        return 0
    problems = stale()
    print(
        *(f"{problem}: run python -m tests.parity.coverage --write" for problem in problems),
        sep="\n",
        file=sys.stderr,
    )
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
