"""Primitives that read and write at computed positions.

Indices are i64 in [0, size); any other raises IndexError before anything is written. There is no wrap-around.
"""

from __future__ import annotations

from raxis.ptir.primitives.checks import (
    listed,
    require,
    require_dim,
    require_index,
    require_same_dtype,
)  # fmt: skip
from raxis.ptir.primitives.record import (
    COMPLEX,
    Attributes,
    Primitive,
    PrimitiveError,
    Regions,
    Results,
    Types,
)
from raxis.ptir.types import TensorType

REDUCTIONS = ("set", "add", "mul", "max", "min")
"""What happens where an update meets the element that is there."""


def _gather(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, index = operands
    require_index("gather", index)
    _require_index_within("gather", operand, index, attributes["dim"])
    return (TensorType(operand.dtype, index.shape),)


def _take(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, index = operands
    dim = attributes["dim"]
    require_index("take", index)
    require_dim("take", dim, operand.rank)
    return (TensorType(operand.dtype, operand.shape[:dim] + index.shape + operand.shape[dim + 1 :]),)


def _scatter(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, index, updates = operands
    require_index("scatter", index)
    _require_reduction("scatter", operand, attributes["reduce"])
    _require_index_within("scatter", operand, index, attributes["dim"])
    require_same_dtype("scatter", (operand, updates))
    require(
        updates.shape == index.shape,
        f"scatter expected updates of the shape of the index, but got {listed(operands)}.",
    )
    return (operand,)


def _put(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, index, updates = operands
    dim = attributes["dim"]
    require_index("put", index)
    require_dim("put", dim, operand.rank)
    _require_reduction("put", operand, attributes["reduce"])
    expected = TensorType(operand.dtype, (*operand.shape[:dim], *index.shape, *operand.shape[dim + 1 :]))
    require(
        index.rank == 1 and updates == expected,
        f"put into {operand} along dim {dim} expected a 1-D index and updates of type {expected}, but got "
        f"index {index} and updates {updates}.",
    )
    return (operand,)


def _require_index_within(name: str, operand: TensorType, index: TensorType, dim: int) -> None:
    require_dim(name, dim, operand.rank)
    require(
        index.rank == operand.rank
        and all(index.shape[axis] <= size for axis, size in enumerate(operand.shape) if axis != dim),
        f"{name} expected an index of the operand's rank, not larger than it except in dim {dim}, but got "
        f"{operand} and index {index}.",
    )


def _require_reduction(name: str, operand: TensorType, reduce: str) -> None:
    if reduce not in REDUCTIONS:
        raise PrimitiveError(
            f"{name} expected reduce to be one of {', '.join(REDUCTIONS)}, but got {reduce!r}."
        )
    if reduce in {"max", "min"} and operand.dtype in COMPLEX:
        raise PrimitiveError(f'"{name}" with reduce={reduce!r} not implemented for {operand.dtype.name}.')


PRIMITIVES = (
    Primitive("gather", "result[i, j, ...] = x[i, index[i, j, ...], ...] with the index in place of dim.",
              _gather, arity=2, attributes={"dim": "int"}),
    Primitive("take", "Slices of x along dim at the indices; the index's dims take the place of dim.",
              _take, arity=2, attributes={"dim": "int"}),
    Primitive("scatter", "x with result[i, index[i, j, ...], ...] (index in place of dim) set to, or combined by add, "
              "mul, max or min with, updates[i, j, ...] in row-major order: of several `set`s the last wins. "
              "Half precision accumulates in f32; bool adds by or, multiplies by and; NaN propagates.",
              _scatter, arity=3, attributes={"dim": "int", "reduce": "str"}),
    Primitive("put", "x with slice index[j] along dim set to, or combined as in scatter with, slice j of updates.",
              _put, arity=3, attributes={"dim": "int", "reduce": "str"}),
)  # fmt: skip
