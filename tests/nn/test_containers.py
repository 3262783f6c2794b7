"""Containers behave like PyTorch's and like the Python collections they imitate."""

from __future__ import annotations

from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest
import torch

import raxis
from raxis import nn

FRAMEWORKS = [pytest.param(raxis, id="raxis"), pytest.param(torch, id="torch")]


def layout(module: Any) -> list[tuple[str, str]]:
    return [(name, repr(child)) for name, child in module.named_children()]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_sequential_editing(framework: ModuleType) -> None:
    parts = framework.nn
    model = parts.Sequential(parts.ReLU(), parts.Tanh())
    model.append(parts.Sigmoid()).insert(1, parts.SiLU()).extend([parts.Mish()])
    assert [repr(child) for child in model] == ["ReLU()", "SiLU()", "Tanh()", "Sigmoid()", "Mish()"]
    assert isinstance(model.pop(-1), parts.Mish)
    del model[0]
    assert layout(model) == [("0", "SiLU()"), ("1", "Tanh()"), ("2", "Sigmoid()")]
    model[1] = parts.ELU()
    assert repr(model[-2]) == "ELU(alpha=1.0)"
    assert layout(model[1:]) == [("1", "ELU(alpha=1.0)"), ("2", "Sigmoid()")]
    del model[::2]
    assert len(model) == 1
    assert len(model + model) == 2
    assert len(model * 3) == len(3 * model) == 3
    model *= 2
    assert len(model) == 2
    model += parts.Sequential(parts.ReLU())
    assert layout(model)[-1] == ("2", "ReLU()")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_sequential_with_names(framework: ModuleType) -> None:
    parts = framework.nn
    model = parts.Sequential(OrderedDict(first=parts.ReLU(), second=parts.Tanh()))
    assert layout(model) == [("first", "ReLU()"), ("second", "Tanh()")]
    assert layout(model[:1]) == [("first", "ReLU()")]
    assert model.second is model[1]
    assert repr(model) == "Sequential(\n  (first): ReLU()\n  (second): Tanh()\n)"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_sequential_refuses(framework: ModuleType) -> None:
    parts = framework.nn
    model = parts.Sequential(parts.ReLU())
    for wrong in (lambda: model[1], lambda: model[-2], lambda: model.insert(5, parts.ReLU())):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(TypeError):
        parts.Sequential(3)
    with pytest.raises(ValueError, match="add operator"):
        model + parts.ReLU()
    with pytest.raises(ValueError, match="factor 0"):
        model * 0
    with pytest.raises(TypeError):
        model * 1.5


def test_empty_sequential_is_the_identity() -> None:
    given = raxis.ones(2)
    assert nn.Sequential()(given) is given
    assert repr(nn.Sequential()) == repr(torch.nn.Sequential())


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_module_list(framework: ModuleType) -> None:
    parts = framework.nn
    layers = parts.ModuleList([parts.ReLU(), parts.ReLU(), parts.Tanh()])
    assert repr(layers) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    assert repr(parts.ModuleList()) == "ModuleList()"
    layers.insert(0, parts.SiLU())
    layers.append(parts.Mish())
    layers += [parts.ELU()]
    assert [repr(layer) for layer in layers[:2]] == ["SiLU()", "ReLU()"]
    assert isinstance(layers[1:3], parts.ModuleList)
    assert isinstance(layers.pop(-1), parts.ELU)
    del layers[1:3]
    assert layout(layers) == [("0", "SiLU()"), ("1", "Tanh()"), ("2", "Mish()")]
    assert len(layers + parts.ModuleList([parts.ReLU()])) == 4
    layers[0] = parts.ReLU()
    assert repr(layers[0]) == "ReLU()"
    with pytest.raises(NotImplementedError):
        layers(framework.ones(1))
    with pytest.raises(TypeError):
        layers.extend(3)
    with pytest.raises(IndexError):
        layers[3]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_module_dict(framework: ModuleType) -> None:
    parts = framework.nn
    choices = parts.ModuleDict({"b": parts.ReLU(), "a": parts.Tanh()})
    choices["c"] = parts.SiLU()
    choices.update([("d", parts.Mish())])
    assert list(choices) == list(choices.keys()) == ["b", "a", "c", "d"]
    assert "a" in choices
    assert len(choices) == 4
    assert isinstance(choices.pop("d"), parts.Mish)
    del choices["c"]
    assert [name for name, _ in choices.items()] == ["b", "a"]
    assert [repr(module) for module in choices.values()] == ["ReLU()", "Tanh()"]
    assert repr(choices) == "ModuleDict(\n  (b): ReLU()\n  (a): Tanh()\n)"
    choices.clear()
    assert len(choices) == 0
    with pytest.raises(KeyError):
        choices["b"]
    with pytest.raises(TypeError):
        choices.update(3)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_parameter_list(framework: ModuleType) -> None:
    parts = framework.nn
    weights = parts.ParameterList([framework.zeros(2), parts.Parameter(framework.ones(3))])
    weights.append(framework.zeros(1))
    weights += [framework.zeros(4)]
    assert [name for name, _ in weights.named_parameters()] == ["0", "1", "2", "3"]
    assert all(isinstance(weight, parts.Parameter) for weight in weights)
    weights[-1] = framework.ones(5)
    assert [tuple(weight.shape) for weight in weights[2:]] == [(1,), (5,)]
    assert len(weights) == 4
    assert list(weights.state_dict()) == ["0", "1", "2", "3"]
    assert "(0): Parameter containing: [" in repr(weights)
    assert "of size 2]" in repr(weights)
    with pytest.raises(IndexError):
        weights[4]
    with pytest.raises(RuntimeError, match="should not be called"):
        weights()
    with pytest.raises(TypeError):
        weights.extend(3)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_parameter_dict(framework: ModuleType) -> None:
    parts = framework.nn
    weights = parts.ParameterDict({"left": framework.zeros(2), "right": framework.zeros(3)})
    weights["more"] = framework.zeros(4)
    assert [name for name, _ in weights.named_parameters()] == ["left", "right", "more"]
    assert isinstance(weights["more"], parts.Parameter)
    assert list(reversed(weights)) == ["more", "right", "left"]
    assert weights.get("other") is None
    assert weights.setdefault("left") is weights["left"]
    assert weights.popitem()[0] == "more"
    copied = weights.copy()
    assert copied["left"] is weights["left"]
    del weights["left"]
    assert "left" not in weights
    assert list(weights | copied) == ["right", "left"]
    assert len(weights.pop("right")) == 3
    weights.update({"a": framework.ones(1)})
    assert [name for name, _ in weights.items()] == ["a"]
    weights.clear()
    assert len(weights) == 0
    with pytest.raises((KeyError, AttributeError)):
        weights["a"]
    with pytest.raises(TypeError):
        weights[3]
    assert list(weights.fromkeys(["x", "y"], framework.zeros(1))) == ["x", "y"]
