"""Which of the ops that matter most (`core_ops.txt`) raxis has, and whether `docs/coverage.md` tells the truth."""

from __future__ import annotations

import json
import os

import pytest

from tests.parity import coverage, coverage_page
from tests.parity.catalogue import entries_of, function_of
from tests.parity.coverage_page import CORE


def test_the_list_has_every_name_once() -> None:
    assert len(CORE) == len(set(CORE))
    assert len(CORE) > 200


@pytest.mark.parametrize("name", CORE)
def test_core_op_exists(name: str) -> None:
    missing = [key for key, entry in entries_of(name).items() if function_of(entry) is None]
    assert not missing, missing


# ---- the page --------------------------------------------------------------------------------------------------------

RESULTS = json.loads(coverage.RESULTS.read_text(encoding="utf-8"))


def test_the_page_is_not_stale() -> None:
    assert coverage.stale() == []


def test_every_hole_has_a_reason() -> None:
    reasons = {reason for cells in RESULTS.values() for reason in coverage_page.reasons_of(cells)}
    assert "unexplained" not in reasons


def test_the_bars() -> None:
    core = {key: cells for key, cells in RESULTS.items() if key.partition(":")[0] in CORE}
    for part, bars in ((core, (1.0, 0.99, 1.0)), (RESULTS, (0.75, 0.97, 0.97))):
        shares = coverage_page.shares(part)
        assert all(share >= bar for share, bar in zip(shares, bars, strict=True)), shares


@pytest.mark.slow
@pytest.mark.rotating
@pytest.mark.skipif(os.environ["RAXIS_CPU"] == "plugin", reason="the page tells of the reference backend")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", coverage.keys())
def test_holes_are_known(key: str) -> None:
    cells = coverage.measure(key) or {}
    assert not [text for cell in cells.values() for text in cell.unexplained]
