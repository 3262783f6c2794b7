"""Memory shared with NumPy, and values as Python numbers."""

from __future__ import annotations

import array
import operator
import warnings
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import torch

import raxis
from raxis import dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3,), (2, 3)])
def test_from_numpy_shares_memory(dtype: dtypes.DType, shape: tuple[int, ...]) -> None:
    source = np.zeros(shape, dtype.numpy)
    tensor = raxis.from_numpy(source)
    assert tensor.dtype is dtype
    assert tensor.shape == shape
    tensor.fill_(1)
    assert (source == 1).all()
    assert source.size == 0 or np.shares_memory(tensor.numpy(), source)


def test_from_numpy_keeps_positive_strides() -> None:
    source = np.arange(24, dtype=np.float32).reshape(4, 6)[1::2, ::3].T
    tensor = raxis.from_numpy(source)
    assert tensor.stride() == torch.from_numpy(source).stride()
    assert tensor.tolist() == source.tolist()
    tensor.mul_(2)
    assert source[1, 1] == 42.0


def test_from_numpy_of_broadcast_memory() -> None:
    source = np.broadcast_to(np.arange(3.0), (2, 3))
    with pytest.warns(UserWarning, match="not writable"):
        assert raxis.from_numpy(source).stride() == (0, 1)


def test_from_numpy_errors() -> None:
    cases = [
        ([1, 2], TypeError, "expected np.ndarray"),
        (np.arange(3)[::-1], ValueError, "negative"),
        (np.arange(3, dtype=">i4"), ValueError, "byte order"),
        (np.array(["a"]), TypeError, "can't convert np.ndarray"),
        (np.zeros(2, dtype=[("a", "u1"), ("b", "<f4")])["b"], ValueError, "not a multiple"),
    ]
    for value, error, message in cases:
        with pytest.raises(error, match=message):
            raxis.from_numpy(value)
        with pytest.raises(error):
            torch.from_numpy(value)


WRITES = {
    "add_": lambda x: x.add_(1),
    "mul_ by itself": lambda x: x.mul_(x),
    "zero_": lambda x: x.zero_(),
    "copy_": lambda x: x.copy_(raxis.zeros(4)),
    "view": lambda x: x[1:3].exp_(),
    "integer subscript": lambda x: x.__setitem__(0, 7.0),
    "mask subscript": lambda x: x.__setitem__(x > 0, 7.0),
    "index subscript": lambda x: x.__setitem__(raxis.tensor([2, 0]), 7.0),
    "random": lambda x: x.uniform_(),
    "scan": lambda x: x.cumsum_(0),
    "index_add_": lambda x: x.index_add_(0, raxis.tensor([1]), raxis.ones(1)),
    "scatter_": lambda x: x.scatter_(0, raxis.tensor([1]), 5.0),
    "out": lambda x: raxis.add(raxis.ones(4), 1, out=x),
    "product": lambda x: x.view(2, 2).addmm_(raxis.ones(2, 2), raxis.ones(2, 2)),
    "optimizer": lambda x: _step(x),
}


def _step(x: raxis.Tensor) -> None:
    parameter = raxis.nn.Parameter(x)
    parameter.grad = raxis.ones(4)
    raxis.optim.SGD([parameter], lr=0.1).step()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_read_only_arrays_stay_as_they_are(write: Callable[[raxis.Tensor], object]) -> None:
    write(raxis.ones(4))  # so that nothing below is a first call
    source = np.ones(4, np.float32)
    source.setflags(write=False)
    with pytest.warns(UserWarning, match="not writable"):
        tensor = raxis.from_numpy(source)
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only array"):
            write(tensor)
    assert source.tolist() == [1.0] * 4
    assert tensor._version == 0
    assert (tensor * 2).tolist() == [2.0] * 4
    assert tensor.clone().add_(1).tolist() == [2.0] * 4


def test_read_only_memory_grows_into_writable_memory() -> None:
    source = np.ones(2, np.float32)
    source.setflags(write=False)
    with pytest.warns(UserWarning, match="not writable"):
        tensor = raxis.from_numpy(source)
    assert tensor.resize_(4).zero_().tolist() == [0.0] * 4
    assert source.tolist() == [1.0, 1.0]


