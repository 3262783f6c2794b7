"""Matrix multiplication and convolution, by np.matmul (BLAS for float32 and float64)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from raxis.backends.reference.casting import Kernel, widened
from raxis.backends.reference.shaping import windows
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction
from raxis.ptir.types import TensorType


def _dot_general(instruction: Instruction) -> Kernel:
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batch, contract = attributes["lhs_batch"], attributes["lhs_contract"]
    free = free_dims(lhs.rank, batch, contract)
    left = _arrangement(lhs, batch, free, contract)
    batch, contract = attributes["rhs_batch"], attributes["rhs_contract"]
    free = free_dims(rhs.rank, batch, contract)
    right = _arrangement(rhs, batch, contract, free)
    shape = instruction.results[0].type.shape
    return widened(instruction, lambda x, y: matmul(left(x), right(y)).reshape(shape))


def _arrangement(
    type: TensorType, batch: tuple[int, ...], rows: tuple[int, ...], columns: tuple[int, ...]
) -> Kernel:
    """Brings an operand to the shape [batch..., rows, columns]; a view where it can be."""
    permutation = (*batch, *rows, *columns)
    sizes = [[type.shape[dim] for dim in dims] for dims in (batch, rows, columns)]
    shape = (*sizes[0], prod(sizes[1]), prod(sizes[2]))
    if permutation == tuple(range(type.rank)):
        return (lambda x: x) if shape == type.shape else (lambda x: x.reshape(shape))
    if len(rows) == len(columns) == 1:
        return lambda x: x.transpose(permutation)
    return lambda x: x.transpose(permutation).reshape(shape)


def matmul(x: Any, y: Any) -> Any:
    """np.matmul on operands that BLAS can read."""
    return np.matmul(_for_blas(x), _for_blas(y))


def _for_blas(x: Any) -> Any:
    """A copy if neither rows nor columns are contiguous: NumPy would fall back to a plain loop."""
    return x if x.dtype.itemsize in x.strides[-2:] else np.ascontiguousarray(x)


def _convolution(instruction: Instruction) -> Kernel:
    image, weight = (value.type for value in instruction.operands)
    attributes, result = instruction.attributes, instruction.results[0].type
    groups, spatial, kernel_sizes = attributes["groups"], result.shape[2:], weight.shape[2:]
    rank = len(spatial)
    dims = range(2, 2 + rank)
    # Windows have dims [N, C, places..., kernel...]; matrices want [N, C, kernel..., places...].
    order = (0, 1, *range(2 + rank, 2 + 2 * rank), *dims)
    depth = prod(weight.shape[1:])
    columns_shape = (image.shape[0], groups, depth, prod(spatial))
    filters_shape = (groups, weight.shape[0] // groups, depth)

    def kernel(x: Any, filters: Any) -> Any:
        padded = _zero_padded(x, attributes["padding"])
        view = windows(padded, dims, spatial, kernel_sizes, attributes["stride"], attributes["dilation"])
        columns = view.transpose(order).reshape(columns_shape)
        return matmul(filters.reshape(filters_shape), columns).reshape(result.shape)

    return widened(instruction, kernel)


def _zero_padded(x: Any, padding: tuple[tuple[int, int], ...]) -> Any:
    if not any(map(any, padding)):
        return x
    sizes = [low + size + high for size, (low, high) in zip(x.shape[2:], padding, strict=True)]
    padded = np.zeros((*x.shape[:2], *sizes), x.dtype)
    inner = [slice(low, low + size) for size, (low, _) in zip(x.shape[2:], padding, strict=True)]
    padded[(slice(None), slice(None), *inner)] = x
    return padded


KERNELS: Mapping[str, Callable[[Instruction], Kernel]] = {
    "dot_general": _dot_general,
    "convolution": _convolution,
}
