"""Reading and writing at index tensors that stand for several dimensions: what ``x[i, j]`` and `index_put` come to."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from raxis import dtypes
from raxis.dtypes import DType
from raxis.layout import Layout, Shape, broadcast_shapes
from raxis.ops.definitions.creation import zeros
from raxis.ops.definitions.positions import as_operand
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.ptir.attributes import number_type
from raxis.tensor import Tensor

INDEX_DTYPES = frozenset({dtypes.int32, dtypes.int64})


def wrapped_index(index: Tensor, size: int) -> Any:
    """A traced index as int64, -size ... -1 counted from the end; what is out of range stays so."""
    index = cast(index, dtypes.int64)
    shape = index._layout.shape
    low, zero, length = (constant(number, dtypes.int64, shape) for number in (-size, 0, size))
    negative = emit("and", emit("lt", index, zero), emit("ge", index, low))
    return emit("select", negative, emit("add", index, length), index)


class Selection(NamedTuple):
    """The geometry of one advanced indexing.

    Attributes:
        shape: the indexed tensor's.
        dims: the indexed dimensions, rising.
        index_shape: the common shape of the indices.
        together: whether `dims` are neighbours; then `index_shape` stands in their place, else at the front.
    """

    shape: Shape
    dims: Shape
    index_shape: Shape

    @property
    def together(self) -> bool:
        return self.dims == tuple(range(self.dims[0], self.dims[-1] + 1))

    @property
    def order(self) -> Shape:
        """The dimensions with the indexed ones brought together, as the result will have them."""
        if self.together:
            return tuple(range(len(self.shape)))
        return (*self.dims, *(axis for axis in range(len(self.shape)) if axis not in self.dims))

    @property
    def is_ordered(self) -> bool:
        """Whether `order` is the order the dimensions have."""
        return self.order == tuple(range(len(self.shape)))

    @property
    def place(self) -> int:
        """Where the indexed dimensions start in `order`."""
        return self.dims[0] if self.together else 0

    @property
    def before(self) -> Shape:
        """Sizes in front of the indexed dimensions, in `order`."""
        return self.shape[: self.place]

    @property
    def after(self) -> Shape:
        """Sizes behind the indexed dimensions, in `order`."""
        return tuple(self.shape[axis] for axis in self.order[self.place + len(self.dims) :])

    @property
    def merged(self) -> Shape:
        """The shape with the indexed dimensions merged into one."""
        return (*self.before, prod(self.shape[dim] for dim in self.dims), *self.after)

    @property
    def result(self) -> Shape:
        """The shape of what is selected."""
        return (*self.before, *self.index_shape, *self.after)


def selection_of(layout: Layout, indices: Sequence[Layout], dims: Shape) -> Selection:
    """The geometry of indexing `dims` with tensors of these layouts.

    Raises:
        IndexError: if the indices do not broadcast together.
    """
    try:
        shape = broadcast_shapes(*[index.shape for index in indices])
    except RuntimeError:
        shapes = ", ".join(str(list(index.shape)) for index in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    return Selection(layout.shape, dims, shape)


def _merge(input: Tensor, selection: Selection) -> Any:
    """The traced tensor with the indexed dimensions merged into one, at `selection.place`."""
    if not selection.is_ordered:
        input = emit("transpose", input, permutation=selection.order)
    return emit("reshape", input, shape=selection.merged)


def _flat_index(indices: Sequence[Tensor], selection: Selection) -> Any:
    """One traced index into the merged dimension."""
    sizes = [selection.shape[dim] for dim in selection.dims]
    if len(indices) == 1:
        return wrapped_index(indices[0], sizes[0])
    total = None
    for position, (index, dim) in enumerate(zip(indices, selection.dims, strict=True)):
        steps = _checked_steps(index, dim, sizes[position], prod(sizes[position + 1 :]))
        steps = broadcast(steps, selection.index_shape)
        total = steps if total is None else emit("add", total, steps)
    return total


def _checked_steps(index: Tensor, dim: int, size: int, step: int) -> Any:
    """``index * step``, read from a table along `dim` so that an index out of range is an error that names it."""
    shape = (*(1,) * dim, size)
    table = emit(
        "mul", emit("iota", shape=shape, dtype=dtypes.int64, dim=dim), constant(step, dtypes.int64, shape)
    )
    taken = emit("take", table, wrapped_index(index, size), dim=dim)
    return emit("reshape", taken, shape=index._layout.shape)


def _selected_gradient(
    grad: Tensor, input_layout: Layout, indices: tuple[Tensor, ...], dims: Shape
) -> Tensor:
    empty = zeros(input_layout.shape, dtype=grad.dtype, device=input_layout.device)
    return write_indexed(empty, indices, grad, dims, True)


@lowered(
    "_read_indexed(Tensor input, Tensor[] indices, int[] dims) -> Tensor",
    composite=True,
    vjp={"input": _selected_gradient},
    method=False,
    function=False,
    out=False,
)
def read_indexed(input: Tensor, indices: Sequence[Tensor], dims: Shape) -> Any:
    """The elements at `indices` of the dimensions `dims`; negative indices count from the end."""
    selection = selection_of(input._layout, [index._layout for index in indices], dims)
    return emit("take", _merge(input, selection), _flat_index(indices, selection), dim=selection.place)


def _without_overwritten(grad: Tensor, indices: tuple[Tensor, ...], dims: Shape, accumulate: bool) -> Tensor:
    zero = number_type(grad.dtype)(0)
    return grad if accumulate else write_indexed(grad, indices, zero, dims, False)


@lowered(
    "_write_indexed(Tensor input, Tensor[] indices, Tensor|Scalar values, int[] dims, bool accumulate) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    promoted=("input",),
    vjp={
        "input": _without_overwritten,
        "values": lambda grad, indices, dims: read_indexed(grad, indices, dims),
    },
    inplace=True,
    function=False,
    out=False,
)
def write_indexed(
    input: Tensor, indices: Sequence[Tensor], values: Tensor, dims: Shape, accumulate: bool
) -> Any:
    """`input` with `values` written, or added, at `indices` of the dimensions `dims`."""
    selection = selection_of(input._layout, [index._layout for index in indices], dims)
    updates = _arranged_values(as_operand(values, input.dtype), selection)
    index = broadcast(_flat_index(indices, selection), selection.index_shape)
    flat = emit("reshape", index, shape=(prod(selection.index_shape),))
    reduce = "add" if accumulate else "set"
    merged = emit("put", _merge(input, selection), flat, updates, dim=selection.place, reduce=reduce)
    ordered = emit("reshape", merged, shape=tuple(selection.shape[axis] for axis in selection.order))
    back = tuple(selection.order.index(axis) for axis in range(len(selection.order)))
    return ordered if selection.is_ordered else emit("transpose", ordered, permutation=back)


def _arranged_values(values: Tensor, selection: Selection) -> Any:
    """The traced values broadcast to the selection, its index dimensions merged."""
    shape = values._layout.shape
    extra = len(shape) - len(selection.result)
    if extra > 0 and set(shape[:extra]) <= {1}:
        values = emit("reshape", values, shape=shape[extra:])
    try:
        fits = broadcast_shapes(values._layout.shape, selection.result) == selection.result
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(shape)} cannot be broadcast to indexing result of shape "
            f"{list(selection.result)}"
        )
    spread = broadcast(values, selection.result)
    return emit("reshape", spread, shape=(*selection.before, prod(selection.index_shape), *selection.after))


def expand_masks(indices: Sequence[tuple[int, Tensor]], shape: Shape) -> tuple[tuple[Tensor, ...], Shape]:
    """Index tensors and their dimensions, every mask replaced by the positions of its True elements.

    Args:
        indices: (dimension, index tensor), a mask standing for as many dimensions as it has.
        shape: of the indexed tensor.

    Raises:
        IndexError: if a mask has another shape than the dimensions it stands for, or an index has a wrong dtype.
    """
    tensors: list[Tensor] = []
    dims: list[int] = []
    for dim, index in indices:
        if index.dtype is dtypes.bool_:
            check_mask(index, dim, shape)
            columns = index.nonzero().unbind(1)
            tensors += columns
            dims += range(dim, dim + len(columns))
        elif index.dtype in INDEX_DTYPES:
            tensors.append(index)
            dims.append(dim)
        else:
            raise IndexError(
                f"tensors used as indices must be long, int, byte or bool tensors, but got {index.dtype}"
            )
    return tuple(tensors), tuple(dims)


def check_mask(mask: Tensor, dim: int, shape: Shape) -> None:
    """Raise IndexError unless `mask` fits the dimensions from `dim` on."""
    own = mask._layout.shape
    for axis, size in enumerate(own):
        if dim + axis >= len(shape) or size != shape[dim + axis]:
            raise IndexError(
                f"The shape of the mask {list(own)} at index {axis} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim + axis}"
            )


def check_put_dtype(input: Tensor, dtype: DType) -> None:
    """Raise RuntimeError unless values of `dtype` may be put into `input`."""
    if dtype is not input.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype} for the destination and {dtype} for the source."
        )


def _prepared(input: Tensor, indices: Any, values: Tensor) -> tuple[tuple[Tensor, ...], Shape]:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"index_put(): argument 'indices' must be tuple of Tensors, not {type(indices).__name__}"
        )
    check_put_dtype(input, values.dtype)
    placed: list[tuple[int, Tensor]] = []
    dim = 0
    for index in indices:
        if index is not None:
            placed.append((dim, index if index.dtype is not dtypes.uint8 else index != 0))
        masks = index is not None and placed[-1][1].dtype is dtypes.bool_
        dim += index._layout.ndim if masks else 1
    if dim > input._layout.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input._layout.ndim} (got {dim})")
    return expand_masks(placed, input._layout.shape)


@composed("index_put(Tensor input, Tensor[]? indices, Tensor values, bool accumulate=False) -> Tensor")
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with `values` written at the positions that ``input[indices]`` reads.

    Args:
        input: any shape.
        indices: integer or bool tensors, one per leading dimension (None: the whole dimension).
        values: of `input`'s dtype; broadcast to the positions.
        accumulate: add instead; positions named several times then sum.

    Raises:
        IndexError: if an index is out of range, or the indices do not go together.
        RuntimeError: if dtypes differ or `values` do not broadcast.

    Example:
        >>> import raxis
        >>> raxis.index_put(raxis.zeros(3), (raxis.tensor([0, 2]),), raxis.tensor(1.0))
        tensor([1., 0., 1.])
    """
    tensors, dims = _prepared(input, indices, values)
    if not tensors:
        return (input + values if accumulate else values.expand(input.shape)).clone()
    return write_indexed(input, tensors, values, dims, accumulate)


@composed(
    "index_put_(Tensor input, Tensor[]? indices, Tensor values, bool accumulate=False) -> Tensor",
    function=False,
    out=False,
)
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """`index_put` in place."""
    tensors, dims = _prepared(input, indices, values)
    if not tensors:
        return input.add_(values) if accumulate else input.copy_(values)
    return input._write_indexed_(tensors, values, dims, accumulate)
