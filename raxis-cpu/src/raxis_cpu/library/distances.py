"""Distances between rows of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import float32, float64
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.distances_ir import ORDERS, distances, panel_rows
from raxis_cpu.library.phases import Phase
from raxis_cpu.library.routine import is_dense


def between(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """All distances from rows of a matrix to rows of another; None for stacks of matrices."""
    return _kernel(program, inputs, outputs, pairs=False)


def of_pairs(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """The distances of all pairs of rows of one matrix."""
    return _kernel(program, inputs, outputs, pairs=True)


def _kernel(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], *, pairs: bool
) -> Executable | None:
    types = [parameter.type for parameter in program.parameters]
    result, order = program.results[0].type, float(program.attributes["p"])
    if not (_serves(types, order) and is_dense(result.shape, outputs[0])) or 0 in result.shape:
        return None
    dtype = result.dtype
    first, second = (types * 2)[:2]
    own, other = ([strides for strides in inputs if strides is not None] * 2)[:2]
    (rows, width), others = first.shape, second.shape[0]
    names = ("row_stride", "column_stride", "other_stride", "other_column_stride")
    numbers = {"rows": rows, "others": others, "width": width}
    numbers |= dict(zip(names, (*own, *other), strict=True))
    panels = -(-others // panel_rows(dtype))
    phase = Phase("measure", panels, result.size * max(1, width) // 4)
    scratch = panels * panel_rows(dtype) * max(1, width) * dtype.itemsize
    arrays = [*(item.dtype for item in types), dtype]
    return distances(dtype, order, pairs=pairs).bind(arrays, [phase], numbers, scratch=scratch)


def _serves(types: Sequence[TensorType], order: float) -> bool:
    same = len({item.dtype for item in types}) == 1 and types[0].dtype in (float32, float64)
    return same and order in ORDERS and all(item.rank == 2 for item in types)


DISTANCES: dict[str, KernelFactory] = {"_row_distances": between, "_pair_distances": of_pairs}
"""Kernels of whole ops."""
