"""Masks: masked_fill, masked_select, masked_scatter, nonzero and relatives.

Where the shape of a result depends on values, the values are counted first and the count is read back.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from raxis import dtypes
from raxis.autograd.grad_mode import new_in_mode
from raxis.dtypes import Category, DType, scalar_category
from raxis.layout import Layout, Shape, broadcast_shapes, contiguous_strides, layout_of
from raxis.ops.definitions.positions import as_operand
from raxis.ops.definitions.verdicts import Failure, require_none
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.ptir.attributes import number_type
from raxis.tensor import Tensor, wrap


def as_number(value: Any, dtype: DType) -> Any:
    """A Python number as the Python type of `dtype`, as when it is stored there; tensors themselves.

    Raises:
        RuntimeError: for a complex number and a real dtype.
    """
    if isinstance(value, Tensor):
        return value
    if scalar_category(value.__class__) is Category.COMPLEX and not dtype.is_complex:
        raise RuntimeError(
            f"value cannot be converted to type {dtype.name} without overflow: {value!r} is complex."
        )
    return number_type(dtype)(value)


# ---- masked_fill -----------------------------------------------------------------------------------


@lowered(
    "_masked_fill(Tensor input, Tensor mask, Tensor|Scalar value) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    promoted=("input",),
    vjp={
        "input": lambda grad, mask: _masked_fill(grad, mask, number_type(grad.dtype)(0)),
        "value": lambda grad, mask: _masked_fill(grad, ~mask, number_type(grad.dtype)(0)).sum(),
    },
    inplace=True,
    function=False,
    out=False,
)
def _masked_fill(input: Tensor, mask: Tensor, value: Tensor) -> Any:
    """`masked_fill` of a number of the input's own category, or a 0-d tensor."""
    value = as_operand(value, input.dtype)
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if value._layout.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._layout.ndim} "
            "dimension(s)."
        )
    if value.dtype.is_complex and not input.dtype.is_complex:
        raise RuntimeError(
            f"value of {value.dtype} cannot be converted to type {input.dtype.name} without overflow"
        )
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    filling = broadcast(cast(value, input.dtype), shape)
    return emit("select", broadcast(mask, shape), filling, broadcast(input, shape))


@composed("masked_fill(Tensor input, Tensor mask, Tensor|Scalar value) -> Tensor", out=False)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`input` with `value` where `mask` is True.

    Args:
        input: any shape.
        mask: bool; its shape must broadcast with `input`'s.
        value: a number or a 0-d tensor, stored in `input`'s dtype.

    Raises:
        RuntimeError: if `mask` is not bool or `value` has dimensions.

    Example:
        >>> import raxis
        >>> raxis.masked_fill(raxis.tensor([1, 2]), raxis.tensor([True, False]), 0)
        tensor([0, 2])
    """
    return _masked_fill(input, mask, as_number(value, input._layout.dtype))


@composed("masked_fill_(Tensor input, Tensor mask, Tensor|Scalar value) -> Tensor", function=False, out=False)
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`masked_fill` in place."""
    return input._masked_fill_(mask, as_number(value, input._layout.dtype))


# ---- positions of what is not zero -----------------------------------------------------------------


@lowered(
    "_nonzero_positions(Tensor input) -> (Tensor positions, Tensor count)",
    composite=True,
    method=False,
    function=False,
    out=False,
)
def _nonzero_positions(input: Tensor) -> Any:
    """Flat row-major positions of nonzero elements, packed at the front, and how many they are."""
    return _packed_positions(input)


def _packed_positions(input: Tensor) -> tuple[Any, Any]:
    """While tracing: `_nonzero_positions`; what follows the positions is 0."""
    numel = input._layout.numel
    flat = emit("reshape", input, shape=(numel,))
    chosen = cast(cast(flat, dtypes.bool_), dtypes.int64)
    count = emit("reduce_sum", chosen, dims=(0,))
    if not numel:
        return constant(0, dtypes.int64, (0,)), count
    place = emit("sub", emit("cumsum", chosen, dim=0), constant(1, dtypes.int64, (numel,)))
    place = emit("select", cast(chosen, dtypes.bool_), place, constant(numel, dtypes.int64, (numel,)))
    own = emit("iota", shape=(numel,), dtype=dtypes.int64, dim=0)
    packed = emit("put", constant(0, dtypes.int64, (numel + 1,)), place, own, dim=0, reduce="set")
    return emit("slice", packed, start=(0,), stop=(numel,), step=(1,)), count


