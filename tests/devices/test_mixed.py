"""Operands on several devices: PyTorch's exception class, and a sentence that names the devices and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

import raxis
import raxis.nn.functional as F
from tests.devices.places import THIRD_PARTY

PLACES = ["cpu", "meta", *THIRD_PARTY]

MIXTURES: dict[str, Callable[[raxis.Tensor, raxis.Tensor], object]] = {
    "add": lambda a, b: a + b,
    "compare": lambda a, b: a == b,
    "matmul": lambda a, b: a @ b.t(),
    "cat": lambda a, b: raxis.cat([a, b]),
    "where": lambda a, b: raxis.where(a > 0, a, b),
    "in place": lambda a, b: a.mul_(b),
    "linear": F.linear,
    "einsum": lambda a, b: raxis.einsum("ij,kj->ik", a, b),
    "equal": raxis.equal,
    "compiled": raxis.compile(lambda a, b: a + b),
}


def pair(left: str, right: str) -> tuple[raxis.Tensor, raxis.Tensor]:
    return raxis.ones(2, 3, device=left), raxis.ones(2, 3, device=right)


@pytest.mark.parametrize("name", MIXTURES)
def test_mixed_operands_are_refused(name: str) -> None:
    for left, right in permutations(PLACES, 2):
        a, b = pair(left, right)
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as caught:
            MIXTURES[name](a, b)
        assert left in str(caught.value)
        assert right in str(caught.value)
        assert ".to(device)" in str(caught.value)
        if left != "meta":
            assert a.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("place", ["north:0", "south:0"])
def test_indices_may_be_on_cpu_but_not_elsewhere(place: str) -> None:
    x = raxis.arange(6, device=place)
    assert x[raxis.tensor([4, 1])].tolist() == [4, 1]
    with pytest.raises(RuntimeError, match="same device"):
        x[raxis.tensor([0], device="north:1")]
    with pytest.raises(RuntimeError, match="same device"):
        x.index_select(0, raxis.tensor([0]))
    with pytest.raises(RuntimeError, match="same device"):
        x.cpu()[raxis.tensor([0], device=place)]


def test_numbers_of_cpu_go_everywhere_and_those_of_devices_do_not() -> None:
    number = raxis.tensor(2.0)
    for place in THIRD_PARTY:
        there = raxis.ones(2, device=place)
        for result in (there + number, number + there, raxis.where(there > 0, number, there)):
            assert str(result.device) == place
        assert there.mul_(number).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match=f"same device.*cpu and {place}"):
            raxis.ones(2) + raxis.tensor(2.0, device=place)


def test_results_and_gradients_must_be_on_the_device() -> None:
    there, elsewhere = raxis.ones(2, device="north", requires_grad=True), raxis.ones(2, device="south")
    with pytest.raises(RuntimeError, match=r"out tensor to be on device north:0, but got south:0"):
        raxis.add(there.detach(), 1, out=elsewhere)
    with pytest.raises(RuntimeError, match="assigned grad has data of a different device"):
        there.grad = elsewhere
    with pytest.raises(RuntimeError, match=r"expected device north:0 but got south:0"):
        raxis.autograd.grad(there.sum(), there, raxis.ones((), device="south"))
    assert elsewhere.tolist() == [1.0, 1.0]


def test_numpy_and_dlpack_say_what_to_do() -> None:
    there = raxis.ones(2, device="north")
    with pytest.raises(
        TypeError, match=r"can't convert north:0 device type tensor to numpy\. Use Tensor\.cpu\(\)"
    ):
        there.numpy()
    with pytest.raises(TypeError, match=r"Tensor\.cpu\(\)"):
        raxis.from_dlpack(there)
    assert there.numpy(force=True).tolist() == [1.0, 1.0]


def test_names_that_lead_nowhere() -> None:
    x = raxis.ones(1, device="north")
    for name, text in (
        ("north:2", "Device 'north:2' does not exist: there are 2 devices, north:0 to north:1."),
        ("nort", "Did you mean 'north'?"),
        ("east", "Unknown device 'east'."),
        ("gpu", "There are no aliases: the device is called 'cuda'."),
    ):
        with pytest.raises(raxis.backends.BackendError) as caught:
            x.to(name)
        assert text in str(caught.value)
    with pytest.raises(RuntimeError, match="device index 1 was given without a device type"):
        x.to(1)
