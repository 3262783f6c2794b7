"""The op behind the normalization layers: zero mean and unit variance over some dimensions, then an affine map.

With ``x^ = (x - mean) * rstd`` over n elements and m() the mean over them, the gradient of ``x^`` is
``S(g) = rstd * (g - m(g) - x^ * m(g * x^))``. S is its own transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from raxis.layout import Layout
from raxis.ops.formulas import conj, wide
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

Dims = tuple[int, ...]
_OPTIONS: dict[str, Any] = {"composite": True, "method": False, "function": False, "out": False}


def _mean(operand: Tensor, dims: Dims) -> Tensor:
    """Means over `dims`, repeated to the operand's shape."""
    shape = operand._layout.shape
    total = emit("reduce_sum", operand, dims=dims)
    count = prod(shape[dim] for dim in dims)
    return _spread(emit("div", total, constant(count, total.dtype, total._layout.shape)), shape, dims)


def _spread(statistic: Tensor, shape: Sequence[int], dims: Dims) -> Tensor:
    """One number per normalised group, repeated to `shape`."""
    others = tuple(axis for axis in range(len(shape)) if axis not in dims)
    return emit("broadcast", statistic, shape=tuple(shape), dims=others)


def _along(parameter: Tensor, shape: Sequence[int], affine_dim: Dims) -> Tensor:
    """A weight or bias, whose dimensions are those of `shape` in `affine_dim`, repeated to `shape`."""
    return emit("broadcast", wide(parameter), shape=tuple(shape), dims=affine_dim)


