"""Reading and writing at positions computed from strides: the derivatives of views that skip or repeat elements."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import Shape, Strides
from raxis.ops.table import lowered
from raxis.ops.trace import broadcast, constant, emit
from raxis.tensor import Tensor


def strided_positions(shape: Shape, strides: Strides, offset: int) -> Any:
    """Traced int64 positions of the elements of a strided view, in its shape."""
    total = constant(offset, dtypes.int64, shape)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        if size > 1 and stride:
            index = emit("iota", shape=shape, dtype=dtypes.int64, dim=axis)
            total = emit("add", total, emit("mul", index, constant(stride, dtypes.int64, shape)))
    return total


def as_operand(value: Any, dtype: DType) -> Any:
    """A traced tensor as it is, a Python number as a traced constant."""
    return value if isinstance(value, Tensor) else constant(value, dtype)


def read_strided(input: Tensor, size: Shape, stride: Strides, step: int) -> Any:
    """The values a strided view of a traced, row-major `input` has."""
    flat = emit("reshape", input, shape=(input._layout.numel,))
    return emit("take", flat, strided_positions(size, stride, step), dim=0)


@lowered(
    "_scatter_strided(Tensor input, int[] stride, int offset, int numel) -> Tensor",
    vjp={"input": lambda grad, input_layout, stride, offset: grad.as_strided(
        input_layout.shape, stride, grad.storage_offset() + offset)},
    method=False,
    function=False,
    out=False,
)  # fmt: skip
def scatter_strided(input: Tensor, stride: Strides, offset: int, numel: int) -> Any:
    """1-D zeros of `numel` elements with `input` added at the positions of a view of these strides."""
    layout = input._layout
    zeros = broadcast(constant(0, layout.dtype), (numel,))
    positions = emit("reshape", strided_positions(layout.shape, stride, offset), shape=(layout.numel,))
    updates = emit("reshape", input, shape=(layout.numel,))
    return emit("put", zeros, positions, updates, dim=0, reduce="add")
