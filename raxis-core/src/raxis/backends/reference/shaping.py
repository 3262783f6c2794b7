"""Primitives that create, move and repeat elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.backends.reference.casting import Kernel, cast
from raxis.ptir.program import Instruction

VIEWS = frozenset({"broadcast", "reshape", "transpose", "slice", "reverse", "unfold"})
"""Primitives whose kernels only rearrange strides (reshape: of contiguous operands)."""


def _broadcast(instruction: Instruction) -> Kernel:
    shape, dims = instruction.attributes["shape"], instruction.attributes["dims"]
    aligned = [1] * len(shape)
    for size, dim in zip(instruction.operands[0].type.shape, dims, strict=True):
        aligned[dim] = size
    return lambda x: np.broadcast_to(np.reshape(x, aligned), shape)


def _reshape(instruction: Instruction) -> Kernel:
    shape = instruction.attributes["shape"]
    return lambda x: x.reshape(shape)


def _transpose(instruction: Instruction) -> Kernel:
    permutation = instruction.attributes["permutation"]
    return lambda x: x.transpose(permutation)


def _slice(instruction: Instruction) -> Kernel:
    bounds = (instruction.attributes[name] for name in ("start", "stop", "step"))
    # The ellipsis makes a view of rank-0 arrays too.
    index = (*(slice(*bound) for bound in zip(*bounds, strict=True)), ...)
    return lambda x: x[index]


def _reverse(instruction: Instruction) -> Kernel:
    dims, rank = instruction.attributes["dims"], instruction.results[0].type.rank
    index = (*(slice(None, None, -1 if dim in dims else 1) for dim in range(rank)), ...)
    return lambda x: x[index]


def _unfold(instruction: Instruction) -> Kernel:
    dim, size, step, dilation = (instruction.attributes[name] for name in ("dim", "size", "step", "dilation"))
    count = instruction.results[0].type.shape[dim]
    return lambda x: windows(x, [dim], [count], [size], [step], [dilation])


def windows(
    x: Any, dims: Sequence[int], counts: Sequence[int], sizes: Sequence[int], steps: Sequence[int],
    dilations: Sequence[int],
) -> Any:  # fmt: skip
    """A view of the windows along `dims`: their counts in place of the dims, their sizes appended."""
    shape, strides = list(x.shape), list(x.strides)
    for dim, count, step in zip(dims, counts, steps, strict=True):
        shape[dim] = count
        strides[dim] *= step
    strides += [x.strides[dim] * dilation for dim, dilation in zip(dims, dilations, strict=True)]
    return np.lib.stride_tricks.as_strided(x, [*shape, *sizes], strides)


def _concatenate(instruction: Instruction) -> Kernel:
    dim = instruction.attributes["dim"]
    return lambda *operands: np.concatenate(operands, axis=dim)


def _pad(instruction: Instruction) -> Kernel:
    result = instruction.results[0].type
    paddings = (instruction.attributes[name] for name in ("low", "interior"))
    places = [
        _padded_place(size, total, low, interior + 1)
        for size, total, low, interior in zip(
            instruction.operands[0].type.shape, result.shape, *paddings, strict=True
        )
    ]
    source = tuple(place[0] for place in places)
    target = tuple(place[1] for place in places)

    def kernel(x: Any, fill: Any) -> Any:
        padded = np.full(result.shape, fill, result.dtype.numpy)
        padded[target] = x[source]
        return padded

    return kernel


def _padded_place(size: int, total: int, low: int, spacing: int) -> tuple[slice, slice]:
    """Which elements of a dim survive padding, and where they go: element i to low + i * spacing."""
    first = max(0, -(low // spacing)) if low < 0 else 0
    last = min(size, -(-(total - low) // spacing))
    if last <= first:
        return slice(0, 0), slice(0, 0)
    return slice(first, last), slice(low + first * spacing, low + (last - 1) * spacing + 1, spacing)


def _iota(instruction: Instruction) -> Kernel:
    result, dim = instruction.results[0].type, instruction.attributes["dim"]
    aligned = [1] * result.rank
    aligned[dim] = result.shape[dim]
    convert = cast(dtypes.int64, result.dtype)

    def kernel() -> Any:
        index = convert(np.arange(result.shape[dim], dtype=np.int64))
        return np.broadcast_to(index.reshape(aligned), result.shape)

    return kernel


def _constant(instruction: Instruction) -> Kernel:
    value, (result,) = instruction.attributes["value"], instruction.results
    values = constant_array(value, result.type.dtype.numpy)
    full = (
        np.broadcast_to(values, result.type.shape) if values.ndim == 0 else values.reshape(result.type.shape)
    )
    return lambda: full


def constant_array(value: Any, dtype: np.dtype[Any]) -> Any:
    """Program constants as a read-only array; floats beyond the dtype's range become infinite."""
    with np.errstate(over="ignore"):
        array = np.asarray(value, dtype)
    array.flags.writeable = False
    return array


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "slice": _slice,
    "reverse": _reverse,
    "unfold": _unfold,
    "concatenate": _concatenate,
    "pad": _pad,
    "iota": _iota,
    "constant": _constant,
}
