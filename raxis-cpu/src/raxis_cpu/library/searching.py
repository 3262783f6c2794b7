"""Binary search, and positions of what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import bool_, int64
from raxis.layout import broadcast_shapes
from raxis.ptir.program import Program
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.routine import Call
from raxis_cpu.library.searching_ir import compressing, nest_numbers, positions, searching

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


def _nest(shape: Sequence[int], arrays: Sequence[Strides]) -> tuple[tuple[int, ...], list[Strides]]:
    """Shape and strides with neighbouring dimensions merged where all arrays run through them as one."""
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []
    for size, own in zip(shape, zip(*arrays, strict=True), strict=True):
        if sizes and all(before == step * size for before, step in zip(steps[-1], own, strict=True)):
            sizes[-1], steps[-1] = sizes[-1] * size, own
        else:
            sizes.append(size)
            steps.append(own)
    return tuple(sizes), [tuple(step[number] for step in steps) for number in range(len(arrays))]


def _numbers(sizes: Sequence[int], arrays: Sequence[Strides]) -> dict[str, int]:
    values = [*sizes, *(stride for strides in arrays for stride in strides)]
    return dict(zip(nest_numbers(len(sizes), len(arrays)), values, strict=True))


def nonzero_positions(
    program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]
) -> Executable | None:
    """Positions packed at the front of the first result, their number in the second."""
    operand, strides = program.parameters[0].type, inputs[0]
    if strides is None:
        return None
    sizes, merged = _nest(operand.shape, [strides])
    module = positions(operand.dtype, len(sizes), as_rows=False)
    phase = Phase("pack", 1, operand.size)
    return module.bind([operand.dtype, int64, int64], [phase], _numbers(sizes, merged))


def nonzero_rows(
    program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]
) -> Executable | None:
    """Indices packed at the front of the first result, their number in the second."""
    operand, strides = program.parameters[0].type, inputs[0]
    if strides is None:
        return None
    module = positions(operand.dtype, operand.rank, as_rows=True)
    phase = Phase("pack", 1, operand.size)
    return module.bind([operand.dtype, int64, int64], [phase], _numbers(operand.shape, [strides]))


def compressed(program: Program, inputs: Sequence[Strides | None], _: Sequence[Strides]) -> Executable | None:
    """Elements where a mask is true packed at the front of the first result, their number in the second."""
    operands = [parameter.type for parameter in program.parameters]
    shape = broadcast_shapes(*(operand.shape for operand in operands))
    spread = [
        _spread(operand.shape, strides, len(shape))
        for operand, strides in zip(operands, inputs, strict=True)
        if strides is not None
    ]
    sizes, merged = _nest(shape, spread)
    dtype = operands[0].dtype
    phase = Phase("pack", 1, prod(shape))
    arrays = [dtype, bool_, dtype, int64]
    return compressing(dtype, len(sizes)).bind(arrays, [phase], _numbers(sizes, merged))


def _spread(shape: Sequence[int], strides: Strides, rank: int) -> Strides:
    """Strides of an array broadcast to more dimensions."""
    own = (0 if size == 1 else stride for size, stride in zip(shape, strides, strict=True))
    return (*[0] * (rank - len(shape)), *own)


SEARCHES: dict[str, KernelFactory] = {
    "_nonzero_positions": nonzero_positions,
    "_nonzero_rows": nonzero_rows,
    "_compressed": compressed,
}
"""Kernels of whole ops."""
