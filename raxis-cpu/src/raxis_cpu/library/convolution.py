"""Convolution and the gradient of its kernels: which algorithm, and on which arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

import numpy as np

from raxis import dtypes
from raxis.backends.api import Executable
from raxis.dtypes import HALF, DType
from raxis_cpu.library import winograd
from raxis_cpu.library.pointwise import pointwise
from raxis_cpu.library.routine import Array, Call, Routine
from raxis_cpu.library.sliding import Convolution, WeightGradient
from raxis_cpu.library.sliding_ir import ELEMENTS
from raxis_cpu.library.sliding_planes import Sizes, Triple

_RANK = 3
"""Spatial dims of every convolution here; those that are missing have size 1."""


def _padded(values: Sequence[int], missing: int) -> Triple:
    """One number per spatial dim."""
    return (missing,) * (_RANK - len(values)) + tuple(values)


def sizes_of(
    image: tuple[int, ...], result: tuple[int, ...], kernel: Sequence[int], groups: int, stride: Sequence[int],
    padding: Sequence[int], dilation: Sequence[int],
) -> Sizes | None:  # fmt: skip
    """Sizes of a convolution from [N, C, ...] to [N, O, ...]; None if it has other numbers of dims, or no elements."""
    if not 1 <= len(kernel) <= _RANK or 0 in (*image, *result, *kernel):
        return None
    given = (image[2:], result[2:], kernel, stride, dilation)
    seen, made, width, step, spread = (_padded(values, 1) for values in given)
    channels, outputs = image[1] // groups, result[1] // groups
    if prod(width) == prod(step) == 1 and not any(padding):
        seen = made = (1, 1, prod(seen))
    return Sizes(image[0], groups, channels, outputs, seen, made, width, step, spread, _padded(padding, 0))


def _solid(array: Array, sizes: Triple) -> Array:
    """[N, C, slices, rows, places]; a view unless dims are joined that do not lie one after another."""
    solid = array[(slice(None), slice(None), *(None,) * (_RANK + 2 - array.ndim))]
    return solid if solid.shape[2:] == sizes else solid.reshape(*solid.shape[:2], *sizes)


def _with_dense_planes(array: Array) -> Array:
    """The array, or a copy, with planes in which elements lie one after another."""
    sizes, itemsize = array.shape[2:], array.itemsize
    expected = tuple(prod(sizes[axis + 1 :]) * itemsize for axis in range(len(sizes)))
    return array if array.strides[2:] == expected else np.ascontiguousarray(array)


def _winograd_sizes(sizes: Sizes, dtype: DType, *, transposed: bool = False) -> winograd.Sizes | None:
    """Sizes for Winograd's algorithm; None where it does not serve."""
    if (
        dtype is not dtypes.float32
        or sizes.kernel != (1, 3, 3)
        or sizes.image[0] != 1
        or sizes.result[0] != 1
    ):
        return None
    if sizes.step != (1, 1, 1) or sizes.spread != (1, 1, 1) or sizes.before[0] != 0 or max(sizes.before) > 2:
        return None
    before = tuple(2 - size if transposed else size for size in sizes.before[1:])
    found = winograd.Sizes(*sizes[:4], sizes.image[1:], sizes.result[1:], before)  # type: ignore[arg-type]
    return found if winograd.is_worthwhile(found) else None


class Forward:
    """A convolution, or the transpose of one, of fixed sizes; see `sliding.Convolution`."""

    def __init__(self, sizes: Sizes, dtype: DType, *, transposed: bool = False) -> None:
        self._sizes, self._dtype, self._transposed = sizes, dtype, transposed
        self._winograd = _winograd_sizes(sizes, dtype, transposed=transposed)

    @cached_property
    def _exact(self) -> Convolution:
        return Convolution(self._sizes, self._dtype, transposed=self._transposed)

    @cached_property
    def _weight(self) -> winograd.Weight:
        sizes = self._sizes
        group = sizes.channels * sizes.outputs * sizes.taps
        if self._transposed:
            return winograd.Weight(group, sizes.taps, sizes.outputs * sizes.taps, turned=True)
        return winograd.Weight(group, sizes.channels * sizes.taps, sizes.taps)

    def __call__(self, x: Array, weight: Array, bias: Array | None, out: Array) -> None:
        """Write the result to an array with any strides."""
        weight = np.ascontiguousarray(weight)
        bias = None if bias is None else np.ascontiguousarray(bias)
        result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        # Winograd's algorithm spreads what is infinite or NaN over tiles.
        if self._winograd is None or not winograd.convolve(
            self._winograd, self._weight, _with_dense_planes(x), weight, bias, result
        ):
            image, made = self._sizes.image, self._sizes.result
            self._exact(_solid(x, image), weight, bias, _solid(result, made))
        if result is not out:
            out[...] = result

    def built_in(self, x: Array, weight: Array, bias: Array | None, out: Array) -> Executable | None:
        """A built-in for operands that lie in memory as these do; None if they are not dense, or there is none."""
        if self._winograd is not None or not all(
            array is None or array.flags.c_contiguous for array in (x, weight, bias, out)
        ):
            return None
        product = pointwise(self._sizes, self._dtype, transposed=self._transposed, has_bias=bias is not None)
        if product is not None:
            return product
        solid = _solid(x, self._sizes.image), _solid(out, self._sizes.result)
        return self._exact.built_in(*solid, has_bias=bias is not None)


