"""Hooks run when, in the order, and with the arguments that PyTorch's do."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis
from raxis import nn

FRAMEWORKS = [pytest.param(raxis, id="raxis"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_order_and_replacement(framework: ModuleType) -> None:
    module = framework.nn.Identity()
    seen: list[str] = []

    def note(text: str, returned: Callable[[Any], Any] = lambda _: None) -> Callable[..., Any]:
        def hook(_module: Any, *rest: Any) -> Any:
            seen.append(text)
            return returned(rest[-1])

        return hook

    module.register_forward_pre_hook(note("pre 1"))
    module.register_forward_pre_hook(note("pre 2", lambda args: args[0] + 1))
    first = module.register_forward_pre_hook(note("pre 0"), prepend=True)
    module.register_forward_hook(note("post 1", lambda result: result * 10))
    module.register_forward_hook(note("post 0", lambda result: result + 1), prepend=True)
    assert module(framework.tensor(1.0)).item() == 30.0
    assert seen == ["pre 0", "pre 1", "pre 2", "post 0", "post 1"]
    seen.clear()
    first.remove()
    first.remove()
    module(framework.tensor(1.0))
    assert seen[0] == "pre 1"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_keyword_arguments(framework: ModuleType) -> None:
    class Scale(framework.nn.Module):  # type: ignore[name-defined]
        def forward(self, input: Any, *, by: float = 1.0) -> Any:
            return input * by

    module = Scale()
    calls: list[Any] = []
    module.register_forward_pre_hook(
        lambda _, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    module.register_forward_hook(
        lambda _, args, kwargs, result: calls.append((args, kwargs)), with_kwargs=True
    )
    given = framework.tensor(3.0)
    assert module(given, by=1.0).item() == 6.0
    assert calls == [((given,), {"by": 2.0})]
    module.register_forward_pre_hook(lambda *_: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a"):
        module(given, by=1.0)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_always_called_hooks_see_failures(framework: ModuleType) -> None:
    class Fail(framework.nn.Module):  # type: ignore[name-defined]
        def forward(self) -> None:
            raise KeyError("inner")

    module = Fail()
    seen: list[Any] = []
    module.register_forward_hook(lambda *_: seen.append("usual"))
    module.register_forward_hook(lambda _, args, result: seen.append((args, result)), always_call=True)
    with pytest.raises(KeyError, match="inner"):
        module()
    assert seen == [((), None)]


def test_failing_always_called_hook_does_not_hide_the_error() -> None:
    class Fail(nn.Module):
        def forward(self) -> None:
            raise KeyError("inner")

    module = Fail()
    module.register_forward_hook(lambda *_: 1 / 0, always_call=True)
    with pytest.warns(UserWarning, match="division by zero"), pytest.raises(KeyError, match="inner"):
        module()


class Recorder:
    """Notes the gradients that hooks are given, as lists."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def full(self, _module: Any, grad_input: Any, grad_output: Any) -> None:
        self.calls.append(("full", (plain(grad_input), plain(grad_output))))

    def pre(self, _module: Any, grad_output: Any) -> None:
        self.calls.append(("pre", plain(grad_output)))


def plain(gradients: Any) -> Any:
    return tuple(None if gradient is None else gradient.tolist() for gradient in gradients)


def recorded(framework: ModuleType, run: Callable[[ModuleType, Any], None]) -> list[tuple[str, Any]]:
    class Mix(framework.nn.Module):  # type: ignore[name-defined]
        def forward(self, left: Any, right: Any, factor: float = 2.0) -> Any:
            return left * right, left + right * factor

    recorder, module = Recorder(), Mix()
    module.register_full_backward_hook(recorder.full)
    module.register_full_backward_pre_hook(recorder.pre)
    run(framework, module)
    return recorder.calls


def both_outputs(framework: ModuleType, module: Any) -> None:
    left = framework.tensor([1.0, 2.0], requires_grad=True)
    right = framework.tensor([3.0, 4.0], requires_grad=True)
    product, total = module(left, right)
    (product.sum() * 2 + total.sum() * 3).backward()


def one_output(framework: ModuleType, module: Any) -> None:
    left = framework.tensor([1.0, 2.0], requires_grad=True)
    product, _ = module(left, framework.tensor([3.0, 4.0]), 5.0)
    product.sum().backward()


def no_gradient(framework: ModuleType, module: Any) -> None:
    module(framework.tensor([1.0]), framework.tensor([2.0]))


@pytest.mark.parametrize("run", [both_outputs, one_output, no_gradient])
def test_backward_hooks_see_torchs_gradients(run: Callable[[ModuleType, Any], None]) -> None:
    assert recorded(raxis, run) == recorded(torch, run)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_backward_hooks_replace_gradients(framework: ModuleType) -> None:
    module = framework.nn.Identity()
    module.register_full_backward_pre_hook(lambda _, grad_output: (grad_output[0] * 10,))
    module.register_full_backward_hook(lambda _, grad_input, grad_output: (grad_input[0] + grad_output[0],))
    given = framework.tensor([1.0], requires_grad=True)
    (module(given) * 3).sum().backward()
    assert given.grad.tolist() == [60.0]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_backward_hook_without_gradient_of_the_input(framework: ModuleType) -> None:
    module = framework.nn.Linear(1, 1)
    recorder = Recorder()
    module.register_full_backward_hook(recorder.full)
    module(framework.ones(1, 1)).sum().backward()
    assert recorder.calls == [("full", ((None,), ([[1.0]],)))]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_backward_hook_must_return_one_gradient_an_input(framework: ModuleType) -> None:
    module = framework.nn.Identity()
    module.register_full_backward_hook(lambda *_: (None, None))
    result = module(framework.tensor([1.0], requires_grad=True))
    with pytest.raises(RuntimeError):
        result.sum().backward()


def test_hooks_survive_deepcopy() -> None:
    module = nn.Identity()
    handle = module.register_forward_hook(lambda _, args, result: result + 1)
    other = copy.deepcopy(module)
    handle.remove()
    assert module(raxis.tensor(1.0)).item() == 1.0
    assert other(raxis.tensor(1.0)).item() == 2.0


def test_handle_as_context() -> None:
    module = nn.Identity()
    with module.register_forward_hook(lambda _, args, result: result + 1):
        assert module(raxis.tensor(1.0)).item() == 2.0
    assert module(raxis.tensor(1.0)).item() == 1.0
