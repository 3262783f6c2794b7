"""Running sums, products and extrema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from raxis.backends.api import Executable, KernelFactory, Strides
from raxis.dtypes import DType, bool_, int64, uint8
from raxis.layout import wrap_dim
from raxis.ptir.program import Program
from raxis.ptir.types import TensorType
from raxis_cpu.library.phases import Phase, lines_of
from raxis_cpu.library.routine import Call
from raxis_cpu.library.scans_ir import COLUMNS, locating, scanning

_COST = 2
_COST_OF_FUNCTIONS = 32
_LONG = 32
"""Elements of a row from which sums within registers are worth while."""


def scan(call: Call) -> Executable | None:
    """Accumulation along a dim, straight into the result."""
    item = call.instruction
    strides = (call.operands[0], call.results[0])
    return _scan(item.primitive, item.operands[0].type, item.attributes["dim"], strides)


def _scan(primitive: str, type: TensorType, dim: int, arrays: Sequence[Strides]) -> Executable | None:
    """The built-in of a scan; None for dtypes and strides that it does not serve."""
    numbers = _numbers(type.shape, dim, arrays)
    if numbers is None or type.dtype.is_complex:
        return None
    side_by_side = numbers["inner"] > 1 and numbers["x_inner"] == 1 == numbers["out_inner"]
    rows = 0 if type.size == 0 else type.size // type.shape[dim]
    blocks = prod(type.shape[:dim]) * -(-numbers["inner"] // COLUMNS)
    units = min(rows, blocks) if side_by_side else rows
    dense = primitive == "cumsum" and numbers["inner"] == numbers["x_along"] == numbers["out_along"] == 1
    name = "columns" if side_by_side else "dense_rows" if dense and numbers["length"] >= _LONG else "rows"
    phase = Phase(name, units, type.size * (_COST if primitive != "logcumsumexp" else _COST_OF_FUNCTIONS))
    dtype = _computed(type.dtype)
    return scanning(primitive, dtype).bind([dtype, dtype], [phase], numbers)


def _computed(dtype: DType) -> DType:
    """Bools are bytes 0 and 1, of which a register of bits would have no address."""
    return uint8 if dtype is bool_ else dtype


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
        along = {numbers[f"{array}_along"] for array in ("x", "out", "places")}
        dense = along == {1} and numbers["inner"] == 1 and numbers["length"] >= _LONG
        phase = Phase("dense_rows" if dense else "rows", rows, operand.size * _COST)
        dtype = _computed(operand.dtype)
        return locating(name, dtype).bind([dtype, dtype, int64], [phase], numbers)

    return factory


def _logcumsumexp(
    program: Program, inputs: Sequence[Strides | None], outputs: Sequence[Strides]
) -> Executable | None:
    operand, dim = program.parameters[0].type, program.attributes.get("dim")
    if inputs[0] is None or dim is None or not operand.rank:
        return None
    dim = wrap_dim(dim, operand.rank)
    return _scan("logcumsumexp", operand, dim, (inputs[0], *outputs))


RUNNING: dict[str, KernelFactory] = {
    "cummax": _running("cummax"),
    "cummin": _running("cummin"),
    "logcumsumexp": _logcumsumexp,
}
"""Kernels of whole ops: running extrema with where they are, and logarithms of running sums."""
