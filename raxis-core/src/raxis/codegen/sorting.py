"""Sorting of short rows: every element counts how many come before it, which is where it goes."""

from __future__ import annotations

from math import prod

from raxis.codegen.expressions import loaded, register_type
from raxis.codegen.launching import Part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded, without

LONGEST = 2048
"""Elements up to which a row is sorted by counting; longer ones are sorted on the host."""


def sort(call: Call) -> Part | None:
    """Values in order and where they came from, stable; NaN counts as the greatest. None for long rows."""
    source, values, indices = call.buffers
    dim = call.instruction.attributes["dim"]
    length, dialect, dtype = source.shape[dim], call.backend.dialect, source.dtype
    if length > LONGEST:
        return None
    numbers = Numbers(dialect)
    lines, places = decoded(numbers, "point", [*without(source.shape, dim), length])
    at = places[-1]
    rows = [
        f"{numbers.position(places[:-1], without(each.strides, dim), slot)} + {{}} * {numbers.value(each.strides[dim])}"
        for slot, each in enumerate((source, values, indices))
    ]
    type, one, two = register_type(dtype), "other", "value"
    if call.instruction.attributes["descending"]:
        one, two = two, one
    value, other = (loaded(dtype, f"b0[{rows[0].format(index)}]") for index in (at, "j"))
    body = [
        *lines,
        f"const {type} value = {value};",
        "i64 rank = 0;",
        f"for (i64 j = 0; j < {numbers.value(length)}; ++j) {{",
        f"    const {type} other = {other};",
        f"    rank += rx_precedes_{type}({one}, {two}) || (j < {at} && !rx_precedes_{type}({two}, {one}));",
        "}",
        f"b1[{rows[1].format('rank')}] = b0[{rows[0].format(at)}];",
        f"b2[{rows[2].format('rank')}] = {at};",
    ]
    count = prod(source.shape)
    body = dialect.points(numbers.value(count), body)
    return call.launch("sort", numbers, body, count)
