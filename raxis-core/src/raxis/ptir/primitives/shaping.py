"""Primitives that create, move and repeat elements without arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from raxis.ptir.attributes import Attribute, number_type
from raxis.ptir.primitives.checks import (
    require,
    require_dim,
    require_dims,
    require_length,
    require_same_dtype,
    require_scalar,
    require_shape,
)  # fmt: skip
from raxis.ptir.primitives.record import FLOAT, INTEGER, Attributes, Primitive, Regions, Results, Types
from raxis.ptir.types import TensorType


def _broadcast(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (operand,) = operands
    shape, dims = attributes["shape"], attributes["dims"]
    require_shape("broadcast", shape)
    require_length("broadcast", "dims", dims, operand.rank)
    require_dims("broadcast", dims, len(shape))
    require(
        all(size in (1, shape[dim]) for size, dim in zip(operand.shape, dims, strict=True)),
        f"broadcast expected sizes equal to those of dims {dims} of {shape}, or 1, but got {operand}.",
    )
    return (TensorType(operand.dtype, shape),)


def _reshape(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (operand,) = operands
    shape = attributes["shape"]
    require_shape("reshape", shape)
    require(
        prod(shape) == operand.size,
        f"reshape to {shape} is invalid for {operand}: the number of elements differs.",
    )
    return (TensorType(operand.dtype, shape),)


def _transpose(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (operand,) = operands
    permutation = attributes["permutation"]
    require(
        sorted(permutation) == list(range(operand.rank)),
        f"transpose expected a permutation of the {operand.rank} dims of {operand}, but got {permutation}.",
    )
    return (TensorType(operand.dtype, tuple(operand.shape[dim] for dim in permutation)),)


def _slice(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (operand,) = operands
    bounds = [attributes[name] for name in ("start", "stop", "step")]
    for name, values in zip(("start", "stop", "step"), bounds, strict=True):
        require_length("slice", name, values, operand.rank)
    for size, start, stop, step in zip(operand.shape, *bounds, strict=True):
        require(
            0 <= start <= stop <= size and step >= 1,
            f"slice expected 0 <= start <= stop <= size and step >= 1 in every dim of {operand}, but got "
            f"start {start}, stop {stop}, step {step} for size {size}.",
        )
    shape = tuple(-(-(stop - start) // step) for start, stop, step in zip(*bounds, strict=True))
    return (TensorType(operand.dtype, shape),)


def _reverse(operands: Types, attributes: Attributes, _: Regions) -> Results:
    require_dims("reverse", attributes["dims"], operands[0].rank)
    return (operands[0],)


def _concatenate(operands: Types, attributes: Attributes, _: Regions) -> Results:
    require(bool(operands), "concatenate expected at least one operand, but got none.")
    dim, first = attributes["dim"], operands[0]
    require_dim("concatenate", dim, first.rank)
    require_same_dtype("concatenate", operands)
    for operand in operands:
        require(
            operand.rank == first.rank
            and all(size == first.shape[axis] for axis, size in enumerate(operand.shape) if axis != dim),
            f"concatenate expected sizes that agree except in dim {dim}, but got {first} and {operand}.",
        )
    total = sum(operand.shape[dim] for operand in operands)
    return (TensorType(first.dtype, (*first.shape[:dim], total, *first.shape[dim + 1 :])),)


def _pad(operands: Types, attributes: Attributes, _: Regions) -> Results:
    operand, fill = operands
    paddings = [attributes[name] for name in ("low", "high", "interior")]
    for name, values in zip(("low", "high", "interior"), paddings, strict=True):
        require_length("pad", name, values, operand.rank)
    require_scalar("pad", "a fill value", fill, TensorType(operand.dtype, ()))
    require(min(paddings[2], default=0) >= 0, f"pad expected interior >= 0, but got {paddings[2]}.")
    shape = tuple(
        low + size + max(size - 1, 0) * interior + high
        for size, low, high, interior in zip(operand.shape, *paddings, strict=True)
    )
    require(
        min(shape, default=0) >= 0,
        f"pad of {operand} by low {paddings[0]} and high {paddings[1]} crops more elements than there are.",
    )
    return (TensorType(operand.dtype, shape),)


def _unfold(operands: Types, attributes: Attributes, _: Regions) -> Results:
    (operand,) = operands
    dim, size, step, dilation = (attributes[name] for name in ("dim", "size", "step", "dilation"))
    require_dim("unfold", dim, operand.rank)
    require(
        size >= 0 and step >= 1 and dilation >= 1,
        f"unfold expected size >= 0, step >= 1 and dilation >= 1, but got {size}, {step} and {dilation}.",
    )
    room = operand.shape[dim] - window_extent(size, dilation)
    require(
        room >= 0,
        f"unfold expected windows within dim {dim} of {operand}, but size is {size} and dilation {dilation}.",
    )
    shape = (*operand.shape[:dim], room // step + 1, *operand.shape[dim + 1 :], size)
    return (TensorType(operand.dtype, shape),)


def window_extent(size: int, dilation: int) -> int:
    """How many elements a dilated window spans."""
    return (size - 1) * dilation + 1 if size else 0


def _constant(_: Types, attributes: Attributes, __: Regions) -> Results:
    value, dtype, shape = (attributes[name] for name in ("value", "dtype", "shape"))
    require_shape("constant", shape)
    numbers = value if isinstance(value, tuple) else (value,)
    expected = number_type(dtype)
    require(
        not isinstance(value, tuple) or len(value) == prod(shape),
        f"constant expected one number or {prod(shape)} numbers for shape {shape}, but got {len(numbers)}.",
    )
    require(
        all(type(number) is expected for number in numbers),
        f"constant expected numbers of type {expected.__name__} for {dtype.name}, but got {value!r}.",
    )
    if dtype in INTEGER:
        bits = 8 * dtype.itemsize
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if dtype.is_signed else (0, 2**bits)
        require(
            all(low <= number < high for number in numbers),
            f"constant expected integers in [{low}, {high}) for {dtype.name}, but got {value!r}.",
        )
    return (TensorType(dtype, shape),)


def _canonical_constant(attributes: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """Numbers become those of the dtype's own Python type."""
    value: Any = attributes.get("value")
    dtype: Any = attributes.get("dtype")
    if value is None or dtype is None:
        return attributes
    convert = number_type(dtype)
    converted = tuple(map(convert, value)) if isinstance(value, tuple) else convert(value)
    return {**attributes, "value": converted}


