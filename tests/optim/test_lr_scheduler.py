"""Schedules give PyTorch's learning rates, alone and together, and resume from their state."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis
from tests.optim.parity import parameters

Build = Callable[[Any, Any], Any]

SCHEDULES: dict[str, Build] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "lambdas": lambda s, o: s.LambdaLR(o, [lambda epoch: 0.9**epoch, lambda epoch: 1.0 / (1 + epoch)]),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multi step": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.4, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, start_factor=0.2, end_factor=0.7, total_iters=6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.8),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=8, power=2.0),
    "warm restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.01),
    "warm restarts of one length": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]),
    "one cycle": lambda s, o: s.OneCycleLR(o, max_lr=[1.0, 2.0], total_steps=25),
    "one cycle linear": lambda s, o: s.OneCycleLR(
        o, max_lr=1.0, epochs=5, steps_per_epoch=5, anneal_strategy="linear", three_phase=True, pct_start=0.4
    ),
    "one cycle without momentum": lambda s, o: s.OneCycleLR(o, 1.0, 25, cycle_momentum=False, div_factor=5.0),
    "sequential": lambda s, o: s.SequentialLR(
        o,
        [
            s.LinearLR(o, 0.1, total_iters=4),
            s.CosineAnnealingLR(o, 8),
            s.ExponentialLR(o, 0.5),
            s.StepLR(o, 2),
        ],
        milestones=[4, 9, 15],
    ),
}


def build_optimizer(framework: ModuleType, name: str = "SGD") -> Any:
    first, second = parameters(framework)
    groups = [{"params": [first]}, {"params": [second], "lr": 0.3}]
    if name == "SGD":
        return framework.optim.SGD(groups, lr=0.7, momentum=0.9)
    return getattr(framework.optim, name)(groups, lr=0.7)


def trace(optimizer: Any, schedule: Any, steps: int = 20) -> list[Any]:
    """Learning rates, momenta and betas, step by step."""
    seen = []
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        seen.append([schedule.get_last_lr(), *map(options, optimizer.param_groups)])
    return seen


def options(group: dict[str, Any]) -> list[float]:
    return [group["lr"], group.get("momentum", 0.0), *group.get("betas", ())]


def approx(nested: Any) -> Any:
    return [approx(part) for part in nested] if isinstance(nested, list) else pytest.approx(nested, rel=1e-12)


@pytest.mark.parametrize("name", list(SCHEDULES))
@pytest.mark.parametrize("algorithm", ["SGD", "Adam"])
def test_learning_rates_are_torchs(name: str, algorithm: str) -> None:
    ours, theirs = build_optimizer(raxis, algorithm), build_optimizer(torch, algorithm)
    schedule = SCHEDULES[name](raxis.optim.lr_scheduler, ours)
    reference = SCHEDULES[name](torch.optim.lr_scheduler, theirs)
    assert schedule.get_last_lr() == approx(reference.get_last_lr())
    assert trace(ours, schedule) == approx(trace(theirs, reference))


def test_two_schedules_of_one_optimizer() -> None:
    def run(framework: ModuleType) -> list[Any]:
        optimizer = build_optimizer(framework)
        first = SCHEDULES["cosine"](framework.optim.lr_scheduler, optimizer)
        second = SCHEDULES["step"](framework.optim.lr_scheduler, optimizer)
        seen = []
        for _ in range(12):
            optimizer.step()
            first.step()
            second.step()
            seen.append(second.get_last_lr())
        return seen

    assert run(raxis) == approx(run(torch))


@pytest.mark.parametrize("name", list(SCHEDULES))
def test_resumes_from_its_state(name: str) -> None:
    optimizer, other = build_optimizer(raxis), build_optimizer(raxis)
    schedule = SCHEDULES[name](raxis.optim.lr_scheduler, optimizer)
    trace(optimizer, schedule, 7)
    resumed = SCHEDULES[name](raxis.optim.lr_scheduler, other)
    other.load_state_dict(optimizer.state_dict())
    resumed.load_state_dict(schedule.state_dict())
    other.step()
    assert trace(other, resumed, 8) == trace(optimizer, schedule, 8)


@pytest.mark.parametrize(
    "name", ["CosineAnnealingLR", "ExponentialLR", "LinearLR", "StepLR", "MultiStepLR", "ConstantLR"]
)
def test_resumes_with_last_epoch(name: str) -> None:
    arguments = {"CosineAnnealingLR": (5,), "ExponentialLR": (0.9,), "StepLR": (3,), "MultiStepLR": ([3, 6],)}

    def run(framework: ModuleType) -> list[Any]:
        optimizer = build_optimizer(framework)
        for group in optimizer.param_groups:
            group["initial_lr"] = 1.0
        build = getattr(framework.optim.lr_scheduler, name)
        return trace(optimizer, build(optimizer, *arguments.get(name, ()), last_epoch=2), 8)

    assert run(raxis) == approx(run(torch))


def test_resuming_needs_initial_learning_rates() -> None:
    with pytest.raises(KeyError, match="initial_lr"):
        raxis.optim.lr_scheduler.StepLR(build_optimizer(raxis), 2, last_epoch=3)


def test_nested_sequences() -> None:
    schedules = raxis.optim.lr_scheduler
    optimizer = raxis.optim.SGD(parameters(raxis), lr=1.0)
    inner = schedules.SequentialLR(
        optimizer,
        [schedules.ExponentialLR(optimizer, 0.5), schedules.StepLR(optimizer, 1, gamma=0.1)],
        milestones=[2],
    )
    outer = schedules.SequentialLR(optimizer, [schedules.ConstantLR(optimizer, 0.25), inner], milestones=[2])
    assert outer.get_last_lr() == [0.25]
    assert [entry[0] for entry in trace(optimizer, outer, 5)] == approx([[0.25], [1.0], [0.5], [1.0], [0.1]])


METRICS = [
    3.0,
    2.0,
    2.5,
    2.1,
    2.2,
    2.3,
    1.0,
    1.0,
    1.0,
    1.0,
    1.0,
    5.0,
    5.0,
    5.0,
    0.5,
    float("nan"),
    0.6,
    0.6,
    0.6,
    0.6,
]


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 1},
        {"patience": 2, "factor": 0.5, "cooldown": 2},
        {"mode": "max", "patience": 1, "threshold": 0.1, "threshold_mode": "abs"},
        {"mode": "max", "patience": 0, "min_lr": [0.05, 0.2]},
        {"patience": 0, "threshold": 0.5, "eps": 0.01},
    ],
    ids=str,
)
def test_plateau_is_torchs(settings: dict[str, Any]) -> None:
    def run(framework: ModuleType) -> list[Any]:
        optimizer = build_optimizer(framework)
        schedule = framework.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **settings)
        seen = []
        for metric in METRICS:
            schedule.step(metric)
            seen.append(schedule.get_last_lr())
        return seen

    assert run(raxis) == approx(run(torch))


def test_plateau_takes_tensors_and_state() -> None:
    optimizer = build_optimizer(raxis)
    schedule = raxis.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    schedule.step(raxis.tensor(1.0))
    schedule.step(raxis.tensor(2.0))
    assert schedule.get_last_lr() == approx([0.07, 0.03])
    other = raxis.optim.lr_scheduler.ReduceLROnPlateau(build_optimizer(raxis))
    other.load_state_dict(schedule.state_dict())
    assert other.best == 1.0


@pytest.mark.parametrize("framework", [raxis, torch])
def test_warns_of_wrong_order(framework: ModuleType) -> None:
    optimizer = build_optimizer(framework)
    schedule = framework.optim.lr_scheduler.StepLR(optimizer, 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()


def test_learning_rate_as_tensor_is_changed_in_place() -> None:
    rate = raxis.tensor(0.5)
    optimizer = raxis.optim.SGD(parameters(raxis), lr=rate)
    schedule = raxis.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda s, o: s.StepLR("optimizer", 2), TypeError),
        (lambda s, o: s.LambdaLR(o, [lambda _: 1.0]), ValueError),
        (lambda s, o: s.ConstantLR(o, factor=2.0), ValueError),
        (lambda s, o: s.LinearLR(o, start_factor=0.0), ValueError),
        (lambda s, o: s.LinearLR(o, end_factor=1.5), ValueError),
        (lambda s, o: s.OneCycleLR(o, 1.0), ValueError),
        (lambda s, o: s.OneCycleLR(o, 1.0, total_steps=0), ValueError),
        (lambda s, o: s.OneCycleLR(o, 1.0, total_steps=5, pct_start=2.0), ValueError),
        (lambda s, o: s.OneCycleLR(o, 1.0, total_steps=5, anneal_strategy="steep"), ValueError),
        (lambda s, o: s.OneCycleLR(o, [1.0], total_steps=5), ValueError),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=1.0), ValueError),
        (lambda s, o: s.ReduceLROnPlateau(o, mode="best"), ValueError),
        (lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="both"), ValueError),
        (lambda s, o: s.ReduceLROnPlateau(o, min_lr=[0.1]), ValueError),
        (lambda s, o: s.SequentialLR(o, [], []), ValueError),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 2)], [3]), ValueError),
        (lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), ValueError),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(build_optimizer(raxis), 2)], []), ValueError),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), ValueError),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, T_mult=1.5), ValueError),
        (lambda s, o: s.ChainedScheduler([]), ValueError),
        (lambda s, o: s.ChainedScheduler([s.StepLR(o, 2), s.StepLR(build_optimizer(raxis), 2)]), ValueError),
        (lambda s, o: s.LRScheduler(o), NotImplementedError),
    ],
)
def test_refuses(build: Build, error: type[Exception]) -> None:
    with pytest.raises(error):
        build(raxis.optim.lr_scheduler, build_optimizer(raxis))


def test_one_cycle_ends() -> None:
    optimizer = build_optimizer(raxis)
    schedule = raxis.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=3)
    trace(optimizer, schedule, 3)
    with pytest.raises(ValueError, match="number of total steps is 3"):
        schedule.step()
