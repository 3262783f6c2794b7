"""Writes at positions that an index tensor gives along one dimension: scatter and relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from raxis import dtypes
from raxis.dtypes import DType, end_of_range
from raxis.layout import Layout, wrap_dim
from raxis.ops.definitions.indexing import as_1d, check_index_shape, like_shape, require_index
from raxis.ops.definitions.masking import as_number
from raxis.ops.formulas import wide
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

# ---- shared ----------------------------------------------------------------------------------------


def _operands(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor) -> tuple[Any, int, Any, Any]:
    """Checked traced operands, none of them 0-d, the source cut to the index's shape."""
    axis = wrap_dim(dim, input._layout.ndim)
    require_index(name, index)
    if src.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): Expected self.dtype to be equal to src.dtype, but got {input.dtype} and {src.dtype}"
        )
    check_index_shape(name, input._layout, index._layout, axis)
    values, positions = as_1d(src), as_1d(cast(index, dtypes.int64))
    shape = positions._layout.shape
    if values._layout.ndim != len(shape) or any(
        size > own for size, own in zip(shape, values._layout.shape, strict=True)
    ):
        raise RuntimeError(
            f"{name}(): Expected index {list(index._layout.shape)} to be no larger than src {list(src._layout.shape)}"
        )
    if values._layout.shape != shape:
        rank = len(shape)
        values = emit("slice", values, start=(0,) * rank, stop=shape, step=(1,) * rank)
    return as_1d(input), axis, positions, values