def _statistics(operand: Tensor, dims: Dims, center: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and centred operand; without `center` the mean counts as 0."""
    shape = operand._layout.shape
    kept = tuple(shape[axis] for axis in range(len(shape)) if axis not in dims)
    count = constant(prod(shape[dim] for dim in dims), operand.dtype, kept)
    mean = constant(0, operand.dtype, kept)
    if center:
        mean = emit("div", emit("reduce_sum", operand, dims=dims), count)
        operand = emit("sub", operand, _spread(mean, shape, dims))
    variance = emit("div", emit("reduce_sum", emit("mul", operand, operand), dims=dims), count)
    return mean, variance, operand


def _deviation_inverse(variance: Tensor, eps: float) -> Tensor:
    return emit("rsqrt", emit("add", variance, constant(eps, variance.dtype, variance._layout.shape)))


def _conj(weight: Tensor | None) -> Tensor | None:
    return None if weight is None else conj(weight)


def _gradients(
    grads: Sequence[Tensor | None], input: Tensor, weight: Tensor | None, bias_layout: Layout | None, results: Any,
    result_layout: Layout, dim: Dims, affine_dim: Dims, eps: float, center: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    grad = grads[0]
    if grad is None:
        return None, None, None
    mean, variance = conj(results[1]), conj(results[2])
    found = _standardize_gradient(
        grad, conj(input), _conj(weight), mean, variance, dim, affine_dim, eps, center
    )
    return found[0], found[1] if weight is not None else None, found[2] if bias_layout is not None else None


@lowered(
    "_standardize(Tensor input, Tensor? weight, Tensor? bias, int[] dim, int[] affine_dim, float eps, bool center) "
    "-> (Tensor output, Tensor mean, Tensor variance)",
    vjp={("input", "weight", "bias"): _gradients},
    **_OPTIONS,
)
def standardize(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    dim: Dims,
    affine_dim: Dims,
    eps: float,
    center: bool,
) -> Any:
    """``(input - mean) / sqrt(variance + eps) * weight + bias`` over `dim`, with the statistics used.

    The dimensions of `weight` and `bias` are those of the input in `affine_dim`. Statistics are in float32 for half
    precision, and gradients do not flow to them.
    """
    operand = wide(input)
    shape = operand._layout.shape
    mean, variance, centred = _statistics(operand, dim, center)
    result = emit("mul", centred, _spread(_deviation_inverse(variance, eps), shape, dim))
    if weight is not None:
        result = emit("mul", result, _along(weight, shape, affine_dim))
    if bias is not None:
        result = emit("add", result, _along(bias, shape, affine_dim))
    return cast(result, input.dtype), mean, variance


class _Normal:
    """The input, normalised, in ops that can be derived in turn."""

    def __init__(self, input: Tensor, dim: Dims, eps: float, center: bool) -> None:
        self.axes, self.center = list(dim), center
        centred = input - self.mean(input) if center else input
        self.rstd = (self.mean(centred * centred) + eps).rsqrt()
        self.unit = centred * self.rstd

    def mean(self, operand: Tensor) -> Tensor:
        return operand.mean(self.axes, keepdim=True)

    def gradient(self, grad: Tensor) -> Tensor:
        """S(grad) of the module's docstring."""
        lifted = grad - self.mean(grad) if self.center else grad
        return self.rstd * (lifted - self.unit * self.mean(grad * self.unit))


def _derivatives_of_gradients(
    grads: Sequence[Tensor | None], grad: Tensor, input: Tensor, weight: Tensor | None, dim: Dims, affine_dim: Dims,
    eps: float, center: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """What reaches grad, input and weight from the three results of `_standardize_gradient`."""
    normal = _Normal(input, dim, eps, center)
    affine = [size if axis in affine_dim else 1 for axis, size in enumerate(input._layout.shape)]
    factor: Any = 1 if weight is None else weight.reshape(affine)
    from_input, from_weight, from_bias = grads
    by_grad: list[Tensor] = []
    by_unit: list[Tensor] = []
    by_input: list[Tensor] = []
    by_weight: Tensor | None = None
    if from_input is not None:
        through, scaled = normal.gradient(from_input), grad * factor
        by_grad.append(through * factor)
        by_weight = None if weight is None else (grad * through).sum_to_size(affine).reshape(weight.shape)
        inner = from_input * normal.mean(scaled * normal.unit) + scaled * normal.mean(
            from_input * normal.unit
        )
        by_unit.append(-normal.rstd * inner)
        by_input.append(-normal.rstd * normal.unit * normal.mean(from_input * normal.gradient(scaled)))
    if from_weight is not None:
        spread = from_weight.reshape(affine)
        by_grad.append(spread * normal.unit)
        by_unit.append(spread * grad)
    if from_bias is not None:
        by_grad.append(from_bias.reshape(affine).expand(grad.shape))
    if by_unit:
        by_input.append(normal.gradient(_total(by_unit)))
    return _total(by_grad), _total(by_input) if by_input else None, by_weight


def _total(parts: Sequence[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@lowered(
    "_standardize_gradient(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor variance, int[] dim, "
    "int[] affine_dim, float eps, bool center) -> (Tensor input_grad, Tensor weight_grad, Tensor bias_grad)",
    vjp={
        (
            "grad_output",
            "input",
            "weight",
        ): lambda grads, grad_output, input, weight, dim, affine_dim, eps, center: _derivatives_of_gradients(
            grads, conj(grad_output), conj(input), _conj(weight), dim, affine_dim, eps, center
        )
    },
    **_OPTIONS,
)
def _standardize_gradient(
    grad_output: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor, variance: Tensor, dim: Dims,
    affine_dim: Dims, eps: float, center: bool,
) -> Any:  # fmt: skip
    """Gradients of `_standardize` by input, weight and bias."""
    operand, grad = wide(input), wide(grad_output)
    shape = operand._layout.shape
    rstd = _spread(_deviation_inverse(variance, eps), shape, dim)
    centred = emit("sub", operand, _spread(mean, shape, dim)) if center else operand
    unit = emit("mul", centred, rstd)
    product = emit("mul", grad, unit)
    summed = tuple(axis for axis in range(len(shape)) if axis not in affine_dim)
    parameter = (weight if weight is not None else input).dtype
    by_weight, by_bias = (cast(emit("reduce_sum", part, dims=summed), parameter) for part in (product, grad))
    if weight is not None:
        grad = emit("mul", grad, _along(weight, shape, affine_dim))
        product = emit("mul", grad, unit)
    lifted = emit("sub", grad, _mean(grad, dim)) if center else grad
    by_input = emit("mul", rstd, emit("sub", lifted, emit("mul", unit, _mean(product, dim))))
    return cast(by_input, input.dtype), by_weight, by_bias
