"""Copies with elements repeated, reversed, rotated or masked to a triangle or diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from raxis import dtypes
from raxis.layout import Layout, Shape, wrap_dim
from raxis.ops.definitions.literals import tensor
from raxis.ops.definitions.masking import as_int
from raxis.ops.definitions.verdicts import are_deferred, require_none, saying
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.tensor import Tensor

# ---- repetition ------------------------------------------------------------------------------------


def _repeat_shapes(layout: Layout, repeats: Shape) -> tuple[Shape, Shape]:
    """Sizes and repeat counts interleaved: the operand with size 1 before each size, and that repeated."""
    lead = len(repeats) - layout.ndim
    if lead < 0:
        raise RuntimeError(
            f"Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: got "
            f"{list(repeats)} for shape {list(layout.shape)}"
        )
    for axis, count in enumerate(repeats):
        if count < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {count} in repeats at {axis}"
            )
    padded = (1,) * lead + layout.shape
    thin = tuple(size for own in padded for size in (1, own))
    full = tuple(size for count, own in zip(repeats, padded, strict=True) for size in (count, own))
    return thin, full


def _repeat_gradient(grad: Tensor, input_layout: Layout, repeats: Shape) -> Tensor:
    _, full = _repeat_shapes(input_layout, repeats)
    if not full:
        return grad
    return grad.reshape(full).sum(tuple(range(0, len(full), 2))).reshape(input_layout.shape)


@lowered(
    "repeat(Tensor input, int... repeats) -> Tensor",
    vjp={"input": _repeat_gradient},
    function=False,
    out=False,
)
def repeat(input: Tensor, repeats: Shape) -> Any:
    """`input` repeated along each dimension; more counts than dimensions add leading ones.

    Raises:
        RuntimeError: if there are fewer counts than dimensions.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2]).repeat(2, 2)
        tensor([[1, 2, 1, 2],
                [1, 2, 1, 2]])
    """
    thin, full = _repeat_shapes(input._layout, repeats)
    spread = broadcast(emit("reshape", input, shape=thin), full)
    shape = tuple(full[axis] * full[axis + 1] for axis in range(0, len(full), 2))
    return emit("reshape", spread, shape=shape)


@composed("tile(Tensor input, int... dims) -> Tensor", out=False)
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """`input` repeated along each dimension; missing leading counts are 1."""
    counts = tuple(named["dims"]) if named else dims
    if len(counts) == 1 and not isinstance(counts[0], int):
        counts = tuple(counts[0])
    missing = input._layout.ndim - len(counts)
    return input.repeat((1,) * max(missing, 0) + counts)


@lowered(
    "_repeat_positions(Tensor repeats, int total) -> Tensor",
    method=False,
    function=False,
    out=False,
)
def _repeat_positions(repeats: Tensor, total: int) -> Any:
    """For each of `total` results, which of the counted elements it repeats; any, if counts have another sum."""
    return owners_by_ends(emit("cumsum", cast(repeats, dtypes.int64), dim=0), total)


def owners_by_ends(ends: Any, total: int) -> Any:
    """For each of `total` places of the last dimension, which of the consecutive segments that end so it is in."""
    outer, dim = ends._layout.shape[:-1], ends._layout.ndim - 1
    least, most = (constant(number, dtypes.int64, ends._layout.shape) for number in (0, total))
    ends = emit("minimum", emit("maximum", ends, least), most)
    ones = constant(1, dtypes.int64, ends._layout.shape)
    ended = emit("scatter", constant(0, dtypes.int64, (*outer, total + 1)), ends, ones, dim=dim, reduce="add")
    before = emit("slice", ended, start=(0,) * (dim + 1), stop=(*outer, total), step=(1,) * (dim + 1))
    return emit("cumsum", before, dim=dim)


def _check_repeats(repeats: Tensor) -> None:
    if repeats._layout.ndim > 1:
        raise RuntimeError(
            f"repeats must be 0-dim or 1-dim tensor, but got shape {list(repeats._layout.shape)}"
        )
    if repeats.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(f"repeats has to be Long or Int tensor, but got {repeats.dtype}")
    require_none(repeats < 0, saying(RuntimeError, "repeats can not be negative"))


@composed(
    "repeat_interleave(Tensor input, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
    out=False,
)
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element, or each slice of `dim`, repeated in place.

    Args:
        input: any shape. Alone, it holds counts, and the indices they stand for are returned.
        repeats: one count, or a tensor of one count per slice.
        dim: the dimension; None: `input` is flattened.
        output_size: the sum of the counts, when it is known.

    Raises:
        RuntimeError: if a count is negative or the number of counts is wrong.

    Example:
        >>> import raxis
        >>> raxis.repeat_interleave(raxis.tensor([1, 2]), 2)
        tensor([1, 1, 2, 2])
    """
    if repeats is None:
        return _positions_of(input, output_size)
    if dim is None:
        input, dim = input.flatten(), 0
    axis = wrap_dim(dim, input._layout.ndim)
    if isinstance(repeats, (tuple, list)):
        repeats = tensor(repeats, device=input.device)
    if isinstance(repeats, Tensor) and repeats._layout.numel == 1 and repeats._layout.ndim <= 1:
        _check_repeats(repeats)
        if output_size is not None and are_deferred():
            repeats = repeats.expand(input._layout.shape[axis] if input._layout.ndim else 1)
        else:
            repeats = as_int(repeats)
    if not isinstance(repeats, Tensor):
        return _repeat_each(input, repeats, axis)
    if not input._layout.ndim:
        input = input.view(1)
    size = input._layout.shape[axis]
    if repeats._layout.ndim == 1 and repeats._layout.numel != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats._layout.numel} "
            f"and input.size({axis}) = {size}"
        )
    return input.index_select(axis, _positions_of(repeats, output_size))


