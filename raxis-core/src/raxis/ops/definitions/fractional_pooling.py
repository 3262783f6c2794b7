"""Max pooling with windows at random places, for sizes that do not divide each other.

Source: Graham, Fractional max-pooling (2014), overlapping windows.
"""

from __future__ import annotations

from math import prod
from typing import Any

from raxis.dtypes import int64
from raxis.ops.definitions.joining import cat
from raxis.ops.definitions.pooling import check_input
from raxis.ops.definitions.random_creation import rand
from raxis.ops.definitions.sequences import arange
from raxis.ops.definitions.spatial import Numbers, Sizes, per_dimension
from raxis.ops.functional import functional
from raxis.ops.table import Effect
from raxis.tensor import Tensor


def _schema(rank: int) -> str:
    return (
        f"fractional_max_pool{rank}d(Tensor input, int[] kernel_size, int[]? output_size=None, "
        "any output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> Tensor"
    )


@functional(_schema(2), effect=Effect.RANDOM)
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Numbers,
    output_size: Numbers | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The greatest elements of windows, whose places are random, spread evenly over the input.

    Args:
        input: [N, C, H, W] or [C, H, W].
        kernel_size: size of the windows.
        output_size: number of windows along each dimension.
        output_ratio: the same relative to the input's size, in (0, 1); instead of `output_size`.
        return_indices: also return places, counted in row-major order.
        _random_samples: [N, C, 2] numbers of [0, 1) that the places follow from.

    Raises:
        ValueError: if neither or both of `output_size` and `output_ratio` are given, or a ratio is not in (0, 1).
        RuntimeError: if shapes do not fit.

    Example:
        >>> import raxis
        >>> image = raxis.arange(16.0).reshape(1, 1, 4, 4)
        >>> raxis.nn.functional.fractional_max_pool2d(image, 3, output_size=2)
        tensor([[[[10., 11.],
                  [14., 15.]]]])
    """
    return _pooled(2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


@functional(_schema(3), effect=Effect.RANDOM)
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Numbers,
    output_size: Numbers | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """As `fractional_max_pool2d`, for volumes [N, C, T, H, W] or [C, T, H, W].

    Example:
        >>> import raxis
        >>> raxis.nn.functional.fractional_max_pool3d(raxis.ones(1, 1, 4, 4, 4), 3, output_size=2).shape
        raxis.Size([1, 1, 2, 2, 2])
    """
    return _pooled(3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def _pooled(
    rank: int,
    input: Tensor,
    kernel: Numbers,
    size: Any,
    ratio: Any,
    with_places: bool,
    samples: Tensor | None,
) -> Any:
    name = f"fractional_max_pool{rank}d"
    check_input(name, input, rank)
    batched = input if input.ndim == rank + 2 else input.unsqueeze(0)
    widths = per_dimension(kernel, rank)
    counts = _counts(name, tuple(batched.shape[2:]), size, ratio)
    for length, width, count in zip(batched.shape[2:], widths, counts, strict=True):
        if count + width - 1 > length:
            raise RuntimeError(
                f"{name}(): {count} windows of size {width} are too large for an input of size {length}"
            )
    if samples is None:
        samples = rand(*batched.shape[:2], rank, dtype=batched.dtype, device=batched.device)
    found, places = _greatest(batched, widths, counts, samples)
    if input.ndim == rank + 1:
        found, places = found.squeeze(0), places.squeeze(0)
    return (found, places) if with_places else found


def _counts(name: str, sizes: Sizes, output_size: Any, ratio: Any) -> Sizes:
    if (output_size is None) == (ratio is None):
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return per_dimension(output_size, len(sizes))
    ratios = (ratio,) * len(sizes) if isinstance(ratio, float) else tuple(ratio)
    if not all(0 < item < 1 for item in ratios):
        raise ValueError(f"output_ratio must be between 0 and 1 (got {ratio})")
    return tuple(int(size * item) for size, item in zip(sizes, ratios, strict=True))


def _greatest(input: Tensor, widths: Sizes, counts: Sizes, samples: Tensor) -> tuple[Any, Any]:
    """The elements and their places; windows are gathered from the flattened input."""
    rank, sizes = len(widths), input.shape[2:]
    places: Any = 0
    for axis, (size, width, count) in enumerate(zip(sizes, widths, counts, strict=True)):
        # The last dimension follows the first sample in images, and the other way round in volumes.
        sample = samples[..., rank - 1 - axis if rank == 2 else axis]
        inside = arange(width, dtype=int64, device=input.device)
        along = _starts(sample, size, width, count)[..., None] + inside
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = count, width
        places = places * size + along.reshape([*along.shape[:2], *shape])
    lead = list(places.shape[: rank + 2])
    flat = places.flatten(2)
    windows = input.flatten(2).gather(2, flat).reshape([*lead, prod(widths)])
    chosen = windows.argmax(-1, True)
    picked = places.reshape([*lead, prod(widths)]).gather(-1, chosen).squeeze(-1)
    return windows.gather(-1, chosen).squeeze(-1), picked


def _starts(sample: Tensor, size: int, width: int, count: int) -> Any:
    """Where windows begin, [N, C, count]; the last ends at the edge."""
    last = sample.new_full((*sample.shape, 1), size - width, dtype=int64)
    if count == 1:
        return last
    step = (size - width) / (count - 1)
    numbers = arange(count - 1, dtype=sample.dtype, device=sample.device)
    starts = ((numbers + sample[..., None]) * step).to(int64) - (sample[..., None] * step).to(int64)
    return cat([starts, last], -1)
