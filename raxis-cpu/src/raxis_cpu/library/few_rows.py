"""Built-ins of products where one matrix has few rows; see `thin_ir` and `flat_ir`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from raxis.dtypes import DType
from raxis_cpu.library.block_products import SMALLEST
from raxis_cpu.library.compiled_products import CompiledProducts
from raxis_cpu.library.elements_ir import Elements, elements_of
from raxis_cpu.library.flat_ir import NUMBERS as FLAT_NUMBERS
from raxis_cpu.library.flat_ir import Form, flat_ir
from raxis_cpu.library.problems import Batch, Problem, exchanged
from raxis_cpu.library.thin_ir import NUMBERS as THIN_NUMBERS
from raxis_cpu.library.thin_ir import thin_ir
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import host

_FEW_ROWS = 24
"""Rows of the smaller matrix up to which packing the other one would take too long."""
_FLAT_ROWS = 12
"""The same where the other matrix lies row by row."""
_SUMS = 24
"""Sums that stay in 32 registers, with what is added to them; half as many in 16."""
_NARROW = 16
"""Bytes of registers that are not loaded and stored in part; those of AVX2 are, where elements have 4 bytes or more."""
_MANY_ELEMENTS = 1 << 18
"""Elements of the larger matrix from which several threads are worth while, because they come from memory."""
_TASKS = 64
"""So many tasks keep all threads busy."""
_ROWS_OF_TASK = 8
"""Rows of a task are a multiple of this."""


def product_of_few_rows(
    dtype: DType, problem: Problem, most_rows: int = _FEW_ROWS
) -> Callable[..., None] | None:
    """The built-in; None for products of other kinds, for small ones and for those of more rows."""
    if min(problem.rows, problem.columns) > most_rows:
        return None
    thin = _thin(problem)
    if thin is not None:
        return _thin_product(dtype, thin)
    return _flat_product(dtype, problem) if _is_flat(dtype, problem) else None


# ---- both are contiguous along the inner dimension -------------------------------------------------


class _Rows(NamedTuple):
    """A matrix whose rows are contiguous along the inner dimension: their number and distance, and that of results."""

    size: int
    gap: int
    step: int


class _Thin(NamedTuple):
    """A stack of products of two such matrices, the first argument's first."""

    batch: Batch
    sides: tuple[_Rows, _Rows]
    inner: int

    @property
    def thin(self) -> int:
        """Which of them has fewer rows."""
        return int(self.sides[1].size < self.sides[0].size)


def _thin(problem: Problem) -> _Thin | None:
    """The product as one of a few rows; None where it is none, or too small."""
    left, right, result = problem[-3:]
    steps = (1, result.distance) if result.transposed else (result.distance, 1)
    lines = (left, right.other_way())
    counts = (problem.rows, problem.columns)
    if problem.work < SMALLEST * problem.batch.size:
        return None
    sides = []
    for count, matrix, step in zip(counts, lines, steps, strict=True):
        if matrix.transposed and (count > 1 or matrix.distance > 1):
            return None
        sides.append(_Rows(count, 0 if count == 1 else matrix.distance, step))
    return _Thin(problem.batch, (sides[0], sides[1]), problem.inner)


def _thin_product(dtype: DType, product: _Thin) -> Callable[..., None]:
    batch, sides, place = product.batch, product.sides, product.thin
    thin, wide = sides[place], sides[1 - place]
    large = batch.size * wide.size * product.inner >= _MANY_ELEMENTS
    part = _part(wide.size, batch.size, _ROWS_OF_TASK) if large else wide.size
    values = {
        "table": runtime.ADDRESS, "thin": place, "thin_rows": thin.size, "wide_rows": wide.size,
        "inner": product.inner, "thin_gap": thin.gap, "wide_gap": wide.gap, "thin_step": thin.step,
        "wide_step": wide.step, "stack": batch.size, "part": part, "parts": -(-wide.size // part),
        "large": int(large),
    }  # fmt: skip
    starts = exchanged(batch.starts()) if place else batch.starts()
    return _rows_code(elements_of(dtype)).bind([*(values[name] for name in THIN_NUMBERS), *starts])


def _part(size: int, stack: int, unit: int) -> int:
    """Rows or columns of a task, a multiple of `unit`."""
    tasks = -(-_TASKS // stack)
    return -(-size // (tasks * unit)) * unit


@cache
def _rows_code(elements: Elements) -> CompiledProducts:
    return CompiledProducts(thin_ir(elements))


# ---- the other one lies row by row -----------------------------------------------------------------


def _with_few_rows(problem: Problem) -> tuple[bool, Problem]:
    """The same with fewer rows than columns, and whether the operands are exchanged for it."""
    return (True, problem.exchanged()) if problem.columns < problem.rows else (False, problem)


def _is_flat(dtype: DType, problem: Problem) -> bool:
    """Whether a few rows are multiplied with a matrix that lies row by row, as the result does."""
    _, problem = _with_few_rows(problem)
    lies_by_rows = not problem.right.transposed and not problem.result.transposed
    suits = problem.rows <= _FLAT_ROWS and _loads_parts(dtype)
    return lies_by_rows and suits and problem.work >= SMALLEST * problem.batch.size


def _loads_parts(dtype: DType) -> bool:
    """Whether part of a register is loaded in an instruction."""
    return host().has_masks or (host().vector_bytes > _NARROW and dtype.itemsize >= 4)


def _flat_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    turned, problem = _with_few_rows(problem)
    batch, left = problem.batch, problem.left
    form = Form(elements_of(dtype), problem.rows, _SUMS if host().has_masks else _SUMS // 2)
    large = batch.size * problem.columns * problem.inner >= _MANY_ELEMENTS
    part = _part(problem.columns, batch.size, form.width) if large else problem.columns
    row, step = (1, left.distance) if left.transposed else (left.distance, 1)
    values = {
        "table": runtime.ADDRESS, "flat": int(turned), "columns": problem.columns, "inner": problem.inner,
        "flat_row": row, "flat_step": step, "wide_gap": problem.right.distance, "result_gap": problem.result.distance,
        "stack": batch.size, "part": part, "parts": -(-problem.columns // part), "large": int(large),
    }  # fmt: skip
    starts = exchanged(batch.starts()) if turned else batch.starts()
    return _flat_code(form).bind([*(values[name] for name in FLAT_NUMBERS), *starts])


@cache
def _flat_code(form: Form) -> CompiledProducts:
    return CompiledProducts(flat_ir(form))
