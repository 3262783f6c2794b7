"""Normalizations that also return their statistics, and sampling by numbered modes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis.dtypes import HALF, float32
from raxis.ops.definitions.exponentials import rsqrt
from raxis.ops.definitions.grid_sampling import grid_sample
from raxis.ops.definitions.normalization import batch_norm, group_norm, layer_norm
from raxis.ops.table import composed
from raxis.tensor import Tensor

_FUNCTION: dict[str, Any] = {"method": False, "out": False}


def _statistics(input: Tensor, dims: Sequence[int], eps: float, keepdim: bool) -> tuple[Any, Any]:
    """The mean, and the inverse of the standard deviation."""
    operand = input.to(float32) if input.dtype in HALF else input
    variance = operand.var(dims, correction=0, keepdim=keepdim)
    return operand.mean(dims, keepdim), rsqrt(variance + eps)


@composed(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> Tensor...",
    **_FUNCTION,
)
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> Any:
    """`raxis.nn.functional.layer_norm`, the means and the inverse standard deviations.

    Raises:
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.native_layer_norm(raxis.tensor([1.0, 3.0]), [2], None, None, 0.0)[1]
        tensor([2.])
    """
    output = layer_norm(input, normalized_shape, weight, bias, eps)
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    mean, inverse = _statistics(input.detach(), dims, eps, True)
    return output, mean.to(input.dtype), inverse.to(input.dtype)


@composed(
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) "
    "-> Tensor...",
    **_FUNCTION,
)
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Any:
    """`raxis.nn.functional.group_norm`, the means and the inverse standard deviations, [N, group].

    Raises:
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.native_group_norm(raxis.tensor([[1.0, 3.0]]), None, None, 1, 2, 1, 1, 0.0)[1]
        tensor([[2.]])
    """
    output = group_norm(input, group, weight, bias, eps)
    mean, inverse = _statistics(input.reshape(N, group, C * HxW // group), (2,), eps, False)
    return output, mean.to(input.dtype), inverse.to(input.dtype)


@composed(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
    "bool training, float momentum, float eps) -> Tensor...",
    **_FUNCTION,
)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """`raxis.nn.functional.batch_norm`, the means and the inverse standard deviations; those are empty off training.

    Raises:
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> raxis.native_batch_norm(raxis.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0)[1]
        tensor([2.])
    """
    output = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    dtype = input.dtype if weight is None else weight.dtype
    if not training:
        return output, input.new_empty(0, dtype=dtype), input.new_empty(0, dtype=dtype)
    dims = tuple(dim for dim in range(input.ndim) if dim != 1)
    mean, inverse = _statistics(input.detach(), dims, eps, False)
    return output, mean.to(dtype), inverse.to(dtype)


@composed("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", method=False)
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """The gradient of `raxis.native_dropout`: ``grad_output * mask * scale``.

    Example:
        >>> import raxis
        >>> raxis.native_dropout_backward(raxis.ones(2), raxis.tensor([True, False]), 2.0)
        tensor([2., 0.])
    """
    return grad_output * (mask.to(grad_output.dtype) * scale)


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
_SAMPLER = (
    "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor"
)


def _sampled(input: Tensor, grid: Tensor, mode: int, padding: int, align_corners: bool, rank: int) -> Any:
    if input.ndim != rank + 2:
        raise RuntimeError(
            f"grid_sampler_{rank}d(): Expected {rank + 2}D input and grid, but got input with sizes {list(input.shape)}"
        )
    return grid_sample(input, grid, _MODES[mode], _PADDINGS[padding], align_corners)


@composed(f"grid_sampler_2d({_SAMPLER}", **_FUNCTION)
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`raxis.nn.functional.grid_sample` of images.

    Args:
        input: [N, C, H, W].
        grid: [N, H', W', 2].
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic.
        padding_mode: 0 zeros, 1 border, 2 reflection.
        align_corners: whether -1 and 1 are the centres of the outer elements.

    Raises:
        RuntimeError: if shapes or dtypes do not fit.

    Example:
        >>> import raxis
        >>> raxis.grid_sampler_2d(raxis.tensor([[[[1.0, 3.0]]]]), raxis.zeros(1, 1, 1, 2), 0, 0, True)
        tensor([[[[2.]]]])
    """
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners, 2)


@composed(f"grid_sampler_3d({_SAMPLER}", **_FUNCTION)
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`raxis.nn.functional.grid_sample` of volumes: [N, C, D, H, W] at [N, D', H', W', 3]; see `grid_sampler_2d`.

    Example:
        >>> import raxis
        >>> raxis.grid_sampler_3d(raxis.ones(1, 1, 1, 1, 2), raxis.zeros(1, 1, 1, 1, 3), 0, 0, True)
        tensor([[[[[1.]]]]])
    """
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners, 3)
