"""Sorting, distinct elements and binning against torch."""

from __future__ import annotations

import pytest

from tests.parity import opinfo

CASES = opinfo.cases(
    "argsort", "bincount", "bucketize", "histc", "isin", "kthvalue", "msort", "searchsorted", "sort", "topk",
    "unique", "unique_consecutive",
    limit=12,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()
