"""Lazy modules take their sizes from the first input, and then are what PyTorch's are."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
import torch

import raxis
from raxis import nn
from raxis.nn.modules.lazy import LazyModuleMixin
from raxis.nn.parameter import is_lazy
from tests.nn.parity import assert_module_matches, assert_same, to_raxis

LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("LazyLinear", (3,), {}, (4, 5)),
    ("LazyLinear", (3, False), {}, (2, 4, 5)),
    ("LazyConv1d", (6, 3), {}, (2, 4, 9)),
    ("LazyConv2d", (6, (3, 2), 2, 1), {"groups": 2, "bias": False}, (4, 7, 8)),
    ("LazyConv3d", (4, 2), {"padding_mode": "replicate", "padding": "same"}, (1, 2, 3, 4, 5)),
    ("LazyConvTranspose1d", (6, 3), {"stride": 2, "output_padding": 1, "groups": 2}, (2, 4, 5)),
    ("LazyConvTranspose2d", (6, 3), {"bias": False, "dilation": 2}, (2, 4, 3, 5)),
    ("LazyConvTranspose3d", (3, 2), {}, (2, 2, 3, 4)),
    ("LazyBatchNorm1d", (), {}, (4, 3)),
    ("LazyBatchNorm1d", (0.1, None), {"bias": False}, (4, 3, 5)),
    ("LazyBatchNorm2d", (), {"track_running_stats": False}, (2, 3, 4, 5)),
    ("LazyBatchNorm3d", (), {"affine": False}, (2, 3, 2, 3, 4)),
    ("LazyInstanceNorm1d", (), {}, (2, 3, 5)),
    ("LazyInstanceNorm2d", (), {"affine": False}, (2, 3, 4, 5)),
    ("LazyInstanceNorm3d", (), {}, (2, 3, 2, 3, 4)),
]


def case_id(case: tuple[Any, ...]) -> str:
    return f"{case[0]}{case[1]}{case[2]}{case[3]}"


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths:UserWarning")
@pytest.mark.parametrize("case", LAYERS, ids=case_id)
def test_first_call(case: tuple[Any, ...]) -> None:
    name, args, kwargs, shape = case
    module = getattr(nn, name)(*args, **kwargs).double()
    reference = getattr(torch.nn, name)(*args, **kwargs).double()
    assert repr(module) == repr(reference)
    assert repr(dict(module.state_dict())) == repr(dict(reference.state_dict()))
    parameters = list(module.parameters())
    given = torch.randn(shape, dtype=torch.float64)
    reference(given)
    module(to_raxis(given))
    assert type(module) is getattr(nn, name.removeprefix("Lazy"))
    assert repr(module) == repr(reference)
    assert all(before is after for before, after in zip(parameters, module.parameters(), strict=True))
    for (key, value), (other, wanted) in zip(
        module.state_dict().items(), reference.state_dict().items(), strict=True
    ):
        assert key == other
        assert value.dtype is getattr(raxis, str(wanted.dtype).removeprefix("torch."))
        assert tuple(value.shape) == tuple(wanted.shape)
    module.load_state_dict(to_raxis(dict(reference.state_dict())))
    assert_module_matches(module, reference, given.requires_grad_())


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("case", LAYERS, ids=case_id)
def test_loading_a_state_gives_the_shapes(case: tuple[Any, ...], assign: bool) -> None:
    name, args, kwargs, shape = case
    source, module = (getattr(nn, name)(*args, **kwargs) for _ in range(2))
    given = raxis.randn(shape)
    source(given)
    module.load_state_dict(source.state_dict(), assign=assign)
    assert not module.has_uninitialized_params()
    assert module.eval()(given).equal(source.eval()(given))
    assert repr(module) == repr(source)


def test_loading_is_all_or_nothing() -> None:
    module = nn.LazyLinear(3)
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load_state_dict({"weight": raxis.ones(3, 2)})
    assert is_lazy(module.weight)
    module.load_state_dict(nn.LazyLinear(3).state_dict())
    assert is_lazy(module.weight)
    with pytest.raises(RuntimeError, match="load_state_dict"):
        nn.Linear(2, 3).load_state_dict(module.state_dict())


def test_loaded_parameters_are_kept_beside_new_ones() -> None:
    module = nn.LazyConv1d(3, 1)
    weight = raxis.randn(3, 2, 1)
    module.load_state_dict({"weight": weight}, strict=False)
    module(raxis.zeros(2, 5))
    assert module.weight.equal(weight)
    assert 0 < module.bias.abs().max().item() <= 2**-0.5


def test_starting_values() -> None:
    module = nn.LazyLinear(40)
    module(raxis.zeros(1, 50))
    assert 0.8 * 50**-0.5 < module.weight.abs().max().item() <= 50**-0.5
    norm = nn.LazyBatchNorm1d()
    norm(raxis.zeros(2, 2))
    assert [norm.weight.tolist(), norm.bias.tolist()] == [[1.0, 1.0], [0.0, 0.0]]


def test_a_single_example_is_normalised() -> None:
    example = torch.randn(3, 5)
    module = nn.LazyInstanceNorm1d(affine=False, track_running_stats=False)
    assert_same(module(to_raxis(example)), torch.nn.InstanceNorm1d(3)(example), 1e-5, 1e-5)
    assert module.num_features == 3


def test_options_of_parameters_are_kept() -> None:
    module = nn.LazyLinear(3, dtype=raxis.float16).requires_grad_(False)
    module.weight.requires_grad = True
    module.bfloat16().to("meta")(raxis.zeros(1, 2, dtype=raxis.bfloat16, device="meta"))
    assert module.weight.dtype is raxis.bfloat16
    assert module.weight.device.type == "meta"
    assert [module.weight.requires_grad, module.bias.requires_grad] == [True, False]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_copies_are_lazy(copied: Any) -> None:
    module = copied(nn.LazyBatchNorm1d(dtype=raxis.float64))
    assert all(map(is_lazy, (module.weight, module.bias, module.running_mean, module.running_var)))
    assert module(raxis.ones(2, 3, dtype=raxis.float64)).dtype is raxis.float64


def test_optimizer_of_a_lazy_model() -> None:
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU(), nn.LazyLinear(1))
    optimizer = raxis.optim.SGD(model.parameters(), lr=0.1)
    model(raxis.ones(2, 3)).sum().backward()
    before = model[2].bias.item()
    optimizer.step()
    assert model[2].bias.item() == pytest.approx(before - 0.2)


@pytest.mark.parametrize("made", [nn.UninitializedParameter, nn.UninitializedBuffer])
def test_uninitialized_tensors_refuse(made: Any) -> None:
    tensor = made(dtype=raxis.float64)
    assert [repr(tensor), tensor.dtype, tensor.device.type] == [f"<{made.__name__}>", raxis.float64, "cpu"]
    uses = (len, raxis.exp, lambda t: t + 1, lambda t: t.numel(), lambda t: t.ndim, lambda t: t.data)
    for use in (*uses, lambda t: t.fill_(1), lambda t: raxis.save(t, io.BytesIO())):
        with pytest.raises(ValueError, match="no shape and no values yet"):
            use(tensor)
    with pytest.raises(RuntimeError, match="no shape yet"):
        tensor.shape  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        tensor.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("error", "module", "shape", "text"),
    [
        (
            RuntimeError,
            lambda: nn.LazyConv2d(4, 3),
            (2, 3),
            r"Expected 3D \(unbatched\) or 4D \(batched\) input",
        ),
        (ValueError, lambda: nn.LazyConv2d(4, 3, groups=2), (2, 3, 5, 5), "in_channels must be divisible"),
        (ValueError, lambda: nn.LazyBatchNorm2d(), (2, 3), r"expected 4D input \(got 2D input\)"),
    ],
)
def test_refused_inputs_leave_the_module_lazy(
    error: type[Exception], module: Any, shape: tuple[int, ...], text: str
) -> None:
    built = module()
    with pytest.raises(error, match=text):
        built(raxis.zeros(shape))
    assert built.has_uninitialized_params()
    assert repr(built) == repr(module())


def test_own_lazy_module_must_initialize() -> None:
    class Half(LazyModuleMixin):
        def __init__(self) -> None:
            super().__init__()
            self.factor = nn.UninitializedParameter()

    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Half"):
        Half()(1)

    class Quarter(Half):
        def initialize_parameters(self, *args: Any) -> None:
            """Nothing."""

    with pytest.raises(RuntimeError, match="Quarter has not been fully initialized"):
        Quarter()(1)