def _positions_of(repeats: Tensor, output_size: int | None) -> Tensor:
    _check_repeats(repeats)
    if repeats._layout.ndim == 0:
        raise RuntimeError("repeat_interleave only accepts 1D vector as repeat")
    if output_size is None:
        output_size = as_int(repeats.sum())
    else:
        sentence = f"allocated size does not match required size: {output_size} is not the sum of the repeats"
        require_none(repeats.sum() != output_size, saying(RuntimeError, sentence))
    positions: Tensor = _repeat_positions(repeats, output_size)
    return positions if repeats.dtype is dtypes.int64 else positions.to(repeats.dtype)


def _repeat_each(input: Tensor, count: int, axis: int) -> Tensor:
    if count < 0:
        raise RuntimeError("repeats can not be negative")
    if not input._layout.ndim:
        input = input.view(1)
    shape = input._layout.shape
    spread = input.unsqueeze(axis + 1).expand(*shape[: axis + 1], count, *shape[axis + 1 :])
    return spread.clone().flatten(axis, axis + 1)


# ---- order of elements -----------------------------------------------------------------------------


def _distinct_axes(name: str, layout: Layout, dims: Sequence[int]) -> Shape:
    axes = tuple(wrap_dim(dim, layout.ndim) for dim in dims)
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"{name}: dim appears multiple times in the list of dims {list(dims)}")
    return axes if layout.ndim else ()


@lowered(
    "flip(Tensor input, int... dims) -> Tensor", vjp={"input": lambda grad, dims: grad.flip(dims)}, out=False
)
def flip(input: Tensor, dims: Shape) -> Any:
    """The order of elements reversed along `dims`.

    Example:
        >>> import raxis
        >>> raxis.tensor([1, 2, 3]).flip(0)
        tensor([3, 2, 1])
    """
    axes = _distinct_axes("flip", input._layout, dims)
    return emit("reverse", input, dims=axes) if axes else input


