"""Starting values have the bounds, moments and shapes that their papers and PyTorch give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import raxis
from raxis.nn import init

SHAPE = (60, 40, 3, 3)


def sample(fill: Any, *args: Any, shape: tuple[int, ...] = SHAPE, **kwargs: Any) -> np.ndarray:
    tensor = raxis.nn.Parameter(raxis.empty(shape, dtype=raxis.float64))
    generator = raxis.Generator().manual_seed(5)
    assert fill(tensor, *args, generator=generator, **kwargs) is tensor
    assert tensor.requires_grad
    assert tensor.is_leaf
    return tensor.detach().numpy().ravel()


def assert_distribution(values: np.ndarray, cdf: Any) -> None:
    """Kolmogorov-Smirnov; the seed is fixed, so the result is too."""
    assert stats.kstest(values, cdf).pvalue > 1e-3


def fan(mode: str, shape: tuple[int, ...] = SHAPE) -> int:
    fan_in, fan_out = torch.nn.init._calculate_fan_in_and_fan_out(torch.empty(shape))
    return fan_in if mode == "fan_in" else fan_out


def test_fans_are_torchs() -> None:
    for shape in [(3, 4), (3, 4, 5), (3, 4, 5, 6), (0, 4)]:
        assert init.fans(raxis.empty(shape)) == torch.nn.init._calculate_fan_in_and_fan_out(
            torch.empty(shape)
        )
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.fans(raxis.empty(3))


def test_uniform_and_normal() -> None:
    assert_distribution(sample(init.uniform_, -1.0, 3.0), stats.uniform(-1.0, 4.0).cdf)
    assert_distribution(sample(init.normal_, 2.0, 0.5), stats.norm(2.0, 0.5).cdf)


@pytest.mark.parametrize(
    ("mean", "std", "a", "b"), [(0.0, 1.0, -2.0, 2.0), (0.3, 0.02, 0.29, 0.4), (0.0, 1.0, 2.0, 3.0)]
)
def test_trunc_normal(mean: float, std: float, a: float, b: float) -> None:
    values = sample(init.trunc_normal_, mean, std, a, b)
    assert values.min() >= a
    assert values.max() <= b
    assert_distribution(values, stats.truncnorm((a - mean) / std, (b - mean) / std, mean, std).cdf)


def test_trunc_normal_warns_far_from_the_mean() -> None:
    with pytest.warns(UserWarning, match="more than 2 std"):
        init.trunc_normal_(raxis.empty(3), mean=5.0)


@pytest.mark.parametrize("gain", [1.0, 2.0])
def test_xavier(gain: float) -> None:
    std = gain * math.sqrt(2.0 / (fan("fan_in") + fan("fan_out")))
    bound = std * math.sqrt(3.0)
    assert_distribution(sample(init.xavier_uniform_, gain), stats.uniform(-bound, 2 * bound).cdf)
    assert_distribution(sample(init.xavier_normal_, gain), stats.norm(0.0, std).cdf)


@pytest.mark.parametrize("mode", ["fan_in", "fan_out"])
@pytest.mark.parametrize(("nonlinearity", "a"), [("relu", 0.0), ("leaky_relu", 0.5), ("linear", 0.0)])
def test_kaiming(mode: str, nonlinearity: str, a: float) -> None:
    std = torch.nn.init.calculate_gain(nonlinearity, a) / math.sqrt(fan(mode))
    bound = std * math.sqrt(3.0)
    uniform = sample(init.kaiming_uniform_, a, mode, nonlinearity)
    assert_distribution(uniform, stats.uniform(-bound, 2 * bound).cdf)
    assert_distribution(sample(init.kaiming_normal_, a, mode, nonlinearity), stats.norm(0.0, std).cdf)


def test_kaiming_refuses_and_warns() -> None:
    with pytest.raises(ValueError, match="Mode fan_avg not supported"):
        init.kaiming_uniform_(raxis.empty(2, 2), mode="fan_avg")
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_normal_(raxis.empty(0, 2))


@pytest.mark.parametrize(
    ("name", "param"),
    [
        *((name, None) for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "selu", "leaky_relu")),
        ("leaky_relu", 0.3),
        ("leaky_relu", 1),
    ],
)
def test_gain_is_torchs(name: str, param: Any) -> None:
    assert init.calculate_gain(name, param) == pytest.approx(
        torch.nn.init.calculate_gain(name, param), rel=1e-15
    )


def test_gain_refuses() -> None:
    with pytest.raises(ValueError, match="Unsupported nonlinearity swish"):
        init.calculate_gain("swish")
    with pytest.raises(ValueError, match="not a valid number"):
        init.calculate_gain("leaky_relu", True)


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (7, 3), (4, 2, 3), (0, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    tensor = init.orthogonal_(raxis.empty(shape, dtype=raxis.float64), gain=2.0)
    matrix = tensor.numpy().reshape(shape[0], math.prod(shape[1:])) / 2.0
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    if matrix.size:
        np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-12)


def test_orthogonal_is_uniform_over_rotations() -> None:
    # The first entry of a uniformly distributed 2x2 orthogonal matrix is the cosine of a uniform angle.
    generator = raxis.Generator().manual_seed(3)
    matrices = [
        init.orthogonal_(raxis.empty(2, 2, dtype=raxis.float64), generator=generator) for _ in range(300)
    ]
    assert_distribution(np.array([matrix[0, 0].item() for matrix in matrices]), stats.arcsine(-1.0, 2.0).cdf)


def test_sparse() -> None:
    tensor = init.sparse_(raxis.empty(10, 4, dtype=raxis.float64), sparsity=0.25, std=2.0)
    assert ((tensor == 0).sum(0)).tolist() == [3, 3, 3, 3]
    assert 0.5 < tensor[tensor != 0].std().item() < 4.0


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("constant_", (0.3,), (2, 3)),
        ("ones_", (), (2, 3)),
        ("zeros_", (), ()),
        ("eye_", (), (3, 4)),
        ("dirac_", (), (4, 3, 5)),
        ("dirac_", (2,), (4, 3, 3, 2)),
        ("dirac_", (3,), (6, 1, 3, 2, 1)),
    ],
)
def test_fixed_values_are_torchs(name: str, args: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    actual = getattr(init, name)(raxis.full(shape, 7.0), *args)
    expected = getattr(torch.nn.init, name)(torch.full(shape, 7.0), *args)
    np.testing.assert_array_equal(actual.numpy(), expected.numpy())


@pytest.mark.parametrize(
    ("fill", "shape", "text"),
    [
        (init.eye_, (3,), "Only tensors with 2 dimensions"),
        (init.dirac_, (3, 3), "Only tensors with 3 or 4 or 5 dimensions"),
        (lambda tensor: init.dirac_(tensor, 2), (3, 3, 3), "divisible by groups"),
        (init.orthogonal_, (3,), "2 or more dimensions"),
        (lambda tensor: init.sparse_(tensor, 0.5), (3,), "Only tensors with 2 dimensions"),
        (init.xavier_uniform_, (3,), "fewer than 2 dimensions"),
    ],
)
def test_wrong_shapes(fill: Any, shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        fill(raxis.zeros(shape))


def test_seed_repeats() -> None:
    raxis.manual_seed(4)
    first = raxis.nn.Linear(3, 3).weight
    raxis.manual_seed(4)
    assert raxis.equal(raxis.nn.Linear(3, 3).weight, first)
