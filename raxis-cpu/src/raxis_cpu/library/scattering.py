"""Writes at computed positions, combined with what is there, in order."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.backends.api import Executable, Strides
from raxis.dtypes import int64
from raxis.layout import contiguous_strides
from raxis_cpu.library.phases import Lines, Phase, flat_stride, lines_of
from raxis_cpu.library.routine import Call
from raxis_cpu.library.scattering_ir import Cells, scattering

_COST = 4
_BLOCKS = 4
"""Into how many blocks the inner elements are split where there are not enough slices for the threads."""


def put(call: Call) -> Executable | None:
    """Slices along a dim set to, or combined with, slices of the updates."""
    dim = call.instruction.attributes["dim"]
    updates = call.instruction.operands[2].type
    # The index is the same for all elements of a slice.
    index = tuple(call.operands[1][0] if axis == dim else 0 for axis in range(updates.rank))
    return _scattered(call, updates.shape, index)


def scatter(call: Call) -> Executable | None:
    """Elements at positions along a dim set to, or combined with, the updates."""
    return _scattered(call, call.instruction.operands[1].type.shape, call.operands[1])


def _scattered(call: Call, shape: Sequence[int], index: Strides) -> Executable | None:
    """The built-in for an index of a shape and strides; None for arrays that are not evenly spaced."""
    item = call.instruction
    operand, dim = item.operands[0].type, item.attributes["dim"]
    cells = Cells(operand.dtype, item.attributes["reduce"])
    out = contiguous_strides(operand.shape) if cells.is_wide else call.results[0]
    lines = [lines_of(shape, strides, dim) for strides in (index, call.operands[2], out)]
    checked = _distinct(shape, index)
    if not cells.is_served or checked is None or not _copies(call, dense=cells.is_wide) or None in lines:
        return None
    numbers = {"dim": dim, "size": operand.shape[dim], "count": shape[dim], "inner": prod(shape[dim + 1 :])}
    numbers["check_stride"] = checked[1]
    found = [line for line in lines if line is not None]
    if numbers["inner"] == 1:
        # The loop along the dimension becomes the innermost one.
        numbers |= {"count": 1, "inner": shape[dim]}
        found = [Lines(line.outer, 0, line.along) for line in found[:2]] + [
            Lines(found[2].outer, found[2].along, 0)
        ]
    for name, line in zip(("index", "updates", "out"), found, strict=True):
        numbers |= {f"{name}_{part}": stride for part, stride in line._asdict().items()}
    outer = prod(shape[:dim])
    numbers["block"] = _block(outer, numbers["inner"]) if prod(shape[dim + 1 :]) > 1 else max(shape[dim], 1)
    numbers["nbytes"] = max(operand.size * operand.dtype.itemsize, 1)
    phases = [Phase("check", checked[0], checked[0])]
    if not cells.is_wide:
        phases.append(Phase("separate", 1, 0))
    phases.append(Phase("copy", operand.size, operand.size))
    if prod(shape):
        units = outer * -(-numbers["inner"] // numbers["block"])
        phases.append(Phase(_way(numbers["inner"], *found), units, prod(shape) * _COST))
    if cells.is_wide:
        phases.append(Phase("narrow", operand.size, operand.size * _COST))
    dtypes = [operand.dtype, int64, operand.dtype, operand.dtype]
    return scattering(operand.dtype, item.attributes["reduce"]).bind(
        dtypes, phases, numbers, scratch=operand.size * 4 if cells.is_wide else 0
    )


def _way(inner: int, index: Lines, updates: Lines, out: Lines) -> str:
    """The phase that combines."""
    whole_rows = index.inner == 0 and updates.inner == out.inner == 1 and inner > 1
    return "rows" if whole_rows else "elements"


def _block(outer: int, inner: int) -> int:
    """Inner elements of one unit."""
    if outer >= _BLOCKS:
        return max(inner, 1)
    return max(-(-inner // _BLOCKS // 16) * 16, 16)


def _distinct(shape: Sequence[int], strides: Strides) -> tuple[int, int] | None:
    """Number and stride of the indices, repeated ones once; None if they are not evenly spaced."""
    kept = [(size, stride) for size, stride in zip(shape, strides, strict=True) if stride or size == 0]
    sizes, steps = [size for size, _ in kept], tuple(stride for _, stride in kept)
    stride = flat_stride(sizes, steps)
    return None if stride is None else (prod(sizes), stride)


def _copies(call: Call, *, dense: bool) -> bool:
    """Whether the operand and the result are blocks of memory with the same order of elements."""
    shape = call.instruction.operands[0].type.shape
    if 0 in shape or not shape:
        return True
    pairs = [
        (size, one, other)
        for size, one, other in zip(shape, call.operands[0], call.results[0], strict=True)
        if size > 1
    ]
    ordered = sorted(pairs, key=lambda pair: pair[1])
    expected = 1
    for size, one, other in ordered:
        if one != expected or other != expected:
            return False
        expected *= size
    return not dense or pairs == sorted(pairs, key=lambda pair: -pair[1])
