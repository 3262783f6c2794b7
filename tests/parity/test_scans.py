"""Scans against torch."""

from __future__ import annotations

import pytest

from tests.parity import opinfo

CASES = opinfo.cases("cummax", "cummin", "cumprod", "cumsum", "diff", "logcumsumexp", limit=12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()
