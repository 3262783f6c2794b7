"""Matrix products as built-ins, without NumPy arrays in between.

A built-in takes ``a, offset, b, offset, result, offset`` (arrays of bytes, offsets in elements), as kernels do. Small
products call BLAS by its C symbols; larger ones are computed in all threads, by `block_products`, or by `few_rows`
where one matrix has few rows. Those in half precision are converted on the way to registers; see `half_products`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from raxis.dtypes import HALF, DType
from raxis.layout import Strides
from raxis.ptir.program import Instruction
from raxis_cpu.blas import COLUMN_MAJOR, LETTERS, PLAIN, ROW_MAJOR, TRANSPOSED, Blas
from raxis_cpu.library.block_products import LARGE, blocked_product, suits_blocks
from raxis_cpu.library.few_rows import product_of_few_rows
from raxis_cpu.library.gemm_ir import gemm_ir
from raxis_cpu.library.half_products import half_product
from raxis_cpu.library.problems import DTYPES, NARROW_INTEGERS, Problem, problem_of
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.native import built_in, method_definition
from raxis_cpu.mkl import is_mkl, product_blas


def native_product(
    instruction: Instruction, operands: Sequence[Strides], results: Sequence[Strides]
) -> Callable[..., None] | None:
    """The built-in of a ``dot_general``; None where the operands cannot be read where they are.

    Large products with a vector are left to others as well.
    """
    dtype = instruction.results[0].type.dtype
    if instruction.primitive != "dot_general" or dtype not in DTYPES:
        return None
    problem = problem_of(instruction, operands, results[0])
    if problem is None:
        return None
    if dtype in HALF:
        return half_product(dtype, problem)
    if dtype in NARROW_INTEGERS:
        return product_of_few_rows(dtype, problem)
    if dtype not in LETTERS:
        return product_of_few_rows(dtype, problem) or blocked_product(dtype, problem)
    if is_mkl(product_blas()):
        return _blas_product(dtype, problem) if problem.work < LARGE else None
    few = product_of_few_rows(dtype, problem)
    if few is not None:
        return few
    if suits_blocks(problem):
        return blocked_product(dtype, problem)
    return _blas_product(dtype, problem) if problem.work < LARGE else None


def _blas_product(dtype: DType, problem: Problem) -> Callable[..., None] | None:
    steps = problem.batch.steps()
    product = _code(dtype) if steps is not None else None
    if steps is None or product is None:
        return None
    left, right, result = problem[-3:]
    order = COLUMN_MAJOR if result.transposed else ROW_MAJOR
    # Column-major BLAS reads row-major lines as transposed ones, and the other way round.
    flags = [TRANSPOSED if matrix.transposed != result.transposed else PLAIN for matrix in (left, right)]
    sizes = [problem.rows, problem.columns, problem.inner]
    gaps = [left.distance, right.distance, result.distance]
    return product.bind([order, *flags, *sizes, *gaps, problem.batch.size, *steps])


@lru_cache(maxsize=2)
def _code(dtype: DType) -> _Product | None:
    blas = product_blas()
    gemm = blas.address(f"cblas_{LETTERS[dtype]}gemm") if blas is not None else 0
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
