"""Matrix products as built-ins, without NumPy arrays in between.

A built-in takes ``a, offset, b, offset, result, offset`` (arrays of bytes, offsets in elements), as kernels do. Small
products call BLAS by its C symbols; larger ones are computed in all threads, by `blocked_ir`, or by `thin_ir` and
`flat_ir` where one matrix has few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import Strides
from raxis.ptir.primitives.contraction import free_dims
from raxis.ptir.program import Instruction
from raxis_cpu.blas import Blas
from raxis_cpu.library.blocked_ir import DEPTH, NUMBERS, Form, blocked_ir
from raxis_cpu.library.flat_ir import NUMBERS as FLAT_NUMBERS
from raxis_cpu.library.flat_ir import Form as FlatForm
from raxis_cpu.library.flat_ir import flat_ir
from raxis_cpu.library.gemm_ir import gemm_ir
from raxis_cpu.library.thin_ir import NUMBERS as THIN_NUMBERS
from raxis_cpu.library.thin_ir import thin_ir
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import Type
from raxis_cpu.llvm.native import built_in, method_definition
from raxis_cpu.mkl import is_mkl, product_blas

_ROW_MAJOR, _COLUMN_MAJOR = 101, 102
_PLAIN, _TRANSPOSED = 111, 112
_LARGE = 1 << 20
"""Multiplications from which several threads are worth while."""
_SMALLEST = 1 << 15
"""Multiplications of a product from which BLAS loses time where the right matrix lies column by column."""
_FEW_ROWS = 24
"""Rows of the smaller matrix up to which packing the other one would take too long."""
_FLAT_ROWS = 12
"""The same where the other matrix lies row by row."""
_SUMS = 24
"""Sums that stay in 32 registers, with what is added to them; half as many in 16."""
_NARROW = 16
"""Bytes of registers that are not loaded and stored in part."""
_MANY_ELEMENTS = 1 << 18
"""Elements of the larger matrix from which several threads are worth while, because they come from memory."""
_TASKS = 64
"""So many tasks keep all threads busy."""
_ROWS_OF_TASK = 8
"""Rows of a task are a multiple of this."""
_LINE = 64
"""Bytes of a line of the cache."""
_CLOSE = 1 << 12
"""Rows of a matrix whose distance in bytes is a multiple of this share few sets of the first cache."""
_APART = 1 << 8
"""Copied rows are one line of the cache more than a multiple of so many elements apart."""
_OFTEN = 256
"""Columns from which a copy of the left matrix pays for itself."""
_LETTERS = {dtypes.float32: "s", dtypes.float64: "d"}
_ELEMENTS = {dtypes.float32: "float", dtypes.float64: "double"}
_ROW_BYTES = 1 << 20
"""So much of the left matrix stays in a core's second cache while all columns are passed over."""


class _Run(NamedTuple):
    """Dimensions that are traversed as one: how many elements, how far apart."""

    size: int
    stride: int


def _merged(sizes: Sequence[int], strides: Sequence[int]) -> _Run | None:
    """The dimensions as one run; None if they are not evenly spaced."""
    run = _Run(1, 1)
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if run.size > 1 and stride != run.stride * run.size:
            return None
        run = _Run(run.size * size, run.stride if run.size > 1 else stride)
    return run


class Matrix(NamedTuple):
    """How a matrix is read: transposed or not, and the distance of its lines."""

    transposed: bool
    distance: int

    def other_way(self) -> Matrix:
        """The transposed matrix in the same memory."""
        return self._replace(transposed=not self.transposed)


def _matrix(rows: _Run, columns: _Run) -> Matrix | None:
    """A matrix of row-major lines, or of column-major ones (then transposed); None if neither is contiguous."""
    if columns.stride == 1 or columns.size == 1:
        distance = rows.stride if rows.size > 1 else columns.size
        if distance >= columns.size and (columns.size == 1 or columns.stride == 1):
            return Matrix(False, max(distance, 1))
    if rows.stride == 1 or rows.size == 1:
        distance = columns.stride if columns.size > 1 else rows.size
        if distance >= rows.size:
            return Matrix(True, max(distance, 1))
    return None


