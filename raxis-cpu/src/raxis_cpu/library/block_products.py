"""Built-ins of products that are computed by blocks; see `blocked_ir`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from raxis.dtypes import DType
from raxis_cpu.library.blocked_ir import DEPTH, NUMBERS, Form, blocked_ir
from raxis_cpu.library.compiled_products import CompiledProducts
from raxis_cpu.library.elements_ir import elements_of
from raxis_cpu.library.problems import Problem, exchanged
from raxis_cpu.llvm import runtime
from raxis_cpu.machine import CACHE_LINE

LARGE = 1 << 20
"""Multiplications from which several threads are worth while."""
SMALLEST = 1 << 15
"""Multiplications of a product from which BLAS loses time where the right matrix lies column by column."""
_ROW_BYTES = 1 << 20
"""So much of the left matrix stays in a core's second cache while all columns are passed over."""
_CLOSE = 1 << 12
"""Rows of a matrix whose distance in bytes is a multiple of this share few sets of the first cache."""
_APART = 1 << 8
"""Copied rows are one line of the cache more than a multiple of so many elements apart."""
_OFTEN = 256
"""Columns from which a copy of the left matrix pays for itself."""


def suits_blocks(problem: Problem) -> bool:
    """Whether our own kernel is at least as fast as BLAS: not for vectors and for small matrices that lie by rows."""
    if 1 in (problem.rows, problem.columns):
        return False
    _, problem = problem.row_major()
    return problem.work >= LARGE or (
        problem.right.transposed and problem.work >= SMALLEST * problem.batch.size
    )


def blocked_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    """The built-in of a product whose first argument is the left matrix."""
    swaps, problem = problem.row_major()
    starts = problem.batch.starts()
    return by_blocks(dtype, problem, int(swaps), exchanged(starts) if swaps else starts)


def by_blocks(
    dtype: DType, problem: Problem, left: int, starts: Sequence[int], *, has_bias: bool = False
) -> Callable[..., None]:
    """The built-in of our own kernel.

    Args:
        dtype: float32 or float64.
        problem: with a result of row-major lines.
        left: which argument is the left matrix, 0 or 1.
        starts: where left, right and result matrix of every product begin, and its bias, if there is one.
        has_bias: whether an argument before the result has one number for every row.
    """
    block = -(-problem.inner // -(-problem.inner // DEPTH))
    rows = min(problem.rows, max(_ROW_BYTES // (block * dtype.itemsize), 1))
    copies = _should_copy(problem, dtype)
    copy_gap = -(-block // _APART) * _APART + CACHE_LINE // dtype.itemsize
    values = {
        "table": runtime.ADDRESS, "left": left, "rows": problem.rows, "columns": problem.columns,
        "inner": problem.inner, "left_gap": problem.left.distance, "right_gap": problem.right.distance,
        "result_gap": problem.result.distance, "stack": problem.batch.size, "block": block,
        "row_block": rows, "copy_gap": copy_gap, "copy_elements": rows * copy_gap * copies,
        "large": int(problem.work >= LARGE),
    }  # fmt: skip
    code = _blocks(
        Form(elements_of(dtype).vector, problem.left.transposed, problem.right.transposed, has_bias, copies)
    )
    return code.bind([*(values[name] for name in NUMBERS), *starts])


def _should_copy(problem: Problem, dtype: DType) -> bool:
    """Whether rows of the left matrix get into each other's way in the cache, and are read often enough."""
    close = problem.left.distance * dtype.itemsize % _CLOSE == 0
    return close and not problem.left.transposed and problem.rows > 1 and problem.columns >= _OFTEN


@cache
def _blocks(form: Form) -> CompiledProducts:
    return CompiledProducts(blocked_ir(form))
