"""Inner loops of convolutions in LLVM IR: a vector holds neighbouring outputs, a tile stays in registers.

What kernels see is read element by element from padded planes and multiplied in all lanes, so nothing is rearranged,
and tiles are as wide as rows of results are, not as vectors are (Georganas et al., "Anatomy of High-Performance Deep
Learning Convolutions on SIMD Architectures", 2018). Each tile is a small module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from raxis_cpu.library.panels_ir import intrinsics_ir, panel_width
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, Variable, fma
from raxis_cpu.threads import keep_for_ever


def most_places(vectors: int) -> int:
    """Places of a tile of one or two vectors of outputs for which there are registers."""
    return (12 if host().vector_bytes == 32 else 28) // vectors


def most_taps() -> int:
    """Kernel elements of a tile: registers hold their sums and where their planes begin."""
    return 6 if host().vector_bytes == 32 else 9


class Tile(NamedTuple):
    """Results of one tile: some rows of some places, for `vectors` vectors of outputs."""

    rows: int
    places: int
    vectors: int


@cache
def results_tile(vector: Type, tile: Tile) -> int:
    """Address of ``void(kernels, table, depth, planes, pitch, bias, target, row_gap)``.

    `kernels` is a panel of `depth` rows, each of which has an offset in the planes in every second place of the table;
    rows of planes are `pitch` elements apart. Results plus `bias` become rows of a panel, one for every place; those of
    the next row of places begin `row_gap` elements further on.
    """
    return _address(_results_ir(vector, tile), vector, "tile")


@cache
def gradients_tile(vector: Type, taps: int, vectors: int) -> int:
    """Address of ``void(responses, table, planes, rows, places, pitch, sums)``.

    Adds to rows of a panel of sums, for every kernel element, the products of responses, a panel with a row for every
    place, with what the element sees of the planes. The table and the pitch are as those of `results_tile`.
    """
    return _address(_gradients_ir(vector, taps, vectors), vector, "taps")


def _address(text: str, vector: Type, name: str) -> int:
    code = Code(compile(f'target triple = "{host().triple}"\n{intrinsics_ir(vector)}\n{text}', host()))
    keep_for_ever(code)
    return code.address(name)


def _results_ir(vector: Type, tile: Tile) -> str:
    function = Function(
        "void @tile(ptr %kernels, ptr %table, i64 %depth, ptr %planes, i64 %pitch, ptr %bias, ptr noalias %target, "
        "i64 %row_gap)"
    )
    size, lanes, width = vector.bits // 8, vector.lanes, panel_width(vector)
    bias = function.argument(PTR, "bias")
    biases = [
        function.load(vector, function.advance(bias, part * lanes, size)) for part in range(tile.vectors)
    ]
    places = [(row, place) for row in range(tile.rows) for place in range(tile.places)]
    totals = [[function.variable(vector, bias) for bias in biases] for _ in places]
    kernels = function.variable(PTR, function.argument(PTR, "kernels"))
    with function.loop(0, function.argument(I64, "depth")) as step:
        entry = function.advance(function.argument(PTR, "table"), step * 2 + 1, 8)
        seen = function.advance(function.argument(PTR, "planes"), function.load(I64, entry), size)
        starts = [
            function.advance(seen, function.argument(I64, "pitch") * row, size) for row in range(tile.rows)
        ]
        here = kernels.get()
        weights = [
            function.load(vector, function.advance(here, part * lanes, size)) for part in range(tile.vectors)
        ]
        for (row, place), sums in zip(places, totals, strict=True):
            _add(function.advance(starts[row], place, size), weights, sums)
        kernels.set(function.advance(here, width, size))
    for (row, place), sums in zip(places, totals, strict=True):
        start = function.argument(I64, "row_gap") * row + place * width
        for part, total in enumerate(sums):
            target = function.advance(function.argument(PTR, "target"), start + part * lanes, size)
            function.store(total.get(), target)
    function.line("ret void")
    return function.text


def _add(place: Value, factors: Sequence[Value], sums: Sequence[Variable]) -> None:
    """Add an element's products with some vectors to sums."""
    vector = factors[0].type
    element = place.function.load(Type(vector.element), place).splat(vector.lanes)
    for factor, total in zip(factors, sums, strict=True):
        total.set(fma(element, factor, total.get()))


def _gradients_ir(vector: Type, taps: int, vectors: int) -> str:
    sizes = "i64 %rows, i64 %places, i64 %pitch, ptr noalias %sums"
    function = Function(f"void @taps(ptr %responses, ptr %table, ptr %planes, {sizes})")
    size, lanes, width = vector.bits // 8, vector.lanes, panel_width(vector)
    table, planes = function.argument(PTR, "table"), function.argument(PTR, "planes")
    starts = [
        function.advance(planes, function.load(I64, function.advance(table, tap * 2 + 1, 8)), size)
        for tap in range(taps)
    ]
    totals = [[function.variable(vector, 0.0) for _ in range(vectors)] for _ in range(taps)]
    given = function.variable(PTR, function.argument(PTR, "responses"))
    with function.loop(0, function.argument(I64, "rows")) as row:
        first = row * function.argument(I64, "pitch")
        with function.loop(first, first + function.argument(I64, "places")) as place:
            here = given.get()
            responses = [
                function.load(vector, function.advance(here, part * lanes, size)) for part in range(vectors)
            ]
            for start, sums in zip(starts, totals, strict=True):
                _add(function.advance(start, place, size), responses, sums)
            given.set(function.advance(here, width, size))
    for tap, sums in enumerate(totals):
        for part, total in enumerate(sums):
            target = function.advance(function.argument(PTR, "sums"), tap * width + part * lanes, size)
            function.store(function.load(vector, target) + total.get(), target)
    function.line("ret void")
    return function.text
