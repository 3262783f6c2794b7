"""repr of tensors, compared with torch's text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

import raxis
from raxis.printing import get_printoptions, set_printoptions
from tests.parity.bridge import tensor_to_raxis

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(profile="default")
    torch.set_printoptions(profile="default")


def text(tensor: torch.Tensor) -> str:
    return repr(tensor).replace("torch.", "raxis.")


VALUES = [
    [1.0, 2.5], [1.0, 2.0], [0.0], [0.0, NAN], [NAN, 1, 2], [INF, 1.5], [-INF, 1.5, NAN], [1e10], [1e-8, 1.0],
    [1e5, 2.5],
    [1e4, 2.0], [123456789.0], [1e8], [100000.0, 1.0], [1001.0, 1.0], [-1.5, 22.25], [1e-4], [9.9e-5], [3.0, -1e9], [],
    [[1.0, 2.0], [3.0, 4.5]], [[[1.0]], [[2.0]]], 3.5, 1e10, NAN, -0.0, [1, 2, 300], [-1, 20], True, [True, False], 7,
    [1 + 2j, 3.5 - 4j], [1e-6j, 2.5], 1 + 2j, [1e5 + 0j], [complex(NAN, INF), 1j], [0j],
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values(value: object) -> None:
    expected = torch.tensor(value)
    assert repr(tensor_to_raxis(expected)) == text(expected)
    assert str(tensor_to_raxis(expected)) == str(expected).replace("torch.", "raxis.")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "uint8", "complex128"])
def test_other_dtypes_are_named(dtype: str) -> None:
    for value in ([1.0, 2.0], 3.0, []):
        expected = torch.tensor(value, dtype=getattr(torch, dtype))
        assert repr(tensor_to_raxis(expected)) == text(expected)


@pytest.mark.parametrize(
    "shape",
    [
        (0,),
        (2, 0),
        (0, 3),
        (1000,),
        (1001,),
        (40, 40),
        (2, 600),
        (3, 20, 30),
        (7, 7, 7, 7),
        (2000, 1),
        (25,),
        (3, 30),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16])
def test_shapes(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> None:
    torch.manual_seed(seed)
    expected = torch.randn(shape).mul(3).to(dtype)
    assert repr(tensor_to_raxis(expected)) == text(expected)
    if len(shape) == 2:
        assert repr(tensor_to_raxis(expected.t())) == text(expected.t())


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "float64"])
def test_meta(shape: tuple[int, ...], dtype: str) -> None:
    expected = torch.empty(shape, dtype=getattr(torch, dtype), device="meta")
    assert repr(raxis.empty(shape, dtype=getattr(raxis, dtype), device="meta")) == text(expected)


def test_tape_suffixes() -> None:
    assert repr(raxis.ones(2, requires_grad=True)) == "tensor([1., 1.], requires_grad=True)"
    assert repr(raxis.ones(2, requires_grad=True) * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr(raxis.zeros(0, requires_grad=True)) == "tensor([], requires_grad=True)"


def test_suffix_moves_to_a_new_line_where_it_does_not_fit() -> None:
    for count in range(8, 16):
        expected = torch.arange(count, dtype=torch.float64).requires_grad_()
        ours = raxis.arange(count, dtype=raxis.float64).requires_grad_()
        assert repr(ours) == text(expected)


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2}, {"precision": 8}, {"threshold": 5}, {"threshold": 5, "edgeitems": 1}, {"linewidth": 40},
        {"profile": "short"}, {"profile": "full"}, {"sci_mode": True}, {"sci_mode": False},
        {"threshold": 3, "edgeitems": 2},
    ],
    ids=repr,
)  # fmt: skip
def test_options(options: dict[str, object]) -> None:
    torch.set_printoptions(**options)
    set_printoptions(**options)
    for expected in (
        torch.arange(30) / 7,
        torch.tensor([1e-9, 5.0]),
        torch.tensor([0.0, NAN]),
        torch.arange(60.0).reshape(3, 20),
        torch.tensor(2.0),
    ):
        assert repr(tensor_to_raxis(expected)) == text(expected)


def test_unknown_profile() -> None:
    before = get_printoptions()
    with pytest.raises(ValueError, match="profile must be one of"):
        set_printoptions(profile="loud")
    assert get_printoptions() == before


def test_format_of_one_number() -> None:
    assert f"{raxis.tensor(1.25):.1f}" == "1.2"
    assert f"{raxis.tensor([1.25])}" == "tensor([1.2500])"
    with pytest.raises(TypeError):
        f"{raxis.tensor([1.25]):.1f}"


def test_random_values_of_all_magnitudes(rng: np.random.Generator) -> None:
    for _ in range(60):
        magnitudes = 10.0 ** rng.uniform(-6, 9)
        values = rng.normal(size=rng.integers(1, 12)) * magnitudes
        if rng.random() < 0.3:
            values = np.round(values)
        expected = torch.from_numpy(values.astype(rng.choice(["float32", "float64"])))
        assert repr(tensor_to_raxis(expected)) == text(expected)
