"""Activation functions as lowered ops; `activation` gives them their public names and signatures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from raxis.dtypes import Category
from raxis.ops.definitions.comparison import where
from raxis.ops.definitions.elementwise import require_category
from raxis.ops.definitions.error_functions import normal_density
from raxis.ops.definitions.exponentials import exp, expm1, log1p, sigmoid
from raxis.ops.definitions.trigonometry import tanh
from raxis.ops.formulas import conj, widened
from raxis.ops.promotion import Promotion
from raxis.ops.table import Decorator, lowered
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


def _activation(schema: str, vjp: Any, **options: Any) -> Decorator:
    """Register an elementwise activation: a method and an in-place method, no public function."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        register = lowered(
            schema,
            promotion=Promotion.ARITHMETIC,
            inplace=True,
            function=False,
            out=False,
            vjp=vjp,
            **options,
        )
        return register(widened(body))

    return decorate


def _gradient(schema: str, vjp: Any) -> Decorator:
    """Register the fused gradient of an activation."""

    def decorate(body: Callable[..., Any]) -> Callable[..., Any]:
        register = lowered(
            schema, promotion=Promotion.ARITHMETIC, method=False, function=False, out=False, vjp=vjp
        )
        return register(widened(body))

    return decorate


@_gradient(
    "_relu_backward(Tensor upstream, Tensor output) -> Tensor",
    vjp={"upstream": lambda grad, output: _relu_backward(grad, output)},
)
def _relu_backward(upstream: Tensor, output: Tensor) -> Any:
    """`upstream` where relu's output is positive (or NaN)."""
    return where(output <= 0, 0, upstream)


