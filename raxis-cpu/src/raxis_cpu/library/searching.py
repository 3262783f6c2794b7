"""Binary search, and positions of what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import int64
from raxis.ptir.program import Program
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.routine import Call
from raxis_cpu.library.searching_ir import positions, searching

_COST_OF_STEP = 3


def searchsorted(call: Call) -> Executable | None:
    """Places in sorted rows; the result is dense."""
    boundaries, values = (operand.type for operand in call.instruction.operands)
    outer = [flat_stride(values.shape[:-1], strides[:-1]) for strides in call.operands]
    if None in outer or not call.is_dense():
        return None
    length, count = boundaries.shape[-1], values.shape[-1]
    numbers = {"length": length, "count": count}
    for name, stride, strides in zip(("boundaries", "values"), outer, call.operands, strict=True):
        numbers |= {f"{name}_outer": stride or 0, f"{name}_along": strides[-1]}
    module = searching(values.dtype, call.instruction.attributes["right"])
    phase = Phase("search", values.size, values.size * length.bit_length() * _COST_OF_STEP)
    return module.bind([values.dtype, values.dtype, int64], [phase], numbers)


def _two_runs(shape: Sequence[int], strides: Strides) -> tuple[int, int, int, int] | None:
    """Sizes and strides of an array seen as [outer, inner]; None if it takes more dimensions."""
    for split in range(len(shape) + 1):
        outer, inner = (flat_stride(shape[part], strides[part]) for part in (slice(split), slice(split, None)))
        if outer is not None and inner is not None:
            return prod(shape[:split]), outer, prod(shape[split:]), inner
    return None


def nonzero_positions(
    program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]
) -> Executable | None:
    """Positions packed at the front of the first result, their number in the second."""
    operand = program.parameters[0].type
    runs = _two_runs(operand.shape, inputs[0]) if inputs[0] is not None else None
    if runs is None:
        return None
    numbers = dict(zip(("outer", "outer_stride", "inner", "inner_stride"), runs, strict=True))
    phase = Phase("pack", 1, operand.size)
    return positions(operand.dtype).bind([operand.dtype, int64, int64], [phase], numbers)


SEARCHES: dict[str, KernelFactory] = {"_nonzero_positions": nonzero_positions}
"""Kernels of whole ops."""
