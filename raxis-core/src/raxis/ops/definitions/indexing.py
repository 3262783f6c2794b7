"""Reading and writing along one dimension at given indices: index_select, gather, take and relatives."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import Layout, broadcast_shapes, wrap_dim
from raxis.ops.definitions.advanced_indexing import INDEX_DTYPES, wrapped_index
from raxis.ops.definitions.creation import zeros
from raxis.ops.definitions.masking import as_number
from raxis.ops.definitions.positions import as_operand
from raxis.ops.formulas import conj
from raxis.ops.promotion import Promotion
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, emit
from raxis.tensor import Tensor


def zeros_of(layout: Layout, like: Tensor) -> Tensor:
    """Zeros of a layout's shape, of the dtype of a gradient."""
    return zeros(layout.shape, dtype=like.dtype, device=layout.device)


def require_index(name: str, index: Tensor) -> None:
    """Raise RuntimeError unless `index` holds int32 or int64."""
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, but got {index.dtype}")


def as_1d(operand: Tensor) -> Any:
    """A traced 0-d tensor as one of one element; others themselves."""
    return operand if operand._layout.ndim else emit("reshape", operand, shape=(1,))


def like_shape(result: Tensor, layout: Layout) -> Any:
    """The traced result in the shape of an operand that `as_1d` may have changed."""
    return result if result._layout.shape == layout.shape else emit("reshape", result, shape=layout.shape)


# ---- index_select, index_add, index_copy, index_fill -----------------------------------------------


def _require_vector(name: str, index: Tensor) -> None:
    if index._layout.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got shape {list(index._layout.shape)}"
        )
    require_index(name, index)


@lowered(
    "index_select(Tensor input, int dim, Tensor index) -> Tensor",
    apart=True,
    vjp={
        "input": lambda grad, input_layout, dim, index: zeros_of(input_layout, grad).index_add(
            dim, index, grad
        )
    },
)
def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """The slices of dimension `dim` at `index`.

    Args:
        input: any shape.
        dim: the dimension.
        index: 1-D, int32 or int64, not negative.

    Raises:
        IndexError: if an index is out of range.

    Example:
        >>> import raxis
        >>> raxis.index_select(raxis.tensor([10, 20, 30]), 0, raxis.tensor([2, 0]))
        tensor([30, 10])
    """
    _require_vector("index_select", index)
    axis = wrap_dim(dim, input._layout.ndim)
    positions = as_1d(cast(index, dtypes.int64))
    if input._layout.ndim == 0 and positions._layout.numel != 1:
        raise IndexError(
            f"index_select(): Index to scalar can have only 1 value, got {positions._layout.numel}"
        )
    taken = emit("take", as_1d(input), positions, dim=axis)
    return taken if input._layout.ndim else emit("reshape", taken, shape=())


def _put_operands(
    name: str, input: Tensor, dim: int, index: Tensor, source: Tensor
) -> tuple[Any, int, Any, Any]:
    """Checked traced operands of `index_add` and `index_copy`: none of them is 0-d."""
    _require_vector(name, index)
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}_(): self ({input.dtype}) and source ({source.dtype}) must have the same scalar type"
        )
    axis = wrap_dim(dim, input._layout.ndim)
    target, values, positions = as_1d(input), as_1d(source), as_1d(cast(index, dtypes.int64))
    shape = target._layout.shape
    expected = (*shape[:axis], positions._layout.numel, *shape[axis + 1 :])
    if values._layout.shape != expected:
        raise RuntimeError(
            f"{name}_(): source must have the size of the index in dimension {axis} and self's sizes elsewhere, "
            f"{list(expected)}, but got {list(source._layout.shape)}"
        )
    return target, axis, positions, values


@lowered(
    "index_add(Tensor input, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    promoted=("input",),
    vjp={
        "input": lambda grad: grad,
        "source": lambda grad, dim, index, alpha, source_layout: _scaled(
            grad.index_select(dim, index).reshape(source_layout.shape), alpha),
    },
    inplace=True,
)  # fmt: skip
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any) -> Any:
    """`input` with ``alpha * source[i]`` added to its slice ``index[i]`` along `dim`.

    Args:
        input: any shape.
        dim: the dimension.
        index: 1-D, int32 or int64; an index may come several times.
        source: of `input`'s dtype, with the size of `index` in `dim`.
        alpha: a factor.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if dtypes or sizes do not match.
    """
    target, axis, positions, values = _put_operands("index_add", input, dim, index, source)
    if isinstance(alpha, Tensor):
        values = emit("mul", values, broadcast(alpha, values._layout.shape))
    return like_shape(emit("put", target, positions, values, dim=axis, reduce="add"), input._layout)


