"""Running sums, products and extremes along a dimension: one work-item per row."""

from __future__ import annotations

from math import prod

from raxis import dtypes
from raxis.codegen.expressions import expression, loaded, register_type, rounded, stored
from raxis.codegen.launching import Part
from raxis.codegen.rendered import Numbers
from raxis.codegen.routine import Call, decoded, without
from raxis.dtypes import HALF

_COMBINE = {"cumsum": "add", "cumprod": "mul", "cummax": "maximum", "cummin": "minimum"}


def scan(call: Call) -> Part:
    """A running sum, product or extreme; half precision accumulates in float32."""
    source, target = call.buffers
    dialect, dtype, dim = call.backend.dialect, source.dtype, call.instruction.attributes["dim"]
    wide = dtypes.float32 if dtype in HALF else dtype
    numbers = Numbers(dialect)
    sizes = without(source.shape, dim)
    lines, indices = decoded(numbers, "point", sizes)
    places = [
        f"{numbers.position(indices, without(each.strides, dim), slot)} + j * {numbers.value(each.strides[dim])}"
        for slot, each in enumerate((source, target))
    ]
    combined = expression(dialect, _COMBINE[call.instruction.primitive], wide, wide, ("total", "value"))
    body = [
        *lines,
        f"{register_type(dtype)} total;",
        f"for (i64 j = 0; j < {numbers.value(source.shape[dim])}; ++j) {{",
        f"    const {register_type(dtype)} value = {loaded(dtype, f'b0[{places[0]}]')};",
        "    if (j == 0) total = value;",
        f"    else total = {combined};",
        f"    b1[{places[1]}] = {stored(dtype, rounded(dtype, 'total'))};",
        "}",
    ]
    count = prod(sizes) if source.shape[dim] else 0
    body = dialect.points(numbers.value(count), body)
    return call.launch(call.instruction.primitive, numbers, body, count)
