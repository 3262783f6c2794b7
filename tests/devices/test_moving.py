"""Tensors, modules and optimizers move among cpu, meta and several third-party devices."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import raxis
from raxis import nn
from raxis.utils.data import DataLoader, TensorDataset
from tests.devices.places import THIRD_PARTY

PLACES = ["cpu", *THIRD_PARTY]
ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 4


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("source", PLACES)
def test_values_strides_and_dtype_arrive(source: str, target: str) -> None:
    x = raxis.tensor(ARRAY.tolist(), device=source)
    for view, expected in (
        (x, ARRAY),
        (x.transpose(0, 2), ARRAY.transpose(2, 1, 0)),
        (x[:, 1:, ::2], ARRAY[:, 1:, ::2]),
        (x[0, 0, 3], ARRAY[0, 0, 3]),
        (x[2:], ARRAY[2:]),
        (x[:1, :1].expand(2, 3, 4), np.broadcast_to(ARRAY[:1, :1], (2, 3, 4))),
    ):
        moved = view.to(target)
        assert str(moved.device) == target
        assert np.array_equal(moved.cpu().numpy(), expected)
        assert (moved is view) is (source == target)
    half = x.to(target, raxis.float16)
    assert (str(half.device), half.dtype) == (target, raxis.float16)
    assert np.array_equal(half.cpu().numpy(), ARRAY.astype(np.float16))


@pytest.mark.parametrize("place", PLACES)
def test_meta_takes_shapes_and_gives_nothing_back(place: str) -> None:
    moved = raxis.tensor(ARRAY.tolist(), device=place).transpose(0, 2).to("meta")
    assert (moved.shape, moved.device.type) == ((4, 3, 2), "meta")
    with pytest.raises(NotImplementedError, match=r"Cannot copy out of meta tensor; no data!"):
        moved.to(place)
    with pytest.raises(NotImplementedError, match=r"Cannot copy out of meta tensor"):
        raxis.ones(4, 3, 2, device=place).copy_(moved)
    assert raxis.empty_like(moved, device=place).shape == (4, 3, 2)


def test_nan_and_signed_zero_survive_the_way() -> None:
    values = np.array([np.nan, -0.0, np.inf, 5e-324])
    moved = raxis.from_numpy(values.copy()).to("north").to("south").to("north:1").cpu()
    assert moved.numpy().tobytes() == values.tobytes()


def test_copy_between_third_party_devices_converts_and_broadcasts() -> None:
    target = raxis.zeros(2, 3, dtype=raxis.float64, device="south")
    assert target.copy_(raxis.tensor([1, 2, 3], device="north")) is target
    assert target.tolist() == [[1.0, 2.0, 3.0]] * 2
    target[0] = raxis.tensor([7.0, 8.0, 9.0], device="north:1")
    assert target.tolist() == [[7.0, 8.0, 9.0], [1.0, 2.0, 3.0]]


def test_gradients_come_back_through_devices() -> None:
    x = raxis.tensor([1.0, 2.0], requires_grad=True)
    y = x.to("north") * 3
    (y.to("south") ** 2).sum().backward()
    assert x.grad is not None
    assert x.grad.is_cpu
    assert x.grad.tolist() == [18.0, 36.0]


def test_module_moves_with_gradients_and_buffers() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model(raxis.ones(2, 3)).sum().backward()
    parameters = list(model.parameters())
    expected = {name: value.tolist() for name, value in model.state_dict().items()}
    for place in ("north:1", "south:0", "cpu"):
        assert model.to(place) is model
        assert all(one is other for one, other in zip(parameters, model.parameters(), strict=True))
        tensors = [*model.parameters(), *model.buffers(), *(p.grad for p in parameters)]
        assert {str(tensor.device) for tensor in tensors} == {place}
        assert {name: value.tolist() for name, value in model.state_dict().items()} == expected
    with pytest.raises(NotImplementedError, match="meta"):
        nn.Linear(2, 2, device="meta").to("north")
    assert nn.Linear(2, 2, device="meta").to_empty(device="north").weight.device == raxis.device("north:0")


def test_state_dicts_go_between_devices() -> None:
    here, there = nn.Linear(3, 2), nn.Linear(3, 2).to("north")
    there.load_state_dict(here.state_dict())
    assert str(there.weight.device) == "north:0"
    assert there.weight.tolist() == here.weight.tolist()


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"lr": 0.1},
    "AdamW": {"lr": 0.1},
    "RMSprop": {"lr": 0.1, "momentum": 0.5},
    "Adagrad": {"lr": 0.1},
}


def step(model: nn.Module, optimizer: raxis.optim.Optimizer, place: str) -> None:
    optimizer.zero_grad()
    inputs = raxis.tensor([[1.0, -2.0], [0.5, 3.0]], device=place)
    (model(inputs) ** 2).mean().backward()
    optimizer.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_state_follows_by_loading_it(name: str) -> None:
    """As in PyTorch, moving parameters leaves the state; loading a state dict puts it beside the parameters."""
    raxis.manual_seed(0)
    model = nn.Linear(2, 2)
    stays = copy.deepcopy(model)
    optimizers = [
        getattr(raxis.optim, name)(each.parameters(), **OPTIMIZERS[name]) for each in (model, stays)
    ]
    step(model, optimizers[0], "cpu")
    step(stays, optimizers[1], "cpu")
    model.to("north")
    before = [parameter.tolist() for parameter in model.parameters()]
    with pytest.raises(RuntimeError, match=r"same device.*cpu and north:0.*load_state_dict"):
        step(model, optimizers[0], "north")
    assert [parameter.tolist() for parameter in model.parameters()] == before
    optimizers[0].load_state_dict(optimizers[1].state_dict())
    for _ in range(2):
        step(model, optimizers[0], "north")
        step(stays, optimizers[1], "cpu")
    for moved, other in zip(model.parameters(), stays.parameters(), strict=True):
        np.testing.assert_allclose(moved.tolist(), other.tolist(), rtol=1e-6)
    kept = {key: value for state in optimizers[0].state.values() for key, value in state.items()}
    places = {key: str(value.device) for key, value in kept.items() if isinstance(value, raxis.Tensor)}
    assert places
    assert all(place == ("cpu" if key == "step" else "north:0") for key, place in places.items())


def test_default_device_and_blocks() -> None:
    raxis.set_default_device("south")
    try:
        assert str(nn.Linear(2, 2).weight.device) == "south:0"
        with raxis.device("north:1"):
            assert str(raxis.ones(1).device) == "north:1"
        assert str(raxis.tensor([1]).device) == "south:0"
        assert raxis.from_numpy(np.ones(1)).is_cpu
    finally:
        raxis.set_default_device(None)
    assert raxis.ones(1).is_cpu


def test_data_loader_leaves_tensors_where_they_are() -> None:
    there = DataLoader(TensorDataset(raxis.ones(4, 2, device="south")), batch_size=2)
    assert [str(batch.device) for (batch,) in there] == ["south:0"] * 2
    pinned = DataLoader(TensorDataset(raxis.ones(4, 2)), batch_size=2, pin_memory=True)
    assert [batch.to("south").sum().item() for (batch,) in pinned] == [4.0, 4.0]
