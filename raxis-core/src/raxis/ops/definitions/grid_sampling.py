"""Sampling images at the places of a grid, and grids of affine maps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from math import prod

from raxis.dtypes import int64
from raxis.frames import user_stacklevel
from raxis.ops.definitions.sequences import linspace
from raxis.ops.functional import functional
from raxis.tensor import Tensor

_PADDINGS = ("zeros", "border", "reflection")


def _warn_without_align_corners(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            f"Default {name} behavior has changed to align_corners=False since 1.3.0. Please specify "
            "align_corners=True if the old behavior is desired.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
    return bool(align_corners)


@functional("affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Where an affine map takes every place of an image, for `grid_sample`.

    Args:
        theta: maps, [N, 2, 3] for images, [N, 3, 4] for volumes.
        size: of the images sampled: (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centres of the outer elements, else their outer edges.

    Returns:
        [N, H, W, 2] or [N, D, H, W, 3]; coordinates in the order x, y, z.

    Raises:
        ValueError: if the shapes do not fit.
        RuntimeError: if `theta` is not floating point.

    Example:
        >>> import raxis
        >>> theta = raxis.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> raxis.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=True)
        tensor([[[[-1.,  0.],
                  [ 1.,  0.]]]])
    """
    aligned = _warn_without_align_corners("affine_grid and grid_sample", align_corners)
    rank = len(size) - 2
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if rank not in (2, 3) or tuple(theta.shape) != (size[0], rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape {[size[0], rank, rank + 1]} for size {list(size)}. "
            f"Got {list(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    spatial = tuple(size[2:])
    places = [_axis(length, aligned, theta) for length in spatial]
    columns = [
        place.reshape((-1, *(1,) * (rank - 1 - axis))).expand(spatial) for axis, place in enumerate(places)
    ]
    points = theta.new_ones((*spatial, rank + 1))
    for axis, column in enumerate(reversed(columns)):
        points.select(-1, axis).copy_(column)
    grid = points.reshape(1, -1, rank + 1).matmul(theta.transpose(1, 2))
    return grid.reshape(size[0], *spatial, rank)


def _axis(length: int, aligned: bool, like: Tensor) -> Tensor:
    """The normalised coordinates of the elements along one dimension."""
    if length == 1:
        return like.new_zeros((1,))
    places: Tensor = linspace(-1, 1, length, dtype=like.dtype, device=like.device)
    return places if aligned else places * ((length - 1) / length)


@functional(
    "grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) "
    "-> Tensor"
)
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:  # fmt: skip
    """Values of images at the places of a grid.

    Args:
        input: [N, C, H, W] or [N, C, D, H, W].
        grid: [N, H', W', 2] or [N, D', H', W', 3]: coordinates x, y, z; the image spans -1 to 1.
        mode: "bilinear", "nearest" or, for images, "bicubic".
        padding_mode: what is outside: "zeros", "border" (the nearest element) or "reflection".
        align_corners: whether -1 and 1 are the centres of the outer elements, else their outer edges.

    Returns:
        [N, C, H', W'] or [N, C, D', H', W'].

    Raises:
        ValueError: if a mode is unknown.
        RuntimeError: if shapes or dtypes do not fit.

    Source: Jaderberg et al., "Spatial Transformer Networks", NeurIPS 2015.

    Example:
        >>> import raxis
        >>> image, grid = raxis.tensor([[[[1.0, 3.0]]]]), raxis.zeros(1, 1, 1, 2)
        >>> raxis.nn.functional.grid_sample(image, grid, align_corners=True)
        tensor([[[[2.]]]])
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"expected padding_mode to be one of {', '.join(_PADDINGS)}, but got: '{padding_mode}'"
        )
    aligned = _warn_without_align_corners("grid_sample and affine_grid", align_corners)
    _check(input, grid, mode)
    rank = input.ndim - 2
    flat = grid.reshape(grid.shape[0], -1, rank)
    sizes = tuple(input.shape[2:])
    sampler = _Sampler(input, padding_mode, aligned)
    places = [
        _unnormalised(flat.select(2, rank - 1 - axis), size, aligned) for axis, size in enumerate(sizes)
    ]
    taps = {"bilinear": _linear_taps, "nearest": _nearest_taps, "bicubic": _cubic_taps}[mode]
    if mode != "bicubic":
        places = [sampler.inside(axis, place) for axis, place in enumerate(places)]
    result = sampler.weighted([taps(place) for place in places])
    return result.reshape(*input.shape[:2], *grid.shape[1:-1])


def _check(input: Tensor, grid: Tensor, mode: str) -> None:
    shapes = f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but input has {input.dtype} and grid has "
            f"{grid.dtype}"
        )
    if input.ndim not in (4, 5) or grid.ndim != input.ndim or input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D tensors of the same batch size, but got {shapes}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but got {shapes}"
        )
    if 0 in tuple(input.shape[2:]):
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but got {shapes}"
        )
    if mode == "bicubic" and input.ndim != 4:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def _unnormalised(place: Tensor, size: int, aligned: bool) -> Tensor:
    """Coordinates in elements."""
    return (place + 1) * ((size - 1) / 2) if aligned else ((place + 1) * size - 1) / 2


Taps = list[tuple[Tensor, Tensor | None]]
"""Coordinates (whole numbers, floating point) and weights; None: 1."""


def _nearest_taps(place: Tensor) -> Taps:
    return [(place.round(), None)]


def _linear_taps(place: Tensor) -> Taps:
    low = place.detach().floor()
    share = place - low
    return [(low, 1 - share), (low + 1, share)]


def _cubic_taps(place: Tensor) -> Taps:
    low = place.detach().floor()
    share = place - low
    slope = -0.75

    def near(x: Tensor) -> Tensor:
        return ((slope + 2) * x - (slope + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope

    return [
        (low - 1, far(share + 1)),
        (low, near(share)),
        (low + 1, near(1 - share)),
        (low + 2, far(2 - share)),
    ]


class _Sampler:
    """Reads elements of images at coordinates that may be outside."""

    def __init__(self, input: Tensor, padding_mode: str, aligned: bool) -> None:
        self.sizes = tuple(input.shape[2:])
        self.flat = input.reshape(*input.shape[:2], prod(self.sizes))
        self.padding_mode = padding_mode
        self.aligned = aligned

    def inside(self, axis: int, place: Tensor) -> Tensor:
        """Coordinates moved into the image as the padding mode says."""
        rules: dict[str, Callable[[int, Tensor], Tensor]] = {
            "zeros": lambda _, place: place,
            "border": lambda size, place: place.clamp(0, size - 1),
            "reflection": self._reflected,
        }
        return rules[self.padding_mode](self.sizes[axis], place)

    def _reflected(self, size: int, place: Tensor) -> Tensor:
        low, span = (0.0, size - 1) if self.aligned else (-0.5, size)
        if span == 0:
            return place * 0
        distance = (place - low).abs()
        extra = distance.fmod(span)
        flipped = (distance.detach() / span).floor() % 2 == 1
        return ((span - extra).where(flipped, extra) + low).clamp(0, size - 1)

    def weighted(self, axes: Sequence[Taps]) -> Tensor:
        """The sum over all combinations of taps."""
        total: Tensor | None = None
        for combination in product(*axes):
            value = self._at([place for place, _ in combination])
            for _, weight in combination:
                value = value if weight is None else value * weight.unsqueeze(1)
            total = value if total is None else total + value
        assert total is not None  # every axis has taps
        return total

    def _at(self, places: Sequence[Tensor]) -> Tensor:
        """[N, C, P]: elements at whole coordinates, zero outside."""
        index: Tensor | None = None
        outside: Tensor | None = None
        for axis, (size, given) in enumerate(zip(self.sizes, places, strict=True)):
            place = self.inside(axis, given.detach())
            beyond = (place < 0) | (place > size - 1)
            outside = beyond if outside is None else outside | beyond
            step = place.masked_fill(beyond, 0).to(int64)
            index = step if index is None else index * size + step
        assert index is not None
        assert outside is not None  # images have dimensions
        channels = self.flat.shape[1]
        gathered = self.flat.gather(2, index.unsqueeze(1).expand(-1, channels, -1))
        return gathered.masked_fill(outside.unsqueeze(1), 0)
