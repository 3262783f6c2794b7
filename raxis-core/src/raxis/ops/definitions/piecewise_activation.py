"""Activation functions of straight pieces, of ``raxis.nn.functional`` and of ``raxis``."""

from __future__ import annotations

from raxis.ops.definitions import activation_kernels as kernels
from raxis.ops.definitions.activation import publish_inplace
from raxis.ops.definitions.comparison import where
from raxis.ops.functional import functional, shared
from raxis.ops.table import composed
from raxis.tensor import Tensor


@functional("relu(Tensor input, bool inplace=False) -> Tensor")
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``; NaN stays.

    Args:
        input: any shape, integer or float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.relu(raxis.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return input.relu_() if inplace else kernels.relu(input)


@functional("relu6(Tensor input, bool inplace=False) -> Tensor")
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``.

    Args:
        input: any shape, integer or float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.relu6(raxis.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


@functional("leaky_relu(Tensor input, float negative_slope=0.01, bool inplace=False) -> Tensor")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where positive, else ``negative_slope * input``.

    Args:
        input: any shape, float.
        negative_slope: factor below 0.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.leaky_relu(raxis.tensor([-1.0, 2.0]))
        tensor([-0.0100,  2.0000])
    """
    return input._leaky_relu_(negative_slope) if inplace else kernels.leaky_relu(input, negative_slope)


@functional("softshrink(Tensor input, float lambd=0.5) -> Tensor", out=True)
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` moved towards 0 by `lambd`, and 0 within it.

    Args:
        input: any shape, float.
        lambd: not negative.

    Raises:
        RuntimeError: if `lambd` is negative.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.softshrink(raxis.tensor([-1.0, 0.25]))
        tensor([-0.5000,  0.0000])
    """
    return kernels.softshrink(input, lambd)


@composed("hardshrink(Tensor input, float lambd=0.5) -> Tensor")
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """`input` where ``abs(input) > lambd``, else 0.

    Args:
        input: any shape, float.
        lambd: half the width of the gap.

    Example:
        >>> import raxis
        >>> raxis.hardshrink(raxis.tensor([-1.0, 0.25]))
        tensor([-1.,  0.])
    """
    return kernels.hardshrink(input, lambd)


@functional("hardsigmoid(Tensor input, bool inplace=False) -> Tensor")
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``clamp(input + 3, 0, 6) / 6``.

    Args:
        input: any shape, float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.hardsigmoid(raxis.tensor([-4.0, 0.0]))
        tensor([0.0000, 0.5000])
    """
    return input._hardsigmoid_() if inplace else kernels.hardsigmoid(input)


@functional("hardswish(Tensor input, bool inplace=False) -> Tensor")
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)`` (Howard et al., 2019).

    Args:
        input: any shape, float.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.hardswish(raxis.tensor([-4.0, 3.0]))
        tensor([-0., 3.])
    """
    return input._hardswish_() if inplace else kernels.hardswish(input)


@functional("hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0, bool inplace=False) -> Tensor")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` clamped to ``[min_val, max_val]``.

    Args:
        input: any shape, integer or float.
        min_val: lower bound.
        max_val: upper bound, not below `min_val`.
        inplace: overwrite `input`.

    Raises:
        ValueError: if `min_val` is above `max_val`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.hardtanh(raxis.tensor([-4.0, 0.5]))
        tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, but got {min_val} and {max_val}.")
    return input._hardtanh_(min_val, max_val) if inplace else kernels.hardtanh(input, min_val, max_val)


@shared("threshold(Tensor input, float threshold, float value, bool inplace=False) -> Tensor")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where above `threshold`, else `value`.

    Args:
        input: any shape, integer or float.
        threshold: the bound.
        value: the replacement.
        inplace: overwrite `input`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.threshold(raxis.tensor([0.0, 2.0]), 1.0, 9.0)
        tensor([9., 2.])
    """
    return input._threshold_(threshold, value) if inplace else kernels.threshold(input, threshold, value)


def _check_prelu(input: Tensor, weight: Tensor) -> None:
    if input.dtype is not weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input.dtype} and {weight.dtype}")
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    count = weight.numel()
    if count != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim >= 2 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and "
                f"channel size = {channels}."
            )


@composed("prelu(Tensor input, Tensor weight) -> Tensor", out=False)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where positive, else ``weight * input`` (He et al., 2015).

    Args:
        input: float, channels in dimension 1.
        weight: one slope, or one per channel; same dtype.

    Raises:
        RuntimeError: if dtypes or shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.prelu(raxis.tensor([-2.0, 3.0]), raxis.tensor([0.25]))
        tensor([-0.5000,  3.0000])
    """
    _check_prelu(input, weight)
    slope = (
        weight.reshape((weight.numel(),) + (1,) * max(input.ndim - 2, 0))
        if input.ndim >= 2
        else weight.reshape(())
    )
    return where(input > 0, input, slope * input)


@shared(
    "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, "
    "bool inplace=False) -> Tensor"
)
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """leaky_relu with a slope drawn from ``[lower, upper]`` for each element; its mean outside training.

    Args:
        input: any shape, float.
        lower: least slope.
        upper: greatest slope.
        training: draw the slopes.
        inplace: overwrite `input`.

    Raises:
        RuntimeError: if `lower` is above `upper`.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.rrelu(raxis.tensor([-1.0, 2.0]), 0.25, 0.75)
        tensor([-0.5000,  2.0000])
    """
    if lower > upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, but got {lower} and {upper}."
        )
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slope = input.detach().clone().uniform_(lower, upper)
    made: Tensor = where(input > 0, input, input * slope)
    return input.copy_(made) if inplace else made


publish_inplace("relu_(Tensor input) -> Tensor", relu)


publish_inplace("leaky_relu_(Tensor input, float negative_slope=0.01) -> Tensor", leaky_relu)


publish_inplace("hardtanh_(Tensor input, float min_val=-1.0, float max_val=1.0) -> Tensor", hardtanh)


publish_inplace("threshold_(Tensor input, float threshold, float value) -> Tensor", threshold)


publish_inplace(
    "rrelu_(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False) -> Tensor",
    rrelu,
)


functional("prelu(Tensor input, Tensor weight) -> Tensor")(prelu)


functional("hardshrink(Tensor input, float lambd=0.5) -> Tensor", out=True)(hardshrink)
