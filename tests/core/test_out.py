"""``out=`` laid out like the result is written directly: its memory, its views and its version show it."""

from __future__ import annotations

import numpy as np
import pytest

import raxis


def test_memory_of_out_is_written() -> None:
    memory = np.zeros(4, np.float32)
    out = raxis.from_numpy(memory)
    view = out[1:3]
    assert raxis.add(raxis.tensor([1.0, 2.0, 3.0, 4.0]), 1.0, out=out) is out
    assert memory.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert view.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_operand_in_the_memory_of_out(shift: int) -> None:
    whole = raxis.arange(12, dtype=raxis.float32)
    operand, out = whole[2 : 2 + 8], whole[2 + shift : 10 + shift]
    expected = (np.arange(2, 10, dtype=np.float32) * 3).tolist()
    raxis.mul(operand, 3.0, out=out)
    assert out.tolist() == expected


@pytest.mark.parametrize(
    ("shape", "strides"), [((2, 3), (1, 2)), ((2, 3), (6, 2)), ((6,), (1,)), ((0,), (1,))]
)
def test_other_layouts_of_out(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    out = raxis.full((12,), -1.0).as_strided(shape, strides)
    operand = raxis.arange(out.numel(), dtype=raxis.float32).reshape(shape)
    assert raxis.exp(operand, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.exp(np.arange(out.numel())).reshape(shape), rtol=1e-6)
    assert out.stride() == strides


@pytest.mark.parametrize("dtype", [raxis.float64, raxis.float16, raxis.int32])
def test_other_dtypes_of_out(dtype: raxis.dtype) -> None:
    out = raxis.zeros(3, dtype=dtype)
    raxis.add(raxis.tensor([1, 2, 3], dtype=raxis.int32), raxis.tensor([1, 1, 1], dtype=raxis.int32), out=out)
    assert out.dtype is dtype
    assert out.tolist() == [2, 3, 4]


def test_what_backward_needs_is_protected() -> None:
    x, y = raxis.ones(3, requires_grad=True), raxis.ones(3)
    product = x * y
    raxis.add(raxis.ones(3), 1.0, out=y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_gradients_do_not_flow_into_out() -> None:
    x = raxis.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        raxis.add(x, 1.0, out=raxis.zeros(3))
    with raxis.no_grad():
        assert raxis.add(x, 1.0, out=raxis.zeros(3)).tolist() == [2.0, 2.0, 2.0]


def test_out_is_untouched_after_an_error() -> None:
    out = raxis.zeros(2)
    with pytest.raises(IndexError, match="out of"):
        raxis.take(raxis.ones(3), raxis.tensor([0, 3]), out=out)
    assert out.tolist() == [0.0, 0.0]


def test_numbers_are_read_at_each_call() -> None:
    out, x = raxis.zeros(2), raxis.ones(2)
    assert [raxis.add(x, number, out=out).tolist() for number in (1.0, 2.5)] == [[2.0, 2.0], [3.5, 3.5]]
