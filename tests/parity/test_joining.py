"""Joining, rearranging and padding against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

NAMES = (
    "cat", "stack", "hstack", "vstack", "dstack", "column_stack", "block_diag", "atleast_1d", "atleast_2d",
    "atleast_3d", "broadcast_tensors", "meshgrid", "cartesian_prod", "combinations", "repeat", "tile",
    "repeat_interleave", "flip", "fliplr", "flipud", "roll", "rot90", "tril", "triu", "diag", "diag_embed", "diagflat",
    "constant_pad_nd", "nn.functional.pad", "nn.functional.unfold",
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


@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: Any) -> None:
    case.run()


@pytest.mark.parametrize("settings", [
    {"kernel_size": 2},
    {"kernel_size": (2, 3), "dilation": (1, 2), "padding": 1, "stride": (2, 1)},
    {"kernel_size": 3, "dilation": 2, "padding": (2, 0), "stride": 2},
])  # fmt: skip
def test_fold_is_torchs(settings: dict[str, Any]) -> None:
    torch.manual_seed(3)
    images = torch.randn(2, 3, 6, 7, dtype=torch.float64)
    blocks = torch.nn.functional.unfold(images, **settings).requires_grad_()
    ours = to_raxis(blocks)
    ours.requires_grad = True
    expected = torch.nn.functional.fold(blocks, (6, 7), **settings)
    result = raxis.nn.functional.fold(ours, (6, 7), **settings)
    torch.testing.assert_close(to_torch(result), expected.detach())
    (expected * images).sum().backward()
    (result * to_raxis(images)).sum().backward()
    torch.testing.assert_close(to_torch(ours.grad), blocks.grad)


def test_pad_errors() -> None:
    x = raxis.zeros(1, 2, 3)
    for pad, mode, error, message in (
        ((1,), "constant", RuntimeError, "must be even"),
        ((1,) * 8, "constant", RuntimeError, "no more than twice"),
        ((-2, -2), "constant", RuntimeError, "negative output size"),
        ((3, 3), "reflect", RuntimeError, "less than the corresponding input dimension"),
        ((4, 0), "circular", RuntimeError, "wrapping around more than once"),
        ((1, 1), "mirror", NotImplementedError, "Unrecognised padding mode mirror"),
        ((1,) * 6, "reflect", NotImplementedError, "Only 2D, 3D, 4D, 5D padding"),
    ):
        with pytest.raises(error, match=message):
            raxis.nn.functional.pad(x, pad, mode=mode)


def test_cat_errors() -> None:
    with pytest.raises(
        RuntimeError, match=r"zero-dimensional tensor \(at position 1\) cannot be concatenated"
    ):
        raxis.cat([raxis.zeros(1), raxis.zeros(())])
    with pytest.raises(RuntimeError, match="Expected size 2 but got size 3 for tensor number 1 in the list"):
        raxis.cat([raxis.zeros(1, 2), raxis.zeros(1, 3)])
    with pytest.raises(
        RuntimeError, match=r"stack expects each tensor to be equal size, but got \[2\] at entry 0"
    ):
        raxis.stack([raxis.zeros(2), raxis.zeros(3)])
