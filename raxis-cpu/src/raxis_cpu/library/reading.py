"""Reads at positions that several index tensors give together."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from raxis.backends.api import Executable, Strides
from raxis.layout import broadcast_shapes
from raxis.ptir.program import Program
from raxis_cpu.library.nest_ir import merged, spread, values_of
from raxis_cpu.library.phases import Phase, flat_stride
from raxis_cpu.library.reading_ir import reading

_COST_OF_INDEX = 4


def read_indexed(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """The slices at several indices of the leading dimensions; None for one index, or other dimensions."""
    operand, *indices = (parameter.type for parameter in program.parameters)
    strides, *index_strides = (given for given in inputs if given is not None)
    count, dims = len(indices), program.attributes.get("dims")
    if count < 2 or dims != tuple(range(count)) or 0 in operand.shape:
        return None
    shape = broadcast_shapes(*(index.shape for index in indices))
    inner = flat_stride(operand.shape[count:], strides[count:])
    if not shape or inner is None or not _is_dense(program.results[0].type.shape, outputs[0]):
        return None
    spread_out = [
        spread(index.shape, own, len(shape)) for index, own in zip(indices, index_strides, strict=True)
    ]
    sizes, steps = merged(shape, spread_out)
    numbers = values_of(sizes, steps) | _dims(operand.shape, strides, count)
    numbers |= {"inner": prod(operand.shape[count:]), "inner_stride": inner}
    module = reading(operand.dtype.itemsize, tuple(index.dtype.itemsize for index in indices), len(sizes))
    places = prod(shape)
    phases = [
        Phase("check", sizes[0], places * count),
        Phase("read", sizes[0], places * (count * _COST_OF_INDEX + numbers["inner"])),
    ]
    arrays = [operand.dtype, *(index.dtype for index in indices), operand.dtype]
    return module.bind(arrays, phases, numbers)


def _is_dense(shape: Sequence[int], strides: Strides) -> bool:
    return flat_stride(shape, strides) in (0, 1)


def _dims(shape: Sequence[int], strides: Strides, count: int) -> dict[str, int]:
    """What the phases read of the indexed dimensions."""
    numbers: dict[str, int] = {}
    for dim in range(count):
        numbers |= {f"dim_{dim}": dim, f"length_{dim}": shape[dim], f"step_{dim}": strides[dim]}
    return numbers