def test_copies_of_read_only_arrays_do_not_warn() -> None:
    source = np.broadcast_to(np.ones(1), (2,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert raxis.tensor(source).zero_().tolist() == [0.0, 0.0]


def test_numpy_shares_memory_of_views() -> None:
    tensor = raxis.arange(6).view(2, 3).t()
    view = tensor.numpy()
    view[0, 1] = 100
    assert tensor.tolist()[0] == [0, 100]
    assert raxis.ones(2, dtype=raxis.bfloat16).numpy().dtype == ml_dtypes.bfloat16


def test_numpy_errors() -> None:
    with pytest.raises(
        RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach"
    ):
        raxis.ones(2, requires_grad=True).numpy()
    with pytest.raises(
        TypeError, match=r"can't convert meta device type tensor to numpy. Use Tensor.cpu\(\)"
    ):
        raxis.ones(2, device="meta").numpy()
    assert raxis.ones(2, requires_grad=True).numpy(force=True).tolist() == [1.0, 1.0]


def test_numpy_functions_take_tensors() -> None:
    tensor = raxis.tensor([1.0, 2.0])
    assert np.asarray(tensor).dtype == np.float32
    assert np.shares_memory(np.asarray(tensor), tensor.numpy())
    assert not np.shares_memory(np.array(tensor), tensor.numpy())
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.array(tensor, dtype=np.float64, copy=False)
    assert np.sum(tensor.numpy()) == 3.0
    array = np.ones(2, np.float32)
    for made in (np.sqrt(tensor), array * tensor, tensor * array, array + tensor, np.float32(1) * tensor):
        assert isinstance(made, raxis.Tensor)
        assert made.dtype is raxis.float32


def test_numbers() -> None:
    assert float(raxis.tensor(2.5)) == 2.5
    assert int(raxis.tensor([3.7])) == 3
    assert complex(raxis.tensor(1 + 2j)) == 1 + 2j
    assert [10, 20, 30][raxis.tensor(1)] == 20
    assert bool(raxis.tensor([[True]]))
    assert type(raxis.tensor(1, dtype=raxis.bfloat16).item()) is float
    assert type(raxis.tensor(True).item()) is bool
    assert raxis.tensor([0.5, 1.5], dtype=raxis.bfloat16).tolist() == [0.5, 1.5]
    assert raxis.tensor(3).tolist() == 3
    assert raxis.ones(2, 0).tolist() == [[], []]


@pytest.mark.parametrize(
    ("values", "convert", "error", "message"),
    [
        ([1, 2], bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        ([], bool, RuntimeError, "Boolean value of Tensor with no values is ambiguous"),
        ([1, 2], float, ValueError, "only one element tensors can be converted to Python scalars"),
        (
            [1, 2],
            operator.index,
            TypeError,
            "only integer tensors of a single element can be converted to an index",
        ),
        (
            [1, 2],
            lambda tensor: tensor.item(),
            RuntimeError,
            "a Tensor with 2 elements cannot be converted to Scalar",
        ),
        (
            [1.5],
            operator.index,
            TypeError,
            "only integer tensors of a single element can be converted to an index",
        ),
    ],
)
def test_number_errors_are_those_of_torch(
    values: list[float], convert: object, error: type, message: str
) -> None:
    for library in (raxis, torch):
        with pytest.raises(error, match=message):
            convert(library.tensor(values))  # type: ignore[operator]


def test_membership_and_reversal() -> None:
    tensor = raxis.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert 2.0 in tensor
    assert 5 not in tensor
    assert raxis.tensor([1.0, 2.0]) in tensor
    assert [row.tolist() for row in reversed(tensor)] == [[3.0, 4.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="__contains__ only supports"):
        assert "a" in tensor


def test_meta_has_no_values() -> None:
    tensor = raxis.ones(1, device="meta")
    for ask in (tensor.item, tensor.tolist, tensor.cpu, lambda: raxis.zeros(1).copy_(tensor)):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            ask()
    assert raxis.ones(2).to("meta").shape == (2,)


def test_frombuffer() -> None:
    source = array.array("i", [1, 2, 3, 4])
    tensor = raxis.frombuffer(source, dtype=raxis.int32, count=2, offset=4)
    assert tensor.tolist() == [2, 3]
    tensor.zero_()
    assert source.tolist() == [1, 0, 0, 4]
    for options in ({"count": 0}, {"offset": 3}, {"count": 9}):
        with pytest.raises(ValueError):
            raxis.frombuffer(source, dtype=raxis.int32, **options)


def test_dlpack_both_ways() -> None:
    tensor = raxis.arange(6.0).view(2, 3).t()
    seen = np.from_dlpack(tensor)
    assert np.shares_memory(seen, tensor.numpy())
    theirs = torch.from_dlpack(tensor)
    theirs.zero_()
    assert tensor.tolist() == [[0.0, 0.0]] * 3
    back = raxis.from_dlpack(torch.arange(4))
    assert back.tolist() == [0, 1, 2, 3]
    assert tensor.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(raxis.ones(2, requires_grad=True))


def test_device_blocks_nest_and_are_left_on_errors() -> None:
    with raxis.device("meta") as device:
        assert device is raxis.device("meta")
        assert raxis.ones(2).is_meta
        with raxis.device("cpu"):
            assert raxis.ones(2).is_cpu
        assert raxis.tensor([1]).is_meta
        with pytest.raises(KeyError), raxis.device("cpu"):
            raise KeyError
        assert raxis.zeros(1).is_meta
    assert raxis.ones(2).is_cpu
