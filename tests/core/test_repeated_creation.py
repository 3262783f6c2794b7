"""Creation ops keep what makes their tensors: calls that only look alike must not share it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import raxis


@pytest.mark.parametrize("value", [1, True, 1.0, 1 + 0j])
def test_equal_numbers_of_different_types_have_different_dtypes(value: complex) -> None:
    for other in (1, True, 1.0, 1 + 0j):
        raxis.full((2,), other)
    expected = {bool: raxis.bool, int: raxis.int64, float: raxis.float32, complex: raxis.complex64}
    assert raxis.full((2,), value).dtype is expected[type(value)]


@pytest.mark.parametrize("make", [lambda z: raxis.full((2,), z), lambda z: raxis.full_like(raxis.ones(2), z)])
def test_zeros_keep_their_sign(make: Callable[[float], raxis.Tensor]) -> None:
    signs = [np.signbit(make(zero).numpy()).tolist() for zero in (0.0, -0.0, 0.0, -0.0)]
    assert signs == [[False, False], [True, True]] * 2


def test_arange_of_floats_and_of_integers() -> None:
    for _ in range(2):
        assert raxis.arange(3).dtype is raxis.int64
        assert raxis.arange(3.0).dtype is raxis.float32


def test_sizes_must_be_integers_also_the_second_time() -> None:
    raxis.zeros(2)
    with pytest.raises(TypeError, match="size must be integers"):
        raxis.zeros(2.0)


def test_a_tensor_as_number_is_read_at_each_call() -> None:
    number = raxis.tensor(1.0)
    first = raxis.full((2,), number)
    number.fill_(2)
    assert first.tolist() == [1.0, 1.0]
    assert raxis.full((2,), number).tolist() == [2.0, 2.0]


def test_a_tensor_as_size_is_read_at_each_call() -> None:
    size = raxis.tensor(2)
    assert raxis.zeros((size, 1)).shape == (2, 1)
    size.fill_(3)
    assert raxis.zeros((size, 1)).shape == (3, 1)


def test_nan_is_not_kept() -> None:
    plans = len(raxis.ops.table.OPS["full"].plans)
    assert all(np.isnan(raxis.full((1,), float("nan")).item()) for _ in range(3))
    assert len(raxis.ops.table.OPS["full"].plans) == plans


def test_defaults_count_at_each_call() -> None:
    assert raxis.zeros(2).dtype is raxis.float32
    raxis.set_default_dtype(raxis.float64)
    try:
        assert raxis.zeros(2).dtype is raxis.float64
    finally:
        raxis.set_default_dtype(raxis.float32)
    assert raxis.zeros(2).dtype is raxis.float32
    with raxis.device("meta"):
        assert raxis.zeros(2).is_meta
    assert raxis.zeros(2).is_cpu


def test_results_share_nothing() -> None:
    first, second = raxis.zeros(2), raxis.zeros(2)
    first.fill_(1)
    assert second.tolist() == [0.0, 0.0]
    assert raxis.zeros(2).tolist() == [0.0, 0.0]
    assert raxis.zeros(2, requires_grad=True).requires_grad
    assert not raxis.zeros(2).requires_grad


def test_generators_are_asked_at_each_call() -> None:
    generators = [raxis.Generator().manual_seed(seed) for seed in (1, 1, 2)]
    first, again, other = (raxis.rand(4, generator=generator).tolist() for generator in generators)
    assert first == again != other
    assert raxis.rand(4, generator=generators[0]).tolist() != first
    with pytest.raises(TypeError, match="generator"):
        raxis.rand(4, generator=3)


def test_like_a_transposed_tensor() -> None:
    for _ in range(2):
        made = raxis.zeros_like(raxis.ones(2, 3).t())
        assert (made.shape, made.stride(), made.sum().item()) == ((3, 2), (1, 3), 0.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda out: raxis.zeros(3, out=out),
        lambda out: raxis.full((3,), 2, out=out),
        lambda out: raxis.arange(3, out=out),
        lambda out: raxis.linspace(0, 1, 3, out=out),
        lambda out: raxis.eye(3, out=out),
        lambda out: raxis.rand(3, out=out),
    ],
)
def test_out_is_filled_and_returned(make: Callable[[raxis.Tensor], raxis.Tensor]) -> None:
    out = raxis.full((0,), 7.0, dtype=raxis.float64)
    assert make(out) is out
    assert out.shape[0] == 3


def test_out_of_another_dtype_is_refused() -> None:
    out = raxis.ones(3)
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        raxis.zeros(3, dtype=raxis.int64, out=out)
    assert out.tolist() == [1.0, 1.0, 1.0]
