"""Pooling and resampling against torch."""

from __future__ import annotations

import pytest
import torch

import raxis
import raxis.nn.functional as F
from tests.parity import opinfo
from tests.parity.bridge import to_raxis, to_torch

POOLING = [
    *[f"nn.functional.{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)],
    *[f"nn.functional.adaptive_{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2, 3)],
    *[f"nn.functional.max_unpool{n}d" for n in (1, 2, 3)],
]
REARRANGING = [
    "nn.functional.pixel_shuffle",
    "nn.functional.pixel_unshuffle",
    "nn.functional.channel_shuffle",
]
FLOATS = (torch.bfloat16, torch.float32, torch.float64)

CASES = [
    *opinfo.cases(*POOLING, *REARRANGING, limit=6),
    *opinfo.cases(
        *[f"nn.functional.fractional_max_pool{n}d" for n in (2, 3)], aspects=("values", "errors"), limit=6
    ),
    *opinfo.cases("grid_sampler_2d", "grid_sampler_3d", dtypes=FLOATS, limit=6),
    *opinfo.cases(
        "nn.functional.interpolate",
        "nn.functional.upsample_bilinear",
        "nn.functional.upsample_nearest",
        dtypes=FLOATS,
        limit=4,
    ),
    *opinfo.cases(
        "nn.functional.interpolate:nearest", "nn.functional.interpolate:nearest-exact", dtypes=[torch.uint8]
    ),
]


@pytest.mark.filterwarnings("ignore:.*is deprecated")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


def both(ours, theirs, *operands, **options):
    """Results of the two libraries as torch tensors."""
    found = ours(*[to_raxis(operand) for operand in operands], **options)
    return to_torch(found), theirs(*operands, **options)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"), [(3, 2, 1, 1), (2, 3, 1, 2), (11, 1, 5, 1)]
)
def test_places_of_maxima(ceil_mode: bool, kernel: int, stride: int, padding: int, dilation: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 13, 12)
    options = {"stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode}
    found, expected = both(
        F.max_pool2d, torch.nn.functional.max_pool2d, x, kernel_size=kernel, return_indices=True, **options
    )
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_nan_wins_a_window() -> None:
    x = torch.tensor([[[1.0, float("nan"), 3.0, 4.0]]])
    found, expected = both(
        F.max_pool1d, torch.nn.functional.max_pool1d, x, kernel_size=2, return_indices=True
    )
    torch.testing.assert_close(found[0], expected[0], equal_nan=True)
    assert found[1].tolist() == [[[1, 3]]]


def test_padding_never_wins() -> None:
    x = torch.full((1, 1, 3, 3), -float("inf"))
    values, places = F.max_pool2d(to_raxis(x), 3, stride=2, padding=1, return_indices=True)
    assert (to_torch(values) == -float("inf")).all()
    assert ((to_torch(places) >= 0) & (to_torch(places) < 9)).all()


def test_overlapping_windows_add_gradients() -> None:
    x = raxis.tensor([[[0.0, 9.0, 0.0, 0.0]]], requires_grad=True)
    F.max_pool1d(x, 3, stride=1).sum().backward()
    assert x.grad.tolist() == [[[0.0, 2.0, 0.0, 0.0]]]


def test_infinity_stays_in_its_bin() -> None:
    x = torch.tensor([[[float("inf"), 1.0, 2.0, 3.0, 4.0]]])
    found, expected = both(F.adaptive_avg_pool1d, torch.nn.functional.adaptive_avg_pool1d, x, output_size=3)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("norm", [1, 2, 3])
def test_power_pool(norm: int) -> None:
    torch.manual_seed(norm)
    x = torch.rand(2, 3, 8, 8)
    found, expected = both(
        F.lp_pool2d, torch.nn.functional.lp_pool2d, x, norm_type=norm, kernel_size=3, stride=2
    )
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 4), (11, 7), (20, 20)])
@pytest.mark.parametrize("antialias", [False, True])
def test_antialias(mode: str, size: tuple[int, int], antialias: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 2, 10, 9, dtype=torch.float64)
    options = {"size": size, "mode": mode, "antialias": antialias}
    found, expected = both(F.interpolate, torch.nn.functional.interpolate, x, **options)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid")
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("size", [(2, 1, 3, 4), (2, 1, 3, 1, 2)])
def test_affine_grid(size: tuple[int, ...], aligned: bool) -> None:
    torch.manual_seed(0)
    theta = torch.randn(2, len(size) - 2, len(size) - 1, dtype=torch.float64)
    options = {"size": size, "align_corners": aligned}
    found, expected = both(F.affine_grid, torch.nn.functional.affine_grid, theta, **options)
    torch.testing.assert_close(found, expected)


def test_uint8_images_are_rounded_per_dimension() -> None:
    x = torch.arange(16, dtype=torch.uint8).reshape(1, 1, 4, 4) * 16
    found, expected = both(
        F.interpolate, torch.nn.functional.interpolate, x, size=(5, 5), mode="bilinear", align_corners=True
    )
    assert (found.int() - expected.int()).abs().max() <= 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (F.interpolate, ValueError),
        (lambda x: F.interpolate(x, size=4, scale_factor=2), ValueError),
        (lambda x: F.interpolate(x, size=4, mode="linear"), NotImplementedError),
        (lambda x: F.interpolate(x, size=4, align_corners=True), ValueError),
        (lambda x: F.interpolate(x, size=4, antialias=True), ValueError),
        (lambda x: F.max_pool2d(x, 2, padding=2), RuntimeError),
        (lambda x: F.max_pool2d(x, 9), RuntimeError),
        (lambda x: F.avg_pool2d(x, 2, divisor_override=0), RuntimeError),
        (lambda x: F.pixel_shuffle(x, 2), RuntimeError),
    ],
)
def test_errors(call, error) -> None:
    with pytest.raises(error):
        call(raxis.ones(1, 1, 4, 4))