def as_int(number: Tensor) -> int:
    """The value of an integer tensor of one element, read back."""
    value: Any = number.item()
    return int(value)


def nonzero_positions(input: Tensor) -> Tensor:
    """Flat row-major positions of the nonzero elements, ascending; waits for their count."""
    positions, count = _nonzero_positions(input)
    return positions.narrow(0, 0, as_int(count))


def _coordinates(positions: Tensor, shape: Shape) -> Any:
    """While tracing: the index along every dimension, one row per position in a tensor of `shape`."""
    count = positions._layout.shape
    columns = []
    for size, stride in zip(shape, contiguous_strides(shape), strict=True):
        step, length = (constant(max(number, 1), dtypes.int64, count) for number in (stride, size))
        index = emit("remainder", emit("floor_divide", positions, step), length)
        columns.append(emit("reshape", index, shape=(*count, 1)))
    return emit("concatenate", *columns, dim=1)


@lowered("_unravelled(Tensor positions, int[] shape) -> Tensor", method=False, function=False, out=False)
def _unravelled(positions: Tensor, shape: Shape) -> Any:
    """`_coordinates` of a 1-D tensor."""
    return _coordinates(positions, shape)


@lowered(
    "_nonzero_rows(Tensor input) -> (Tensor rows, Tensor count)",
    composite=True,
    method=False,
    function=False,
    out=False,
)
def _nonzero_rows(input: Tensor) -> Any:
    """Indices of nonzero elements, one row for each, packed at the front, and how many they are."""
    positions, count = _packed_positions(input)
    return _coordinates(positions, input._layout.shape), count


_SPARED = 1 << 10
"""Elements up to which memory that a result does not need is not worth a copy."""


def leading(packed: Tensor, count: int) -> Tensor:
    """So many leading slices of a dense new tensor that nothing else refers to; at most half its memory is wasted."""
    layout = packed._layout
    if packed._edge is None and (layout.numel <= _SPARED or 2 * count >= layout.shape[0]):
        shape = (count, *layout.shape[1:])
        return new_in_mode(wrap(packed._storage, 0, layout_of(layout.dtype, shape, None, layout.device)))
    return packed.narrow(0, 0, count).clone()


def first_of(packed: Tensor, count: Tensor) -> Tensor:
    """`leading` for a count that is read back."""
    return leading(packed, as_int(count))


@composed("nonzero(Tensor input, *, bool as_tuple=False) -> Tensor")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Indices of the elements that are not zero, in row-major order.

    Args:
        input: any shape and dtype.
        as_tuple: give one 1-D tensor per dimension, fit for indexing, instead of one row per element.

    Example:
        >>> import raxis
        >>> raxis.nonzero(raxis.tensor([0, 5, 0, 7]))
        tensor([[1],
                [3]])
    """
    if as_tuple:
        return nonzero(input if input._layout.ndim else input.view(1)).unbind(1)
    if not input._layout.ndim:
        return nonzero_positions(input).new_empty((int(bool(input)), 0))
    return first_of(*_nonzero_rows(input))


@composed("argwhere(Tensor input) -> Tensor", out=False)
def argwhere(input: Tensor) -> Tensor:
    """``nonzero(input)``."""
    return nonzero(input)


@composed("nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor")
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` rows of `nonzero`; missing rows are filled with `fill_value`.

    Raises:
        RuntimeError: if `size` is negative.
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    if not input._layout.ndim:
        return input.new_empty((size, 0), dtype=dtypes.int64)
    rows, count = _nonzero_rows(input)
    given = rows[:size].constant_pad_nd((0, 0, 0, max(size - rows._layout.shape[0], 0)))
    places = input.new_ones((size, 1), dtype=dtypes.int64).cumsum(0)
    return given.masked_fill(places > count, fill_value)


# ---- masked_select and masked_scatter --------------------------------------------------------------


def _check_mask_dtype(name: str, mask: Tensor) -> None:
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"{name}: expected BoolTensor for mask, but got {mask.dtype}")


@composed("masked_select(Tensor input, Tensor mask) -> Tensor", apart=True)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where `mask` is True, in one dimension.

    Args:
        input: any shape.
        mask: bool; its shape must broadcast with `input`'s.

    Raises:
        RuntimeError: if `mask` is not bool.

    Example:
        >>> import raxis
        >>> raxis.masked_select(raxis.tensor([1, 2, 3]), raxis.tensor([True, False, True]))
        tensor([1, 3])
    """
    _check_mask_dtype("masked_select", mask)
    return first_of(*_compressed(input, mask))


