"""Built-ins of products in half precision, whose sums are float32 and are rounded once.

Elements become float32 on their way to registers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library import halves_ir
from raxis_cpu.library.block_products import LARGE
from raxis_cpu.library.compiled_products import CompiledProducts
from raxis_cpu.library.few_rows import product_of_few_rows
from raxis_cpu.library.packed_ir import NUMBERS, SUM_BYTES
from raxis_cpu.library.problems import Problem, exchanged
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import host

_FEW_ROWS = 12
"""Rows of the smaller matrix up to which packing the other one would take too long."""
_LEFT_BYTES = 1 << 20
"""So much of the packed left matrix stays in a core's second cache while a block of columns is passed over."""
_SUMS_BYTES = 1 << 21
"""So many sums are kept until the end of the inner dimension."""
_MOST_ROWS = 32
"""Of a tile of the result."""
_FLOAT_DEPTH = 256
"""The inner dimension of a panel is at most this: it stays in the first cache, or near it."""
_APART = 1 << 8
"""Converted lines are one line of the cache more than a multiple of so many numbers apart."""
_LINE = 64
"""Bytes of a line of the cache."""


def half_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    """The built-in of a product of float16 or bfloat16 matrices."""
    return product_of_few_rows(dtype, problem, _FEW_ROWS) or _packed_product(dtype, problem)


def _packed_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    swaps, problem = problem.row_major()
    starts = problem.batch.starts()
    values = {
        "table": runtime.ADDRESS, "left": int(swaps), "rows": problem.rows, "columns": problem.columns,
        "inner": problem.inner, "left_gap": problem.left.distance, "right_gap": problem.right.distance,
        "result_gap": problem.result.distance, "stack": problem.batch.size, "large": int(problem.work >= LARGE),
    }  # fmt: skip
    transposed = problem.left.transposed, problem.right.transposed
    form = halves_ir.Form(dtype, host().vector_bytes // SUM_BYTES, *transposed)
    values |= _float_numbers(problem, form)
    code = _floats(form)
    return code.bind([*(values[name] for name in NUMBERS), *(exchanged(starts) if swaps else starts)])


def _float_numbers(problem: Problem, form: halves_ir.Form) -> dict[str, int]:
    block = _evenly(problem.inner, _FLOAT_DEPTH, 1)
    rows = min(problem.rows, _LEFT_BYTES // (block * SUM_BYTES))
    lines, length = (block, rows) if problem.left.transposed else (rows, block)
    gap = _whole(length, _APART) * SUM_BYTES + _LINE
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
def _floats(form: halves_ir.Form) -> CompiledProducts:
    return CompiledProducts(halves_ir.halves_ir(form))