# ---- what is multiplied ----------------------------------------------------------------------------


class Batch(NamedTuple):
    """The dimensions of a stack of products, with the strides of both operands and of the result."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """How many products."""
        return prod(self.shape)

    def steps(self) -> list[int] | None:
        """How far apart the matrices of every array are, if they are evenly spaced."""
        runs = [_merged(self.shape, strides) for strides in self.strides]
        return (
            None if None in runs else [0 if self.size == 1 else run.stride for run in runs if run is not None]
        )

    def starts(self) -> list[int]:
        """Where the matrices of every product begin: three numbers each."""
        places = np.indices(self.shape).reshape(len(self.shape), self.size)
        starts: list[int] = np.ravel(
            np.array(self.strides, np.int64).reshape(3, -1) @ places, order="F"
        ).tolist()
        return starts


class Problem(NamedTuple):
    """A stack of products result = left · right."""

    batch: Batch
    rows: int
    columns: int
    inner: int
    left: Matrix
    right: Matrix
    result: Matrix

    @property
    def work(self) -> int:
        """Multiplications."""
        return self.batch.size * self.rows * self.columns * self.inner

    def row_major(self) -> tuple[bool, Problem]:
        """The same with a result of row-major lines, and whether the operands are exchanged for it."""
        return (True, self.exchanged()) if self.result.transposed else (False, self)

    def exchanged(self) -> Problem:
        """The transposed product: the operands in the other order."""
        return self._replace(
            rows=self.columns, columns=self.rows, left=self.right.other_way(), right=self.left.other_way(),
            result=self.result.other_way(),
        )  # fmt: skip


def _problem(instruction: Instruction, operands: Sequence[Strides], result: Strides) -> Problem | None:
    """None where a matrix cannot be read where it is, or is empty."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches, rows, columns = _dims(instruction)
    shape = instruction.results[0].type.shape
    first, second = len(batches[0]), len(batches[0]) + len(rows)

    def run(shape: Sequence[int], strides: Strides, dims: Sequence[int]) -> _Run | None:
        return _merged([shape[dim] for dim in dims], [strides[dim] for dim in dims])

    runs = [
        run(lhs.shape, operands[0], rows),
        run(lhs.shape, operands[0], attributes["lhs_contract"]),
        run(rhs.shape, operands[1], attributes["rhs_contract"]),
        run(rhs.shape, operands[1], columns),
        run(shape, result, range(first, second)),
        run(shape, result, range(second, len(shape))),
    ]
    strides = [tuple(operands[side][dim] for dim in batches[side]) for side in (0, 1)]
    batch = Batch(shape[:first], (*strides, result[:first]))
    known = [item for item in runs if item is not None]
    if len(known) < len(runs) or 0 in (batch.size, *(item.size for item in known)):
        return None
    matrices = [_matrix(*known[place : place + 2]) for place in (0, 2, 4)]
    left, right, target = matrices
    if left is None or right is None or target is None:
        return None
    return Problem(batch, known[0].size, known[3].size, known[1].size, left, right, target)


def _dims(
    instruction: Instruction,
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], Sequence[int], Sequence[int]]:
    """Batch dimensions of both operands, rows of the first, columns of the second."""
    (lhs, rhs), attributes = (value.type for value in instruction.operands), instruction.attributes
    batches = (attributes["lhs_batch"], attributes["rhs_batch"])
    rows = free_dims(lhs.rank, batches[0], attributes["lhs_contract"])
    return batches, rows, free_dims(rhs.rank, batches[1], attributes["rhs_contract"])


