"""Resampling of images (interpolate, upsample) and rearranging channels into space."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np

from raxis.dtypes import Category, DType, float32, float64, int64
from raxis.frames import user_stacklevel
from raxis.ops.definitions.spatial import Sizes, per_dimension
from raxis.ops.definitions.taps import Taps, taps
from raxis.ops.formulas import wide_dtype
from raxis.ops.functional import functional, shared
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

Scales = tuple[float, ...]


def _working_dtype(dtype: DType, mode: str) -> DType:
    """Weighted sums of integers are made in float32 and rounded."""
    if dtype.category is Category.FLOAT:
        return wide_dtype(dtype)
    return dtype if mode.startswith("nearest") or dtype.is_complex else float32


def _axes(
    sizes: Sizes, counts: Sizes, mode: str, align_corners: bool, scales: Scales, dtype: DType
) -> list[tuple[int, Taps]]:
    """The dimensions that change, last first, with their taps."""
    position = np.dtype(np.float64 if dtype is float64 and not mode.startswith("nearest") else np.float32)
    return [
        (axis, taps(mode, size, count, align_corners, scale, position))
        for axis, (size, count, scale) in enumerate(zip(sizes, counts, scales, strict=True))
        if size != count or scale not in (0.0, 1.0)
    ][::-1]


_RESAMPLED = "str mode, bool align_corners, float[] scales"


@lowered(
    f"_resample(Tensor input, int[] output_size, {_RESAMPLED}) -> Tensor",
    vjp={
        "input": lambda grad, input_layout, output_size, mode, align_corners, scales: _resample_gradient(
            grad, input_layout.shape[input_layout.ndim - len(output_size) :], mode, align_corners, scales
        )
    },
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _resample(input: Tensor, output_size: Sizes, mode: str, align_corners: bool, scales: Scales) -> Any:
    """The last dimensions resampled to `output_size`, one after another."""
    lead = input.ndim - len(output_size)
    dtype = _working_dtype(input.dtype, mode)
    result = cast(input, dtype)
    for axis, (indices, weights) in _axes(
        input._layout.shape[lead:], output_size, mode, align_corners, scales, dtype
    ):
        parts = [
            _weighted(emit("take", result, _index(column), dim=lead + axis), lead + axis, weight, mode)
            for column, weight in zip(indices.T, weights.T, strict=True)
        ]
        result = _rounded(_sum(parts), input.dtype)
    return cast(result, input.dtype)


def _rounded(result: Tensor, dtype: DType) -> Tensor:
    if result.dtype is dtype or dtype.category is Category.FLOAT:
        return result
    limits = np.iinfo(dtype.numpy)
    low, high, half = (
        constant(value, result.dtype, result._layout.shape) for value in (limits.min, limits.max, 0.5)
    )
    nearest = emit("floor", emit("add", result, half))
    return emit("minimum", emit("maximum", nearest, low), high)


@lowered(
    f"_resample_gradient(Tensor grad, int[] size, {_RESAMPLED}) -> Tensor",
    vjp={
        "grad": lambda grad, grad_layout, size, mode, align_corners, scales: _resample(
            grad, grad_layout.shape[grad_layout.ndim - len(size) :], mode, align_corners, scales
        )
    },
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _resample_gradient(grad: Tensor, size: Sizes, mode: str, align_corners: bool, scales: Scales) -> Any:
    """The transpose of `_resample`: every result gives its gradient to its taps."""
    lead = grad.ndim - len(size)
    dtype = wide_dtype(grad.dtype)
    result = cast(grad, dtype)
    for axis, (indices, weights) in _axes(
        size, grad._layout.shape[lead:], mode, align_corners, scales, dtype
    ):
        shape = list(result._layout.shape)
        shape[lead + axis] = size[axis]
        total: Tensor = constant(0, dtype, shape)
        for column, weight in zip(indices.T, weights.T, strict=True):
            part = _weighted(result, lead + axis, weight, mode)
            total = emit("put", total, _index(column), part, dim=lead + axis, reduce="add")
        result = total
    return cast(result, grad.dtype)


def _index(column: Any) -> Tensor:
    return emit("constant", value=tuple(column.tolist()), dtype=int64, shape=column.shape)


def _weighted(part: Tensor, axis: int, weight: Any, mode: str) -> Tensor:
    if mode.startswith("nearest"):
        return part
    shape, dtype = part._layout.shape, part.dtype
    factor = emit("constant", value=tuple(weight.tolist()), dtype=dtype, shape=weight.shape)
    factor = emit("broadcast", factor, shape=shape, dims=(axis,))
    product: Tensor = emit("mul", part, factor)
    if mode != "area" or weight.all():
        return product
    # Short bins have taps of weight 0 outside of them, where an infinity must not become NaN.
    zero = constant(0, dtype, shape)
    return emit("select", emit("ne", factor, zero), product, zero)


def _sum(parts: Sequence[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = emit("add", total, part)
    return total


def resample(
    input: Tensor, sizes: Sizes, mode: str, align_corners: bool, scales: Sequence[float | None]
) -> Tensor:
    """`input` with its last dimensions resampled to `sizes`; see `taps` for the modes."""
    factors = tuple(0.0 if scale is None else float(scale) for scale in scales)
    return _resample(input, sizes, mode, align_corners, factors)


_MODES = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "area": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "trilinear": (3,),
    "bicubic": (2,),
}
"""Number of spatial dimensions each mode takes."""
_ALIGNED = ("linear", "bilinear", "bicubic", "trilinear")


@functional(
    "interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', "
    "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor"
)
def interpolate(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest", align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Resample the spatial dimensions to a size, or by a factor.

    Args:
        input: [N, C, spatial...] with one to three spatial dimensions.
        size: sizes of the result; this or `scale_factor` must be given.
        scale_factor: result elements per input element.
        mode: "nearest", "nearest-exact", "linear" (1-D), "bilinear", "bicubic" (2-D), "trilinear" (3-D) or "area".
        align_corners: keep the centres of the outer elements in place; linear and cubic modes only.
        recompute_scale_factor: derive the factor from the sizes after rounding.
        antialias: widen the filter when shrinking; bilinear and bicubic only.

    Raises:
        ValueError: if the arguments contradict each other or do not fit the input.
        NotImplementedError: if the mode does not exist for this number of dimensions.

    Example:
        >>> import raxis
        >>> raxis.nn.functional.interpolate(raxis.tensor([[[1.0, 2.0]]]), scale_factor=2)
        tensor([[[1., 1., 2., 2.]]])
    """
    _check_interpolation(input, mode, align_corners, antialias)
    rank = input.ndim - 2
    sizes, scales = _target(input, rank, size, scale_factor)
    if recompute_scale_factor:
        if scale_factor is None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        scales = (None,) * rank
    if mode == "area":
        from raxis.ops.definitions.adaptive_pooling import adaptive_average

        return adaptive_average(input, sizes)
    kind = mode.removeprefix("bi").removeprefix("tri")
    return resample(input, sizes, f"antialias-{kind}" if antialias else kind, bool(align_corners), scales)


