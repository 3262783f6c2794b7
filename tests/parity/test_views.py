"""View ops against torch: its operator database, geometry of random views, in-place writes under the tape."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.parity import opinfo

NAMES = (
    "broadcast_shapes",
    "view", "view_as", "reshape", "reshape_as", "ravel", "flatten", "unflatten", "expand", "expand_as",
    "broadcast_to", "permute", "transpose", "t", "movedim", "T", "mT", "mH", "H",
    "squeeze", "unsqueeze", "select", "narrow", "diagonal", "unfold", "as_strided", "split", "split_with_sizes",
    "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit", "unsafe_split", "unsafe_chunk",
    "alias_copy", "as_strided_copy", "diagonal_copy", "expand_copy", "permute_copy", "split_with_sizes_copy",
    "squeeze_copy", "t_copy", "transpose_copy", "unbind_copy", "unfold_copy", "unsqueeze_copy", "view_copy",
)  # fmt: skip

DTYPES = (torch.bool, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex128)

CASES = opinfo.cases(*NAMES, limit=8, dtypes=DTYPES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()
