"""Tensors between devices, one of which hides its memory from the host."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest

import raxis
from raxis import placement
from raxis.backends.reference.backend import ReferenceBackend
from raxis.storage import Place


class Hidden:
    """A buffer that no host function can look into."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def _opened(argument: Any) -> Any:
    return argument.array if isinstance(argument, Hidden) else argument


class Island(ReferenceBackend):
    """The reference backend behind opaque buffers."""

    def allocate(self, nbytes: int, index: int) -> Any:
        return Hidden(super().allocate(nbytes, index))

    def copy_from_host(self, source: np.ndarray, buffer: Any, byte_offset: int) -> None:
        super().copy_from_host(source, buffer.array, byte_offset)

    def copy_to_host(self, buffer: Any, byte_offset: int, target: np.ndarray) -> None:
        super().copy_to_host(buffer.array, byte_offset, target)

    def compile(self, *arguments: Any, **options: Any) -> Any:
        execute = super().compile(*arguments, **options)
        return lambda *operands: execute(*map(_opened, operands))

    def host_view(self, buffer: Any) -> None:
        return None

    def wrap_host(self, array: np.ndarray) -> None:
        return None


@pytest.fixture(autouse=True)
def island(monkeypatch: pytest.MonkeyPatch) -> raxis.device:
    device = raxis.device("island:0")
    monkeypatch.setitem(placement._places, device, Place(device, Island(), 0))
    return device


def test_there_and_back() -> None:
    source = raxis.arange(24.0).view(2, 3, 4).permute(2, 0, 1)
    moved = source.to("island")
    assert moved.device == raxis.device("island:0")
    assert moved.stride() == source.stride()
    assert moved.tolist() == source.tolist()
    part = moved.as_strided((2, 2), (1, 6), 3)
    assert part.cpu().tolist() == source.as_strided((2, 2), (1, 6), 3).tolist()
    assert part.tolist() == part.cpu().tolist()


def test_made_there() -> None:
    for made in (
        raxis.zeros(2, device="island"),
        raxis.tensor([0.0, 0.0], device="island"),
        raxis.arange(2, device="island").float().zero_(),
        raxis.empty(2, device="island").fill_(0),
        raxis.as_tensor(np.zeros(2, np.float32), device="island"),
    ):
        assert str(made.device) == "island:0"
        assert made.tolist() == [0.0, 0.0]
    assert raxis.tensor(2.5, device="island").item() == 2.5
    assert raxis.zeros(0, 2, device="island").tolist() == []


def test_copy_in_both_directions() -> None:
    there = raxis.zeros(2, 3, device="island")
    there.t().copy_(raxis.tensor([1, 2]))
    assert there.tolist() == [[1.0] * 3, [2.0] * 3]
    here = raxis.zeros(3, 2, dtype=raxis.int64).copy_(there.t())
    assert here.tolist() == [[1, 2]] * 3


def test_gradients_come_home() -> None:
    leaf = raxis.ones(3, requires_grad=True)
    (leaf.to("island") * 3).sum().backward()
    assert leaf.grad.is_cpu
    assert leaf.grad.tolist() == [3.0] * 3


def test_devices_do_not_mix() -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        raxis.ones(2) + raxis.ones(2, device="island")


def test_numpy_needs_a_move() -> None:
    there = raxis.ones(2, device="island")
    with pytest.raises(TypeError, match="can't convert island:0 device type tensor to numpy"):
        there.numpy()
    assert there.numpy(force=True).tolist() == [1.0, 1.0]


def test_text_names_the_device() -> None:
    assert repr(raxis.ones(2, device="island")) == "tensor([1., 1.], device='island:0')"
    there = raxis.arange(10000, device="island").view(100, 100)
    assert repr(there) == repr(there.cpu())[:-1] + ", device='island:0')"


def test_random_numbers_are_those_of_the_cpu() -> None:
    raxis.manual_seed(11)
    there = raxis.rand(5, device="island").tolist()
    raxis.manual_seed(11)
    assert raxis.rand(5).tolist() == there


def test_copies_and_files() -> None:
    there = raxis.arange(4.0, device="island")
    for copied in (copy.deepcopy(there), pickle.loads(pickle.dumps(there))):
        assert str(copied.device) == "island:0"
        assert copied.tolist() == [0.0, 1.0, 2.0, 3.0]
    file = io.BytesIO()
    raxis.save([there, there.view(2, 2)], file)
    file.seek(0)
    one, other = raxis.load(file)
    one.zero_()
    assert str(other.device) == "island:0"
    assert other.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    file.seek(0)
    assert raxis.load(file, map_location="cpu")[1].is_cpu
    file = io.BytesIO()
    raxis.save(raxis.ones(2), file)
    file.seek(0)
    assert str(raxis.load(file, map_location={"cpu": "island"}).device) == "island:0"


def test_resize_keeps_elements() -> None:
    assert raxis.arange(3, device="island").resize_(5).tolist()[:3] == [0, 1, 2]


def test_default_device_block() -> None:
    with raxis.device("island"):
        assert str(raxis.randn(2).device) == "island:0"
        assert str(raxis.tensor([1]).device) == "island:0"