def _check_interpolation(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    rank = input.ndim - 2
    if align_corners is not None and mode not in _ALIGNED:
        raise ValueError(
            f"align_corners option can only be set with the interpolating modes: {' | '.join(_ALIGNED)}"
        )
    if mode not in _MODES or rank not in _MODES[mode]:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the modes: "
            f"{' | '.join(_MODES)} (got {mode})"
        )
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if 0 in input._layout.shape[1:]:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input of size {list(input.shape)}."
        )


def _target(input: Tensor, rank: int, size: Any, scale_factor: Any) -> tuple[Sizes, Sequence[float | None]]:
    """Sizes of the result, and the factors that positions are computed with (None: from the sizes)."""
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined, and one of them must be.")
    given = size if size is not None else scale_factor
    if not isinstance(given, (int, float)) and len(given) != rank:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(input.shape[2:])} and output size or scale factor of {given}."
        )
    if size is not None:
        sizes, scales = per_dimension(size, rank), (None,) * rank
    else:
        factors = (
            (float(scale_factor),) * rank if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
        )
        sizes = tuple(floor(length * factor) for length, factor in zip(input.shape[2:], factors, strict=True))
        return _positive(input, sizes), factors
    return _positive(input, sizes), scales


def _positive(input: Tensor, sizes: Sizes) -> Sizes:
    if min(sizes) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape)} and output "
            f"{list(sizes)}."
        )
    return sizes


