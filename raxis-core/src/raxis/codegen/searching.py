"""Positions in sorted rows, by bisection."""

from __future__ import annotations

from math import prod

from raxis.codegen.expressions import loaded, register_type
from raxis.codegen.launching import Part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded


def searchsorted(call: Call) -> Part:
    """For every value, how many elements of its row come before it; NaN counts as the greatest."""
    rows, values, result = call.buffers
    dialect, dtype = call.backend.dialect, rows.dtype
    numbers = Numbers(dialect)
    lines, indices = decoded(numbers, "point", values.shape)
    row = numbers.position(indices[:-1], rows.strides[:-1], 0)
    step = numbers.value(rows.strides[-1])
    value, target = (
        numbers.position(indices, each.strides, slot) for slot, each in ((1, values), (2, result))
    )
    type = register_type(dtype)
    right = call.instruction.attributes["right"]
    before = f"!rx_precedes_{type}(value, other)" if right else f"rx_precedes_{type}(other, value)"
    body = [
        *lines,
        f"const {type} value = {loaded(dtype, f'b1[{value}]')};",
        f"i64 low = 0, high = {numbers.value(rows.shape[-1])};",
        "while (low < high) {",
        "    const i64 middle = (low + high) / 2;",
        f"    const {type} other = {loaded(dtype, f'b0[{row} + middle * {step}]')};",
        f"    if ({before}) low = middle + 1;",
        "    else high = middle;",
        "}",
        f"b2[{target}] = low;",
    ]
    count = prod(values.shape)
    body = dialect.points(numbers.value(count), body)
    return call.launch("searchsorted", numbers, body, count)
