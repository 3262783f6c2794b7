"""The page about several backends, from reports made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from raxis.testing import coverage, report
from raxis.testing.case import Case, Outcome, Subject, Verdict


def outcome(level: str, name: str, verdict: Verdict, detail: str = "") -> Outcome:
    return Outcome(Case(level, name, lambda subject: None), verdict, detail)


def made(distribution: str, *outcomes: Outcome) -> dict[str, Any]:
    return {**report.as_data(Subject("cpu"), outcomes), "distribution": distribution}


WHOLE = made(
    "raxis-whole",
    outcome("storage", "sizes", Verdict.PASSED),
    outcome("storage", "statistics", Verdict.SKIPPED, "no statistics."),
    outcome("primitives", "add[float32]", Verdict.PASSED),
    outcome("primitives", "add[complex64]", Verdict.PASSED),
)
PART = made(
    "raxis-part",
    outcome("primitives", "add[float32]", Verdict.PASSED),
    outcome("primitives", "add[complex64]", Verdict.DECLINED, "no complex numbers | here."),
    outcome("primitives", "exp[complex64]", Verdict.DECLINED, "no complex numbers | here."),
    outcome("primitives", "sin[float32]", Verdict.FAILED, "wrong"),
)


def test_page_compares_backends(tmp_path: Path) -> None:
    paths = [tmp_path / "whole.json", tmp_path / "part.json"]
    for path, data in zip(paths, (WHOLE, PART), strict=True):
        path.write_text(json.dumps(data), encoding="utf-8")
    coverage.main([*map(str, paths), "--page", str(tmp_path / "page.md")])
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    for line in (
        "| raxis-whole | `cpu` | 3 | 0 | 1 | 0 | 0 |",
        "| raxis-part | `cpu` | 1 | 2 | 0 | 0 | 1 |",
        "| raxis-whole | 100.0 % | 100.0 % |",
        "| raxis-part | 50.0 % | 50.0 % |",
        "| level | raxis-whole | raxis-part |",
        "| storage | 1 of 1 |  |",
        "| primitives | 2 of 2 | 1 of 4 |",
        "| `add` | all | all but complex64 |",
        "| `exp` |  | none |",
        "## raxis-whole: skipped",
        "| `storage/statistics` | no statistics. |",
        "## raxis-part: failed",
        "| `primitives/add[complex64]`, `primitives/exp[complex64]` | no complex numbers \\| here. |",
    ):
        assert f"{line}\n" in text


def test_report_names_the_distribution() -> None:
    subject = Subject("cpu")
    assert subject.backend is not None
    assert report.as_data(subject, [])["distribution"] in ("raxis-core", "raxis-cpu")
