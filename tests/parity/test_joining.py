"""Joining, rearranging and padding against torch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.parity import opinfo

NAMES = (
    "cat", "stack", "hstack", "vstack", "dstack", "column_stack", "block_diag", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_tensors", "meshgrid", "cartesian_prod", "combinations", "repeat", "tile",
    "repeat_interleave", "flip", "fliplr", "flipud", "roll", "rot90", "tril", "triu", "diag", "diag_embed", "diagflat",
    "constant_pad_nd", "nn.functional.pad", "nn.functional.unfold",
)  # fmt: skip

CASES = opinfo.cases(*NAMES, limit=12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()