class Gradient:
    """The gradient of a convolution's kernels, of fixed sizes."""

    def __init__(self, sizes: Sizes, dtype: DType) -> None:
        self._sizes = sizes
        self._winograd = _winograd_sizes(sizes, dtype)
        self._dots = None if self._winograd else WeightGradient(sizes, dtype)

    def __call__(self, x: Array, response: Array, out: Array) -> None:
        """Write the result to an array with any strides."""
        result = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
        if not self._is_finite(x, _with_dense_planes(response), result):
            self.repair(x, response, result)
        if result is not out:
            out[...] = result

    def built_in(self, x: Array, response: Array, out: Array) -> Executable | None:
        """A built-in for operands that lie in memory as these do; None if they are not dense, or the work is large.

        What it writes needs `repair` if it is not finite.
        """
        if self._dots is None or not all(array.flags.c_contiguous for array in (x, response, out)):
            return None
        return self._dots.built_in(*self._solid(x, response))

    def repair(self, x: Array, response: Array, out: Array) -> None:
        """Write the gradient, of which no more is infinite or NaN than should be."""
        out[...] = _summed(*self._solid(x, response), self._sizes).reshape(out.shape)

    def _solid(self, x: Array, response: Array) -> tuple[Array, Array]:
        return _solid(x, self._sizes.image), _solid(response, self._sizes.result)

    def _is_finite(self, x: Array, response: Array, result: Array) -> bool:
        """Compute; whether all of it is finite, and then right."""
        sizes = self._sizes
        if self._dots is not None:
            return self._dots(*self._solid(x, response), result)
        assert self._winograd is not None
        own = sizes.channels * sizes.taps
        weight = winograd.Weight(sizes.outputs * own, own, sizes.taps)
        return winograd.weight_gradient(self._winograd, weight, _with_dense_planes(x), response, result)


def _summed(x: Array, response: Array, sizes: Sizes) -> Array:
    """The gradient tap by tap: nothing but what a tap sees of the padded image enters its sum."""
    pads = [
        (before, max(0, step * (count - 1) + spread * (width - 1) + 1 - size - before))
        for before, size, count, width, step, spread in zip(
            sizes.before, sizes.image, sizes.result, sizes.kernel, sizes.step, sizes.spread, strict=True
        )
    ]
    padded = np.pad(x, [(0, 0), (0, 0), *pads])
    given = response.reshape(sizes.images, sizes.groups, sizes.outputs, -1)
    total = np.empty((sizes.groups, sizes.outputs, sizes.channels, *sizes.kernel), x.dtype)
    for tap in np.ndindex(*sizes.kernel):
        window = tuple(
            slice(at * spread, at * spread + step * (count - 1) + 1, step)
            for at, spread, step, count in zip(tap, sizes.spread, sizes.step, sizes.result, strict=True)
        )
        seen = padded[(slice(None), slice(None), *window)].reshape(
            sizes.images, sizes.groups, sizes.channels, -1
        )
        total[(..., *tap)] = np.einsum("ngop,ngcp->goc", given, seen)
    return total


def convolution(call: Call) -> Routine | None:
    """The routine of the primitive, in float32 for halves; None for other dtypes and more dims."""
    image, weight = (value.type for value in call.instruction.operands)
    result = call.instruction.results[0].type
    dtype = dtypes.float32 if image.dtype in HALF else image.dtype
    values = call.instruction.attributes
    before = [low for low, _ in values["padding"]]
    options = (values["groups"], values["stride"], before, values["dilation"])
    sizes = sizes_of(image.shape, result.shape, weight.shape[2:], *options)
    if dtype not in ELEMENTS or sizes is None:
        return None
    run = Forward(sizes, dtype)

    def routine(x: Array, filters: Array, out: Array) -> None:
        target = out if image.dtype is dtype else np.empty(out.shape, dtype.numpy)
        run(x.astype(dtype.numpy, copy=False), filters.astype(dtype.numpy, copy=False), None, target)
        if target is not out:
            out[...] = target

    return routine
