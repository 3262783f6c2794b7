"""Creation functions against torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity import opinfo
from tests.parity.bridge import tensor_to_torch

CASES = opinfo.cases(
    "arange", "eye", "full", "full_like", "linspace", "logspace", "new_full", "new_ones", "new_zeros", "ones",
    "ones_like", "scalar_tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
    limit=16,
)  # fmt: skip
UNINITIALISED = opinfo.cases(
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided", limit=12
)  # fmt: skip


@pytest.mark.parametrize("case", CASES + UNINITIALISED, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


DATA: list[Any] = [
    5, 2.5, True, 1 + 2j, [], [[]], [[], []], [1, 2], [1, 2.5], [True, 2], [1, 2j], [[1, 2], [3, 4]], (1, 2.0),
    [(1, 2), [3, 4]],
    range(4), np.float64(2.5), np.int32(3), [np.int32(3), np.int64(4)], [np.float64(1.5)],
    np.arange(3, dtype=np.int16), np.ones((2, 0)), [np.ones(2), np.zeros(2)], np.array(True),
    [[[1.0]]], -(2**63), 2**63 - 1, float("nan"), [math.inf, -math.inf], 1e300,
    np.array([1, 2], dtype=">i4").astype("<i4"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning")
@pytest.mark.parametrize("data", DATA, ids=repr)
@pytest.mark.parametrize(
    "dtype", [None, "float32", "float64", "int64", "bool", "complex64", "float16", "bfloat16", "uint8"]
)
def test_tensor(data: Any, dtype: str | None) -> None:
    def make(library: Any) -> Any:
        return library.tensor(data, dtype=None if dtype is None else getattr(library, dtype))

    try:
        expected = make(torch)
    except (RuntimeError, ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            make(raxis)
        return
    torch.testing.assert_close(tensor_to_torch(make(raxis)), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "data",
    [
        [[1, 2], [3]],
        [[1], 2],
        [1, [2]],
        ["a"],
        "abc",
        [None],
        None,
        {"a": 1},
        [[1, 2], [3, "a"]],
        2**63,
        [object()],
    ],
)
def test_tensor_errors(data: Any) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError)) as expected:
        torch.tensor(data)
    with pytest.raises(expected.type):
        raxis.tensor(data)


@pytest.mark.parametrize(
    "values", [np.float32(2.5), [np.float32(1.5)], [np.ones(2, np.float32)], np.arange(3)[::-1]], ids=repr
)
def test_tensor_takes_numpy_values_that_torch_does_not(values: Any) -> None:
    assert raxis.tensor(values, dtype=raxis.int64).tolist() == np.asarray(values).astype(np.int64).tolist()


def test_tensor_of_tensors() -> None:
    assert raxis.tensor([raxis.tensor(1.5), raxis.tensor(2)]).tolist() == [1.5, 2.0]
    assert raxis.tensor([raxis.tensor([1, 2]), raxis.tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]
    source = raxis.ones(2)
    with pytest.warns(UserWarning, match="copy construct"):
        copied = raxis.tensor(source)
    copied.zero_()
    assert source.tolist() == [1.0, 1.0]


def test_tensor_options() -> None:
    assert raxis.tensor([1.0], requires_grad=True).requires_grad
    assert raxis.tensor([1.0], device="meta").is_meta
    with pytest.raises(RuntimeError, match="floating point and complex"):
        raxis.tensor([1], requires_grad=True)


def test_default_dtype_decides_for_python_floats() -> None:
    assert raxis.get_default_dtype() is raxis.float32
    raxis.set_default_dtype(raxis.float64)
    try:
        for made in (
            raxis.tensor(1.5),
            raxis.ones(1),
            raxis.arange(0.5, 2),
            raxis.linspace(0, 1, 3),
            raxis.full((1,), 0.1),
        ):
            assert made.dtype is raxis.float64
        assert raxis.tensor(1j).dtype is raxis.complex128
        assert (raxis.tensor([1]) * 0.1).item() == 0.1
        assert raxis.rand(2).dtype is raxis.float64
    finally:
        raxis.set_default_dtype(raxis.float32)
    with pytest.raises(TypeError, match="floating-point"):
        raxis.set_default_dtype(raxis.int64)


def test_as_tensor_shares_where_it_can() -> None:
    tensor, array = raxis.ones(2), np.ones(2)
    assert raxis.as_tensor(tensor) is tensor
    raxis.as_tensor(array).zero_()
    assert array.tolist() == [0.0, 0.0]
    assert raxis.as_tensor(array, dtype=raxis.float32).dtype is raxis.float32
    assert raxis.as_tensor([1, 2]).tolist() == [1, 2]


def test_asarray() -> None:
    array = np.ones(2)
    raxis.asarray(array).zero_()
    assert array.tolist() == [0.0, 0.0]
    raxis.asarray(array, copy=True).fill_(3)
    assert array.tolist() == [0.0, 0.0]
    for source, options in (([1.0], {}), (array, {"dtype": raxis.float32})):
        with pytest.raises(ValueError, match="copy"):
            raxis.asarray(source, copy=False, **options)
    assert raxis.asarray([1.0], requires_grad=True).requires_grad


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
@pytest.mark.parametrize("sizes", [((),), (0,), (2, 3), ((2, 3),), ([2, 0],), (raxis.Size([1]),)])
def test_sizes_may_be_given_in_every_way(name: str, sizes: tuple[Any, ...]) -> None:
    expected = tuple(
        getattr(torch, name)(*[tuple(s) if isinstance(s, raxis.Size) else s for s in sizes]).shape
    )
    assert getattr(raxis, name)(*sizes).shape == expected
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        assert getattr(raxis, name)(size=sizes[0]).shape == expected


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_wrong_sizes(name: str) -> None:
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        getattr(raxis, name)(2, -1)
    for wrong in ((), (1.5,), ("a",), (2, None)):
        with pytest.raises(TypeError):
            getattr(raxis, name)(*wrong)
    with pytest.raises(RuntimeError, match="layout"):
        getattr(raxis, name)(2, layout="sparse")


def test_out_is_resized_and_filled() -> None:
    out = raxis.empty(0, dtype=raxis.float64)
    assert raxis.zeros(2, 3, out=out) is out
    assert out.shape == (2, 3)
    assert raxis.arange(4, out=raxis.empty(0, dtype=raxis.int32)).dtype is raxis.int32
    with pytest.raises(RuntimeError, match="does not match dtype of out"):
        raxis.zeros(2, out=out, dtype=raxis.float32)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "uint8"),
        (-1, "uint8"),
        (2**40, "int32"),
        (1 + 2j, "float32"),
        (1.5, "int64"),
        (0.1, "float64"),
        (2, "bool"),
    ],
)
def test_full_converts_or_refuses_as_torch(value: Any, dtype: str) -> None:
    try:
        expected = torch.full((2,), value, dtype=getattr(torch, dtype))
    except RuntimeError:
        with pytest.raises(RuntimeError, match="without overflow"):
            raxis.full((2,), value, dtype=getattr(raxis, dtype))
        return
    assert raxis.full((2,), value, dtype=getattr(raxis, dtype)).tolist() == expected.tolist()


@pytest.mark.parametrize("arguments", [(0, 10, 0), (0, 10, -1), (0, math.inf), (math.nan, 1), ()])
def test_arange_errors(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((RuntimeError, TypeError)) as expected:
        torch.arange(*arguments)
    with pytest.raises(expected.type):
        raxis.arange(*arguments)


def test_huge_meta_tensors_take_no_memory() -> None:
    made = raxis.zeros(1 << 20, 1 << 20, device="meta")
    assert made.numel() == 1 << 40
    assert made.new_ones(3).is_meta
    assert raxis.arange(10**12, device="meta").shape == (10**12,)


def test_like_functions_keep_the_order_of_dimensions() -> None:
    source = torch.empty(2, 3, 4, 5).permute(2, 0, 3, 1)
    ours = raxis.empty(2, 3, 4, 5).permute(2, 0, 3, 1)
    for name in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
        assert getattr(raxis, name)(ours).stride() == getattr(torch, name)(source).stride()
        dense = getattr(raxis, name)(ours, memory_format=raxis.contiguous_format)
        assert dense.is_contiguous()
        last = getattr(raxis, name)(ours, memory_format=raxis.channels_last)
        assert last.stride() == getattr(torch, name)(source, memory_format=torch.channels_last).stride()