@composed("fliplr(Tensor input) -> Tensor", out=False)
def fliplr(input: Tensor) -> Tensor:
    """The second dimension reversed; `input` has at least two."""
    if input._layout.ndim < 2:
        raise RuntimeError(f"Input must be >= 2-d, but got shape {list(input._layout.shape)}.")
    return input.flip(1)


@composed("flipud(Tensor input) -> Tensor", out=False)
def flipud(input: Tensor) -> Tensor:
    """The first dimension reversed; `input` has at least one."""
    if input._layout.ndim < 1:
        raise RuntimeError("Input must be >= 1-d, but got a 0-d tensor.")
    return input.flip(0)


def _rolled(input: Tensor, shift: int, axis: int) -> Tensor:
    size = input._layout.shape[axis]
    if not size or not shift % size:
        return input
    start, stop, step = [0] * input.ndim, list(input._layout.shape), (1,) * input.ndim
    start[axis] = stop[axis] = size - shift % size
    tail = emit("slice", input, start=tuple(start), stop=input._layout.shape, step=step)
    head = emit("slice", input, start=(0,) * input.ndim, stop=tuple(stop), step=step)
    return emit("concatenate", tail, head, dim=axis)


@lowered(
    "roll(Tensor input, int[1] shifts, int[1] dims=()) -> Tensor",
    vjp={"input": lambda grad, shifts, dims: grad.roll(tuple(-shift for shift in shifts), dims)},
    out=False,
)
def roll(input: Tensor, shifts: Shape, dims: Shape) -> Any:
    """Elements moved by `shifts` places along `dims`, those pushed out coming in at the other end.

    Args:
        input: any shape.
        shifts: one number per dimension.
        dims: the dimensions; none: `input` is rolled as if flat.

    Raises:
        RuntimeError: if the numbers of shifts and dimensions differ.

    Example:
        >>> import raxis
        >>> raxis.roll(raxis.tensor([1, 2, 3]), 1)
        tensor([3, 1, 2])
    """
    layout = input._layout
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        if not layout.numel:
            return input
        flat = _rolled(emit("reshape", input, shape=(layout.numel,)), shifts[0], 0)
        return emit("reshape", flat, shape=layout.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if not layout.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    for shift, dim in zip(shifts, dims, strict=True):
        input = _rolled(input, shift, wrap_dim(dim, layout.ndim))
    return input


@composed("rot90(Tensor input, int k=1, int[] dims=(0, 1)) -> Tensor", out=False)
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """`input` rotated by `k` quarter turns in the plane of two dimensions, from the first towards the second.

    Raises:
        RuntimeError: if there are not two different dimensions.
    """
    ndim = input._layout.ndim
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {ndim}")
    if any(not -ndim <= dim < ndim for dim in dims):
        raise RuntimeError(f"Rotation dims out of range, dims = {list(dims)} for a {ndim}-D tensor")
    first, second = dims
    if first % ndim == second % ndim:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}"
        )
    turns = k % 4
    if turns == 1:
        return input.flip(second).transpose(first, second)
    if turns == 2:
        return input.flip(first, second)
    if turns == 3:
        return input.flip(first).transpose(first, second)
    return input.clone()


# ---- triangles and diagonals -----------------------------------------------------------------------


def _triangle(name: str, input: Tensor, diagonal: int, compare: str) -> Any:
    layout = input._layout
    if layout.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, but got {layout.ndim}")
    kept = broadcast(_offset_compare(layout.shape[-2:], diagonal, compare), layout.shape)
    return emit("select", kept, input, broadcast(constant(0, layout.dtype), layout.shape))


def _offset_compare(shape: Shape, diagonal: int, compare: str) -> Any:
    """Where column - row compares with `diagonal`."""
    rows = emit("iota", shape=shape, dtype=dtypes.int64, dim=0)
    columns = emit("iota", shape=shape, dtype=dtypes.int64, dim=1)
    return emit(compare, emit("sub", columns, rows), constant(diagonal, dtypes.int64, shape))


