"""The base class: groups, closures, hooks, state dictionaries, copies."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis
from tests.optim.parity import loss, parameters, step

FRAMEWORKS = [pytest.param(raxis, id="raxis"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_refuses_parameters(framework: ModuleType) -> None:
    first, second = parameters(framework)
    build = framework.optim.SGD
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
        build(first)
    with pytest.raises(ValueError, match="empty parameter list"):
        build([])
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        build([3])
    with pytest.raises(TypeError, match="ordered collections"):
        build([{"params": {first, second}}])
    with pytest.raises(ValueError, match="non-leaf"):
        build([first * 2])
    with pytest.raises(ValueError, match="more than one parameter group"):
        build([{"params": [first]}, {"params": first}])
    with pytest.raises(ValueError, match="with/without names"):
        build([("a", first), second])
    with pytest.raises(ValueError, match="with/without names"):
        build([("a", first)]).add_param_group({"params": second})
    with pytest.raises(TypeError, match="param_group must be a dict"):
        build([first]).add_param_group([second])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        build([first, first])


def test_failed_add_changes_nothing() -> None:
    first, second = parameters(raxis)
    optimizer = raxis.optim.SGD([first])
    group = {"params": iter([second, second * 2])}
    with pytest.raises(ValueError, match="non-leaf"):
        optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 1
    assert "lr" not in group


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_names_are_kept(framework: ModuleType) -> None:
    first, second = parameters(framework)
    optimizer = framework.optim.SGD([("a", first), ("b", second)])
    assert optimizer.param_groups[0]["param_names"] == ["a", "b"]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["a", "b"]
    plain = framework.optim.SGD([first, second])
    plain.load_state_dict(optimizer.state_dict())
    assert plain.param_groups[0]["param_names"] == ["a", "b"]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_closure(framework: ModuleType) -> None:
    params = parameters(framework)
    optimizer = framework.optim.SGD(params, lr=0.01)

    def closure() -> Any:
        optimizer.zero_grad()
        value = loss(params)
        value.backward()
        return value

    with framework.no_grad():
        first = optimizer.step(closure)
    assert loss(params).item() < first.item()
    assert optimizer.step() is None


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_zero_grad(framework: ModuleType) -> None:
    params = parameters(framework)
    optimizer = framework.optim.SGD(params)
    loss(params).backward()
    gradient = params[1].grad
    optimizer.zero_grad(set_to_none=False)
    assert gradient.tolist() == [0.0, 0.0, 0.0]
    optimizer.zero_grad()
    assert params[1].grad is None


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_step_hooks(framework: ModuleType) -> None:
    params = parameters(framework)
    optimizer = framework.optim.SGD(params)
    seen: list[Any] = []
    before = optimizer.register_step_pre_hook(
        lambda self, args, kwargs: seen.append(("pre", self is optimizer))
    )
    optimizer.register_step_post_hook(lambda self, args, kwargs: seen.append(("post", args[1:], kwargs)))
    step(optimizer, params)
    assert [entry[0] for entry in seen] == ["pre", "post"]
    before.remove()
    step(optimizer, params)
    assert [entry[0] for entry in seen] == ["pre", "post", "post"]


def test_step_hooks_of_overridden_step_run_once() -> None:
    class Twice(raxis.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            super().step(closure)
            return super().step(closure)

    params = parameters(raxis)
    optimizer = Twice(params)
    seen: list[str] = []
    optimizer.register_step_pre_hook(lambda *_: seen.append("pre"))
    optimizer.register_step_post_hook(lambda *_: seen.append("post"))
    step(optimizer, params)
    assert seen == ["pre", "post"]


def test_step_pre_hook_replaces_arguments() -> None:
    optimizer = raxis.optim.SGD(parameters(raxis))
    handle = optimizer.register_step_pre_hook(lambda self, args, kwargs: ((), {"closure": lambda: 7}))
    assert optimizer.step() == 7
    handle.remove()
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match="pre-hook must return None or a tuple"):
        optimizer.step()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_state_dict_hooks(framework: ModuleType) -> None:
    optimizer = framework.optim.SGD(parameters(framework))
    optimizer.register_state_dict_pre_hook(lambda self: self.param_groups[0].__setitem__("lr", 5.0))
    optimizer.register_state_dict_post_hook(lambda self, state: {**state, "note": 1})
    state = optimizer.state_dict()
    assert state["note"] == 1
    assert state["param_groups"][0]["lr"] == 5.0
    other = framework.optim.SGD(parameters(framework))
    seen: list[Any] = []
    other.register_load_state_dict_pre_hook(lambda self, state: {**state, "state": {}})
    other.register_load_state_dict_post_hook(seen.append)
    other.load_state_dict(state)
    assert seen == [other]
    assert other.param_groups[0]["lr"] == 5.0


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_load_refuses_other_groups(framework: ModuleType) -> None:
    params = parameters(framework)
    optimizer = framework.optim.SGD(params, lr=0.1)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0], "lr": 3.0}]})
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_load_copies_and_casts() -> None:
    params = parameters(raxis)
    optimizer = raxis.optim.Adam(params)
    step(optimizer, params)
    halves = [raxis.nn.Parameter(parameter.detach().float()) for parameter in params]
    other = raxis.optim.Adam(halves)
    state = optimizer.state_dict()
    other.load_state_dict(state)
    assert other.state[halves[0]]["exp_avg"].dtype is raxis.float32
    other.state[halves[0]]["step"].fill_(9.0)
    other.param_groups[0]["lr"] = 4.0
    assert state["state"][0]["step"].item() == 1.0
    assert optimizer.param_groups[0]["lr"] == 1e-3


def test_required_options_and_missing_update() -> None:
    class Plain(raxis.optim.Optimizer):
        pass

    from raxis.optim.groups import required

    with pytest.raises(ValueError, match="required optimization parameter rate"):
        Plain(parameters(raxis), {"rate": required})
    params = parameters(raxis)
    optimizer = Plain(params, {})
    loss(params).backward()
    with pytest.raises(NotImplementedError, match="Plain defines neither"):
        optimizer.step()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
def test_copies_keep_parameters_and_state_together(duplicate: Any) -> None:
    params = parameters(raxis)
    optimizer = raxis.optim.Adam(params, lr=0.1)
    step(optimizer, params)
    copied_params, copied = duplicate((params, optimizer))
    step(optimizer, params)
    step(copied, copied_params)
    assert raxis.equal(params[0], copied_params[0])
    assert params[0] is not copied_params[0]


def test_repr_is_torchs() -> None:
    assert repr(raxis.optim.SGD(parameters(raxis), lr=0.1, momentum=0, dampening=0, weight_decay=0)) == repr(
        torch.optim.SGD(parameters(torch), lr=0.1)
    )