def native_product(
    instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]
) -> Callable[..., None] | None:
    """The built-in of a ``dot_general``; None where the operands cannot be read where they are.

    Large products with a vector are left to others as well.
    """
    dtype = instruction.results[0].type.dtype
    if instruction.primitive != "dot_general" or dtype not in _LETTERS:
        return None
    problem = _problem(instruction, operands, results[0])
    if problem is None:
        return None
    if is_mkl(product_blas()):
        return _blas_product(dtype, problem) if problem.work < _LARGE else None
    thin = _thin(problem)
    if thin is not None:
        return _thin_product(dtype, thin)
    if _is_flat(problem):
        return _flat_product(dtype, problem)
    if _suits_blocks(problem):
        return _blocked_product(dtype, problem)
    return _blas_product(dtype, problem) if problem.work < _LARGE else None


def _suits_blocks(problem: Problem) -> bool:
    """Whether our own kernel is at least as fast as BLAS: not for vectors and for small matrices that lie by rows."""
    if 1 in (problem.rows, problem.columns):
        return False
    _, problem = problem.row_major()
    return problem.work >= _LARGE or (
        problem.right.transposed and problem.work >= _SMALLEST * problem.batch.size
    )


# ---- by blocks -------------------------------------------------------------------------------------


def _blocked_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    swaps, problem = problem.row_major()
    starts = problem.batch.starts()
    return by_blocks(dtype, problem, int(swaps), _exchanged(starts) if swaps else starts)


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
    vector = Type(_ELEMENTS[dtype], host().vector_bytes // dtype.itemsize)
    block = -(-problem.inner // -(-problem.inner // DEPTH))
    rows = min(problem.rows, max(_ROW_BYTES // (block * dtype.itemsize), 1))
    copies = _should_copy(problem, dtype)
    copy_gap = -(-block // _APART) * _APART + _LINE // dtype.itemsize
    values = {
        "table": runtime.ADDRESS, "left": left, "rows": problem.rows, "columns": problem.columns,
        "inner": problem.inner, "left_gap": problem.left.distance, "right_gap": problem.right.distance,
        "result_gap": problem.result.distance, "stack": problem.batch.size, "block": block,
        "row_block": rows, "copy_gap": copy_gap, "copy_elements": rows * copy_gap * copies,
        "large": int(problem.work >= _LARGE),
    }  # fmt: skip
    code = _blocks(Form(vector, problem.left.transposed, problem.right.transposed, has_bias, copies))
    return code.bind([*(values[name] for name in NUMBERS), *starts])


def _should_copy(problem: Problem, dtype: DType) -> bool:
    """Whether rows of the left matrix get into each other's way in the cache, and are read often enough."""
    close = problem.left.distance * dtype.itemsize % _CLOSE == 0
    return close and not problem.left.transposed and problem.rows > 1 and problem.columns >= _OFTEN


def _exchanged(starts: Sequence[int]) -> list[int]:
    """Where matrices begin, three numbers a product, with the first two exchanged."""
    return [starts[place + move] for place in range(0, len(starts), 3) for move in (1, 0, 2)]


@cache
def _blocks(form: Form) -> _Compiled:
    return _Compiled(blocked_ir(form))


class _Compiled:
    """The code of one kind of products."""

    def __init__(self, ir: str) -> None:
        self._code = Code(compile(f'target triple = "{host().triple}"\n{ir}', host()))
        self._definition = method_definition("dot_general", self._code.address("entry"))

    def bind(self, numbers: Sequence[int]) -> Callable[..., None]:
        """The built-in of one shape."""
        return built_in(self._definition, numbers, self)


# ---- of few rows -----------------------------------------------------------------------------------


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
    if min(counts) > _FEW_ROWS or problem.work < _SMALLEST * problem.batch.size:
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
    starts = _exchanged(batch.starts()) if place else batch.starts()
    vector = Type(_ELEMENTS[dtype], host().vector_bytes // dtype.itemsize)
    return _rows_code(vector).bind([*(values[name] for name in THIN_NUMBERS), *starts])


def _part(size: int, stack: int, unit: int) -> int:
    """Rows or columns of a task, a multiple of `unit`."""
    tasks = -(-_TASKS // stack)
    return -(-size // (tasks * unit)) * unit


@cache
def _rows_code(vector: Type) -> _Compiled:
    return _Compiled(thin_ir(vector))


# ---- of few rows with rows -------------------------------------------------------------------------


def _with_few_rows(problem: Problem) -> tuple[bool, Problem]:
    """The same with fewer rows than columns, and whether the operands are exchanged for it."""
    return (True, problem.exchanged()) if problem.columns < problem.rows else (False, problem)


def _is_flat(problem: Problem) -> bool:
    """Whether a few rows, not one, are multiplied with a matrix that lies row by row, as the result does."""
    _, problem = _with_few_rows(problem)
    lies_by_rows = not problem.right.transposed and not problem.result.transposed
    suits = 1 < problem.rows <= _FLAT_ROWS and host().vector_bytes > _NARROW
    return lies_by_rows and suits and problem.work >= _SMALLEST * problem.batch.size


def _flat_product(dtype: DType, problem: Problem) -> Callable[..., None]:
    exchanged, problem = _with_few_rows(problem)
    batch, left = problem.batch, problem.left
    vector = Type(_ELEMENTS[dtype], host().vector_bytes // dtype.itemsize)
    form = FlatForm(vector, problem.rows, _SUMS if host().has_masks else _SUMS // 2)
    large = batch.size * problem.columns * problem.inner >= _MANY_ELEMENTS
    part = _part(problem.columns, batch.size, form.width) if large else problem.columns
    row, step = (1, left.distance) if left.transposed else (left.distance, 1)
    values = {
        "table": runtime.ADDRESS, "flat": int(exchanged), "columns": problem.columns, "inner": problem.inner,
        "flat_row": row, "flat_step": step, "wide_gap": problem.right.distance, "result_gap": problem.result.distance,
        "stack": batch.size, "part": part, "parts": -(-problem.columns // part), "large": int(large),
    }  # fmt: skip
    starts = _exchanged(batch.starts()) if exchanged else batch.starts()
    return _flat_code(form).bind([*(values[name] for name in FLAT_NUMBERS), *starts])


@cache
def _flat_code(form: FlatForm) -> _Compiled:
    return _Compiled(flat_ir(form))


# ---- by BLAS ---------------------------------------------------------------------------------------


def _blas_product(dtype: DType, problem: Problem) -> Callable[..., None] | None:
    steps = problem.batch.steps()
    product = _code(dtype) if steps is not None else None
    if steps is None or product is None:
        return None
    left, right, result = problem[-3:]
    order = _COLUMN_MAJOR if result.transposed else _ROW_MAJOR
    # Column-major BLAS reads row-major lines as transposed ones, and the other way round.
    flags = [_TRANSPOSED if matrix.transposed != result.transposed else _PLAIN for matrix in (left, right)]
    sizes = [problem.rows, problem.columns, problem.inner]
    gaps = [left.distance, right.distance, result.distance]
    return product.bind([order, *flags, *sizes, *gaps, problem.batch.size, *steps])


@lru_cache(maxsize=2)
def _code(dtype: DType) -> _Product | None:
    blas = product_blas()
    gemm = blas.address(f"cblas_{_LETTERS[dtype]}gemm") if blas is not None else 0
    return _Product(dtype, blas, gemm) if blas is not None and gemm else None


class _Product:
    """The compiled product of one dtype."""

    def __init__(self, dtype: DType, blas: Blas, gemm: int) -> None:
        self._addresses = [runtime.ADDRESS, gemm, *blas.thread_functions]
        self._compiled = Code(compile(gemm_ir(dtype, has_long_integers=blas.has_long_integers), host()))
        self._definition = method_definition("dot_general", self._compiled.address("entry"))

    def bind(self, numbers: Sequence[int]) -> Callable[..., None]:
        """The built-in of one shape."""
        return built_in(self._definition, [*self._addresses, *numbers], self)
