"""state_dict and load_state_dict: PyTorch's keys, metadata and error texts; a failed load changes nothing."""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_same, to_raxis


def build(framework: ModuleType) -> Any:
    parts = framework.nn
    return parts.Sequential(
        OrderedDict(
            conv=parts.Conv2d(1, 2, 3),
            norm=parts.BatchNorm2d(2),
            tail=parts.ModuleDict({"head": parts.Linear(2, 2, bias=False), "act": parts.ReLU()}),
        )
    )


def test_keys_and_metadata_are_torchs() -> None:
    state, reference = build(raxis).state_dict(), build(torch).state_dict()
    assert list(state) == list(reference)
    assert state._metadata == reference._metadata
    prefixed = build(raxis).state_dict(prefix="model.")
    assert list(prefixed) == [f"model.{key}" for key in reference]


def test_values_are_detached_and_share_memory() -> None:
    module = nn.Linear(2, 2)
    weight = module.state_dict()["weight"]
    assert not weight.requires_grad
    assert not isinstance(weight, nn.Parameter)
    weight.fill_(3.0)
    assert module.weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert module.state_dict(keep_vars=True)["weight"] is module.weight


def test_destination() -> None:
    destination: dict[str, Any] = {"before": 1}
    assert nn.Linear(1, 1).state_dict(destination=destination, prefix="a.") is destination
    assert list(destination) == ["before", "a.weight", "a.bias"]


def test_loads_values_of_torch() -> None:
    reference, module = build(torch), build(raxis)
    weight = module.conv.weight
    result = module.load_state_dict(to_raxis(dict(reference.state_dict())))
    assert repr(result) == "<All keys matched successfully>"
    assert module.conv.weight is weight
    for key, value in module.state_dict().items():
        assert_same(value, reference.state_dict()[key])


def changed(framework: ModuleType, state: Any) -> Any:
    state = dict(state)
    del state["conv.bias"], state["norm.running_var"]
    state["extra"] = state["tail.act.more"] = state["conv.weight.deep"] = framework.zeros(1)
    state["norm.weight"] = framework.zeros(5)
    state["tail.head.weight"] = framework.zeros(2, 3, 4)
    state["norm.bias"] = 3.0
    return state


def listed_keys(text: str) -> dict[str, list[str]]:
    """The sorted keys that an error lists, by the start of its line."""
    lines = text.split("\n\t")
    return {
        line.split(":")[0]: sorted(part for part in line.split('"')[1::2])
        for line in lines
        if line.startswith(("Missing", "Unexpected"))
    }


def test_strict_errors_are_collected_and_nothing_is_loaded() -> None:
    module, reference = build(raxis), build(torch)
    before = {key: value.clone() for key, value in module.state_dict().items()}
    with pytest.raises(RuntimeError) as expected:
        reference.load_state_dict(changed(torch, reference.state_dict()))
    with pytest.raises(RuntimeError) as actual:
        module.load_state_dict(changed(raxis, module.state_dict()))
    wanted, text = str(expected.value), str(actual.value)
    assert text.startswith("Error(s) in loading state_dict for Sequential:\n\t")
    assert wanted.startswith("Error(s) in loading state_dict for Sequential:\n\t")
    assert listed_keys(text) == listed_keys(wanted)
    for line in wanted.split("\n\t"):
        if line.startswith("size mismatch"):
            assert line.replace("torch.Size", "raxis.Size") in text.replace("torch.Size", "raxis.Size")
    assert 'While copying the parameter named "norm.bias"' in text
    for key, value in module.state_dict().items():
        assert raxis.equal(value, before[key])


def test_key_errors_alone_load_nothing() -> None:
    module = nn.Linear(1, 1)
    with raxis.no_grad():
        module.weight.fill_(7.0)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "bias"'):
        module.load_state_dict({"weight": raxis.zeros(1, 1)})
    assert module.weight.item() == 7.0


def test_not_strict_reports_keys() -> None:
    module = nn.Linear(1, 1)
    result = module.load_state_dict(
        {"weight": raxis.full((1, 1), 4.0), "other": raxis.zeros(1)}, strict=False
    )
    assert result.missing_keys == ["bias"]
    assert result.unexpected_keys == ["other"]
    assert "other" in repr(result)
    assert module.weight.item() == 4.0
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        module.load_state_dict({"weight": raxis.zeros(1, 2)}, strict=False)


def test_not_a_mapping() -> None:
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        nn.Linear(1, 1).load_state_dict([1])  # type: ignore[arg-type]


def test_assign_takes_the_tensors() -> None:
    module = nn.BatchNorm1d(2)
    module.weight.requires_grad_(False)
    state = {key: value.double() for key, value in nn.BatchNorm1d(2).state_dict().items()}
    module.load_state_dict(state, assign=True)
    assert isinstance(module.weight, nn.Parameter)
    assert not module.weight.requires_grad
    assert module.bias.requires_grad
    assert module.bias.dtype is raxis.float64
    assert module.running_mean is state["running_mean"]


def test_assign_fills_a_meta_module() -> None:
    module = nn.Linear(2, 2, device="meta")
    source = nn.Linear(2, 2)
    module.load_state_dict(source.state_dict(), assign=True)
    assert raxis.equal(module(raxis.ones(2)), source(raxis.ones(2)))


def test_copy_casts_to_the_module() -> None:
    module = nn.Linear(1, 1).double()
    module.load_state_dict({"weight": raxis.tensor([[0.5]]), "bias": raxis.tensor([1.5])})
    assert module.weight.dtype is raxis.float64
    assert (module.weight.item(), module.bias.item()) == (0.5, 1.5)


def test_old_batch_norm_checkpoints() -> None:
    state = nn.BatchNorm1d(2).state_dict()
    del state["num_batches_tracked"]
    state._metadata[""]["version"] = 1
    module = nn.BatchNorm1d(2)
    module.load_state_dict(state)
    assert module.num_batches_tracked.item() == 0
    state._metadata[""]["version"] = 2
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        module.load_state_dict(state)


@pytest.mark.parametrize("framework", [raxis, torch])
def test_hooks(framework: ModuleType) -> None:
    source, target = build(framework), build(framework)
    source.conv.register_state_dict_pre_hook(
        lambda module, prefix, keep_vars: module.bias.detach().fill_(5.0)
    )
    source.conv.register_state_dict_post_hook(
        lambda module, state, prefix, metadata: state.__setitem__(
            prefix + "old", state.pop(prefix + "weight")
        )
    )
    state = source.state_dict()
    assert "conv.old" in state
    assert "conv.weight" not in state

    def rename(module: Any, state: Any, prefix: str, *rest: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "old")

    target.conv.register_load_state_dict_pre_hook(rename)
    state["surplus"] = framework.zeros(1)
    handle = target.register_load_state_dict_post_hook(lambda module, keys: keys.unexpected_keys.clear())
    target.load_state_dict(state)
    assert target.conv.bias.tolist() == [5.0, 5.0]
    assert "conv.old" in state
    handle.remove()
    with pytest.raises(RuntimeError, match='"surplus"'):
        target.load_state_dict(state)


def test_override_of_load_from_state_dict() -> None:
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, *args)

    model = nn.Sequential(Renamed(1, 1))
    model.load_state_dict({"0.kernel": raxis.tensor([[2.0]]), "0.bias": raxis.tensor([3.0])})
    assert model(raxis.ones(1)).item() == 5.0
