"""Indexing against torch and NumPy: ``x[...]``, assignment, gather and scatter, masks, the tape."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

NAMES = (
    "__getitem__", "index_select", "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "gather",
    "scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "put", "masked_fill", "masked_select",
    "masked_scatter", "nonzero", "nonzero_static", "argwhere", "select_scatter", "slice_scatter", "diagonal_scatter",
    "as_strided_scatter", "unravel_index",
)  # fmt: skip


DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int64,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex128,
)

CASES = opinfo.cases(*NAMES, limit=8, dtypes=DTYPES)


@pytest.mark.filterwarnings("ignore:index_reduce", "ignore:The reduce argument of torch.scatter")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (7, 2), (3, 3, 3), (0, 2)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal_is_torchs(shape: tuple[int, ...], wrap: bool) -> None:
    theirs = torch.zeros(shape)
    ours = to_raxis(theirs)
    assert ours.fill_diagonal_(5.0, wrap) is ours
    assert to_torch(ours).tolist() == theirs.fill_diagonal_(5.0, wrap).tolist()


def test_masks_and_counts_of_a_large_tensor() -> None:
    values = torch.arange(300_000).reshape(3, 100_000)
    ours = to_raxis(values)
    assert torch.equal(to_torch(ours[ours % 7 == 0]), values[values % 7 == 0])
    assert torch.equal(to_torch((ours % 1000 == 1).nonzero()), (values % 1000 == 1).nonzero())