@lowered(
    "relu(Tensor input) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    inplace=True,
    out=False,
    vjp={"input": lambda grad, result: _relu_backward(grad, result)},
)
def relu(input: Tensor) -> Any:
    """``max(input, 0)``; NaN stays.

    Args:
        input: any shape; integers keep their dtype.

    Raises:
        RuntimeError: for bool and complex dtypes.

    Example:
        >>> import raxis
        >>> raxis.relu(raxis.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    require_category("relu", input, Category.INTEGER, Category.FLOAT)
    return emit("maximum", input, constant(0, input.dtype, input.shape))


@_activation(
    "_leaky_relu(Tensor input, float negative_slope) -> Tensor",
    vjp={"input": lambda grad, input, negative_slope: where(input > 0, grad, grad * negative_slope)},
)
def leaky_relu(input: Tensor, negative_slope: float) -> Any:
    """`input` where positive, else ``negative_slope * input``."""
    require_category("leaky_relu", input, Category.FLOAT)
    return where(input > 0, input, input * negative_slope)


def _elu_gradient(grad: Tensor, input: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    slope = exp(input.clamp_max(0) * input_scale) * (alpha * scale * input_scale)
    return where(input > 0, grad * scale, grad * slope)


@_activation(
    "_elu(Tensor input, float alpha, float scale, float input_scale) -> Tensor", vjp={"input": _elu_gradient}
)
def elu(input: Tensor, alpha: float, scale: float, input_scale: float) -> Any:
    """``scale * input`` where positive, else ``scale * alpha * expm1(input_scale * input)``."""
    require_category("elu", input, Category.FLOAT)
    return where(input > 0, input * scale, expm1(input * input_scale) * (alpha * scale))


# ---- gelu ----------------------------------------------------------------------------------------------

_SQRT_HALF = math.sqrt(0.5)
_TANH_SCALE = math.sqrt(2 / math.pi)
_TANH_CUBIC = 0.044715


def _normal_cdf(x: Tensor) -> Tensor:
    return 0.5 * (1 + (x * _SQRT_HALF).erf())


def _tanh_argument(x: Tensor) -> tuple[Tensor, Tensor]:
    """tanh of the cubic in Hendrycks & Gimpel's approximation, and the cubic's slope."""
    square = x * x
    return tanh(_TANH_SCALE * x * (1 + _TANH_CUBIC * square)), _TANH_SCALE * (1 + 3 * _TANH_CUBIC * square)


def _gelu_curvature(input: Tensor, approximate: str) -> Tensor:
    if approximate == "none":
        return normal_density(input) * (2 - input * input)
    saturation, slope = _tanh_argument(input)
    steepness = 1 - saturation * saturation
    bend = 6 * _TANH_SCALE * _TANH_CUBIC * input
    return steepness * (slope + 0.5 * input * (bend - 2 * saturation * slope * slope))


@_gradient(
    "_gelu_backward(Tensor upstream, Tensor input, str approximate) -> Tensor",
    vjp={
        "upstream": lambda grad, input, approximate: _gelu_backward(grad, input, approximate),
        "input": lambda grad, upstream, input, approximate: (
            grad * upstream * _gelu_curvature(input, approximate)
        ),
    },
)
def _gelu_backward(upstream: Tensor, input: Tensor, approximate: str) -> Any:
    """`upstream` times the slope of gelu."""
    if approximate == "none":
        return upstream * (_normal_cdf(input) + input * normal_density(input))
    saturation, slope = _tanh_argument(input)
    return upstream * 0.5 * (1 + saturation + input * (1 - saturation * saturation) * slope)


@_activation(
    "_gelu(Tensor input, str approximate) -> Tensor",
    vjp={"input": lambda grad, input, approximate: _gelu_backward(grad, input, approximate)},
)
def gelu(input: Tensor, approximate: str) -> Any:
    """`input` times the normal distribution function of it (Hendrycks & Gimpel, 2016)."""
    require_category("gelu", input, Category.FLOAT)
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, but got {approximate!r}.")
    return (
        input * _normal_cdf(input) if approximate == "none" else 0.5 * input * (1 + _tanh_argument(input)[0])
    )


# ---- sigmoid's family ----------------------------------------------------------------------------------


def _silu_curvature(input: Tensor) -> Tensor:
    gate = sigmoid(input)
    return gate * (1 - gate) * (2 + input * (1 - 2 * gate))


@_gradient(
    "_silu_backward(Tensor upstream, Tensor input) -> Tensor",
    vjp={
        "upstream": lambda grad, input: _silu_backward(grad, conj(input)),
        "input": lambda grad, upstream, input: conj(grad) * upstream * conj(_silu_curvature(input)),
    },
)
def _silu_backward(upstream: Tensor, input: Tensor) -> Any:
    """`upstream` times the slope of silu."""
    gate = sigmoid(input)
    return upstream * conj(gate * (1 + input * (1 - gate)))


@_activation("_silu(Tensor input) -> Tensor", vjp={"input": lambda grad, input: _silu_backward(grad, input)})
def silu(input: Tensor) -> Any:
    """``input * sigmoid(input)``."""
    require_category("silu", input, Category.FLOAT, Category.COMPLEX)
    return input * sigmoid(input)


def _mish_gradient(grad: Tensor, input: Tensor) -> Tensor:
    saturation = tanh(softplus(input, 1.0, 20.0))
    return grad * (saturation + input * sigmoid(input) * (1 - saturation * saturation))


@_activation("_mish(Tensor input) -> Tensor", vjp={"input": _mish_gradient})
def mish(input: Tensor) -> Any:
    """``input * tanh(softplus(input))`` (Misra, 2019)."""
    require_category("mish", input, Category.FLOAT)
    return input * tanh(log1p(exp(-input.abs())) + input.clamp_min(0))


@_activation(
    "_softplus(Tensor input, float beta, float threshold) -> Tensor",
    vjp={
        "input": lambda grad, input, beta, threshold: where(
            input * beta > threshold, grad, grad * sigmoid(input * beta)
        )
    },
)
def softplus(input: Tensor, beta: float, threshold: float) -> Any:
    """``log1p(exp(beta * input)) / beta``, and `input` itself where ``beta * input > threshold``."""
    require_category("softplus", input, Category.FLOAT)
    scaled = input * beta
    return where(scaled > threshold, input, log1p(exp(scaled)) / beta)


@_activation("_logsigmoid(Tensor input) -> Tensor", vjp={"input": lambda grad, input: grad * sigmoid(-input)})
def logsigmoid(input: Tensor) -> Any:
    """``log(sigmoid(input))`` without overflow."""
    require_category("logsigmoid", input, Category.FLOAT)
    return input.clamp_max(0) - log1p(exp(-input.abs()))


# ---- piecewise linear ----------------------------------------------------------------------------------


@_activation(
    "_hardsigmoid(Tensor input) -> Tensor",
    vjp={"input": lambda grad, input: where((input > -3) & (input < 3), grad / 6, 0)},
)
def hardsigmoid(input: Tensor) -> Any:
    """``clamp(input + 3, 0, 6) / 6``."""
    require_category("hardsigmoid", input, Category.FLOAT)
    return (input + 3).clamp(0, 6) / 6


@_activation(
    "_hardswish(Tensor input) -> Tensor",
    vjp={
        "input": lambda grad, input: where(input <= -3, 0, where(input < 3, grad * (input / 3 + 0.5), grad))
    },
)
def hardswish(input: Tensor) -> Any:
    """``input * hardsigmoid(input)``."""
    require_category("hardswish", input, Category.FLOAT)
    return input * (input + 3).clamp(0, 6) / 6


@_activation(
    "_hardtanh(Tensor input, number min_val, number max_val) -> Tensor",
    vjp={
        "input": lambda grad, input, min_val, max_val: where((input > min_val) & (input < max_val), grad, 0)
    },
)
def hardtanh(input: Tensor, min_val: float, max_val: float) -> Any:
    """`input` clamped to ``[min_val, max_val]``."""
    require_category("hardtanh", input, Category.INTEGER, Category.FLOAT)
    if not input.dtype.is_signed and (min_val < 0 or max_val < 0):
        raise RuntimeError(
            f"cannot do hardtanh on an unsigned type with negative limits [{min_val}, {max_val}]."
        )
    low = constant(min_val, input.dtype, input.shape)
    return emit("minimum", emit("maximum", input, low), constant(max_val, input.dtype, input.shape))


@_activation(
    "_threshold(Tensor input, number threshold, number value) -> Tensor",
    vjp={"input": lambda grad, input, threshold: where(input <= threshold, 0, grad)},
)
def threshold(input: Tensor, threshold: float, value: float) -> Any:
    """`input` where above `threshold`, else `value`."""
    require_category("threshold", input, Category.INTEGER, Category.FLOAT)
    return where(input <= threshold, constant(value, input.dtype, input.shape), input)


@_activation(
    "_softshrink(Tensor input, float lambd) -> Tensor",
    vjp={"input": lambda grad, input, lambd: where((input >= -lambd) & (input <= lambd), 0, grad)},
)
def softshrink(input: Tensor, lambd: float) -> Any:
    """`input` moved towards 0 by `lambd`."""
    require_category("softshrink", input, Category.FLOAT)
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return where(input > lambd, input - lambd, where(input < -lambd, input + lambd, input * 0))


@_activation(
    "_hardshrink(Tensor input, float lambd) -> Tensor",
    vjp={"input": lambda grad, input, lambd: where((input >= -lambd) & (input <= lambd), 0, grad)},
)
def hardshrink(input: Tensor, lambd: float) -> Any:
    """`input` where ``|input| > lambd``, else 0."""
    require_category("hardshrink", input, Category.FLOAT)
    return where((input >= -lambd) & (input <= lambd), 0, input)
