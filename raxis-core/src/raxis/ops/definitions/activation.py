"""Activation functions of ``raxis.nn.functional``, and those that ``raxis`` has too."""

from __future__ import annotations

from typing import Any

from raxis.ops.definitions import activation_kernels as kernels
from raxis.ops.definitions.exponentials import sigmoid as _sigmoid
from raxis.ops.definitions.trigonometry import tanh as _tanh
from raxis.ops.functional import functional, shared
from raxis.tensor import Tensor

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946
"""Fixed point of Klambauer et al., Self-Normalizing Neural Networks (2017)."""


@functional("sigmoid(Tensor input) -> Tensor")
def sigmoid(input: Tensor) -> Tensor:
    """The logistic function; see `raxis.sigmoid`."""
    return _sigmoid(input)


@functional("tanh(Tensor input) -> Tensor")
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent; see `raxis.tanh`."""
    return _tanh(input)


def _elu(input: Tensor, inplace: bool, *parameters: float) -> Tensor:
    return input._elu_(*parameters) if inplace else kernels.elu(input, *parameters)


@functional("elu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else ``alpha * expm1(input)`` (Clevert et al., 2015).

    Args:
        input: any shape, float.
        alpha: minus the limit at minus infinity.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.elu(raxis.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """
    return _elu(input, inplace, alpha, 1.0, 1.0)


@shared("selu(Tensor input, bool inplace=False) -> Tensor")
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled elu that keeps mean 0 and variance 1 (Klambauer et al., 2017).

    Args:
        input: any shape, float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.selu(raxis.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """
    return _elu(input, inplace, _SELU_ALPHA, _SELU_SCALE, 1.0)


@shared("celu(Tensor input, float alpha=1.0, bool inplace=False) -> Tensor")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where positive, else ``alpha * expm1(input / alpha)`` (Barron, 2017).

    Args:
        input: any shape, float.
        alpha: minus the limit at minus infinity.
        inplace: overwrite `input`.

    Raises:
        RuntimeError: if `alpha` is 0.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.celu(raxis.tensor([-1.0, 2.0]), alpha=2.0)
        tensor([-0.7869,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu(input, inplace, alpha, 1.0, 1 / alpha)


@functional("gelu(Tensor input, *, str approximate='none') -> Tensor", out=True)
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """`input` times the normal distribution function of it (Hendrycks & Gimpel, 2016).

    Args:
        input: any shape, float.
        approximate: "tanh" for the paper's approximation, "none" for the exact function.

    Raises:
        RuntimeError: if `approximate` is neither.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.gelu(raxis.tensor([-1.0, 2.0]))
        tensor([-0.1587,  1.9545])
    """
    return kernels.gelu(input, approximate)


@functional("silu(Tensor input, bool inplace=False) -> Tensor")
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``.

    Args:
        input: any shape, float or complex.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.silu(raxis.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """
    return input._silu_() if inplace else kernels.silu(input)


@functional("mish(Tensor input, bool inplace=False) -> Tensor")
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(softplus(input))`` (Misra, 2019).

    Args:
        input: any shape, float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.mish(raxis.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """
    return input._mish_() if inplace else kernels.mish(input)


@functional("softplus(Tensor input, float beta=1.0, float threshold=20.0) -> Tensor", out=True)
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``, a smooth relu.

    Args:
        input: any shape, float.
        beta: steepness.
        threshold: `input` itself is the result where ``beta * input`` is above.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.softplus(raxis.tensor([0.0]))
        tensor([0.6931])
    """
    return kernels.softplus(input, beta, threshold)


@functional("softsign(Tensor input) -> Tensor")
def softsign(input: Tensor) -> Tensor:
    """``input / (1 + abs(input))``.

    Args:
        input: any shape.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.softsign(raxis.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@functional("tanhshrink(Tensor input) -> Tensor")
def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``.

    Args:
        input: any shape.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.tanhshrink(raxis.tensor([1.0]))
        tensor([0.2384])
    """
    return input - _tanh(input)


@functional("logsigmoid(Tensor input) -> Tensor", out=True)
def logsigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(input))`` without overflow.

    Args:
        input: any shape, float.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.logsigmoid(raxis.tensor([0.0]))
        tensor([-0.6931])
    """
    return kernels.logsigmoid(input)


@functional("glu(Tensor input, int dim=-1) -> Tensor")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of `input` times the sigmoid of the second (Dauphin et al., 2016).

    Args:
        input: float, with an even size in `dim`.
        dim: the dimension that is halved.

    Raises:
        RuntimeError: if `input` is 0-d or the size is odd.
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.glu(raxis.tensor([3.0, 0.0]))
        tensor([1.5000])
    """
    if input.ndim == 0:
        raise RuntimeError(
            "glu does not support 0-dimensional tensors because halving a dimension needs one."
        )
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    value, gate = input.split(size // 2, dim) if size else (input, input)
    return value * _sigmoid(gate)


def publish_inplace(schema: str, function: Any) -> None:
    """Register ``name_(input, ...)``: the function with ``inplace=True``."""

    def body(input: Tensor, *parameters: Any, **named: Any) -> Tensor:
        return function(input, *parameters, **named, inplace=True)

    body.__doc__ = f"`{function.__name__}` in place."
    functional(schema)(body)


publish_inplace("elu_(Tensor input, float alpha=1.0) -> Tensor", elu)


publish_inplace("selu_(Tensor input) -> Tensor", selu)


publish_inplace("celu_(Tensor input, float alpha=1.0) -> Tensor", celu)
