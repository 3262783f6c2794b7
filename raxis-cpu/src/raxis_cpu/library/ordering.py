"""Sorting, and selecting by order: sort, topk, kthvalue, median."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import int64
from raxis.ptir.program import Instruction, Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.phases import Lines, Phase, lines_of
from raxis_cpu.library.routine import Call
from raxis_cpu.library.runs_ir import consecutive_runs, sorted_runs
from raxis_cpu.library.sorting_ir import MEDIAN, NANMEDIAN, RANKS, sorting

_COST = 16
"""Elementary operations an element takes, roughly."""
_LONGEST = 1 << 31
"""Length from which positions do not fit their half of a packed number."""


def sort(call: Call) -> Executable | None:
    """Values in order and where they came from, always stable."""
    item = call.instruction
    return _selection(
        item, call.operands[0], call.results, (0, item.operands[0].type.shape[item.attributes["dim"]])
    )


def _selection(
    item: Instruction, operand: Strides, results: Sequence[Strides], ranks: tuple[int, int], rule: int = RANKS
) -> Executable | None:
    """The built-in that writes the elements of the given ranks, and their indices."""
    type, dim = item.operands[0].type, item.attributes["dim"]
    kept = TensorType(type.dtype, (*type.shape[:dim], ranks[1] - ranks[0], *type.shape[dim + 1 :]))
    lines = [
        lines_of(shape, strides, dim)
        for shape, strides in ((type.shape, operand), (kept.shape, results[0]), (kept.shape, results[1]))
    ]
    length = type.shape[dim]
    if type.dtype.is_complex or length >= _LONGEST:
        return None
    numbers = {"length": length, "flip": -int(item.attributes["descending"]), "rule": rule}
    numbers |= {"first": ranks[0], "last": ranks[1], "inner": prod(type.shape[dim + 1 :])}
    for name, line in zip(("x", "values", "indices"), lines, strict=True):
        if line is None:
            return None
        numbers |= _strides(name, line)
    rows = 0 if kept.size == 0 else type.size // length
    phase = Phase("rows", rows, type.size * _COST)
    return sorting(type.dtype).bind([type.dtype, type.dtype, int64], [phase], numbers)


def _strides(name: str, line: Lines) -> dict[str, int]:
    return {f"{name}_{part}": stride for part, stride in line._asdict().items()}


def _selecting(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides], rule: int = RANKS
) -> Executable | None:
    """An executable over one tensor that writes values and indices of certain ranks; None if there is none."""
    item = next((item for item in program.instructions if item.primitive == "sort"), None)
    operand = inputs[0]
    if item is None or operand is None or program.results[0].type.size == 0:
        return None
    dim, shape = item.attributes["dim"], item.operands[0].type.shape
    strides = [_with_dim(strides, dim, len(shape)) for strides in outputs]
    return _selection(item, operand, strides, _ranks(program, shape[dim]), rule)


def _with_dim(strides: Strides, dim: int, rank: int) -> Strides:
    """Strides of a result that has lost the dimension, as if it had it."""
    return strides if len(strides) == rank else (*strides[:dim], 0, *strides[dim:])


def _ranks(program: Program, length: int) -> tuple[int, int]:
    """Which of the sorted elements the program takes: a slice of them, or one position."""
    for item in program.instructions:
        if item.primitive == "slice":
            dim = next(other.attributes["dim"] for other in program.instructions if other.primitive == "sort")
            return 0, item.attributes["stop"][dim]
        if item.primitive == "constant":
            place = int(np.ravel(item.attributes["value"])[0])
            return place, place + 1
    return 0, length


def topk(program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]) -> Executable | None:
    """The first of the sorted elements."""
    return _selecting(program, inputs, outputs)


def kthvalue(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """One of the sorted elements."""
    return _selecting(program, inputs, outputs)


def median(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """The middle one of the sorted elements, or the first NaN."""
    return _selecting(program, inputs, outputs, MEDIAN)


def nanmedian(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """The middle one of the sorted elements that are not NaN."""
    return _selecting(program, inputs, outputs, NANMEDIAN)


def distinct(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    """Distinct elements of a 1-D tensor and their number, and in between where they are if that is a result."""
    operand, strides = program.parameters[0].type, inputs[0]
    length, places = operand.size, len(outputs) > 2
    if operand.dtype.is_complex or strides is None or length >= _LONGEST:
        return None
    numbers = {"length": length, "last": length, "inner": 1, "x_along": strides[0]}
    arrays = [operand.dtype, operand.dtype, *[int64] * (len(outputs) - 1)]
    runs = Phase("runs", 1, length * 2)
    if all(item.primitive != "sort" for item in program.instructions):
        module = consecutive_runs(operand.dtype, places=places, dense=strides[0] == 1)
        return module.bind(arrays, [runs], numbers)
    numbers |= {"values_along": 1, "indices_along": 1, "scratch_indices": 1}
    phases = [Phase("rows", 1, length * _COST), runs]
    return sorted_runs(operand.dtype, places=places).bind(arrays, phases, numbers, scratch=8 * length)


SELECTIONS: dict[str, KernelFactory] = {
    "topk": topk,
    "kthvalue": kthvalue,
    "_median_dim": median,
    "_nanmedian_dim": nanmedian,
    "_distinct": distinct,
    "_distinct_values": distinct,
}
"""Kernels of ops that take some of the sorted elements."""
