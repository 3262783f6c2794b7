"""What every module can do, compared with PyTorch where it has the same text or order."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import raxis
from raxis import nn


class Block(nn.Module):
    """Parameters, buffers and children of every kind."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(raxis.tensor([2.0]))
        self.register_parameter("nothing", None)
        self.register_buffer("mean", raxis.zeros(2))
        self.register_buffer("scratch", raxis.zeros(2), persistent=False)
        self.inner = nn.Linear(2, 2)
        self.shared = self.inner
        self.absent: nn.Module | None = nn.ReLU()
        self.absent = None

    def forward(self, input: Any, *, shift: float = 0.0) -> Any:
        return self.inner(input) * self.scale + shift


class TorchBlock(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor([2.0]))
        self.register_parameter("nothing", None)
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.inner = torch.nn.Linear(2, 2)
        self.shared = self.inner
        self.absent: torch.nn.Module | None = torch.nn.ReLU()
        self.absent = None


def names(pairs: Any) -> list[str]:
    return [name for name, _ in pairs]


@pytest.mark.parametrize(
    "method",
    [
        lambda module: module.named_parameters(),
        lambda module: module.named_parameters("top", recurse=False),
        lambda module: module.named_parameters(remove_duplicate=False),
        lambda module: module.named_buffers("top"),
        lambda module: module.named_buffers(recurse=False),
        lambda module: module.named_children(),
        lambda module: module.named_modules(),
        lambda module: module.named_modules(prefix="top", remove_duplicate=False),
    ],
)
def test_names_are_torchs(method: Any) -> None:
    assert names(method(Block())) == names(method(TorchBlock()))


def test_iterators_without_names() -> None:
    block = Block()
    assert list(block.parameters()) == [block.scale, block.inner.weight, block.inner.bias]
    assert len(list(block.buffers())) == 2
    assert list(block.children()) == [block.inner]
    assert list(block.modules()) == [block, block.inner]


def test_repr_and_dir() -> None:
    assert repr(Block()) == repr(TorchBlock()).replace("TorchBlock", "Block")
    assert {"scale", "mean", "inner", "forward"} <= set(dir(Block()))
    assert "0" not in dir(nn.Sequential(nn.ReLU()))


def test_multi_line_extra_repr() -> None:
    class Text(nn.Module):
        def extra_repr(self) -> str:
            return "first\nsecond"

    assert repr(Text()) == "Text(\n  first\n  second\n)"


def test_look_up_by_name() -> None:
    model = nn.Sequential(Block())
    assert model.get_submodule("") is model
    assert model.get_submodule("0.inner") is model[0].inner
    assert model.get_parameter("0.inner.bias") is model[0].inner.bias
    assert model.get_buffer("0.mean") is model[0].mean


@pytest.mark.parametrize(
    "look_up",
    [
        lambda model: model.get_submodule("0.outer"),
        lambda model: model.get_submodule("0.scale"),
        lambda model: model.get_parameter("0.mean"),
        lambda model: model.get_parameter("0.inner"),
        lambda model: model.get_parameter("0.other"),
        lambda model: model.get_buffer("0.scale"),
        lambda model: model.get_buffer("1.mean"),
        lambda model: model[0].unknown,
    ],
)
def test_look_up_of_wrong_names(look_up: Any) -> None:
    with pytest.raises(AttributeError):
        look_up(nn.Sequential(Block()))


def test_set_submodule() -> None:
    model = nn.Sequential(Block())
    new = nn.Linear(3, 3)
    model.set_submodule("0.inner", new)
    assert model[0].inner is new
    model.set_submodule("tail", nn.ReLU())
    assert names(model.named_children()) == ["0", "tail"]
    with pytest.raises(AttributeError, match="other"):
        model.set_submodule("0.other", new, strict=True)
    with pytest.raises(ValueError, match="target name"):
        model.set_submodule("", new)


def test_missing_attribute_text_is_torchs() -> None:
    with pytest.raises(AttributeError) as expected:
        _ = torch.nn.ReLU().unknown
    with pytest.raises(AttributeError) as actual:
        _ = nn.ReLU().unknown
    assert str(actual.value) == str(expected.value)