def _iota(_: Types, attributes: Attributes, __: Regions) -> Results:
    require_shape("iota", attributes["shape"])
    require_dim("iota", attributes["dim"], len(attributes["shape"]))
    return (TensorType(attributes["dtype"], attributes["shape"]),)


PRIMITIVES = (
    Primitive("broadcast", "Repeats: dim i of the operand is dim dims[i] of the result, of the same size or size 1.",
              _broadcast, attributes={"shape": "ints", "dims": "ints"}),
    Primitive("reshape", "The elements in row-major order, in another shape.", _reshape, attributes={"shape": "ints"}),
    Primitive("transpose", "Dim i of the result is dim permutation[i] of the operand.",
              _transpose, attributes={"permutation": "ints"}),
    Primitive("slice", "Elements start, start + step, ... below stop, in every dim.",
              _slice, attributes={"start": "ints", "stop": "ints", "step": "ints"}),
    Primitive("reverse", "Order of elements reversed along dims.", _reverse, attributes={"dims": "ints"}),
    Primitive("concatenate", "The operands one after another along dim.",
              _concatenate, arity=None, attributes={"dim": "int"}),
    Primitive("pad", "`low` elements of the fill operand before each dim, `high` after it, `interior` between "
              "neighbours; negative low or high removes elements (after interior padding).",
              _pad, arity=2, attributes={"low": "ints", "high": "ints", "interior": "ints"}),
    Primitive("unfold", "All windows of `size` elements, `dilation` apart, every `step` along dim; elements of a "
              "window become the last dim. torch.Tensor.unfold with a dilation.",
              _unfold, attributes={"dim": "int", "size": "int", "step": "int", "dilation": "int"}),
    Primitive("constant", "Numbers given in the program: one for all elements, or one each in row-major order.",
              _constant, arity=0, data_operand=None, canonical=_canonical_constant,
              attributes={"value": "numbers", "dtype": "dtype", "shape": "ints"}),
    Primitive("iota", "The index along dim: 0, 1, 2, ...; integers wrap, floats round.",
              _iota, INTEGER | FLOAT, arity=0, data_operand=None,
              attributes={"shape": "ints", "dtype": "dtype", "dim": "int"}),
)  # fmt: skip
