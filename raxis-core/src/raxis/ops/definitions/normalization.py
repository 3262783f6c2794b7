"""Normalization layers: batch, layer, group, instance, root mean square and local response."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from raxis.autograd.grad_mode import no_grad
from raxis.dtypes import HALF, float32
from raxis.numeric_limits import finfo
from raxis.ops.definitions.padding import pad
from raxis.ops.definitions.pooling import avg_pool2d
from raxis.ops.definitions.standardization import Dims, standardize
from raxis.ops.functional import functional
from raxis.tensor import Tensor


def _update(running: Tensor | None, statistic: Tensor, momentum: float) -> None:
    """Move a running statistic towards this batch's, in place and off the tape."""
    if running is not None:
        with no_grad():
            running.mul_(1 - momentum).add_(statistic.to(running.dtype), alpha=momentum)


def _check_channels(name: str, channels: int, **operands: Tensor | None) -> None:
    for label, operand in operands.items():
        if operand is not None and operand._layout.numel != channels:
            raise RuntimeError(
                f"{name}: {label} should contain {channels} elements not {operand._layout.numel}"
            )


_BATCH = "Tensor? weight=None, Tensor? bias=None"


@functional(
    f"batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, {_BATCH}, bool training=False, "
    "float momentum=0.1, float eps=1e-5) -> Tensor"
)
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise every channel over batch and space.

    Args:
        input: [N, C, ...].
        running_mean: [C]; with `training` moved towards the batch's mean in place, else used in its stead.
        running_var: [C]; likewise, by the unbiased variance.
        weight: factor per channel, [C].
        bias: summand per channel, [C].
        training: use the batch's statistics.
        momentum: how far running statistics move.
        eps: added to the variance.

    Raises:
        ValueError: if `training` and there is one value per channel only.
        RuntimeError: if sizes do not fit, or running statistics are missing in evaluation.

    Source: Ioffe, Szegedy, "Batch Normalization", ICML 2015.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.batch_norm(raxis.tensor([[1.0], [3.0]]), None, None, training=True, eps=0.0)
        tensor([[-1.],
                [ 1.]])
    """
    shape = input._layout.shape
    if shape == (0,):
        return input.clone()
    if len(shape) < 2:
        raise RuntimeError(
            f"batch_norm expected input of at least 2 dimensions [N, C, ...], but got {list(shape)}."
        )
    values = input._layout.numel // max(shape[1], 1)
    if training and values == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {input.shape}"
        )
    _check_channels(
        "batch_norm", shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias
    )
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        return _apply_statistics(input, running_mean, running_var, weight, bias, eps)
    dims = (0, *range(2, len(shape)))
    output, mean, variance = standardize(input, weight, bias, dims, (1,), eps, True)
    _update(running_mean, mean, momentum)
    if running_var is not None:
        _update(running_var, variance * (values / (values - 1)) if values > 1 else variance, momentum)
    return output


def _apply_statistics(
    input: Tensor, mean: Tensor, variance: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """Normalise by given statistics: one factor and one summand per channel."""
    dtype = float32 if input.dtype in HALF else input.dtype
    factor = (variance.to(dtype) + eps).rsqrt()
    if weight is not None:
        factor = factor * weight
    shift = -mean.to(dtype) * factor
    if bias is not None:
        shift = shift + bias
    aligned = (1, -1, *(1,) * (input.ndim - 2))
    return (input * factor.reshape(aligned) + shift.reshape(aligned)).to(input.dtype)


def _normalized(
    name: str, input: Tensor, normalized_shape: Sequence[int] | int, **operands: Tensor | None
) -> Dims:
    """The last dimensions, which must have the shape `normalized_shape`."""
    wanted = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    own = input._layout.shape
    if not wanted:
        raise RuntimeError(
            f"{name}: Expected normalized_shape to be at least 1-dimensional, but got {list(wanted)}."
        )
    if own[len(own) - len(wanted) :] != wanted or len(own) < len(wanted):
        raise RuntimeError(
            f"{name}: Given normalized_shape={list(wanted)}, expected input with shape [*, "
            f"{', '.join(map(str, wanted))}], but got input of size {list(own)}"
        )
    for label, operand in operands.items():
        if operand is not None and operand._layout.shape != wanted:
            raise RuntimeError(
                f"{name}: Expected {label} to be of same shape as normalized_shape, but got {label} of shape "
                f"{list(operand.shape)} and normalized_shape = {list(wanted)}"
            )
    return tuple(range(len(own) - len(wanted), len(own)))


@functional(f"layer_norm(Tensor input, int[] normalized_shape, {_BATCH}, float eps=1e-5) -> Tensor")
def layer_norm(
    input: Tensor, normalized_shape: Sequence[int] | int, weight: Tensor | None = None, bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise over the last dimensions.

    Args:
        input: [*, normalized_shape...].
        normalized_shape: sizes of the last dimensions.
        weight: factor per element, `normalized_shape`.
        bias: summand per element, `normalized_shape`.
        eps: added to the variance.

    Raises:
        RuntimeError: if shapes do not fit.

    Source: Ba, Kiros, Hinton, "Layer Normalization", 2016.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.layer_norm(raxis.tensor([1.0, 3.0]), (2,), eps=0.0)
        tensor([-1.,  1.])
    """
    dims = _normalized("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    return standardize(input, weight, bias, dims, dims, eps, True)[0]


@functional("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor")
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int] | int,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root mean square over the last dimensions.

    Args:
        input: [*, normalized_shape...].
        normalized_shape: sizes of the last dimensions.
        weight: factor per element, `normalized_shape`.
        eps: added to the mean square; default: the machine epsilon of the dtype computed in.

    Raises:
        RuntimeError: if shapes do not fit.

    Source: Zhang, Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.rms_norm(raxis.tensor([3.0, 3.0]), (2,))
        tensor([1., 1.])
    """
    dims = _normalized("rms_norm", input, normalized_shape, weight=weight)
    if eps is None:
        eps = finfo(float32 if input.dtype in HALF else input.dtype).eps
    return standardize(input, weight, None, dims, dims, float(eps), False)[0]


@functional(f"group_norm(Tensor input, int num_groups, {_BATCH}, float eps=1e-5) -> Tensor")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise groups of channels over channels and space.

    Args:
        input: [N, C, ...].
        num_groups: number of groups; divides C.
        weight: factor per channel, [C].
        bias: summand per channel, [C].
        eps: added to the variance.

    Raises:
        RuntimeError: if sizes do not fit.

    Source: Wu, He, "Group Normalization", ECCV 2018.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.group_norm(raxis.tensor([[1.0, 3.0]]), 1, eps=0.0)
        tensor([[-1.,  1.]])
    """
    shape = input._layout.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0 or shape[1] % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(shape)} "
            f"and num_groups={num_groups}"
        )
    _check_channels("group_norm", shape[1], weight=weight, bias=bias)
    split = (num_groups, shape[1] // num_groups)
    grouped = input.reshape(shape[0], *split, prod(shape[2:]))
    factor, shift = (None if operand is None else operand.reshape(split) for operand in (weight, bias))
    return standardize(grouped, factor, shift, (2, 3), (1, 2), eps, True)[0].reshape(shape)


@functional(
    f"instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, {_BATCH}, "
    "bool use_input_stats=True, float momentum=0.1, float eps=1e-5) -> Tensor"
)
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalise every channel of every sample over space.

    Args:
        input: [N, C, ...].
        running_mean: [C]; with `use_input_stats` moved towards the samples' mean in place, else used in its stead.
        running_var: [C]; likewise.
        weight: factor per channel, [C].
        bias: summand per channel, [C].
        use_input_stats: use the input's statistics.
        momentum: how far running statistics move.
        eps: added to the variance.

    Raises:
        ValueError: if there is one value per channel only.
        RuntimeError: if sizes do not fit, or running statistics are missing when they are needed.

    Source: Ulyanov, Vedaldi, Lempitsky, "Instance Normalization", 2016.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.instance_norm(raxis.tensor([[[1.0, 3.0]]]), eps=0.0)
        tensor([[[-1.,  1.]]])
    """
    shape = input._layout.shape
    if len(shape) < 2:
        raise RuntimeError(
            f"instance_norm expected input of at least 2 dimensions [N, C, ...], but got {list(shape)}."
        )
    _check_channels(
        "instance_norm",
        shape[1],
        running_mean=running_mean,
        running_var=running_var,
        weight=weight,
        bias=bias,
    )
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats is false"
            )
        return _apply_statistics(input, running_mean, running_var, weight, bias, eps)
    values = prod(shape[2:])
    if values == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    output, mean, variance = standardize(input, weight, bias, tuple(range(2, len(shape))), (1,), eps, True)
    if running_mean is not None:
        _update(running_mean, mean.mean(0), momentum)
    if running_var is not None:
        _update(running_var, variance.mean(0) * (values / max(values - 1, 1)), momentum)
    return output


@functional(
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) -> Tensor"
)
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by a power of the mean square over `size` neighbouring channels.

    Args:
        input: [N, C, ...].
        size: number of channels.
        alpha: factor of the mean square.
        beta: the power.
        k: summand of the mean square.

    Raises:
        ValueError: if the input has fewer than 3 dimensions.

    Source: Krizhevsky, Sutskever, Hinton, "ImageNet Classification with Deep CNNs", NeurIPS 2012.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.local_response_norm(raxis.ones(1, 1, 1), 1, alpha=1.0, beta=1.0)
        tensor([[[0.5000]]])
    """
    shape = input._layout.shape
    if len(shape) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {len(shape)} dimensions)")
    if input._layout.numel == 0:
        return input
    squares = (input * input).reshape(shape[0], 1, shape[1], -1)
    means: Any = avg_pool2d(pad(squares, (0, 0, size // 2, (size - 1) // 2)), (size, 1), stride=1)
    return input / (means.reshape(shape) * alpha + k).pow(beta)