def test_assignment_moves_a_name_between_stores() -> None:
    module = nn.Module()
    module.part = 3
    module.part = nn.Parameter(raxis.zeros(1))
    assert names(module.named_parameters()) == ["part"]
    assert "part" not in module.__dict__
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'part'"):
        module.part = raxis.zeros(1)
    module.part = None
    assert module.part is None
    del module.part
    module.part = nn.ReLU()
    assert names(module.named_children()) == ["part"]
    with pytest.raises(TypeError, match="cannot assign 'int' as child module 'part'"):
        module.part = 3
    module.part = nn.Parameter(raxis.zeros(1))
    assert names(module.named_children()) == []
    del module.part
    assert not hasattr(module, "part")


def test_buffer_assignment() -> None:
    module = nn.Module()
    module.register_buffer("mean", raxis.zeros(2), persistent=False)
    module.mean = raxis.ones(2)
    assert module.mean.tolist() == [1.0, 1.0]
    assert list(module.state_dict()) == []
    with pytest.raises(TypeError, match="cannot assign 'float' as buffer 'mean'"):
        module.mean = 1.0
    module.count = nn.Buffer(raxis.zeros(1))
    module.hidden = nn.Buffer(raxis.zeros(1), persistent=False)
    assert names(module.named_buffers()) == ["mean", "count", "hidden"]
    assert list(module.state_dict()) == ["count"]
    module.plain = raxis.zeros(3)
    assert "plain" in module.__dict__


def test_assignment_before_init() -> None:
    class Early(nn.Module):
        def __init__(self, value: Any) -> None:
            self.value = value

    for value, role in ((nn.Parameter(raxis.zeros(1)), "parameter"), (nn.ReLU(), "module")):
        with pytest.raises(AttributeError, match=rf"cannot assign {role} before Module.__init__\(\) call"):
            Early(value)
    assert Early(3).value == 3


@pytest.mark.parametrize(
    ("error", "name", "text"),
    [
        (TypeError, 3, "name should be a string"),
        (KeyError, "a.b", "contain"),
        (KeyError, "", "empty string"),
        (KeyError, "forward", "already exists"),
    ],
)
@pytest.mark.parametrize(
    ("register", "value"),
    [
        ("register_parameter", None),
        ("register_buffer", None),
        ("add_module", None),
        ("register_module", None),
    ],
)
def test_registration_refuses_names(
    register: str, value: Any, error: type[Exception], name: Any, text: str
) -> None:
    with pytest.raises(error, match=text):
        getattr(nn.Module(), register)(name, value)


def test_registration_refuses_values() -> None:
    module = nn.Module()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' object to parameter 'a'"):
        module.register_parameter("a", raxis.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot assign 'int' object to buffer 'a'"):
        module.register_buffer("a", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        module.add_module("a", 3)  # type: ignore[arg-type]
    assert module.state_dict() == {}


def test_call_passes_arguments() -> None:
    block = Block()
    given = raxis.ones(1, 2)
    assert raxis.equal(block(given, shift=1.0), block(given) + 1.0)
    with pytest.raises(NotImplementedError, match=r"Block2.*forward"):
        type("Block2", (nn.Module,), {})()(given)


def test_train_and_eval() -> None:
    model = nn.Sequential(nn.Dropout(), Block())
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    model.train()
    assert all(module.training for module in model.modules())
    with pytest.raises(ValueError, match="boolean"):
        model.train("yes")  # type: ignore[arg-type]


def test_apply_goes_bottom_up() -> None:
    seen: list[str] = []
    nn.Sequential(nn.Sequential(nn.ReLU()), nn.Tanh()).apply(
        lambda module: seen.append(type(module).__name__)
    )
    assert seen == ["ReLU", "Sequential", "Tanh", "Sequential"]


def test_requires_grad_and_zero_grad() -> None:
    block = Block()
    block(raxis.ones(1, 2)).sum().backward()
    gradient = block.scale.grad
    block.zero_grad(set_to_none=False)
    assert block.scale.grad is not None
    assert block.scale.grad.tolist() == [0.0]
    assert gradient.tolist() == [0.0]
    block.zero_grad()
    assert block.scale.grad is None
    block.requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in block.parameters())


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda module: module.to(raxis.float64), "float64"),
        (lambda module: module.to(dtype=raxis.bfloat16), "bfloat16"),
        (lambda module: module.to("cpu", raxis.float16), "float16"),
        (lambda module: module.to(raxis.zeros(1, dtype=raxis.float64)), "float64"),
        (lambda module: module.to(raxis.device("cpu")), "float32"),
        (lambda module: module.cpu(), "float32"),
        (lambda module: module.double(), "float64"),
        (lambda module: module.double().float(), "float32"),
        (lambda module: module.half(), "float16"),
        (lambda module: module.bfloat16(), "bfloat16"),
    ],
)
def test_conversion_keeps_parameters_and_integers(convert: Any, dtype: str) -> None:
    module = nn.BatchNorm1d(2)
    weight = module.weight
    module(raxis.ones(3, 2)).sum().backward()
    assert convert(module) is module
    assert module.weight is weight
    assert weight.requires_grad
    assert weight.is_leaf
    assert weight.dtype is getattr(raxis, dtype)
    assert weight.grad.dtype is getattr(raxis, dtype)
    assert module.running_mean.dtype is getattr(raxis, dtype)
    assert module.num_batches_tracked.dtype is raxis.int64


