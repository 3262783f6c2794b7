"""Running sums, products and extrema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import bool_, int64, uint8
from raxis.ptir.program import Program
from raxis_cpu.library.phases import Phase, lines_of
from raxis_cpu.library.routine import Call
from raxis_cpu.library.scans_ir import COLUMNS, locating, scanning

_COST = 2


def scan(call: Call) -> Executable | None:
    """Accumulation along a dim, straight into the result."""
    item = call.instruction
    type, dim = item.operands[0].type, item.attributes["dim"]
    numbers = _numbers(type.shape, dim, (call.operands[0], call.results[0]))
    if numbers is None or type.dtype.is_complex:
        return None
    side_by_side = numbers["inner"] > 1 and numbers["x_inner"] == 1 == numbers["out_inner"]
    rows = 0 if type.size == 0 else type.size // type.shape[dim]
    blocks = prod(type.shape[:dim]) * -(-numbers["inner"] // COLUMNS)
    units = min(rows, blocks) if side_by_side else rows
    phase = Phase("columns" if side_by_side else "rows", units, type.size * _COST)
    # Bools are bytes 0 and 1, of which a register of bits would have no address.
    dtype = uint8 if type.dtype is bool_ else type.dtype
    return scanning(item.primitive, dtype).bind([dtype, dtype], [phase], numbers)


def _numbers(shape: Sequence[int], dim: int, arrays: Sequence[Strides]) -> dict[str, int] | None:
    """What the phases read; None for arrays that are not evenly spaced."""
    numbers = {"length": shape[dim], "inner": prod(shape[dim + 1 :])}
    for name, strides in zip(("x", "out", "places"), arrays, strict=False):
        lines = lines_of(shape, strides, dim)
        if lines is None:
            return None
        numbers |= {f"{name}_{part}": stride for part, stride in lines._asdict().items()}
    return numbers


def _running(name: str) -> Callable[..., Executable | None]:
    """The factory of a running extremum with places."""

    def factory(
        program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
    ) -> Executable | None:
        operand = program.parameters[0].type
        item = next((item for item in program.instructions if item.primitive == name), None)
        if item is None or inputs[0] is None:
            return None
        numbers = _numbers(operand.shape, item.attributes["dim"], (inputs[0], *outputs))
        if numbers is None or operand.dtype.is_complex:
            return None
        rows = 0 if operand.size == 0 else operand.size // numbers["length"]
        phase = Phase("rows", rows, operand.size * _COST)
        return locating(name, operand.dtype).bind([operand.dtype, operand.dtype, int64], [phase], numbers)

    return factory


RUNNING: dict[str, KernelFactory] = {name: _running(name) for name in ("cummax", "cummin")}
"""Kernels of the ops that give running extrema and where they are."""
