"""Checks that the rules of several primitives share; all raise `PrimitiveError`."""

from __future__ import annotations

from collections.abc import Sequence

from raxis import dtypes
from raxis.ptir.primitives.record import PrimitiveError
from raxis.ptir.types import TensorType


def require(condition: bool, sentence: str) -> None:
    """Raise with `sentence` unless the condition holds."""
    if not condition:
        raise PrimitiveError(sentence)


def listed(types: Sequence[TensorType]) -> str:
    """Operand types for a message."""
    return ", ".join(map(str, types))


def require_same_type(name: str, types: Sequence[TensorType]) -> None:
    """All operands have one dtype and one shape."""
    if any(type != types[0] for type in types[1:]):
        raise PrimitiveError(
            f"{name} expected operands of the same dtype and shape, but got {listed(types)}. "
            "Programs promote by cast and broadcast by broadcast."
        )


def require_same_dtype(name: str, types: Sequence[TensorType]) -> None:
    """All operands have one dtype."""
    if any(type.dtype is not types[0].dtype for type in types[1:]):
        raise PrimitiveError(f"{name} expected operands of the same dtype, but got {listed(types)}.")


def require_index(name: str, type: TensorType) -> None:
    """Indices are int64."""
    if type.dtype is not dtypes.int64:
        raise PrimitiveError(f"{name} expected indices of type i64, but got {type}.")


def require_scalar(name: str, what: str, type: TensorType, expected: TensorType) -> None:
    """The operand has exactly the expected rank-0 type."""
    if type != expected:
        raise PrimitiveError(f"{name} expected {what} of type {expected}, but got {type}.")


def require_dim(name: str, dim: int, rank: int) -> None:
    """`dim` counts from 0 and names a dimension."""
    if not 0 <= dim < rank:
        raise PrimitiveError(f"{name} expected a dim in the range [0, {rank}), but got {dim}.")


def require_dims(name: str, dims: Sequence[int], rank: int) -> None:
    """`dims` are dimensions, ascending, each once."""
    if any(not 0 <= dim < rank for dim in dims) or list(dims) != sorted(set(dims)):
        raise PrimitiveError(
            f"{name} expected ascending, distinct dims in the range [0, {rank}), but got {tuple(dims)}."
        )


def require_shape(name: str, shape: Sequence[int]) -> None:
    """Sizes are not negative."""
    if any(size < 0 for size in shape):
        raise PrimitiveError(f"{name} expected a shape of non-negative sizes, but got {tuple(shape)}.")


def require_length(name: str, what: str, values: Sequence[object], length: int) -> None:
    """One entry per dimension."""
    if len(values) != length:
        raise PrimitiveError(f"{name} expected {length} entries in {what}, but got {tuple(values)}.")
