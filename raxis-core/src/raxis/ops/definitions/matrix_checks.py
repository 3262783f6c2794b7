"""What the ops on matrices share: checks of their operands, reports of what failed, and small constructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category
from raxis.errors import LinAlgError
from raxis.ops.definitions.reductions import scalar_type
from raxis.ops.definitions.sequences import eye
from raxis.ops.definitions.verdicts import Failure, require_none, saying
from raxis.tensor import Tensor

LINALG = "raxis.linalg"


def require_matrices(name: str, *operands: Tensor, letters: str = "AB") -> None:
    """Raise unless all operands are (batches of) matrices of a dtype in which there are factorizations."""
    for letter, operand in zip(letters, operands, strict=False):
        require_factorable_dtype(name, operand)
        if operand.ndim < 2:
            raise RuntimeError(
                f"{name}: The input tensor {letter} must have at least 2 dimensions, but got {operand.ndim}."
            )


def require_factorable_dtype(name: str, operand: Tensor) -> None:
    """Raise unless the dtype is float32, float64 or complex."""
    dtype = operand.dtype
    if dtype.category < Category.FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(dtype)}"
        )
    if dtype in dtypes.HALF:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_type(dtype)}")


def require_square(name: str, operand: Tensor, letter: str = "A") -> None:
    """Raise unless the operand is (a batch of) square matrices."""
    require_matrices(name, operand, letters=letter)
    rows, columns = operand._layout.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {letter} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def require_one_dtype(name: str, first: Tensor, second: Tensor) -> None:
    """Raise unless both operands have one dtype."""
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"{name}: Expected operands of one dtype, but got {scalar_type(first.dtype)} and "
            f"{scalar_type(second.dtype)}."
        )


def has_values(operand: Tensor) -> bool:
    """Whether there are elements that can be looked at: not while tracing, nor on the meta device."""
    return not operand._layout.traced and operand._layout.device.type != "meta"


def require_success(name: str, info: Tensor, sentence: Callable[[int], str]) -> None:
    """Raise unless the `info` of every factorization is 0; `sentence` describes another number.

    Raises:
        LinAlgError: for the first matrix that failed.
    """
    several = info.device.differs(info) or info._layout.ndim > 0

    def error(position: int, code: int) -> Exception:
        where = f"(Batch element {position}): " if several else ""
        return LinAlgError(f"{name}: {where}{sentence(code)}")

    require_none(info, Failure(error))


def require_convergence(name: str, values: Tensor) -> None:
    """Raise if the values of a decomposition are NaN, which says that there is none.

    Raises:
        LinAlgError: if one is.
    """
    sentence = (
        f"{name}: The algorithm failed to converge because the input matrix contained non-finite values, is "
        "ill-conditioned or has too many repeated values."
    )
    require_none(values.isnan(), saying(LinAlgError, sentence))


def identity_of(matrix: Tensor, size: int | None = None) -> Any:
    """One identity matrix of a matrix's dtype and device; as many rows as it has columns unless a `size` is given."""
    layout = matrix._layout
    return eye(layout.shape[-1] if size is None else size, dtype=layout.dtype, device=layout.device)


def diagonal_of(matrix: Tensor) -> Any:
    """The diagonals of the last two dimensions."""
    return matrix.diagonal(0, -2, -1)