def test_type_casts_everything() -> None:
    assert nn.BatchNorm1d(2).type(raxis.float64).num_batches_tracked.dtype is raxis.float64


def test_to_refuses_integer_dtypes() -> None:
    module = nn.Linear(2, 2)
    with pytest.raises(TypeError, match=r"only accepts floating point or complex dtypes.*int64"):
        module.to(raxis.int64)
    assert module.weight.dtype is raxis.float32


def test_to_empty_from_meta() -> None:
    module = nn.Linear(2, 3, device="meta").to_empty(device="cpu")
    assert module.weight.device.type == "cpu"
    assert tuple(module.weight.shape) == (3, 2)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_copies_are_independent_and_keep_sharing(duplicate: Any) -> None:
    block = Block()
    other = duplicate(block)
    assert other.inner is other.shared
    assert other.inner.weight is not block.inner.weight
    assert isinstance(other.scale, nn.Parameter)
    assert raxis.equal(other.inner.weight, block.inner.weight)
    with raxis.no_grad():
        other.inner.weight.add_(1.0)
    assert not raxis.equal(other.inner.weight, block.inner.weight)
    assert list(other.state_dict()) == list(block.state_dict())


def test_parameter() -> None:
    data = raxis.arange(6.0).reshape(2, 3)
    parameter = nn.Parameter(data.t())
    assert isinstance(parameter, raxis.Tensor)
    assert parameter.is_leaf
    assert parameter.requires_grad
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    assert tuple(nn.Parameter().shape) == (0,)
    data[0, 0] = 5.0
    assert parameter[0, 0].item() == 5.0
    reference = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    assert repr(nn.Parameter(raxis.arange(6.0).reshape(2, 3))) == repr(reference)
    with pytest.raises(RuntimeError, match="floating"):
        nn.Parameter(raxis.arange(3))
    assert isinstance(parameter * 2, raxis.Tensor)
    assert not isinstance(parameter * 2, nn.Parameter)


def test_parameter_of_a_result_is_a_leaf() -> None:
    source = raxis.ones(2, requires_grad=True)
    parameter = nn.Parameter(source * 2)
    (parameter * 3).sum().backward()
    assert source.grad is None
    assert parameter.grad.tolist() == [3.0, 3.0]
    module = nn.Module()
    with pytest.raises(TypeError):
        module.register_parameter("a", source * 2)  # type: ignore[arg-type]


def test_extra_state() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    source, target = nn.Sequential(Counter()), nn.Sequential(Counter())
    source[0].count = 4
    assert source.state_dict() == {"0._extra_state": {"count": 4}}
    target.load_state_dict(source.state_dict())
    assert target[0].count == 4
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        target.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "0._extra_state"'):
        nn.Sequential(nn.ReLU()).load_state_dict(source.state_dict())
    with pytest.raises(RuntimeError, match="override get_extra_state"):
        nn.ReLU().get_extra_state()
