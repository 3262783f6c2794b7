"""pickle, copy.copy and copy.deepcopy of tensors."""

from __future__ import annotations

import copy
import pickle

import pytest

import raxis
from raxis import dtypes


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_pickle_keeps_values_and_dtype(dtype: dtypes.DType, protocol: int) -> None:
    tensor = raxis.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    loaded = pickle.loads(pickle.dumps(tensor, protocol))
    assert loaded.dtype is dtype
    assert loaded.tolist() == tensor.tolist()


def test_pickle_keeps_views_tied() -> None:
    base = raxis.arange(6)
    one, other = pickle.loads(pickle.dumps((base, base.view(2, 3).t())))
    assert other.stride() == (1, 3)
    one.fill_(7)
    assert other.tolist() == [[7, 7]] * 3


def test_pickle_keeps_requires_grad_and_attributes() -> None:
    tensor = raxis.ones(2, requires_grad=True)
    tensor.note = "kept"
    loaded = pickle.loads(pickle.dumps(tensor))
    assert loaded.requires_grad
    assert loaded.is_leaf
    assert loaded.note == "kept"


def test_pickle_of_special_tensors() -> None:
    assert pickle.loads(pickle.dumps(raxis.ones(2, 3, device="meta"))).is_meta
    assert pickle.loads(pickle.dumps(raxis.ones(0, 3))).shape == (0, 3)
    assert pickle.loads(pickle.dumps(raxis.tensor(5))).item() == 5
    for value in (raxis.float32, raxis.device("cuda:1"), raxis.channels_last, raxis.strided):
        assert pickle.loads(pickle.dumps(value)) is value
    assert pickle.loads(pickle.dumps(raxis.Size([2]))) == raxis.Size([2])


def test_pickle_of_a_parameter() -> None:
    loaded = pickle.loads(pickle.dumps(raxis.nn.Parameter(raxis.ones(2))))
    assert type(loaded) is raxis.nn.Parameter
    assert loaded.requires_grad


def test_copy_shares_memory() -> None:
    tensor = raxis.ones(2)
    copy.copy(tensor).fill_(3)
    assert tensor.tolist() == [3.0, 3.0]


def test_deepcopy_is_independent_and_keeps_strides() -> None:
    tensor = raxis.arange(6).view(2, 3).t()
    copied = copy.deepcopy(tensor)
    assert copied.stride() == tensor.stride()
    copied.fill_(0)
    assert tensor.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_deepcopy_keeps_storages_shared_and_identity() -> None:
    base = raxis.arange(4.0)
    one, view, again = copy.deepcopy([base, base.as_strided((3,), (1,), 1), base])
    assert one is again
    one.fill_(9)
    assert view.tolist() == [9.0] * 3


def test_deepcopy_copies_the_gradient() -> None:
    tensor = raxis.ones(2, requires_grad=True)
    (tensor * 3).sum().backward()
    copied = copy.deepcopy(tensor)
    assert copied.requires_grad
    assert copied.grad is not tensor.grad
    assert copied.grad.tolist() == [3.0, 3.0]


def test_deepcopy_of_a_non_leaf() -> None:
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(raxis.ones(2, requires_grad=True) * 2)


def test_data_shares_memory_and_can_be_replaced() -> None:
    tensor = raxis.ones(2, requires_grad=True)
    tensor.data.fill_(4)
    assert tensor.tolist() == [4.0, 4.0]
    assert not tensor.data.requires_grad
    tensor.data = raxis.zeros(3, dtype=raxis.float64)
    assert tensor.shape == (3,)
    assert tensor.requires_grad
    (tensor * 2).sum().backward()
    assert tensor.grad.dtype is raxis.float64
    with pytest.raises(TypeError, match="has to be a tensor"):
        tensor.data = 3