def _compressed_gradient(grad: Tensor, input_layout: Layout, mask: Tensor) -> Tensor:
    shape = broadcast_shapes(input_layout.shape, mask._layout.shape)
    zeros = grad.new_zeros(shape)
    return _masked_scatter(zeros, mask, grad).sum_to_size(input_layout.shape)


@lowered(
    "_compressed(Tensor input, Tensor mask) -> (Tensor values, Tensor count)",
    composite=True,
    vjp={"input": _compressed_gradient},
    method=False,
    function=False,
    out=False,
)
def _compressed(input: Tensor, mask: Tensor) -> Any:
    """The elements where `mask` is True, packed at the front, and how many they are; what follows may be anything."""
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    positions, count = _packed_positions(broadcast(mask, shape))
    flat = emit("reshape", broadcast(input, shape), shape=(prod(shape),))
    return emit("take", flat, positions, dim=0), count


def _mask_of(mask: Tensor, shape: Shape) -> Any:
    return emit("reshape", broadcast(mask, shape), shape=(prod(shape),))


def _used_gradient(grad: Tensor, mask: Tensor, source_layout: Layout) -> Tensor:
    used = grad.masked_select(mask)
    return used.constant_pad_nd((0, source_layout.numel - used._layout.numel)).reshape(source_layout.shape)


@lowered(
    "_masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor",
    vjp={
        "input": lambda grad, mask: grad.masked_fill(mask, 0),
        "source": _used_gradient,
    },
    inplace=True,
    function=False,
    out=False,
)
def _masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """`masked_scatter` with as many source elements as needed."""
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    numel, available = prod(shape), source._layout.numel
    if not numel or not available:
        return broadcast(input, shape)
    flat_mask = _mask_of(mask, shape)
    rank = emit("cumsum", cast(flat_mask, dtypes.int64), dim=0)
    place = emit("sub", rank, constant(1, dtypes.int64, (numel,)))
    place = emit("select", flat_mask, place, constant(0, dtypes.int64, (numel,)))
    place = emit("minimum", place, constant(available - 1, dtypes.int64, (numel,)))
    values = emit("take", emit("reshape", source, shape=(available,)), place, dim=0)
    values = emit("reshape", values, shape=shape)
    return emit("select", broadcast(mask, shape), values, broadcast(input, shape))


def _check_masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> None:
    _check_mask_dtype("masked_scatter_", mask)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and {source.dtype}"
        )
    if mask._layout.traced:
        return
    shape = broadcast_shapes(input._layout.shape, mask._layout.shape)
    if source._layout.numel < prod(shape):
        missing = (mask.expand(shape).sum() - source._layout.numel).clamp(min=0)
        require_none(missing, Failure(partial(_too_few, source._layout.numel), code_bits=40))


def _too_few(given: int, _: int, missing: int) -> Exception:
    return RuntimeError(
        f"masked_scatter: Number of elements of source < number of ones in mask: {given} < {given + missing}"
    )


@composed("masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor", out=False)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with consecutive elements of `source` where `mask` is True.

    Args:
        input: any shape.
        mask: bool; its shape must broadcast with `input`'s.
        source: at least as many elements as True ones.

    Raises:
        RuntimeError: if dtypes do not match or `source` has too few elements.
    """
    _check_masked_scatter(input, mask, source)
    return _masked_scatter(input, mask, source)


@composed("masked_scatter_(Tensor input, Tensor mask, Tensor source) -> Tensor", function=False, out=False)
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`masked_scatter` in place."""
    _check_masked_scatter(input, mask, source)
    return input._masked_scatter_(mask, source)


@composed("unravel_index(Tensor indices, int[] shape) -> Tensor", method=False, out=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The index along every dimension of flat row-major positions in a tensor of `shape`.

    Args:
        indices: integers, any shape.
        shape: sizes.

    Raises:
        ValueError: if `indices` are not integers or a size is negative.

    Example:
        >>> import raxis
        >>> raxis.unravel_index(raxis.tensor([1, 5]), (2, 3))
        (tensor([0, 1]), tensor([1, 2]))
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if indices.dtype.category is not Category.INTEGER:
        raise ValueError(f"unravel_index(): expected 'indices' to be integer dtype, but got {indices.dtype}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, got {sizes}")
    if not sizes:
        return ()
    rows = _unravelled(indices.reshape(-1).to(dtypes.int64), sizes)
    return tuple(column.reshape(indices._layout.shape) for column in rows.unbind(1))
