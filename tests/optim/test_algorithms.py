"""Twenty steps of every algorithm and option follow PyTorch's, and checkpoints go both ways."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.optim.parity import assert_equal_values, loss, parameters, step, to_raxis, to_torch

CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.9}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.001, "momentum": 0.5, "maximize": True}),
    ("SGD", {"weight_decay": 0.5}),
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "maximize": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.2, "amsgrad": True}),
    ("AdamW", {"lr": 0.1, "maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.8, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.05, "centered": True, "maximize": True, "eps": 1e-2}),
    ("Adagrad", {"lr": 0.1}),
    (
        "Adagrad",
        {"lr": 0.1, "lr_decay": 0.2, "weight_decay": 0.1, "initial_accumulator_value": 0.3, "maximize": True},
    ),
]


def build(case: tuple[str, dict[str, Any]]) -> tuple[Any, list[Any], Any, list[Any]]:
    name, options = case
    ours, theirs = parameters(raxis), parameters(torch)
    optimizer = getattr(raxis.optim, name)(ours, **options)
    reference = getattr(torch.optim, name)(theirs, **options, foreach=False)
    return optimizer, ours, reference, theirs


def assert_same_state(state: dict[str, Any], reference: dict[str, Any]) -> None:
    assert state.keys() == reference.keys()
    assert state["state"].keys() == reference["state"].keys()
    for key, entries in reference["state"].items():
        assert list(state["state"][key]) == list(entries)
        assert_equal_values(state["state"][key].values(), entries.values())
    for group, wanted in zip(state["param_groups"], reference["param_groups"], strict=True):
        assert {**group, "foreach": None} == {**wanted, "foreach": None}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_trajectory_and_state(case: tuple[str, dict[str, Any]]) -> None:
    optimizer, ours, reference, theirs = build(case)
    for _ in range(20):
        step(optimizer, ours)
        step(reference, theirs)
        assert_equal_values(ours, theirs)
    assert_same_state(optimizer.state_dict(), reference.state_dict())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_checkpoints_go_both_ways(case: tuple[str, dict[str, Any]]) -> None:
    optimizer, ours, reference, theirs = build(case)
    for _ in range(3):
        step(reference, theirs)
    for parameter, wanted in zip(ours, theirs, strict=True):
        parameter.data.copy_(to_raxis(wanted.data))
    optimizer.load_state_dict(to_raxis(reference.state_dict()))
    for _ in range(3):
        step(optimizer, ours)
    fresh = getattr(torch.optim, case[0])(theirs, foreach=False)
    for _ in range(3):
        step(reference, theirs)
    assert_equal_values(ours, theirs)
    fresh.load_state_dict(to_torch(optimizer.state_dict()))
    step(fresh, theirs)
    step(optimizer, ours)
    assert_equal_values(ours, theirs)


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_capturable_keeps_steps_as_tensors(name: str) -> None:
    ours, theirs = parameters(raxis), parameters(torch)
    optimizer = getattr(raxis.optim, name)(ours, lr=raxis.tensor(0.1), amsgrad=True, capturable=True)
    reference = getattr(torch.optim, name)(theirs, lr=0.1, amsgrad=True, foreach=False)
    for _ in range(10):
        step(optimizer, ours)
        step(reference, theirs)
    # The bias corrections are computed in float32.
    assert_equal_values(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_learning_rate_as_tensor(name: str) -> None:
    ours, theirs = parameters(raxis), parameters(torch)
    optimizer = getattr(raxis.optim, name)(ours, lr=raxis.tensor(0.01, dtype=raxis.float64))
    reference = getattr(torch.optim, name)(theirs, lr=0.01, foreach=False)
    for _ in range(3):
        step(optimizer, ours)
        step(reference, theirs)
    assert_equal_values(ours, theirs)
    with pytest.raises(ValueError, match="1-element"):
        getattr(raxis.optim, name)(ours, lr=raxis.zeros(2))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_state_has_the_parameters_dtype(dtype: str) -> None:
    parameter = raxis.nn.Parameter(raxis.ones(3, dtype=getattr(raxis, dtype)))
    optimizer = raxis.optim.Adam([parameter], eps=1e-3)
    (parameter * 2).sum().backward()
    optimizer.step()
    state = optimizer.state[parameter]
    assert state["exp_avg"].dtype is getattr(raxis, dtype)
    assert state["step"].dtype is raxis.float32
    assert parameter.dtype is getattr(raxis, dtype)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9}),
        ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
        ("AdamW", {}),
        ("RMSprop", {"centered": True, "momentum": 0.5}),
        ("Adagrad", {"initial_accumulator_value": 0.5}),
    ],
)
def test_complex_parameters(name: str, options: dict[str, Any]) -> None:
    values = np.array([1.0 + 2.0j, -0.5 + 0.1j, 3.0j])

    def run(framework: ModuleType) -> Any:
        parameter = framework.nn.Parameter(framework.from_numpy(values.copy()))
        optimizer = getattr(framework.optim, name)([parameter], lr=0.05, foreach=False, **options)
        for _ in range(5):
            optimizer.zero_grad()
            (parameter.abs() ** 3).sum().backward()
            optimizer.step()
        return [parameter, *(state for state in optimizer.state[parameter].values())]

    assert_equal_values(run(raxis), run(torch))


def test_groups_have_their_own_options() -> None:
    ours, theirs = parameters(raxis), parameters(torch)
    groups = [{"lr": 0.01, "momentum": 0.9}, {"lr": 0.1}]
    optimizer = raxis.optim.SGD([{"params": [p], **g} for p, g in zip(ours, groups, strict=True)], lr=1.0)
    reference = torch.optim.SGD([{"params": [p], **g} for p, g in zip(theirs, groups, strict=True)], lr=1.0)
    for _ in range(5):
        step(optimizer, ours)
        step(reference, theirs)
    assert_equal_values(ours, theirs)
    assert_same_state(optimizer.state_dict(), reference.state_dict())


def test_parameters_without_gradient_are_left_alone() -> None:
    for name in ("SGD", "Adam", "AdamW"):
        ours = parameters(raxis)
        optimizer = getattr(raxis.optim, name)(ours, lr=0.1, weight_decay=0.1)
        (ours[0] ** 2).sum().backward()
        before = ours[1].detach().clone()
        optimizer.step()
        assert raxis.equal(ours[1], before)
        assert ours[1] not in optimizer.state


def test_nan_gradients_reach_only_their_elements() -> None:
    parameter = raxis.nn.Parameter(raxis.ones(2))
    optimizer = raxis.optim.Adam([parameter], lr=0.5)
    parameter.grad = raxis.tensor([float("nan"), 1.0])
    optimizer.step()
    assert parameter.isnan().tolist() == [True, False]


def test_empty_parameter() -> None:
    parameter = raxis.nn.Parameter(raxis.zeros(0, 3))
    optimizer = raxis.optim.AdamW([parameter])
    parameter.grad = raxis.zeros(0, 3)
    optimizer.step()
    assert tuple(optimizer.state[parameter]["exp_avg"].shape) == (0, 3)


def test_non_contiguous_parameter() -> None:
    base = raxis.arange(6.0).reshape(2, 3)
    parameter = raxis.nn.Parameter(base.t())
    optimizer = raxis.optim.Adam([parameter], lr=1.0)
    parameter.grad = raxis.ones(3, 2)
    optimizer.step()
    assert base.tolist()[1] == pytest.approx([2.0, 3.0, 4.0], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("SGD", {"lr": -1.0}, "Invalid learning rate: -1.0"),
        ("SGD", {"lr": float("nan")}, "Invalid learning rate"),
        ("SGD", {"momentum": -1.0}, "Invalid momentum value"),
        ("SGD", {"weight_decay": -1.0}, "Invalid weight_decay value"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires"),
        ("Adam", {"eps": -1.0}, "Invalid epsilon value"),
        ("Adam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("RMSprop", {"alpha": -1.0}, "Invalid alpha value"),
        ("Adagrad", {"lr_decay": -1.0}, "Invalid lr_decay value"),
        ("AdamW", {"betas": (0.9, -0.1)}, "Invalid beta parameter at index 1"),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        getattr(raxis.optim, name)(parameters(raxis), **options)


def test_execution_options() -> None:
    with pytest.raises(RuntimeError, match="cannot be `True` together"):
        raxis.optim.SGD(parameters(raxis), foreach=True, fused=True)
    with pytest.raises(NotImplementedError, match="differentiable=False"):
        raxis.optim.Adam(parameters(raxis), differentiable=True)


def test_minimises() -> None:
    params = parameters(raxis)
    optimizer = raxis.optim.AdamW(params, lr=0.05)
    first = loss(params).item()
    for _ in range(50):
        last = step(optimizer, params).item()
    assert last < first - 5
