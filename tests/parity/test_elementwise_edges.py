"""Elementwise ops where samples are rare: zeros, infinities, NaN, limits of dtypes, overlaps, odd layouts, errors."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
import torch

import raxis
from tests.parity.bridge import to_raxis, to_torch
from tests.parity.catalogue import lookup
from tests.parity.comparing import assert_same

SPECIAL = [-math.inf, -1e30, -2.5, -1.0, -0.5, -0.0, 0.0, 1e-30, 0.5, 1.0, 2.5, 1e30, math.inf, math.nan]
INTEGERS = {
    torch.int8: [-128, -127, -3, -1, 0, 1, 5, 127],
    torch.uint8: [0, 1, 5, 200, 255],
    torch.int64: [-(2**63), -7, -1, 0, 1, 3, 2**63 - 1],
}
UNARY = (
    "abs", "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "digamma", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "floor", "frac", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "lgamma",
    "log", "log10", "log1p", "log2", "logit", "logical_not", "nan_to_num", "neg", "rad2deg", "reciprocal", "round",
    "rsqrt", "sgn", "sigmoid", "sign", "signbit", "sqrt", "square", "tanh", "trunc",
    "nn.functional.celu", "nn.functional.elu", "nn.functional.hardshrink",
    "nn.functional.hardsigmoid", "nn.functional.hardtanh", "nn.functional.leaky_relu", "nn.functional.logsigmoid",
    "nn.functional.relu", "nn.functional.relu6", "nn.functional.selu", "nn.functional.softplus",
    "nn.functional.softshrink", "nn.functional.softsign", "special.entr", "special.erfcx", "special.log_ndtr",
    "special.ndtr",
)  # fmt: skip
SERVED_BY_TORCH = dict.fromkeys(("special.erfcx", "special.log_ndtr"), (torch.float32, torch.float64))
BINARY = (
    "add", "sub", "mul", "div", "fmod", "remainder", "floor_divide", "pow", "atan2", "copysign", "hypot", "logaddexp",
    "logaddexp2", "maximum", "minimum", "fmax", "fmin", "xlogy", "nextafter", "heaviside", "eq", "lt", "ge", "isclose",
)  # fmt: skip
INTEGER_BINARY = (
    "add", "sub", "mul", "div", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "eq", "lt", "logical_and",
)  # fmt: skip


def _torch_function(name: str) -> Any:
    return operator.attrgetter(name)(torch)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_special_values_of_unary_ops(name: str, dtype: torch.dtype) -> None:
    if dtype not in SERVED_BY_TORCH.get(name, (dtype,)):
        pytest.skip("torch does not serve this dtype")
    values = torch.tensor(SPECIAL, dtype=dtype)
    function = lookup(name)
    assert function is not None
    assert_same(function(to_raxis(values)), _torch_function(name)(values))


@pytest.mark.parametrize("name", ["exp2", "log2", "log10"])
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_powers_and_logarithms_of_special_complex_numbers(name: str, dtype: torch.dtype) -> None:
    part = torch.tensor(
        [0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan")], dtype=dtype.to_real()
    )
    values = torch.complex(part[:, None].expand(7, 7), part[None].expand(7, 7)).flatten()
    found = getattr(raxis, name)(raxis.tensor(values.numpy()))
    for component in ("real", "imag"):
        ours, theirs = (getattr(value, component) for value in (found, getattr(torch, name)(values)))
        torch.testing.assert_close(torch.from_numpy(ours.numpy().copy()), theirs.clone(), equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_sign_of_special_complex_numbers(dtype: torch.dtype) -> None:
    parts = torch.tensor([0.0, 2.5, -1e30, math.inf, -math.inf, math.nan], dtype=torch.float64)
    values = torch.complex(parts[:, None].expand(6, 6), parts[None].expand(6, 6)).flatten()
    assert_same(raxis.sgn(to_raxis(values.to(dtype))), torch.sgn(values).to(dtype))


def test_gelu_at_infinity() -> None:
    # torch's vectorised float32 kernel gives NaN at +inf, its float64 kernel inf.
    values = torch.tensor(SPECIAL, dtype=torch.float64)
    assert_same(raxis.nn.functional.gelu(to_raxis(values)), torch.nn.functional.gelu(values))
    assert raxis.nn.functional.gelu(raxis.tensor(math.inf)).item() == math.inf


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_special_values_of_binary_ops(name: str, dtype: torch.dtype) -> None:
    values = torch.tensor(SPECIAL, dtype=dtype)
    first, second = values[:, None].expand(-1, len(SPECIAL)), values[None].expand(len(SPECIAL), -1)
    function = lookup(name)
    assert function is not None
    assert_same(function(to_raxis(first), to_raxis(second)), _torch_function(name)(first, second))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_integers_wrap(name: str, dtype: torch.dtype) -> None:
    values = torch.tensor(INTEGERS[dtype], dtype=dtype)
    if "shift" in name:
        second = torch.tensor([0, 1, 7], dtype=dtype)
        first = values[:, None]
    else:
        first, second = values[:, None], values[None]
    function = lookup(name)
    assert function is not None
    assert_same(function(to_raxis(first), to_raxis(second)), _torch_function(name)(first, second))


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.int64, torch.uint8], ids=str)
def test_integer_quotients(name: str, dtype: torch.dtype) -> None:
    values = torch.tensor(INTEGERS[dtype][1:], dtype=dtype)
    divisors = torch.tensor([value for value in INTEGERS[dtype] if value != 0], dtype=dtype)
    function = lookup(name)
    assert function is not None
    expected = _torch_function(name)(values[:, None], divisors[None])
    assert_same(function(to_raxis(values[:, None]), to_raxis(divisors[None])), expected)


@pytest.mark.parametrize("operate", [operator.floordiv, operator.mod])
def test_integer_division_by_zero_leaves_the_operand(operate: Any) -> None:
    x = raxis.tensor([4, 6])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        operate(x, raxis.tensor([2, 0]))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x.floor_divide_(raxis.tensor([2, 0]))
    assert x.tolist() == [4, 6]


def test_numbers_beyond_an_integer_dtype_wrap() -> None:
    x = torch.tensor([1, 250], dtype=torch.uint8)
    for number in (300, -3):
        assert_same(to_raxis(x) + number, x + number)
        assert_same(to_raxis(x).mul(number), x.mul(number))


def test_numpy_numbers_are_numbers() -> None:
    x = raxis.tensor([1.0, 2.0])
    assert (x * np.float64(2.5)).tolist() == [2.5, 5.0]
    assert (x + np.int64(1)).dtype is raxis.float32
    assert (np.float32(3.0) - x).tolist() == [2.0, 1.0]


def test_unknown_operands_are_left_to_python() -> None:
    class Other:
        def __radd__(self, left: Any) -> str:
            return "radd"

        def __rpow__(self, left: Any) -> str:
            return "rpow"

    assert raxis.tensor([1.0]) + Other() == "radd"
    assert raxis.tensor([1.0]) ** Other() == "rpow"
    with pytest.raises(TypeError):
        raxis.tensor([1.0]) + "text"  # type: ignore[operator]
    assert (raxis.tensor([1.0]) == "text") is False


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(RuntimeError, match=r"\(3\) must match.*\(4\)"):
        raxis.ones(2, 3) + raxis.ones(4)
    x = raxis.zeros(3)
    with pytest.raises(RuntimeError, match="output with shape"):
        x.add_(raxis.ones(2, 3))
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_empty_and_zero_dimensional() -> None:
    empty = raxis.ones(0, 3)
    assert tuple((empty * raxis.ones(3)).shape) == (0, 3)
    assert tuple(empty.exp().shape) == (0, 3)
    assert tuple((raxis.tensor(2.0) + raxis.tensor(3.0)).shape) == ()


def test_results_keep_the_order_of_dimensions() -> None:
    x = torch.rand(2, 3, 4).permute(2, 0, 1)
    for ours, theirs in (
        (to_raxis(x).exp(), x.exp()),
        (to_raxis(x) + 1, x + 1),
        (to_raxis(x) * to_raxis(x), x * x),
    ):
        assert ours.stride() == theirs.stride()


def test_inplace_on_overlapping_operands() -> None:
    matrix = torch.arange(9.0).reshape(3, 3)
    ours = to_raxis(matrix)
    ours.add_(ours.t())
    assert_same(ours, matrix + matrix.t())
    line = raxis.arange(5.0)
    line[1:].mul_(line[:-1])
    assert line.tolist() == [0.0, 0.0, 2.0, 6.0, 12.0]


def test_inplace_on_repeated_memory_is_refused() -> None:
    x = raxis.zeros(1).expand(3)
    with pytest.raises(RuntimeError, match="more than one element"):
        x.add_(1)


def test_parts_of_complex_numbers_are_views() -> None:
    x = raxis.tensor([1 + 2j, 3 + 4j])
    x.real[0] = 5.0
    x.imag.mul_(2)
    assert x.tolist() == [5 + 4j, 3 + 8j]
    raxis.view_as_real(x)[1, 0] = 7.0
    assert x.tolist() == [5 + 4j, 7 + 8j]


def test_where_does_not_pass_nan_to_the_other_branch() -> None:
    x = raxis.tensor([0.0, 4.0], requires_grad=True)
    raxis.where(x > 0, x, 1.0).sqrt().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.25]


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -1, 2.5])
def test_gradient_of_powers_at_zero(exponent: float) -> None:
    values = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    ours = to_raxis(values)
    ours.requires_grad = True
    (values**exponent).sum().backward()
    (ours**exponent).sum().backward()
    assert_same(ours.grad, values.grad)


def test_gradient_of_numbers_to_tensor_powers() -> None:
    values = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    for base in (0.0, 2.0):
        ours = to_raxis(values)
        ours.requires_grad = True
        (expected,) = torch.autograd.grad((base**values).sum(), values)
        (got,) = raxis.autograd.grad((base**ours).sum(), ours)
        assert_same(got, expected)


def test_inplace_activations() -> None:
    values = torch.linspace(-4, 4, 9)
    functional, expected = raxis.nn.functional, torch.nn.functional
    for name in ("relu_", "leaky_relu_", "elu_", "selu_", "celu_", "hardtanh_", "rrelu_"):
        x = to_raxis(values)
        assert getattr(functional, name)(x) is x
        assert_same(x, getattr(expected, name)(values.clone()))
    x = to_raxis(values)
    assert functional.threshold_(x, 1.0, 20.0) is x
    assert_same(x, expected.threshold(values, 1.0, 20.0))


def test_rrelu_draws_slopes_in_training() -> None:
    raxis.manual_seed(3)
    x = -raxis.ones(1000)
    slopes = -to_torch(raxis.nn.functional.rrelu(x, 0.1, 0.4, training=True))
    assert 0.1 <= slopes.min() < 0.12
    assert 0.38 < slopes.max() <= 0.4


def test_aliases() -> None:
    for alias, name in (
        ("absolute", "abs"), ("arccos", "acos"), ("arctan2", "atan2"), ("clip", "clamp"), ("divide", "div"),
        ("fix", "trunc"), ("greater_equal", "ge"), ("multiply", "mul"), ("negative", "neg"), ("not_equal", "ne"),
        ("subtract", "sub"), ("true_divide", "div"),
    ):  # fmt: skip
        assert getattr(raxis, alias) is getattr(raxis, name)
        assert getattr(raxis.Tensor, alias) is getattr(raxis.Tensor, name)
    x = raxis.tensor([-1.0])
    assert x.absolute_() is x
    assert raxis.special.expit is raxis.sigmoid
