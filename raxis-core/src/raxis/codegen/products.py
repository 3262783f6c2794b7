"""Products of matrices in tiles that a work-group loads into shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod
from typing import NamedTuple

from raxis import dtypes
from raxis.codegen.expressions import loaded, register_type, stored
from raxis.codegen.launching import Part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded
from raxis.dtypes import HALF

_EACH = 4
"""A work-item computes so many rows and columns."""
SMALLEST = 16
"""Rows and columns from which on tiles pay."""


class Run(NamedTuple):
    """Dims that both operands and the result pass through as one: size and strides."""

    size: int
    strides: tuple[int, ...]


def product(call: Call) -> Part | None:
    """A product of matrices or of stacks of them; None for others, and where there is no shared memory."""
    dialect, dtype = call.backend.dialect, call.buffers[2].dtype
    if not dialect.shared or not (dtype in HALF or dtype in (dtypes.float32, dtypes.float64)):
        return None
    batch, rows, columns, inner = _dims(call)
    m, n, k = (_merged(part) for part in (rows, columns, inner))
    if m is None or n is None or k is None or min(m.size, n.size) < SMALLEST or not k.size:
        return None
    if 0 in [item.size for item in batch]:
        return None
    side = isqrt(dialect.group_size)
    tile = side * _EACH
    numbers = Numbers(dialect)
    tiles = [*(item.size for item in batch), -(-m.size // tile), -(-n.size // tile)]
    lines, places = decoded(numbers, "point", tiles)
    starts = [
        numbers.position(places[:-2], [item.strides[slot] for item in batch], slot) for slot in range(3)
    ]
    type = register_type(dtype)
    sizes = [numbers.value(item.size) for item in (m, n, k)]
    body = [
        f"{dialect.shared} {type} left[{tile * side}];",
        f"{dialect.shared} {type} right[{tile * side}];",
        *lines,
        f"const i64 m = {sizes[0]}, n_ = {sizes[1]}, k = {sizes[2]};",
        f"const i64 m0 = {places[-2]} * {tile}, n0 = {places[-1]} * {tile};",
        *(f"const i64 start{slot} = {start};" for slot, start in enumerate(starts)),
        f"const u32 row = lane / {side}, column = lane % {side};",
        f"{type} total[{_EACH}][{_EACH}];",
        f"for (u32 i = 0; i < {_EACH}; ++i) for (u32 j = 0; j < {_EACH}; ++j) total[i][j] = 0;",
        f"for (i64 k0 = 0; k0 < k; k0 += {side}) {{",
        f"    for (u32 at = lane; at < {tile * side}; at += {dialect.group_size}) {{",
        f"        const i64 i = m0 + at / {side}, j = n0 + at % {tile};",
        f"        const i64 ki = k0 + at % {side}, kj = k0 + at / {tile};",
        f"        left[at] = i < m && ki < k ? {_element(call, numbers, 0, 'i', m, 'ki', k)} : 0;",
        f"        right[at] = j < n_ && kj < k ? {_element(call, numbers, 1, 'kj', k, 'j', n)} : 0;",
        "    }",
        f"    {dialect.barrier}",
        f"    for (u32 q = 0; q < {side}; ++q)",
        f"        for (u32 i = 0; i < {_EACH}; ++i)",
        f"            for (u32 j = 0; j < {_EACH}; ++j)",
        f"                total[i][j] += left[(row + {side} * i) * {side} + q] * right[q * {tile} + column + {side} * j];",
        f"    {dialect.barrier}",
        "}",
        f"for (u32 i = 0; i < {_EACH}; ++i) for (u32 j = 0; j < {_EACH}; ++j) {{",
        f"    const i64 r = m0 + row + {side} * i, c = n0 + column + {side} * j;",
        f"    if (r < m && c < n_) b2[{_place(numbers, 2, 'r', m, 'c', n)}] = {stored(dtype, 'total[i][j]')};",
        "}",
    ]
    return call.launch("product", numbers, dialect.groups(body), prod(tiles), grouped=True)


def _element(call: Call, numbers: Numbers, slot: int, one: str, first: Run, two: str, second: Run) -> str:
    return loaded(call.buffers[slot].dtype, f"b{slot}[{_place(numbers, slot, one, first, two, second)}]")


def _place(numbers: Numbers, slot: int, one: str, first: Run, two: str, second: Run) -> str:
    strides = [first.strides[slot], second.strides[slot]]
    rest = numbers.position([one, two], strides, None)
    return f"start{slot} + {rest}"


def _dims(call: Call) -> tuple[list[Run], list[Run], list[Run], list[Run]]:
    """The batch dims, the rows, the columns and the contracted dims, with strides of lhs, rhs and result."""
    given, (lhs, rhs, result) = call.instruction.attributes, call.buffers
    batch = list(zip(given["lhs_batch"], given["rhs_batch"], strict=True))
    left = [dim for dim in range(len(lhs.shape)) if dim not in given["lhs_batch"] + given["lhs_contract"]]
    right = [dim for dim in range(len(rhs.shape)) if dim not in given["rhs_batch"] + given["rhs_contract"]]
    strides = iter(result.strides)
    batches = [Run(lhs.shape[one], (lhs.strides[one], rhs.strides[two], next(strides))) for one, two in batch]
    rows = [Run(lhs.shape[dim], (lhs.strides[dim], 0, next(strides))) for dim in left]
    columns = [Run(rhs.shape[dim], (0, rhs.strides[dim], next(strides))) for dim in right]
    pairs = zip(given["lhs_contract"], given["rhs_contract"], strict=True)
    inner = [Run(lhs.shape[one], (lhs.strides[one], rhs.strides[two], 0)) for one, two in pairs]
    return batches, rows, columns, inner


def _merged(dims: Sequence[Run]) -> Run | None:
    """Dims as one, if all pass through them so."""
    merged = Run(1, (0, 0, 0))
    for item in reversed([item for item in dims if item.size != 1]):
        if merged.size == 1:
            merged = item
        elif item.strides == tuple(merged.size * stride for stride in merged.strides):
            merged = Run(item.size * merged.size, merged.strides)
        else:
            return None
    return merged
