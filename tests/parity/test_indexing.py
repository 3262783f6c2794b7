"""Indexing against torch and NumPy: ``x[...]``, assignment, gather and scatter, masks, the tape."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity import opinfo

NAMES = (
    "__getitem__", "index_select", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "gather",
    "scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "put", "masked_fill", "masked_select",
    "masked_scatter", "nonzero", "nonzero_static", "argwhere", "select_scatter", "slice_scatter", "diagonal_scatter",
    "as_strided_scatter",
)  # fmt: skip

CASES = opinfo.cases(*NAMES, limit=10)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()
