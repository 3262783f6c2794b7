"""Layers give PyTorch's values, gradients, state and text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import raxis
from raxis import nn
from tests.nn.parity import assert_module_matches, assert_same, build_pair, to_raxis

LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("Identity", (3,), {"unused": 1}, (2, 3)),
    ("Linear", (5, 3), {}, (4, 5)),
    ("Linear", (5, 3), {"bias": False}, (2, 4, 5)),
    ("Linear", (5, 3), {}, (5,)),
    ("Linear", (5, 3), {}, (0, 5)),
    ("Flatten", (), {}, (2, 3, 4)),
    ("Flatten", (0, 1), {}, (2, 3, 4)),
    ("Unflatten", (1, (2, 3)), {}, (4, 6)),
    ("Conv1d", (4, 6, 3), {}, (2, 4, 9)),
    ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2, "bias": False}, (2, 4, 9)),
    ("Conv1d", (4, 6, 4), {"padding": "same"}, (4, 9)),
    ("Conv1d", (4, 6, 3), {"padding": "valid"}, (2, 4, 9)),
    ("Conv1d", (4, 6, 3), {"padding": 2, "padding_mode": "circular"}, (2, 4, 9)),
    ("Conv1d", (4, 6, 4), {"padding": "same", "dilation": 3, "padding_mode": "reflect"}, (2, 4, 12)),
    ("Conv2d", (4, 6, 3), {}, (2, 4, 7, 8)),
    ("Conv2d", (4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}, (2, 4, 7, 8)),
    ("Conv2d", (4, 8, 3), {"groups": 4}, (2, 4, 7, 8)),
    ("Conv2d", (4, 6, (3, 2)), {"padding": "same", "padding_mode": "reflect"}, (2, 4, 7, 8)),
    ("Conv2d", (4, 6, 3), {"padding": (1, 2), "padding_mode": "replicate"}, (4, 7, 8)),
    ("Conv2d", (4, 6, 3), {"padding": (1, 2), "padding_mode": "circular"}, (2, 4, 7, 8)),
    ("Conv2d", (4, 6, 3), {"padding": "same"}, (2, 4, 7, 8)),
    ("Conv3d", (2, 4, (1, 2, 3)), {"padding": (0, 1, 1), "stride": 2}, (1, 2, 3, 4, 5)),
    ("Conv3d", (2, 4, 2), {"padding": "same", "padding_mode": "replicate"}, (2, 3, 4, 5)),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}, (2, 4, 5)),
    ("ConvTranspose1d", (4, 6, 3), {"dilation": 2, "bias": False}, (4, 5)),
    ("ConvTranspose3d", (2, 3, 2), {"stride": (1, 2, 1)}, (2, 2, 3, 4)),
    ("ConvTranspose2d", (4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0)}, (2, 4, 3, 5)),
    ("BatchNorm1d", (3,), {}, (4, 3)),
    ("BatchNorm1d", (3,), {"momentum": 0.3, "eps": 1e-3}, (4, 3, 5)),
    ("BatchNorm1d", (3,), {"affine": False}, (4, 3)),
    ("BatchNorm1d", (3,), {"bias": False}, (4, 3)),
    ("BatchNorm1d", (3,), {"track_running_stats": False}, (4, 3)),
    ("BatchNorm2d", (3,), {}, (2, 3, 4, 5)),
    ("BatchNorm2d", (3,), {"momentum": None}, (2, 3, 4, 5)),
    ("BatchNorm3d", (3,), {}, (2, 3, 2, 3, 4)),
    ("InstanceNorm1d", (3,), {}, (2, 3, 5)),
    ("InstanceNorm1d", (3,), {"affine": True}, (3, 5)),
    ("InstanceNorm2d", (3,), {"track_running_stats": True}, (2, 3, 4, 5)),
    ("InstanceNorm3d", (3,), {}, (2, 3, 2, 3, 4)),
    ("InstanceNorm3d", (3,), {"affine": True, "track_running_stats": True}, (3, 2, 3, 4)),
    ("LayerNorm", (5,), {}, (2, 3, 5)),
    ("LayerNorm", ((3, 5),), {"bias": False}, (2, 3, 5)),
    ("LayerNorm", ([3, 5],), {"elementwise_affine": False, "eps": 0.1}, (2, 3, 5)),
    ("GroupNorm", (2, 6), {}, (3, 6, 4)),
    ("GroupNorm", (3, 6), {"affine": False}, (3, 6)),
    ("RMSNorm", (5,), {}, (2, 3, 5)),
    ("RMSNorm", ((3, 5),), {"eps": 0.1, "elementwise_affine": False}, (2, 3, 5)),
    ("LocalResponseNorm", (2,), {}, (2, 5, 4)),
    ("LocalResponseNorm", (3, 0.5, 0.6, 2.0), {}, (2, 5, 4, 3)),
    ("MaxPool1d", (3,), {}, (2, 3, 10)),
    ("MaxPool1d", (3,), {"stride": 2, "padding": 1, "dilation": 2, "ceil_mode": True}, (3, 10)),
    ("MaxPool1d", (3,), {"return_indices": True}, (2, 3, 10)),
    ("MaxPool2d", (2,), {}, (2, 3, 7, 8)),
    ("MaxPool2d", ((3, 2),), {"stride": (1, 2), "padding": (1, 0), "return_indices": True}, (2, 3, 7, 8)),
    ("AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False}, (2, 3, 10)),
    ("AvgPool2d", (2,), {}, (2, 3, 7, 8)),
    ("AvgPool2d", ((3, 2),), {"padding": 1, "ceil_mode": True, "divisor_override": 5}, (2, 3, 7, 8)),
    ("AdaptiveAvgPool1d", (4,), {}, (2, 3, 10)),
    ("AdaptiveAvgPool2d", (3,), {}, (2, 3, 7, 8)),
    ("AdaptiveAvgPool2d", ((2, None),), {}, (3, 7, 8)),
    ("MaxPool3d", (2,), {"stride": 1, "return_indices": True}, (2, 3, 4, 5)),
    ("AvgPool3d", ((1, 2, 2),), {"padding": (0, 1, 1), "count_include_pad": False}, (2, 3, 4, 5)),
    ("AdaptiveAvgPool3d", ((2, None, 1),), {}, (2, 3, 4, 5)),
    ("AdaptiveMaxPool1d", (4,), {"return_indices": True}, (2, 3, 10)),
    ("AdaptiveMaxPool2d", ((2, None),), {}, (3, 7, 8)),
    ("AdaptiveMaxPool3d", ((2, None, 1),), {"return_indices": True}, (2, 3, 4, 5)),
    ("LPPool1d", (2, 3), {}, (2, 3, 10)),
    ("LPPool1d", (3.0, 3), {"stride": 2, "ceil_mode": True}, (3, 10)),
    ("LPPool2d", (2, (3, 2)), {"stride": (2, 1)}, (2, 3, 7, 8)),
    ("LPPool3d", (2, 2), {"stride": 1}, (2, 3, 4, 5)),
    ("ConstantPad1d", ((1, 2), 3.5), {}, (2, 3, 4)),
    ("ConstantPad2d", (1, 3.5), {}, (2, 3, 4, 5)),
    ("ZeroPad1d", (2,), {}, (2, 3, 4)),
    ("ZeroPad2d", ((1, -1, 2, 0),), {}, (3, 4, 5)),
    ("ReflectionPad1d", (2,), {}, (2, 3, 4)),
    ("ReflectionPad2d", ((1, 0, 2, 1),), {}, (2, 3, 4, 5)),
    ("ReplicationPad1d", (2,), {}, (2, 3, 4)),
    ("ReplicationPad2d", (2,), {}, (2, 3, 4, 5)),
    ("CircularPad1d", (2,), {}, (2, 3, 4)),
    ("CircularPad2d", (2,), {}, (2, 3, 4, 5)),
    ("ConstantPad3d", ((1, 2, 0, 1, -1, 0), 3.5), {}, (2, 3, 4, 5)),
    ("ZeroPad3d", (1,), {}, (2, 3, 4, 5, 6)),
    ("ReflectionPad3d", ((1, 0, 2, 1, 1, 1),), {}, (2, 3, 4, 5)),
    ("ReplicationPad3d", (2,), {}, (2, 2, 3, 4, 5)),
    ("CircularPad3d", ((1, 2, 0, 1, 2, 1),), {}, (2, 2, 3, 4, 5)),
    ("Upsample", (), {"scale_factor": 2}, (2, 3, 4)),
    ("Upsample", ((5, 7),), {"mode": "bilinear", "align_corners": True}, (2, 3, 4, 5)),
    ("Upsample", (), {"scale_factor": (2, 1.5), "mode": "bilinear"}, (2, 3, 4, 6)),
    ("UpsamplingNearest2d", ((5, 7),), {}, (2, 3, 4, 5)),
    ("UpsamplingBilinear2d", (), {"scale_factor": 2}, (2, 3, 4, 5)),
    ("ChannelShuffle", (3,), {}, (2, 6, 4, 5)),
    ("PixelShuffle", (2,), {}, (2, 8, 3, 4)),
    ("PixelUnshuffle", (2,), {}, (2, 3, 4, 6)),
    ("Unfold", ((2, 3),), {"dilation": (1, 2), "padding": 1, "stride": 2}, (2, 3, 6, 7)),
    ("Fold", ((4, 5), (2, 2)), {}, (2, 12, 12)),
    ("Dropout", (0.0,), {}, (3, 4)),
    ("Dropout1d", (0.0,), {}, (2, 3, 4)),
    ("Dropout2d", (0.0,), {}, (2, 3, 4, 4)),
    ("Dropout3d", (0.0,), {}, (2, 3, 4, 4, 4)),
    ("AlphaDropout", (0.0,), {}, (3, 4)),
    ("FeatureAlphaDropout", (0.0,), {}, (2, 3, 4)),
    ("Threshold", (0.5, 2.0), {}, (4, 5)),
    ("ReLU", (), {}, (4, 5)),
    ("ReLU6", (), {}, (4, 5)),
    ("LeakyReLU", (0.3,), {}, (4, 5)),
    ("RReLU", (0.3, 0.3), {}, (4, 5)),
    ("PReLU", (), {}, (4, 5)),
    ("PReLU", (5,), {"init": 0.1}, (4, 5, 2)),
    ("ELU", (0.7,), {}, (4, 5)),
    ("SELU", (), {}, (4, 5)),
    ("CELU", (0.7,), {}, (4, 5)),
    ("GELU", (), {}, (4, 5)),
    ("GELU", ("tanh",), {}, (4, 5)),
    ("SiLU", (), {}, (4, 5)),
    ("Mish", (), {}, (4, 5)),
    ("Softplus", (), {}, (4, 5)),
    ("Softplus", (2.0, 1.0), {}, (4, 5)),
    ("Hardswish", (), {}, (4, 5)),
    ("Hardsigmoid", (), {}, (4, 5)),
    ("Hardtanh", (-0.4, 0.6), {}, (4, 5)),
    ("LogSigmoid", (), {}, (4, 5)),
    ("Sigmoid", (), {}, (4, 5)),
    ("Tanh", (), {}, ()),
    ("Softsign", (), {}, (4, 5)),
    ("GLU", (), {}, (4, 6)),
    ("GLU", (0,), {}, (4, 6)),
    ("Softmax", (1,), {}, (4, 5)),
    ("LogSoftmax", (-2,), {}, (4, 5)),
    ("Softmin", (1,), {}, (4, 5)),
    ("Softmax2d", (), {}, (3, 4, 5)),
    ("Hardshrink", (0.7,), {}, (4, 5)),
    ("Softshrink", (0.7,), {}, (4, 5)),
    ("Tanhshrink", (), {}, (4, 5)),
]
# PyTorch rounds 1/6 and 1/alpha in these to float32.
ROUNDED = {"CELU": 1e-6, "Hardsigmoid": 1e-6}
INPLACE = [
    "ReLU",
    "ReLU6",
    "LeakyReLU",
    "ELU",
    "SELU",
    "CELU",
    "SiLU",
    "Mish",
    "Hardswish",
    "Hardsigmoid",
    "Hardtanh",
]


def case_id(case: tuple[Any, ...]) -> str:
    return f"{case[0]}{case[1]}{case[2]}{case[3]}"


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths:UserWarning")
@pytest.mark.parametrize("case", LAYERS, ids=case_id)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_layer_matches_torch(case: tuple[Any, ...], training: bool) -> None:
    name, args, kwargs, shape = case
    module, reference = build_pair(name, *args, **kwargs)
    module.train(training)
    reference.train(training)
    assert repr(module) == repr(reference)
    assert list(module.state_dict()) == list(reference.state_dict())
    given = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    assert_module_matches(module, reference, given, rtol=ROUNDED.get(name, 1e-9))


@pytest.mark.parametrize("name", INPLACE)
def test_inplace_activation_writes_its_input(name: str) -> None:
    values = torch.linspace(-4, 4, 9, dtype=torch.float64)
    module = getattr(nn, name)(inplace=True)
    assert repr(module) == repr(getattr(torch.nn, name)(inplace=True))
    given = to_raxis(values)
    result = module(given)
    assert_same(result, getattr(torch.nn, name)()(values))
    assert_same(given, result)


def test_random_slopes_while_training() -> None:
    given = -raxis.ones(5000, dtype=raxis.float64)
    result = nn.RReLU(0.2, 0.4, inplace=True)(given)
    assert -0.4 <= result.min().item() < -0.39
    assert -0.21 < result.max().item() <= -0.2
    # Five standard errors of the mean of a uniform distribution.
    assert result.mean().item() == pytest.approx(-0.3, abs=0.0041)
    assert given.equal(result)


def test_non_contiguous_input() -> None:
    module, reference = build_pair("Conv2d", 3, 4, 3, padding=1)
    image = torch.randn(2, 5, 6, 3, dtype=torch.float64)
    assert_same(module(to_raxis(image).permute(0, 3, 1, 2)), reference(image.permute(0, 3, 1, 2)))


def test_instance_norm_of_other_channels() -> None:
    image = torch.randn(2, 4, 3, 3)
    with pytest.warns(UserWarning, match="num_features"):
        expected = torch.nn.InstanceNorm2d(3)(image)
    with pytest.warns(UserWarning, match="num_features"):
        assert_same(nn.InstanceNorm2d(3)(to_raxis(image)), expected, 1e-5, 1e-5)
    with pytest.raises(ValueError, match="to match num_features"):
        nn.InstanceNorm2d(3, affine=True)(to_raxis(image))


def test_nan_passes_through() -> None:
    linear, reference = build_pair("Linear", 3, 3)
    given = torch.tensor([[float("nan"), 1.0, 2.0], [0.0, 1.0, 2.0]], dtype=torch.float64)
    assert_same(nn.ReLU()(linear(to_raxis(given))), torch.relu(reference(given)))


def test_bilinear_matches_torch() -> None:
    module, reference = build_pair("Bilinear", 3, 4, 5)
    assert repr(module) == repr(reference)
    left = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    right = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert_module_matches(module, reference, left, right)


def test_pairwise_distance_matches_torch() -> None:
    module, reference = build_pair("PairwiseDistance", p=3.0, eps=1e-4, keepdim=True)
    left, right = (torch.randn(6, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert_module_matches(module, reference, left, right)


@pytest.mark.parametrize("size", [(7, 6), (2, 6, 8, 6)])
def test_transposed_convolution_of_a_given_size(size: tuple[int, ...]) -> None:
    module, reference = build_pair("ConvTranspose2d", 4, 6, 3, stride=2, padding=1)
    given = torch.randn(2, 4, 4, 3, dtype=torch.float64)
    assert_same(module(to_raxis(given), output_size=size), reference(given, output_size=size))
    with pytest.raises(ValueError, match="valid sizes range from"):
        module(to_raxis(given), output_size=(9, 6))


def test_cosine_similarity_matches_torch() -> None:
    module, reference = build_pair("CosineSimilarity", dim=1, eps=1e-6)
    left, right = (torch.randn(6, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert_module_matches(module, reference, left, right)


@pytest.mark.parametrize(
    ("name", "shape"), [("Dropout", (5000,)), ("Dropout1d", (100, 50, 4)), ("Dropout2d", (100, 50, 2, 2))]
)
def test_dropout_scales_what_it_keeps(name: str, shape: tuple[int, ...]) -> None:
    result = getattr(nn, name)(0.25)(raxis.ones(shape, dtype=raxis.float64))
    channels = result.reshape(5000, -1)
    assert bool((channels == channels[:, :1]).all())
    kept = channels[:, 0] != 0
    np.testing.assert_allclose(channels[kept].numpy(), 4 / 3)
    # Five standard deviations of a binomial distribution.
    assert float(kept.double().mean()) == pytest.approx(0.75, abs=0.031)


@pytest.mark.parametrize("probability", [-0.1, 1.5, float("nan")])
def test_dropout_refuses_probability(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(probability)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "in_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 3, 3, groups=2), "out_channels must be divisible by groups"),
        (lambda: nn.Conv2d(4, 4, 3, groups=0), "groups must be a positive integer"),
        (lambda: nn.Conv2d(4, 4, 3, padding="full"), "Invalid padding string 'full'"),
        (lambda: nn.Conv2d(4, 4, 3, padding="same", stride=2), "not supported for strided convolutions"),
        (lambda: nn.Conv2d(4, 4, 3, padding_mode="mirror"), "padding_mode must be one of"),
        (lambda: nn.ConvTranspose1d(4, 4, 3, padding_mode="reflect"), 'Only "zeros" padding mode'),
        (lambda: nn.Softmax2d()(raxis.zeros(2, 3)), "expected input to be 3D or 4D"),
        (lambda: nn.Bilinear(0, 2, 3), "in1_features must be > 0"),
        (lambda: nn.GroupNorm(2, 3), "must be divisible by num_groups"),
        (lambda: nn.BatchNorm2d(3)(raxis.zeros(2, 3)), r"expected 4D input \(got 2D input\)"),
        (lambda: nn.BatchNorm1d(3)(raxis.zeros(2, 3, 4, 4)), r"expected 2D or 3D input \(got 4D input\)"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), "Padding_idx must be within num_embeddings"),
        (lambda: nn.Embedding(3, 2, _weight=raxis.zeros(2, 3)), "does not match num_embeddings"),
    ],
)
def test_layer_refuses(build: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build()


@pytest.mark.parametrize(("dim", "size"), [("a", (1,)), (0, 3), (0, (1.5,))])
def test_unflatten_refuses_types(dim: Any, size: Any) -> None:
    with pytest.raises(TypeError):
        nn.Unflatten(dim, size)


@pytest.mark.parametrize(
    ("name", "args", "fan_in"),
    [("Linear", (50, 40), 50), ("Conv1d", (8, 40, 5), 40), ("Conv2d", (8, 40, 3, 1, 0, 1, 2), 36)],
)
def test_starting_values_are_uniform_within_bound(name: str, args: tuple[int, ...], fan_in: int) -> None:
    module = getattr(nn, name)(*args)
    bound = fan_in**-0.5
    for parameter in module.parameters():
        largest = parameter.abs().max().item()
        assert 0.8 * bound < largest <= bound
    # The standard deviation of a uniform distribution in ±b is b/√3.
    assert module.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)


def test_bilinear_starting_values() -> None:
    module = nn.Bilinear(16, 4, 50)
    assert 0.2 < module.weight.abs().max().item() <= 0.25
    assert 0.2 < module.bias.abs().max().item() <= 0.25


def test_factory_arguments() -> None:
    module = nn.Linear(2, 3, dtype=raxis.float64, device="meta")
    assert module.weight.dtype is raxis.float64
    assert module.weight.device.type == "meta"