def _scaled(grad: Tensor, alpha: Any) -> Tensor:
    return grad if isinstance(alpha, int) and alpha == 1 else grad * conj(alpha)


@lowered(
    "index_copy(Tensor input, int dim, Tensor index, Tensor source) -> Tensor",
    vjp={
        "input": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "source": lambda grad, dim, index, source_layout: grad.index_select(dim, index).reshape(
            source_layout.shape
        ),
    },
    inplace=True,
)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Any:
    """`input` with its slice ``index[i]`` along `dim` replaced by ``source[i]``.

    Args:
        input: any shape.
        dim: the dimension.
        index: 1-D, int32 or int64; of equal ones the last wins.
        source: of `input`'s dtype, with the size of `index` in `dim`.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if dtypes or sizes do not match.
    """
    target, axis, positions, values = _put_operands("index_copy", input, dim, index, source)
    return like_shape(emit("put", target, positions, values, dim=axis, reduce="set"), input._layout)


@lowered(
    "_index_fill(Tensor input, int dim, Tensor index, Tensor|Scalar value) -> Tensor",
    promotion=Promotion.ARITHMETIC,
    promoted=("input",),
    vjp={
        "input": lambda grad, dim, index: grad.index_fill(dim, index, 0),
        "value": lambda grad, dim, index: grad.index_select(dim, index.unique()).sum(),
    },
    inplace=True,
    function=False,
    out=False,
)
def _index_fill(input: Tensor, dim: int, index: Tensor, value: Tensor) -> Any:
    """`index_fill` of a number of the input's own category, or a 0-d tensor."""
    _require_vector("index_fill", index)
    value = as_operand(value, input.dtype)
    if value._layout.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._layout.ndim} "
            "dimension(s)."
        )
    axis = wrap_dim(dim, input._layout.ndim)
    target = as_1d(input)
    positions = as_1d(wrapped_index(index, target._layout.shape[axis]))
    shape = target._layout.shape
    filling = broadcast(
        cast(value, input.dtype), (*shape[:axis], positions._layout.numel, *shape[axis + 1 :])
    )
    return like_shape(emit("put", target, positions, filling, dim=axis, reduce="set"), input._layout)


@composed("index_fill(Tensor input, int dim, Tensor index, Tensor|Scalar value) -> Tensor", out=False)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`input` with its slices at `index` along `dim` filled with `value`.

    Args:
        input: any shape.
        dim: the dimension.
        index: 1-D, int32 or int64.
        value: a number or a 0-d tensor.

    Raises:
        IndexError: if an index is out of range.
    """
    return _index_fill(input, dim, index, as_number(value, input.dtype))


@composed(
    "index_fill_(Tensor input, int dim, Tensor index, Tensor|Scalar value) -> Tensor",
    function=False,
    out=False,
)
def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """`index_fill` in place."""
    return input._index_fill_(dim, index, as_number(value, input.dtype))


# ---- gather ----------------------------------------------------------------------------------------


def check_index_shape(name: str, input: Layout, index: Layout, axis: int) -> None:
    """Raise RuntimeError unless `index` has `input`'s rank and, but in `axis`, no larger sizes."""
    if max(input.ndim, 1) != max(index.ndim, 1):
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as input tensor, but got "
            f"{list(index.shape)} and {list(input.shape)}"
        )
    pairs = enumerate(zip(index.shape, input.shape, strict=False))
    if any(size > own for place, (size, own) in pairs if place != axis):
        raise RuntimeError(
            f"{name}(): Size does not match: expected index {list(index.shape)} to be no larger than self "
            f"{list(input.shape)} apart from dimension {axis}"
        )


def _gather_gradient(grad: Tensor, input_layout: Layout, dim: int, index: Tensor) -> Tensor:
    return zeros_of(input_layout, grad).scatter_add(dim, index, grad)


@lowered("gather(Tensor input, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", apart=True,
         vjp={"input": _gather_gradient})  # fmt: skip