@lowered(
    "tril(Tensor input, int diagonal=0) -> Tensor",
    vjp={"input": lambda grad, diagonal: grad.tril(diagonal)},
    inplace=True,
)
def tril(input: Tensor, diagonal: int) -> Any:
    """The lower triangle of matrices, zero elsewhere.

    Args:
        input: at least two dimensions; the last two are the matrices.
        diagonal: the highest diagonal kept: 0 the main one, positive above.

    Raises:
        RuntimeError: if `input` has fewer dimensions.

    Example:
        >>> import raxis
        >>> raxis.tril(raxis.ones(2, 2))
        tensor([[1., 0.],
                [1., 1.]])
    """
    return _triangle("tril", input, diagonal, "le")


@lowered(
    "triu(Tensor input, int diagonal=0) -> Tensor",
    vjp={"input": lambda grad, diagonal: grad.triu(diagonal)},
    inplace=True,
)
def triu(input: Tensor, diagonal: int) -> Any:
    """The upper triangle of matrices, zero elsewhere.

    Args:
        input: at least two dimensions; the last two are the matrices.
        diagonal: the lowest diagonal kept: 0 the main one, positive above.

    Raises:
        RuntimeError: if `input` has fewer dimensions.

    Example:
        >>> import raxis
        >>> raxis.triu(raxis.ones(2, 2))
        tensor([[1., 1.],
                [0., 1.]])
    """
    return _triangle("triu", input, diagonal, "ge")


@lowered(
    "diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    vjp={"input": lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2)},
    out=False,
)
def diag_embed(input: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    """Matrices with the last dimension of `input` on a diagonal, zero elsewhere.

    Args:
        input: at least one dimension.
        offset: which diagonal: 0 the main one, positive above.
        dim1: where the rows go in the result.
        dim2: where the columns go.

    Raises:
        RuntimeError: if the dimensions are the same.

    Example:
        >>> import raxis
        >>> raxis.diag_embed(raxis.tensor([1, 2]))
        tensor([[1, 0],
                [0, 2]])
    """
    layout = input._layout
    first, second = wrap_dim(dim1, layout.ndim + 1), wrap_dim(dim2, layout.ndim + 1)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    edge = layout.shape[-1] + abs(offset)
    low = (0,) * (layout.ndim - 1) + (max(offset, 0),)
    high = (0,) * (layout.ndim - 1) + (max(-offset, 0),)
    zero = constant(0, layout.dtype)
    by_column = emit("pad", input, zero, low=low, high=high, interior=(0,) * layout.ndim)
    shape = (*layout.shape[:-1], edge, edge)
    spread = emit("broadcast", by_column, shape=shape, dims=(*range(layout.ndim - 1), layout.ndim))
    kept = broadcast(_offset_compare((edge, edge), offset, "eq"), shape)
    matrices = emit("select", kept, spread, broadcast(zero, shape))
    rest = iter(range(layout.ndim - 1))
    order = tuple(
        {first: layout.ndim - 1, second: layout.ndim}[axis] if axis in (first, second) else next(rest)
        for axis in range(layout.ndim + 1)
    )
    return emit("transpose", matrices, permutation=order)


@composed("diag(Tensor input, int diagonal=0) -> Tensor")
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with a 1-D tensor on its diagonal, or a copy of the diagonal of a matrix.

    Raises:
        RuntimeError: if `input` has neither one nor two dimensions.

    Example:
        >>> import raxis
        >>> raxis.diag(raxis.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    ndim = input._layout.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return input.diag_embed(diagonal) if ndim == 1 else input.diagonal(diagonal).clone()


@composed("diagflat(Tensor input, int offset=0) -> Tensor", out=False)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of `input` on a diagonal."""
    return input.flatten().diag_embed(offset)
