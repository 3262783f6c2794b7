"""Binary search, counts, and positions of what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import bool_, int64
from raxis.layout import broadcast_shapes
from raxis.ptir.program import Program
from raxis_cpu.library.counting_ir import WAYS, counting
from raxis_cpu.library.nest_ir import merged, spread, values_of
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.reading import read_indexed
from raxis_cpu.library.routine import Call
from raxis_cpu.library.searching_ir import compressing, positions, searching

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


def nonzero_positions(
    program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]
) -> Executable | None:
    """Positions packed at the front of the first result, their number in the second."""
    operand, strides = program.parameters[0].type, inputs[0]
    if strides is None:
        return None
    sizes, steps = merged(operand.shape, [strides])
    module = positions(operand.dtype, len(sizes), as_rows=False)
    phase = Phase("pack", 1, operand.size)
    return module.bind([operand.dtype, int64, int64], [phase], values_of(sizes, steps))


def nonzero_rows(
    program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]
) -> Executable | None:
    """Indices packed at the front of the first result, their number in the second."""
    operand, strides = program.parameters[0].type, inputs[0]
    if strides is None:
        return None
    module = positions(operand.dtype, operand.rank, as_rows=True)
    phase = Phase("pack", 1, operand.size)
    return module.bind([operand.dtype, int64, int64], [phase], values_of(operand.shape, [strides]))


def compressed(program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]) -> Executable | None:
    """Elements where a mask is true packed at the front of the first result, their number in the second."""
    operands = [parameter.type for parameter in program.parameters]
    shape = broadcast_shapes(*(operand.shape for operand in operands))
    arrays = [
        spread(operand.shape, strides, len(shape))
        for operand, strides in zip(operands, inputs, strict=True)
        if strides is not None
    ]
    sizes, steps = merged(shape, arrays)
    dtype = operands[0].dtype
    phase = Phase("pack", 1, prod(shape))
    kinds = [dtype, bool_, dtype, int64]
    return compressing(dtype, len(sizes)).bind(kinds, [phase], values_of(sizes, steps))


def bincount(program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]) -> Executable | None:
    """How often each of the integers from 0 on occurs in a 1-D tensor; None with weights."""
    operand, strides = program.parameters[0].type, inputs[0]
    if len(program.parameters) > 1 or strides is None:
        return None
    size = program.results[0].type.size
    phases = [Phase("count", 1, operand.size * 2), Phase("add", 1, size * WAYS)]
    numbers = {"length": operand.size, "stride": strides[0], "size": size}
    return counting(operand.dtype).bind([operand.dtype, int64], phases, numbers, scratch=8 * WAYS * size)


SEARCHES: dict[str, KernelFactory] = {
    "_nonzero_positions": nonzero_positions,
    "_nonzero_rows": nonzero_rows,
    "_compressed": compressed,
    "_bincount": bincount,
    "_read_indexed": read_indexed,
}
"""Kernels of whole ops."""
