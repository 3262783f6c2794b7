"""Built-ins of products in half precision, whose sums are float32 and are rounded once.

The processor's tiles of bfloat16 multiply where it has them; else elements become float32 on their way to registers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from raxis.dtypes import DType, bfloat16
from raxis_cpu.library import amx_ir, halves_ir
from raxis_cpu.library.amx import has_amx
from raxis_cpu.library.block_products import LARGE
from raxis_cpu.library.compiled_products import CompiledProducts
from raxis_cpu.library.few_rows import product_of_few_rows
from raxis_cpu.library.packed_ir import NUMBERS, SUM_BYTES
from raxis_cpu.library.problems import Problem, exchanged
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import host
from raxis_cpu.machine import CACHE_LINE

_ROWS_WITH_TILES, _ROWS_WITHOUT_TILES = 4, 12
"""Rows of the smaller matrix up to which packing the other one would take too long."""
_FEWEST_FOR_TILES = 1 << 13
"""Multiplications of a product from which filling up tiles pays."""
_LEFT_BYTES = 1 << 20
"""So much of the packed left matrix stays in a core's second cache while a block of columns is passed over."""
_SUMS_BYTES = 1 << 21
"""So many sums are kept until the end of the inner dimension."""
_MOST_ROWS = 32
"""Of a tile of the result."""
_FLOAT_DEPTH, _TILES_DEPTH = 256, 1024
"""The inner dimension of a panel is at most this: it stays in the first cache, or near it."""
_APART = 1 << 8
"""Converted lines are one line of the cache more than a multiple of so many numbers apart."""


def half_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    """The built-in of a product of float16 or bfloat16 matrices."""
    by_tiles = dtype is bfloat16 and problem.work >= _FEWEST_FOR_TILES * problem.batch.size and has_amx()
    few = product_of_few_rows(dtype, problem, _ROWS_WITH_TILES if by_tiles else _ROWS_WITHOUT_TILES)
    return few or _packed_product(dtype, problem, by_tiles=by_tiles)


def _packed_product(dtype: DType, problem: Problem, *, by_tiles: bool) -> Callable[..., None]:
    swaps, problem = problem.row_major()
    starts = problem.batch.starts()
    values = {
        "table": runtime.ADDRESS, "left": int(swaps), "rows": problem.rows, "columns": problem.columns,
        "inner": problem.inner, "left_gap": problem.left.distance, "right_gap": problem.right.distance,
        "result_gap": problem.result.distance, "stack": problem.batch.size, "large": int(problem.work >= LARGE),
    }  # fmt: skip
    transposed = problem.left.transposed, problem.right.transposed
    if by_tiles:
        values |= _tiles_numbers(problem)
        code = _tiles(amx_ir.Form(*transposed))
    else:
        form = halves_ir.Form(dtype, host().vector_bytes // SUM_BYTES, *transposed)
        values |= _float_numbers(problem, form)
        code = _floats(form)
    return code.bind([*(values[name] for name in NUMBERS), *(exchanged(starts) if swaps else starts)])


def _tiles_numbers(problem: Problem) -> dict[str, int]:
    side = amx_ir.SIDE
    block = _evenly(problem.inner, _TILES_DEPTH, side)
    stripe = block * side * bfloat16.itemsize
    rows = min(_whole(problem.rows, side), _LEFT_BYTES // stripe * side)
    return {
        "block": block, "row_block": rows, "packed_gap": stripe, "packed_bytes": rows // side * stripe,
        "panel_bytes": block * side * bfloat16.itemsize, **_sums_numbers(problem, block, rows, side),
    }  # fmt: skip


def _float_numbers(problem: Problem, form: halves_ir.Form) -> dict[str, int]:
    block = _evenly(problem.inner, _FLOAT_DEPTH, 1)
    rows = min(problem.rows, _LEFT_BYTES // (block * SUM_BYTES))
    lines, length = (block, rows) if problem.left.transposed else (rows, block)
    gap = _whole(length, _APART) * SUM_BYTES + CACHE_LINE
    return {
        "block": block, "row_block": rows, "packed_gap": gap, "packed_bytes": lines * gap,
        "panel_bytes": block * form.width * SUM_BYTES, **_sums_numbers(problem, block, rows, form.width),
    }  # fmt: skip


def _sums_numbers(problem: Problem, block: int, rows: int, width: int) -> dict[str, int]:
    """Sums of one tile serve all of them where none has to wait for a second block of the inner dimension."""
    columns, row = _whole(problem.columns, width), width * SUM_BYTES
    if block >= problem.inner:
        return {"column_block": columns, "sums_row": 0, "sums_gap": 0, "sums_bytes": _MOST_ROWS * row}
    gap = rows * row
    columns = min(columns, max(_SUMS_BYTES // gap, 1) * width)
    return {"column_block": columns, "sums_row": row, "sums_gap": gap, "sums_bytes": columns // width * gap}


def _whole(count: int, unit: int) -> int:
    """`count` rounded up to a multiple of `unit`."""
    return -(-count // unit) * unit


def _evenly(count: int, most: int, unit: int) -> int:
    """The size, a multiple of `unit`, of equal parts of at most `most`."""
    return _whole(-(-count // -(-count // most)), unit)


@cache
def _tiles(form: amx_ir.Form) -> CompiledProducts:
    return CompiledProducts(amx_ir.amx_ir(form))


@cache
def _floats(form: halves_ir.Form) -> CompiledProducts:
    return CompiledProducts(halves_ir.halves_ir(form))