def gather(input: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Any:
    """``result[i, j] = input[index[i, j], j]`` for ``dim=0``, and so on.

    Args:
        input: any shape.
        dim: the dimension that `index` stands for.
        index: int32 or int64, as many dimensions as `input`, no larger except in `dim`.
        sparse_grad: accepted for compatibility; gradients are dense.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if shapes or dtypes do not match.

    Example:
        >>> import raxis
        >>> raxis.gather(raxis.tensor([[1, 2], [3, 4]]), 1, raxis.tensor([[0, 0], [1, 0]]))
        tensor([[1, 1],
                [4, 3]])
    """
    axis = wrap_dim(dim, input._layout.ndim)
    if not index._layout.numel:
        return emit("constant", value=0, dtype=input.dtype, shape=index._layout.shape)
    require_index("gather", index)
    check_index_shape("gather", input._layout, index._layout, axis)
    gathered = emit("gather", as_1d(input), as_1d(cast(index, dtypes.int64)), dim=axis)
    return like_shape(gathered, index._layout)


@composed("take_along_dim(Tensor input, Tensor indices, int? dim=None) -> Tensor")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather` after broadcasting the dimensions other than `dim`; without `dim`, of the flat tensors.

    Raises:
        RuntimeError: if `indices` is not int64 or has another number of dimensions.
    """
    require_index("take_along_dim", indices)
    if dim is None:
        return input.reshape(-1).gather(0, indices.reshape(-1))
    ours, theirs = input._layout, indices._layout
    if ours.ndim != theirs.ndim:
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{ours.ndim} dimensions for input, and {theirs.ndim} dimensions for indices"
        )
    axis = wrap_dim(dim, ours.ndim)
    source = broadcast_shapes(ours.shape, (*theirs.shape[:axis], 1, *theirs.shape[axis + 1 :]))
    wanted = broadcast_shapes(theirs.shape, (*ours.shape[:axis], 1, *ours.shape[axis + 1 :]))
    indices = indices.expand((*wanted[:axis], theirs.shape[axis], *wanted[axis + 1 :]))
    size = ours.shape[axis]
    positions = indices.where(indices >= 0, indices + size)
    return input.expand((*source[:axis], size, *source[axis + 1 :])).gather(axis, positions)


# ---- flat positions --------------------------------------------------------------------------------


def _flat_positions(name: str, input: Tensor, index: Tensor) -> Any:
    if index.dtype not in INDEX_DTYPES:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {index.dtype}")
    if not input._layout.numel and index._layout.numel:
        raise IndexError(f"{name}(): tried to take from an empty tensor")
    return wrapped_index(index, input._layout.numel)


@lowered(
    "take(Tensor input, Tensor index) -> Tensor",
    apart=True,
    vjp={"input": lambda grad, input_layout, index: zeros_of(input_layout, grad).put(index, grad, True)},
)
def take(input: Tensor, index: Tensor) -> Any:
    """The elements at flat positions, in the shape of `index`.

    Args:
        input: any shape.
        index: int64; negative positions count from the end.

    Raises:
        IndexError: if a position is out of range.

    Example:
        >>> import raxis
        >>> raxis.take(raxis.tensor([[1, 2], [3, 4]]), raxis.tensor([3, 0]))
        tensor([4, 1])
    """
    positions = _flat_positions("take", input, index)
    return emit("take", emit("reshape", input, shape=(input._layout.numel,)), positions, dim=0)


def _kept_by_put(grad: Tensor, index: Tensor, source_layout: Layout, accumulate: bool) -> Tensor:
    return grad if accumulate else grad.put(index, zeros_of(source_layout, grad), False)


@lowered(
    "put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    vjp={
        "input": _kept_by_put,
        "source": lambda grad, index, source_layout: grad.take(index).reshape(source_layout.shape),
    },
    inplace=True,
    out=False,
)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Any:
    """`input` with the elements of `source` written, or added, at flat positions.

    Args:
        input: any shape.
        index: int64; negative positions count from the end.
        source: of `input`'s dtype, as many elements as `index`.
        accumulate: add instead.

    Raises:
        IndexError: if a position is out of range.
        RuntimeError: if dtypes or numbers of elements differ.
    """
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {input.dtype} and "
            f"source.dtype = {source.dtype}"
        )
    count = index._layout.numel
    if source._layout.numel != count:
        raise RuntimeError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._layout.numel}, index.numel() = {count}"
        )
    positions = emit("reshape", _flat_positions("put_", input, index), shape=(count,))
    flat = emit("reshape", input, shape=(input._layout.numel,))
    updates = emit("reshape", source, shape=(count,))
    written = emit("put", flat, positions, updates, dim=0, reduce="add" if accumulate else "set")
    return emit("reshape", written, shape=input._layout.shape)
