"""Copies, conversions, fills and descriptions against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import raxis
from raxis import dtypes
from tests.parity import opinfo
from tests.parity.bridge import tensor_to_raxis, tensor_to_torch

CASES = opinfo.cases(
    "bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "clone", "contiguous", "double", "fill", "float", "half",
    "int",    "item", "long", "resize_", "resize_as_", "short", "to", "zero_", limit=10,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_op(case: opinfo.Case) -> None:
    case.run()


VALUES = [0.0, 1.0, -1.0, 2.7, -2.7, 100.4, 127.0, 0.1, 5e-8, 1e4]


@pytest.mark.filterwarnings("ignore:Casting complex values to real:UserWarning")
@pytest.mark.parametrize("source", dtypes.ALL, ids=repr)
@pytest.mark.parametrize("target", dtypes.ALL, ids=repr)
def test_every_cast(source: dtypes.DType, target: dtypes.DType) -> None:
    values = [value for value in VALUES if value >= 0 or (source.is_signed and target.is_signed)]
    if source.itemsize == 1 or target.itemsize == 1:
        values = [value for value in values if value < 128]
    theirs = torch.tensor(values, dtype=torch.float64).to(getattr(torch, source.name))
    ours = tensor_to_raxis(theirs)
    expected = theirs.to(getattr(torch, target.name))
    torch.testing.assert_close(tensor_to_torch(ours.to(target)), expected, rtol=0, atol=0)
    torch.testing.assert_close(
        tensor_to_torch(raxis.zeros(len(values), dtype=target).copy_(ours)), expected, rtol=0, atol=0
    )


def test_to_takes_arguments_in_every_form() -> None:
    tensor = raxis.ones(2)
    other = raxis.ones(1, dtype=raxis.int64, device="meta")
    assert tensor.to(raxis.float64).dtype is raxis.float64
    assert tensor.to("meta").is_meta
    assert tensor.to(raxis.device("meta"), raxis.int32).dtype is raxis.int32
    assert tensor.to("meta", dtype=raxis.int32).dtype is raxis.int32
    assert tensor.to(device="meta", dtype=raxis.int32).is_meta
    assert tensor.to(other).dtype is raxis.int64
    assert tensor.to(other).is_meta
    assert tensor.to(None, raxis.float16).dtype is raxis.float16
    assert tensor.to(raxis.float64, True, True).dtype is raxis.float64


def test_to_returns_the_tensor_itself_unless_told_otherwise() -> None:
    tensor = raxis.ones(2)
    for same in (
        tensor.to(raxis.float32),
        tensor.to("cpu"),
        tensor.to(tensor),
        tensor.cpu(),
        tensor.float(),
        tensor.contiguous(),
    ):
        assert same is tensor
    for copied in (
        tensor.to(raxis.float32, copy=True),
        tensor.to("cpu", False, True),
        tensor.to(tensor, copy=True),
    ):
        assert copied is not tensor
        assert copied.data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize("arguments", [(1.5,), ([1],), (raxis.float32, raxis.float32), (True,)])
def test_to_errors(arguments: Any) -> None:
    with pytest.raises((TypeError, RuntimeError)):
        raxis.ones(2).to(*arguments)


def test_unknown_devices() -> None:
    with pytest.raises(RuntimeError):
        raxis.ones(2).to("nowhere")
    with pytest.raises(RuntimeError):
        raxis.zeros(2, device="nowhere")


def test_gradients_flow_through_conversions() -> None:
    leaf = raxis.ones(3, requires_grad=True)
    (leaf.double() * 2).half().sum().backward()
    assert leaf.grad.dtype is raxis.float32
    assert leaf.grad.tolist() == [2.0] * 3
    leaf = raxis.ones(3, requires_grad=True)
    target = raxis.zeros(2, 3, dtype=raxis.float64)
    target.copy_(leaf)
    target.sum().backward()
    assert leaf.grad.tolist() == [2.0] * 3


def test_gradients_cross_devices() -> None:
    leaf = raxis.ones(3, device="meta", requires_grad=True)
    (leaf * 2).sum().backward()
    assert leaf.grad.is_meta
    leaf = raxis.ones(3, requires_grad=True)
    moved = leaf.to("meta")
    assert moved.requires_grad
    assert moved.grad_fn.name() == "ToCopyBackward0"


def test_transfer_keeps_the_order_of_dimensions() -> None:
    source = raxis.arange(24).view(2, 3, 4).permute(2, 0, 1)
    moved = source.to("meta")
    assert moved.stride() == torch.arange(24).view(2, 3, 4).permute(2, 0, 1).to("meta").stride()


@pytest.mark.parametrize("shape", [(), (3,), (2, 1), (2, 3)])
def test_copy_broadcasts(shape: tuple[int, ...]) -> None:
    source = torch.randn(shape)
    ours = raxis.zeros(2, 3).t().contiguous().t().copy_(tensor_to_raxis(source))
    assert torch.equal(tensor_to_torch(ours), torch.zeros(2, 3).copy_(source))


def test_copy_between_overlapping_views() -> None:
    base = raxis.arange(5)
    base.as_strided((4,), (1,), 1).copy_(base.as_strided((4,), (1,), 0))
    assert base.tolist() == [0, 0, 1, 2, 3]


def test_copy_errors() -> None:
    with pytest.raises(RuntimeError, match="must match the size"):
        raxis.zeros(2).copy_(raxis.zeros(3))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        raxis.zeros(1).copy_(raxis.zeros(3))
    with pytest.raises(RuntimeError, match="single memory location"):
        raxis.zeros(1).expand(3).copy_(raxis.zeros(3))
    with pytest.raises(TypeError, match="must be Tensor"):
        raxis.zeros(2).copy_(3)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        raxis.zeros(2, requires_grad=True).copy_(raxis.zeros(2))


def test_complex_to_real_warns() -> None:
    values = raxis.tensor([1 + 2j])
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert values.to(raxis.float32).tolist() == [1.0]
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        raxis.zeros(1).copy_(values)


@pytest.mark.parametrize("value", [300, -1, -256, 1e300, float("nan"), 1 + 2j, 2.5, True])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "bool"])
def test_fill_converts_or_refuses_as_torch(value: Any, dtype: str) -> None:
    if dtype == "uint8" and value == -1:
        assert raxis.zeros(1, dtype=raxis.uint8).fill_(-1).item() == 255
    try:
        expected = torch.zeros(2, dtype=getattr(torch, dtype)).fill_(value)
    except RuntimeError:
        with pytest.raises(RuntimeError, match="without overflow"):
            raxis.zeros(2, dtype=getattr(raxis, dtype)).fill_(value)
        return
    torch.testing.assert_close(
        tensor_to_torch(raxis.zeros(2, dtype=getattr(raxis, dtype)).fill_(value)), expected, equal_nan=True
    )


def test_fill_of_views_and_with_tensors() -> None:
    base = raxis.zeros(2, 3)
    base.t().as_strided((2,), (3,), 1).fill_(raxis.tensor(7))
    assert base.tolist() == [[0.0, 7.0, 0.0], [0.0, 7.0, 0.0]]
    with pytest.raises(RuntimeError, match="0-dimension value tensor"):
        base.fill_(raxis.ones(2))


DESCRIPTIONS = (
    "dim", "ndimension", "numel", "nelement", "element_size", "storage_offset", "is_contiguous", "is_floating_point",
    "is_complex", "is_signed", "is_conj", "is_neg", "get_device", "stride", "size", "is_pinned",
)  # fmt: skip


def test_descriptions_are_those_of_torch() -> None:
    for theirs in (
        torch.zeros(2, 3, 4).permute(1, 2, 0)[1:],
        torch.tensor(5),
        torch.zeros(0, 2),
        torch.ones(2, dtype=torch.complex64),
    ):
        ours = tensor_to_raxis(theirs)
        for name in DESCRIPTIONS:
            assert getattr(ours, name)() == getattr(theirs, name)(), name
        assert ours.type() == theirs.type().replace("torch", "raxis")
        for name in (
            "shape",
            "ndim",
            "itemsize",
            "nbytes",
            "is_leaf",
            "requires_grad",
            "is_cpu",
            "is_cuda",
            "is_meta",
        ):
            assert getattr(ours, name) == getattr(theirs, name), name
    assert raxis.ones(2, 3).size(-1) == 3
    assert raxis.ones(2, 3).stride(0) == 3
    for wrong in (
        lambda: raxis.ones(2).size(1),
        lambda: raxis.ones(2).stride(-2),
        lambda: raxis.tensor(1).size(0),
    ):
        with pytest.raises(IndexError):
            wrong()


def test_memory_is_recognised() -> None:
    base = raxis.arange(6.0)
    view = base.view(2, 3)
    assert base.data_ptr() == view.data_ptr() != 0
    assert base.as_strided((2,), (1,), 2).data_ptr() == base.data_ptr() + 8
    assert base.untyped_storage() == view.untyped_storage() != raxis.ones(6).untyped_storage()
    assert base.untyped_storage().nbytes() == len(base.untyped_storage()) == 24
    assert base.untyped_storage().data_ptr() == base.data_ptr()
    assert len({base.untyped_storage(), view.untyped_storage()}) == 1
    assert raxis.tensor([1, 2], dtype=raxis.uint8).untyped_storage().tolist() == [1, 2]
    assert raxis.ones(2, device="meta").data_ptr() == 0
    assert base.is_set_to(base.view(6))
    other = raxis.zeros(1)
    other.set_(base)
    assert other.is_set_to(base)
    with pytest.raises(RuntimeError, match=r"set_\(\) expects"):
        other.set_(raxis.ones(1, dtype=raxis.int64))


def test_type() -> None:
    tensor = raxis.ones(2)
    assert tensor.type(raxis.int32).dtype is raxis.int32
    assert tensor.type("raxis.DoubleTensor").dtype is raxis.float64
    assert tensor.type("torch.meta.LongTensor").is_meta
    assert tensor.type_as(raxis.zeros(1, dtype=raxis.int8)).dtype is raxis.int8
    with pytest.raises(ValueError, match="invalid type"):
        tensor.type("raxis.NoTensor")


def test_resize() -> None:
    tensor = raxis.arange(4)
    tensor.resize_(2, 2)
    assert tensor.tolist() == [[0, 1], [2, 3]]
    tensor.resize_(6)
    assert tensor.tolist()[:4] == [0, 1, 2, 3]
    assert tensor.resize_as_(raxis.ones(1, 2)).tolist() == [[0, 1]]
    with pytest.raises(RuntimeError, match="require grad"):
        raxis.ones(2, requires_grad=True).resize_(3)


def test_clone_keeps_or_changes_the_order_of_dimensions() -> None:
    theirs = torch.arange(120).view(2, 3, 4, 5)
    for source in (theirs, theirs.permute(0, 3, 1, 2), theirs[:, ::2], theirs[:1].expand(3, 3, 4, 5)):
        ours = tensor_to_raxis(source)
        for name in ("preserve_format", "contiguous_format", "channels_last"):
            expected = source.clone(memory_format=getattr(torch, name))
            made = ours.clone(memory_format=getattr(raxis, name))
            assert made.stride() == expected.stride()
            assert torch.equal(tensor_to_torch(made), expected)
            assert ours.is_contiguous(memory_format=raxis.channels_last) == source.is_contiguous(
                memory_format=torch.channels_last
            )
    with pytest.raises(RuntimeError, match="required rank 4"):
        raxis.ones(2).clone(memory_format=raxis.channels_last)
