"""Operands on several devices: PyTorch's exception class, and a sentence that names the devices and the remedy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import permutations

import pytest

import raxis
import raxis.nn.functional as F
from raxis.compiler import CompileError
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


CALLS: dict[str, Callable[[raxis.Tensor, raxis.Tensor], object]] = {
    "x[index]": lambda a, b: a[b.long()],
    "x[index] = value": lambda a, b: a.__setitem__(b.long(), 1.0),
    "index_put()": lambda a, b: a.index_put((b.long(),), a),
    "einsum()": lambda a, b: raxis.einsum("ij,kj->ik", a, b),
    "tensordot()": lambda a, b: raxis.tensordot(a, b.t(), 1),
    "conv1d()": lambda a, b: F.conv1d(a, b.unsqueeze(1)),
    "layer_norm()": lambda a, b: F.layer_norm(a, (3,), b[0]),
    "mse_loss()": F.mse_loss,
    "scaled_dot_product_attention()": lambda a, b: F.scaled_dot_product_attention(a, b, a),
    "masked_select()": lambda a, b: raxis.masked_select(a, b > 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_name_the_op_that_was_called(name: str) -> None:
    a, b = pair("cpu", "north:0")
    with pytest.raises(RuntimeError) as caught:
        CALLS[name](a, b)
    expected = f"{name}: Expected all tensors to be on the same device, but found at least two devices, cpu and north:0"
    assert str(caught.value).startswith(expected)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


MOVES: dict[str, Callable[[raxis.Tensor], raxis.Tensor]] = {
    "to": lambda x: (x + 1).to("north:0") * 2,
    "to, at once": lambda x: x.to("north:0") * 2 + 2,
    "copy_": lambda x: raxis.empty(2, device="north:0").copy_(x + 1) * 2,
}


@pytest.mark.parametrize("name", MOVES)
def test_compiled_functions_do_not_move_tensors(name: str) -> None:
    sentence = r"a tensor was moved from cpu to north:0 .* one device\. Move tensors there before the call"
    with pytest.raises(CompileError, match=sentence):
        raxis.compile(MOVES[name])(raxis.ones(2))
    moved = raxis.compile(MOVES[name], on_break="eager")(raxis.ones(2))
    assert (str(moved.device), moved.tolist()) == ("north:0", [4.0, 4.0])


def test_compiled_functions_use_one_device() -> None:
    here, there = raxis.ones(2), raxis.ones(2, device="north:0")
    with pytest.raises(
        CompileError, match=r"a second device, north:0, was used beside cpu .* on one device\."
    ):
        raxis.compile(lambda x, y: (x + 1, y + 1))(here, there)
