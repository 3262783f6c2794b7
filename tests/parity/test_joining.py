"""Joining, rearranging and padding against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.parity import opinfo
from tests.parity.opinfo import Exclusion

NAMES = (
    "cat", "stack", "hstack", "vstack", "dstack", "column_stack", "block_diag", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_tensors", "meshgrid", "cartesian_prod", "combinations", "repeat", "tile",
    "repeat_interleave", "flip", "fliplr", "flipud", "roll", "rot90", "tril", "triu", "diag", "diag_embed", "diagflat",
    "constant_pad_nd", "nn.functional.pad", "nn.functional.unfold",
)  # fmt: skip

EXCLUSIONS = (
    Exclusion(
        "cat",
        "errors",
        sample=lambda sample: "out" in sample.kwargs,
        reason="out= that shares memory with an operand is computed",
    ),
)
DTYPES = (torch.bool, torch.uint8, torch.int64, torch.bfloat16, torch.float32, torch.float64, torch.complex128)

CASES = opinfo.cases(*NAMES, limit=8, dtypes=DTYPES, exclusions=EXCLUSIONS)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()