@functional(
    "upsample(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', "
    "bool? align_corners=None) -> Tensor"
)
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated name of `interpolate`."""
    return _deprecated("upsample", interpolate(input, size, scale_factor, mode, align_corners))


@functional("upsample_nearest(Tensor input, int[]? size=None, float[]? scale_factor=None) -> Tensor")
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with ``mode="nearest"``."""
    return _deprecated("upsample_nearest", interpolate(input, size, scale_factor))


@functional("upsample_bilinear(Tensor input, int[]? size=None, float[]? scale_factor=None) -> Tensor")
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate` with ``mode="bilinear"`` and aligned corners."""
    return _deprecated("upsample_bilinear", interpolate(input, size, scale_factor, "bilinear", True))


def _deprecated(name: str, result: Tensor) -> Tensor:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=user_stacklevel(),
    )
    return result


# ---- channels and space ----------------------------------------------------------------------------


@shared("pixel_shuffle(Tensor input, int upscale_factor) -> Tensor")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """[*, C * r * r, H, W] as [*, C, H * r, W * r].

    Raises:
        RuntimeError: if the channels are not divisible by the factor's square.

    Example:
        >>> import raxis
        >>> raxis.pixel_shuffle(raxis.ones(1, 4, 2, 2), 2).shape
        raxis.Size([1, 1, 4, 4])
    """
    shape, factor = input._layout.shape, upscale_factor
    if len(shape) < 3 or factor <= 0 or shape[-3] % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension, of at least 3 dimensions, to be divisible by the "
            f"square of a positive upscale_factor, but got input of size {list(shape)} and upscale_factor={factor}."
        )
    *batch, channels, height, width = shape
    kept = channels // (factor * factor)
    split = input.reshape(*batch, kept, factor, factor, height, width)
    lead = len(batch)
    moved = split.permute(*range(lead + 1), lead + 3, lead + 1, lead + 4, lead + 2)
    return moved.reshape(*batch, kept, height * factor, width * factor)


@shared("pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """[*, C, H * r, W * r] as [*, C * r * r, H, W]: the inverse of `pixel_shuffle`.

    Raises:
        RuntimeError: if height or width are not divisible by the factor.

    Example:
        >>> import raxis
        >>> raxis.pixel_unshuffle(raxis.ones(1, 1, 4, 4), 2).shape
        raxis.Size([1, 4, 2, 2])
    """
    shape, factor = input._layout.shape, downscale_factor
    if len(shape) < 3 or factor <= 0 or shape[-2] % factor or shape[-1] % factor:
        raise RuntimeError(
            "pixel_unshuffle expects height and width, of an input of at least 3 dimensions, to be divisible by a "
            f"positive downscale_factor, but got input of size {list(shape)} and downscale_factor={factor}."
        )
    *batch, channels, height, width = shape
    split = input.reshape(*batch, channels, height // factor, factor, width // factor, factor)
    lead = len(batch)
    moved = split.permute(*range(lead + 1), lead + 2, lead + 4, lead + 1, lead + 3)
    return moved.reshape(*batch, channels * factor * factor, height // factor, width // factor)


@shared("channel_shuffle(Tensor input, int groups) -> Tensor")
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of `groups` groups dealt out in turn: [N, g * c, ...] as [N, c * g, ...].

    Raises:
        RuntimeError: if the channels are not divisible by the number of groups.

    Example:
        >>> import raxis
        >>> raxis.channel_shuffle(raxis.arange(4.0).reshape(1, 4, 1), 2).flatten()
        tensor([0., 2., 1., 3.])
    """
    shape = input._layout.shape
    if len(shape) < 3 or groups <= 0 or shape[1] % groups:
        raise RuntimeError(
            "channel_shuffle expects channels, of an input of more than 2 dimensions, to be divisible by a positive "
            f"groups, but got input of size {list(shape)} and groups={groups}."
        )
    split = input.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    return split.transpose(1, 2).reshape(*shape)
