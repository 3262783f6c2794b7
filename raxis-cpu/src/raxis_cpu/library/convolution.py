"""Convolution as matrix products over blocks of places (im2col; Chellapilla et al. 2006).

Images are padded into a workspace, one plane after another. With stride 1 the columns of a kernel element are then a
contiguous run of every plane, from an offset on: they are copied at memory speed, at the price of a few places too many
at the ends of rows, which are dropped when the product is written to the result. Blocks are so large that
BLAS runs at full speed, and so small that they stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.dtypes import HALF
from raxis_cpu.library.planes import convolution_of_planes
from raxis_cpu.library.routine import Array, Call, Routine, workspace

_COLUMN_BYTES = 2 << 20
"""Columns of one block: about what a core's own cache holds."""


class _Geometry:
    """Sizes of one convolution."""

    def __init__(self, call: Call) -> None:
        image, weight = (value.type for value in call.instruction.operands)
        attributes = call.instruction.attributes
        self.count, self.channels, *sizes = image.shape
        self.kernel = weight.shape[2:]
        self.groups: int = attributes["groups"]
        self.outputs = weight.shape[0]
        self.stride, self.dilation = attributes["stride"], attributes["dilation"]
        self.padding: tuple[tuple[int, int], ...] = attributes["padding"]
        self.places = call.instruction.results[0].type.shape[2:]
        self.padded = tuple(low + size + high for size, (low, high) in zip(sizes, self.padding, strict=True))
        self.inner = tuple(slice(low, low + size) for size, (low, _) in zip(sizes, self.padding, strict=True))
        dtype = image.dtype
        self.dtype = dtypes.float32.numpy if dtype in HALF else dtype.numpy
        self.taps = list(product(*(range(size) for size in self.kernel)))

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a matrix product of channels at every place."""
        ones = (1,) * len(self.kernel)
        return self.kernel == ones and self.stride == ones and not any(map(any, self.padding))

    @property
    def is_depthwise(self) -> bool:
        """Whether every output channel sees one input channel."""
        return self.channels == self.groups > 1

    def window(self, tap: tuple[int, ...]) -> tuple[slice, ...]:
        """What a kernel element sees of a padded image."""
        return tuple(
            slice(at * spread, at * spread + (count - 1) * step + 1, step)
            for at, spread, count, step in zip(tap, self.dilation, self.places, self.stride, strict=True)
        )


def convolution(call: Call) -> Routine | None:
    """The routine for any number of spatial dims but none, any stride, dilation and groups."""
    geometry = _Geometry(call)
    result = call.instruction.results[0].type
    if not geometry.places:
        return None
    if result.size == 0 or geometry.channels == 0:
        return _zeros
    if geometry.is_pointwise and call.is_dense() and result.dtype not in HALF:
        return _pointwise(geometry)
    native = convolution_of_planes(call)
    if native is not None:
        return native
    if geometry.is_depthwise:
        return _depthwise(geometry)
    unit_stride = geometry.stride == (1,) * len(geometry.stride)
    return (_WideBlocks if unit_stride else _StridedBlocks)(geometry).run


def _zeros(*arrays: Array) -> None:
    arrays[-1].fill(0)


def _pointwise(geometry: _Geometry) -> Routine:
    groups, depth = geometry.groups, geometry.channels // geometry.groups
    image_shape = (geometry.count, groups, depth, -1)
    filter_shape = (groups, geometry.outputs // groups, depth)
    result_shape = (geometry.count, groups, geometry.outputs // groups, prod(geometry.places))

    def routine(x: Array, weight: Array, out: Array) -> None:
        image = np.ascontiguousarray(x).reshape(image_shape)
        filters = np.ascontiguousarray(weight).reshape(filter_shape)
        np.matmul(filters, image, out.reshape(result_shape))

    return routine


def _depthwise(geometry: _Geometry) -> Routine:
    """Sums of shifted images, one image at a time."""
    multiple = geometry.outputs // geometry.channels
    shape = (geometry.channels, multiple, *geometry.places)
    ones = (1,) * len(geometry.places)

    def routine(x: Array, weight: Array, out: Array) -> None:
        padded: Any = _padded_memory(geometry, 1)
        inside = padded[(0, slice(None), *geometry.inner)]
        total, term = (workspace.array(name, shape, geometry.dtype) for name in ("total", "term"))
        by_channel = (geometry.channels, multiple, *geometry.kernel)
        factors: Any = weight.astype(geometry.dtype, copy=False).reshape(by_channel)
        for image, target in zip(x, out, strict=True):
            inside[...] = image
            for number, tap in enumerate(geometry.taps):
                seen = padded[(0, slice(None), None, *geometry.window(tap))]
                factor = factors[(slice(None), slice(None), *tap)].reshape(geometry.channels, multiple, *ones)
                np.multiply(seen, factor, out=term if number else total)
                if number:
                    total += term
            target[...] = total.reshape(target.shape)

    return routine


def _padded_memory(geometry: _Geometry, count: int) -> Array:
    """Workspace for padded images; their borders are 0."""
    padded = workspace.array("padded", (count, geometry.channels, *geometry.padded), geometry.dtype)
    if any(map(any, geometry.padding)):
        padded.fill(0)
    return padded


class _Blocks:
    """Matrix products over blocks of images and, in large ones, of rows: places along the first spatial dim."""

    def __init__(self, geometry: _Geometry) -> None:
        self.geometry = geometry
        self.depth = geometry.channels * len(geometry.taps)
        row = self.depth * self.row_places * geometry.dtype.itemsize
        rows = max(1, _COLUMN_BYTES // row)
        self.rows = min(rows, geometry.places[0])
        self.images = max(1, min(geometry.count, rows // geometry.places[0]))

    @property
    def row_places(self) -> int:
        """Places of a row, superfluous ones included."""
        raise NotImplementedError

    def fill(self, columns: Array, padded: Array, first: int, count: int) -> None:
        """Write the columns [channel, tap, image, place] of `count` rows from `first` on."""
        raise NotImplementedError

    def cropped(self, product: Array, count: int) -> Array:
        """The products [output, image, place] as [image, output, row, ...] of the result."""
        raise NotImplementedError

    def run(self, x: Array, weight: Array, out: Array) -> None:
        """Convolve."""
        geometry = self.geometry
        filters = np.ascontiguousarray(weight, geometry.dtype).reshape(
            geometry.groups, geometry.outputs // geometry.groups, -1
        )
        padded = self._padded_images()
        for start in range(0, geometry.count, self.images):
            stop = min(start + self.images, geometry.count)
            images = padded[: stop - start]
            images[(slice(None), slice(None), *geometry.inner)] = x[start:stop]
            for first, count in self._row_blocks():
                block = self._product(filters, images, first, count)
                out[start:stop, :, first : first + count] = self.cropped(block, count)

    def _padded_images(self) -> Array:
        return _padded_memory(self.geometry, self.images)

    def _row_blocks(self) -> Iterator[tuple[int, int]]:
        total = self.geometry.places[0]
        for first in range(0, total, self.rows):
            yield first, min(self.rows, total - first)

    def _product(self, filters: Array, images: Array, first: int, count: int) -> Array:
        geometry, places = self.geometry, count * self.row_places
        size = len(images) * places
        columns = workspace.array("columns", (self.depth, size), geometry.dtype)
        shape = (geometry.channels, len(geometry.taps), len(images), places)
        self.fill(columns.reshape(shape), images, first, count)
        block = workspace.array("block", (geometry.outputs, size), geometry.dtype)
        np.matmul(
            filters, columns.reshape(geometry.groups, -1, size), out=block.reshape(geometry.groups, -1, size)
        )
        return block.reshape(geometry.outputs, len(images), places)


class _WideBlocks(_Blocks):
    """Stride 1: rows are as long as those of the padded image."""

    @property
    def row_places(self) -> int:
        return prod(self.geometry.padded[1:])

    def _padded_images(self) -> Array:
        # The last columns of the last plane reach beyond it.
        geometry = self.geometry
        shape = (self.images, geometry.channels, *geometry.padded)
        slack = sum(
            (size - 1) * spread for size, spread in zip(geometry.kernel, geometry.dilation, strict=True)
        )
        memory = workspace.array("padded", (prod(shape) + slack * self.row_places,), geometry.dtype)
        memory.fill(0)
        return memory[: prod(shape)].reshape(shape)

    def fill(self, columns: Array, padded: Array, first: int, count: int) -> None:
        geometry = self.geometry
        row = self.row_places
        image, channel, *dims = (stride // padded.itemsize for stride in padded.strides)
        steps = [step * spread for step, spread in zip(dims, geometry.dilation, strict=True)]
        shape = (geometry.channels, len(padded), count * row)
        runs = tuple(stride * padded.itemsize for stride in (channel, image, 1))
        for number, tap in enumerate(geometry.taps):
            start = first * row + sum(at * step for at, step in zip(tap, steps, strict=True))
            # From the first place on, over the ends of rows and, in the last one, of the plane.
            origin = padded.reshape(-1)[start:]
            columns[:, number] = np.lib.stride_tricks.as_strided(origin, shape, runs)

    def cropped(self, product: Array, count: int) -> Array:
        geometry = self.geometry
        shape = (geometry.outputs, -1, count, *geometry.padded[1:])
        inside = tuple(slice(size) for size in geometry.places[1:])
        return product.reshape(shape)[(slice(None), slice(None), slice(None), *inside)].swapaxes(0, 1)


class _StridedBlocks(_Blocks):
    """Any stride: columns are gathered place by place."""

    @property
    def row_places(self) -> int:
        return prod(self.geometry.places[1:])

    def fill(self, columns: Array, padded: Array, first: int, count: int) -> None:
        geometry = self.geometry
        shape = (geometry.channels, -1, len(padded), count, *geometry.places[1:])
        spread = columns.reshape(shape)
        for number, tap in enumerate(geometry.taps):
            seen = padded[(slice(None), slice(None), *geometry.window(tap))]
            spread[:, number] = seen[:, :, first : first + count].swapaxes(0, 1)

    def cropped(self, product: Array, count: int) -> Array:
        geometry = self.geometry
        return product.reshape(geometry.outputs, -1, count, *geometry.places[1:]).swapaxes(0, 1)
