"""Which input elements a resampled element is made of, and with which weights (one dimension at a time)."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

Taps = tuple[Any, Any]
"""Indices and weights as NumPy arrays [results, taps]."""


def area_bins(size: int, count: int) -> list[tuple[int, int]]:
    """Start and stop of `count` bins that cover `size` elements."""
    return [(place * size // count, -(-(place + 1) * size // count)) for place in range(count)]


def taps(mode: str, size: int, count: int, align_corners: bool, scale: float, dtype: Any) -> Taps:
    """Taps of `count` results from `size` elements.

    Args:
        mode: "nearest", "nearest-exact", "linear", "cubic", "area", "antialias-linear" or "antialias-cubic".
        size: number of input elements.
        count: number of results.
        align_corners: whether the outer elements' centres stay in place.
        scale: results per input element, 0: ``count / size``.
        dtype: NumPy dtype to compute positions in.
    """
    if mode == "area":
        return _area(size, count, dtype)
    step = _step(size, count, align_corners, scale, dtype)
    places = np.arange(count).astype(dtype)
    if mode.startswith("nearest"):
        return _nearest(size, places, step, 0.5 if mode == "nearest-exact" else 0.0)
    if mode.startswith("antialias"):
        return _antialiased(size, places, step, 1.0 if mode.endswith("linear") else 2.0)
    return (
        _linear(size, places, step, align_corners)
        if mode == "linear"
        else _cubic(size, places, step, align_corners)
    )


def _step(size: int, count: int, align_corners: bool, scale: float, dtype: Any) -> Any:
    """Input elements per result."""
    if align_corners:
        return dtype.type((size - 1) / (count - 1) if count > 1 else 0)
    return dtype.type(1 / scale if scale > 0 else size / count)


def _area(size: int, count: int, dtype: Any) -> Taps:
    bins = area_bins(size, count)
    longest = max((stop - start for start, stop in bins), default=1)
    offsets = np.arange(longest)
    starts = np.array([start for start, _ in bins], dtype=np.int64).reshape(-1, 1)
    lengths = np.array([stop - start for start, stop in bins], dtype=np.int64).reshape(-1, 1)
    inside = offsets < lengths
    return np.where(inside, starts + offsets, starts), np.where(inside, 1 / np.maximum(lengths, 1), 0).astype(
        dtype
    )


def _nearest(size: int, places: Any, step: Any, shift: float) -> Taps:
    indices = np.minimum(np.floor((places + places.dtype.type(shift)) * step).astype(np.int64), size - 1)[
        :, None
    ]
    return indices, np.ones_like(indices)


def _centres(places: Any, step: Any, align_corners: bool) -> Any:
    return (
        places * step if align_corners else (places + places.dtype.type(0.5)) * step - places.dtype.type(0.5)
    )


def _linear(size: int, places: Any, step: Any, align_corners: bool) -> Taps:
    centres = np.maximum(_centres(places, step, align_corners), 0)
    first = np.minimum(centres.astype(np.int64), size - 1)
    share = np.clip(centres - first.astype(centres.dtype), 0, 1)
    return np.stack([first, np.minimum(first + 1, size - 1)], 1), np.stack([1 - share, share], 1)


def _cubic(size: int, places: Any, step: Any, align_corners: bool) -> Taps:
    centres = _centres(places, step, align_corners)
    first = np.floor(centres)
    offsets = np.arange(-1, 3)
    indices = np.clip(first.astype(np.int64)[:, None] + offsets, 0, size - 1)
    return indices, cubic_kernel((centres - first)[:, None] - offsets.astype(centres.dtype), -0.75)


def cubic_kernel(distance: Any, slope: float) -> Any:
    """Keys' cubic convolution kernel (IEEE ASSP 29, 1981), with derivative `slope` at distance 1."""
    x = np.abs(distance)
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * slope - 4 * slope
    return np.where(x <= 1, near, np.where(x < 2, far, 0)).astype(distance.dtype)


def _antialiased(size: int, places: Any, step: Any, radius: float) -> Taps:
    stretch = max(float(step), 1.0)
    support = radius * stretch
    centres = (places + 0.5) * step
    start = np.maximum((centres - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((centres + support + 0.5).astype(np.int64), size)
    offsets = np.arange(2 * ceil(support) + 1)
    indices = start[:, None] + offsets
    distance = (indices - centres[:, None] + 0.5) / stretch
    values = np.maximum(1 - np.abs(distance), 0) if radius == 1 else cubic_kernel(distance, -0.5)
    weights = np.where(indices < stop[:, None], values, 0)
    return np.minimum(indices, size - 1), (weights / weights.sum(1, keepdims=True)).astype(places.dtype)