def _scattered(name: str, reduce: str, input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    if not index._layout.numel:
        return input
    target, axis, positions, values = _operands(name, input, dim, index, src)
    return like_shape(emit("scatter", target, positions, values, dim=axis, reduce=reduce), input._layout)


def _source_gradient(grad: Tensor, dim: int, index: Tensor, src_layout: Layout) -> Tensor:
    """The gradient at the positions written, zero for the part of the source that was not used."""
    return _fit_source(grad.gather(dim, index), src_layout)


def _fit_source(gathered: Tensor, src_layout: Layout) -> Tensor:
    own = gathered._layout.shape
    if own == src_layout.shape:
        return gathered
    if not own or not src_layout.shape:
        return gathered.reshape(src_layout.shape)
    missing = [total - size for size, total in zip(own, src_layout.shape, strict=True)]
    pad = [amount for size in reversed(missing) for amount in (0, size)]
    return gathered.constant_pad_nd(pad)


# ---- scatter ---------------------------------------------------------------------------------------


@lowered(
    "_scatter(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
    vjp={
        "input": lambda grad, dim, index: grad.scatter(dim, index, 0),
        "src": _source_gradient,
    },
    inplace=True,
    function=False,
    out=False,
)
def _scatter(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """`scatter` of a tensor."""
    return _scattered("scatter", "set", input, dim, index, src)


_REDUCTIONS = {"add": "sum", "multiply": "prod"}


def _scatter_source(input: Tensor, index: Tensor, src: Any, value: Any) -> Tensor:
    given = src if src is not None else value
    if given is None:
        raise TypeError("scatter(): expected src, a tensor, or value, a number, but got neither.")
    if isinstance(given, Tensor):
        return given
    return input.new_full((), as_number(given, input.dtype)).expand(index._layout.shape)


def _check_scatter_reduce(reduce: str | None) -> None:
    if reduce is not None and reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either add or multiply, but got {reduce!r}.")


@composed("scatter(Tensor input, int dim, Tensor index, Tensor|Scalar src, *, str? reduce=None) -> Tensor")
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Tensor:
    """`input` with ``result[index[i, j], j] = src[i, j]`` for ``dim=0``, and so on.

    Args:
        input: any shape.
        dim: the dimension that `index` stands for.
        index: int32 or int64, as many dimensions as `input`.
        src: of `input`'s dtype and at least the size of `index`; or a number.
        value: a number instead of `src`.
        reduce: "add" or "multiply" to combine with what is there.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if shapes or dtypes do not match.

    Example:
        >>> import raxis
        >>> raxis.scatter(raxis.zeros(3), 0, raxis.tensor([2, 0]), raxis.tensor([1.0, 2.0]))
        tensor([2., 0., 1.])
    """
    _check_scatter_reduce(reduce)
    source = _scatter_source(input, index, src, value)
    if reduce is None:
        return _scatter(input, dim, index, source)
    return scatter_reduce(input, dim, index, source, _REDUCTIONS[reduce])


@composed(
    "scatter_(Tensor input, int dim, Tensor index, Tensor|Scalar src, *, str? reduce=None) -> Tensor",
    function=False,
    out=False,
)
def scatter_(
    input: Tensor, dim: int, index: Tensor, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Tensor:
    """`scatter` in place."""
    _check_scatter_reduce(reduce)
    source = _scatter_source(input, index, src, value)
    if reduce is None:
        return input._scatter_(dim, index, source)
    return input.scatter_reduce_(dim, index, source, _REDUCTIONS[reduce])


@lowered(
    "scatter_add(Tensor input, int dim, Tensor index, Tensor src) -> Tensor",
    vjp={"input": lambda grad: grad, "src": _source_gradient},
    inplace=True,
)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """`input` with ``result[index[i, j], j] += src[i, j]`` for ``dim=0``, and so on.

    Args:
        input: any shape.
        dim: the dimension that `index` stands for.
        index: int32 or int64, as many dimensions as `input`; an index may come several times.
        src: of `input`'s dtype and at least the size of `index`.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if shapes or dtypes do not match.
    """
    return _scattered("scatter_add", "add", input, dim, index, src)


# ---- scatter_reduce --------------------------------------------------------------------------------

_PRIMITIVE = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}


_IDENTITY: dict[str, Callable[[DType], Any]] = {
    "sum": lambda _: 0,
    "mean": lambda _: 0,
    "prod": lambda _: 1,
    "amax": lambda dtype: end_of_range(dtype, -1),
    "amin": lambda dtype: end_of_range(dtype, 1),
}


def _reduced(reduce: str, include_self: bool, target: Any, axis: int, index: Any, values: Any) -> Any:
    dtype, shape = target._layout.dtype, target._layout.shape
    if not include_self:
        start = constant(_IDENTITY[reduce](dtype), dtype, index._layout.shape)
        target = emit("scatter", target, index, start, dim=axis, reduce="set")
    if reduce != "mean":
        return emit("scatter", target, index, values, dim=axis, reduce=_PRIMITIVE[reduce])
    total = emit("scatter", wide(target), index, wide(values), dim=axis, reduce="add")
    ones = constant(1, dtypes.int64, index._layout.shape)
    first = constant(int(include_self), dtypes.int64, shape)
    count = emit("scatter", first, index, ones, dim=axis, reduce="add")
    count = cast(emit("maximum", count, constant(1, dtypes.int64, shape)), total._layout.dtype)
    divide = "div" if dtype.is_floating_point or dtype.is_complex else "floor_divide"
    return cast(emit(divide, total, count), dtype)


def _counts(grad: Tensor, index: Tensor, dim: int, include_self: bool) -> Tensor:
    """How many values met in each element, at least 1."""
    start = grad.new_ones(grad.shape) if include_self else grad.new_zeros(grad.shape)
    return start.scatter_add(dim, index, grad.new_ones(index.shape)).clamp(min=1)


def _prod_gradients(
    grad: Tensor, input: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool, result: Tensor
) -> tuple[Tensor, Tensor]:
    ones = input.masked_fill(input == 0, 1)
    for_self = grad * ones.scatter_reduce(dim, index, src, "prod", include_self=include_self) / ones
    zero = src == 0
    zeros = input.new_zeros(input.shape).scatter_add(dim, index, zero.to(src.dtype)).gather(dim, index)
    only = zero & (zeros == 1)
    others = input.scatter_reduce(dim, index, src.masked_fill(only, 1), "prod", include_self=include_self)
    through = (grad * result).gather(dim, index) / src.masked_fill(zero, 1)
    return for_self, (grad * others).gather(dim, index).where(only, through)


def _extremum_gradients(
    grad: Tensor, input: Tensor, dim: int, index: Tensor, src: Tensor, result: Tensor
) -> tuple[Tensor, Tensor]:
    """Elements that attain the extremum share its gradient equally."""
    from_src = (src == result.gather(dim, index)).to(grad.dtype)
    from_self = (input == result).to(grad.dtype)
    share = grad / from_self.scatter_add(dim, index, from_src)
    return from_self * share, from_src * share.gather(dim, index)


def _reduce_gradients(
    grad: Tensor,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
    result: Tensor,
) -> tuple[Tensor, Tensor]:
    if not index._layout.numel:
        return grad, grad.new_zeros(src.shape)
    used = (
        src if src._layout.shape == index._layout.shape else src[tuple(slice(size) for size in index.shape)]
    )
    if reduce == "sum":
        for_self, for_src = grad, grad.gather(dim, index)
    elif reduce == "mean":
        for_self = grad / _counts(grad, index, dim, include_self)
        for_src = for_self.gather(dim, index)
    elif reduce == "prod":
        for_self, for_src = _prod_gradients(grad, input, dim, index, used, include_self, result)
    else:
        for_self, for_src = _extremum_gradients(grad, input, dim, index, used, result)
    if not include_self:
        for_self = for_self.scatter(dim, index, 0)
    return for_self, _fit_source(for_src, src._layout)


@lowered(
    "scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
    vjp={("input", "src"): _reduce_gradients},
    inplace=True,
)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Any:
    """`input` with ``src[i, j]`` combined into element ``[index[i, j], j]`` for ``dim=0``, and so on.

    Args:
        input: any shape.
        dim: the dimension that `index` stands for.
        index: int32 or int64, as many dimensions as `input`.
        src: of `input`'s dtype and at least the size of `index`.
        reduce: "sum", "prod", "mean", "amax" or "amin".
        include_self: whether the elements that are there take part.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if shapes, dtypes or `reduce` do not match.
    """
    if reduce not in _PRIMITIVE:
        raise RuntimeError(f"reduce argument must be one of {', '.join(_PRIMITIVE)}, but got {reduce!r}.")
    if not index._layout.numel:
        return input
    target, axis, positions, values = _operands("scatter_reduce", input, dim, index, src)
    return like_shape(_reduced(reduce, include_self, target, axis, positions, values), input._layout)


def _index_reduce_operands(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str
) -> tuple[Tensor, Tensor]:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    if index._layout.ndim > 1:
        raise IndexError("index_reduce_(): Index is supposed to be a vector")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({input.dtype}) and source ({source.dtype}) must have the same scalar type"
        )
    if not source._layout.ndim:
        return index.reshape(input.shape), source.reshape(input.shape)
    axis = wrap_dim(dim, source._layout.ndim)
    shape = [1] * source._layout.ndim
    shape[axis] = index._layout.numel
    return index.reshape(shape).expand(source.shape), source


@composed(
    "index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor"
)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with ``source[i]`` combined into its slice ``index[i]`` along `dim`.

    Args:
        input: any shape.
        dim: the dimension.
        index: 1-D, int32 or int64.
        source: of `input`'s dtype, with the size of `index` in `dim`.
        reduce: "prod", "mean", "amax" or "amin".
        include_self: whether the elements that are there take part.

    Raises:
        IndexError: if an index is out of range.
        RuntimeError: if shapes, dtypes or `reduce` do not match.
    """
    spread, values = _index_reduce_operands(input, dim, index, source, reduce)
    return scatter_reduce(input, dim, spread, values, reduce, include_self=include_self)


@composed(
    "index_reduce_(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)"
    " -> Tensor",
    function=False,
    out=False,
)
def index_reduce_(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`index_reduce` in place."""
    spread, values = _index_reduce_operands(input, dim, index, source, reduce)
    return input.scatter_reduce_(dim, spread, values, reduce, include_self=include_self)
