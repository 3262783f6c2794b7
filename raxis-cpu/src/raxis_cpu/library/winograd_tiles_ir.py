"""Winograd's transforms of tiles for 3x3 kernels and 4x4 results, in LLVM IR.

A. Lavin and S. Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016), F(4x4, 3x3): with g a kernel and
d a tile of 6x6, the correlation is ``At ((G g Gt) * (Bt d B)) A``; the transposes of these maps give the gradient of g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from raxis_cpu.library.panels_ir import VECTORS, panel_width
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, fma

TILE = 4
"""Results of a tile, in each direction."""
REACH = 6
"""Elements that a tile sees, in each direction."""
POSITIONS = REACH * REACH
"""Elements of a transformed tile, each the subject of a matrix product."""
TAPS = 9
"""Elements of a kernel."""

Line = Sequence[Value]


def _image(line: Line) -> Line:
    """Bt: six elements of an image."""
    d0, d1, d2, d3, d4, d5 = line
    even, odd = fma(d2, -4, d4), fma(d1, -4, d3)
    outer, inner = d4 - d2, (d3 - d1) * 2
    return (fma(d0, 4, fma(d2, -5, d4)), even + odd, even - odd, outer + inner, outer - inner,
            fma(d1, 4, fma(d3, -5, d5)))  # fmt: skip


def _kernel(line: Line) -> Line:
    """G: three elements of a kernel."""
    g0, g1, g2 = line
    near = (g0 + g2) * (-1 / 6)
    far = fma(g2, 4, g0) * (1 / 24)
    return (
        g0 * 0.25,
        fma(g1, -1 / 6, near),
        fma(g1, 1 / 6, near),
        fma(g1, 1 / 12, far),
        fma(g1, -1 / 12, far),
        g2,
    )


def _result(line: Line) -> Line:
    """At: six products to four results."""
    m0, m1, m2, m3, m4, m5 = line
    near, near_difference, far, far_difference = m1 + m2, m1 - m2, m3 + m4, m3 - m4
    return (m0 + near + far, fma(far_difference, 2, near_difference), fma(far, 4, near),
            fma(far_difference, 8, near_difference) + m5)  # fmt: skip


def _response(line: Line) -> Line:
    """A: four gradients of results."""
    y0, y1, y2, y3 = line
    even, odd = y0 + y2, y1 + y3
    far_even, far_odd = fma(y2, 4, y0), fma(y3, 8, y1 * 2)
    return y0, even + odd, even - odd, far_even + far_odd, far_even - far_odd, y3


def _weight(line: Line) -> Line:
    """Gt: six gradients of transformed elements to three of the kernel."""
    u0, u1, u2, u3, u4, u5 = line
    near, far = u1 + u2, u3 + u4
    first = fma(near, -1 / 6, fma(far, 1 / 24, u0 * 0.25))
    middle = fma(u3 - u4, 1 / 12, (u2 - u1) * (1 / 6))
    return first, middle, fma(near, -1 / 6, fma(far, 1 / 6, u5))


def _both_ways(transform: Callable[[Line], Line], square: Sequence[Line]) -> list[Line]:
    """Transform columns, then rows."""
    columns = [transform(column) for column in zip(*square, strict=True)]
    return [transform(row) for row in zip(*columns, strict=True)]


def image_ir(name: str, vector: Type) -> str:
    """``void name(source, pitch, target, gap)``: a tile of an image, `gap` between the results."""
    return _tile_ir(name, vector, _image, REACH)


def response_ir(name: str, vector: Type) -> str:
    """``void name(source, pitch, target, gap)``: the same for a tile of the result's gradient."""
    return _tile_ir(name, vector, _response, TILE)


def _tile_ir(name: str, vector: Type, transform: Callable[[Line], Line], size: int) -> str:
    function, lanes, nbytes = _function(name, vector)
    source, target = function.argument(PTR, "source"), function.argument(PTR, "target")
    pitch, gap, width = function.argument(I64, "pitch"), function.argument(I64, "gap"), panel_width(vector)
    for part in range(VECTORS):
        square = [
            [
                function.load(
                    vector, function.advance(source, pitch * row + (column * width + part * lanes), nbytes)
                )
                for column in range(size)
            ]
            for row in range(size)
        ]
        _store_all(function, _both_ways(transform, square), target, gap, part * lanes, nbytes)
    function.line("ret void")
    return function.text


def _function(name: str, vector: Type) -> tuple[Function, int, int]:
    header = f"internal void @{name}(ptr %source, i64 %pitch, ptr %target, i64 %gap) noinline"
    return Function(header), vector.lanes, vector.bits // 8


def _store_all(
    function: Function, square: Sequence[Line], target: Value, gap: Value, first: int, nbytes: int
) -> None:
    values = [value for line in square for value in line]
    for number, value in enumerate(values):
        function.store(value, function.advance(target, gap * number + first, nbytes))


def _load_all(
    function: Function, vector: Type, source: Value, gap: Value, first: int, size: int
) -> list[list[Value]]:
    nbytes = vector.bits // 8
    values = [
        function.load(vector, function.advance(source, gap * number + first, nbytes))
        for number in range(size * size)
    ]
    return [values[start : start + size] for start in range(0, size * size, size)]


def kernel_ir(name: str, vector: Type, lines: Sequence[int]) -> str:
    """``void name(source, pitch, target, gap)``: some lines of a transformed 3x3 kernel.

    `pitch` elements are between the elements of the kernel, `gap` between those that are written.
    """
    function, lanes, _ = _function(name, vector)
    source, target = function.argument(PTR, "source"), function.argument(PTR, "target")
    pitch, gap = function.argument(I64, "pitch"), function.argument(I64, "gap")
    for part in range(VECTORS):
        square = _load_all(function, vector, source, pitch, part * lanes, 3)
        columns = [_kernel(column) for column in zip(*square, strict=True)]
        made = [_kernel([column[line] for column in columns]) for line in lines]
        _store_all(function, made, target, gap, part * lanes, vector.bits // 8)
    function.line("ret void")
    return function.text


def weight_ir(name: str, vector: Type) -> str:
    """``void name(source, pitch, target, gap, check)``: gradients of transformed elements, `pitch` apart, to those of a
    3x3 kernel, `gap` apart; what `check` points to becomes NaN if one is not finite."""
    return _checked_ir(name, vector, "", _weight)


def result_ir(name: str, vector: Type) -> str:
    """``void name(source, pitch, target, gap, check, bias)``: products, `pitch` apart, to a tile of the result, `gap`
    elements between its rows, plus the bias; what `check` points to becomes NaN if one is not finite."""
    return _checked_ir(name, vector, ", ptr %bias", _result)


def _checked_ir(name: str, vector: Type, more: str, transform: Callable[[Line], Line]) -> str:
    arguments = f"ptr %source, i64 %pitch, ptr %target, i64 %gap, ptr %check{more}"
    function = Function(f"internal void @{name}({arguments}) noinline")
    lanes, nbytes = vector.lanes, vector.bits // 8
    source, target, check = (function.argument(PTR, item) for item in ("source", "target", "check"))
    pitch, gap = function.argument(I64, "pitch"), function.argument(I64, "gap")
    total = function.load(vector, check)
    for part in range(VECTORS):
        lines = _both_ways(transform, _load_all(function, vector, source, pitch, part * lanes, REACH))
        if more:
            bias = function.load(
                vector, function.advance(function.argument(PTR, "bias"), part * lanes, nbytes)
            )
            lines = [[value + bias for value in line] for line in lines]
        for row, line in enumerate(lines):
            for column, value in enumerate(line):
                total = fma(value, 0, total)
                place = gap * row + column * panel_width(vector) if more else gap * (row * len(line) + column)
                function.store(value, function.advance(target, place + part * lanes, nbytes))
    function.store(total, check)
    function.line("ret void")
    return function.text
