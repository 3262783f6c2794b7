"""Sorting, and selecting by order."""

from __future__ import annotations

from typing import Any

from raxis import dtypes
from raxis.layout import Layout, wrap_dim
from raxis.ops.definitions.extrema import require_elements, require_ordered, scatter_along, selection_vjp
from raxis.ops.definitions.order_statistics import select_along
from raxis.ops.definitions.reductions import kept_shape
from raxis.ops.table import composed, lowered
from raxis.ops.trace import constant, emit
from raxis.tensor import Tensor


def _sorted(input: Tensor, axis: int, *, descending: bool, stable: bool = True) -> Any:
    return emit("sort", input, dim=axis, descending=descending, stable=stable)


def _permutation_vjp(grad: Tensor, results: Any, input_layout: Layout, dim: int) -> Any:
    if input_layout.ndim == 0:
        return grad
    axis = wrap_dim(dim, input_layout.ndim)
    return scatter_along(grad, results[1], axis, input_layout.shape[axis])


@lowered(
    "sort(Tensor input, int dim=-1, bool descending=False, *, bool? stable=None) -> (Tensor values, Tensor indices)",
    vjp={"input": _permutation_vjp},
)
def sort(input: Tensor, dim: int, descending: bool, stable: bool | None) -> Any:
    """The elements ordered along `dim`, and the int64 indices they came from. NaN counts as the greatest.

    Args:
        input: any shape, real or bool.
        dim: dimension.
        descending: greatest first.
        stable: whether equal elements keep their order.

    Raises:
        IndexError: if `dim` is out of range.
        RuntimeError: if `input` is complex.

    Example:
        >>> import raxis
        >>> raxis.sort(raxis.tensor([3, 1, 2])).values
        tensor([1, 2, 3])
    """
    if input.dtype.is_complex:
        raise RuntimeError(f"Sort does not support complex dtypes, but got {input.dtype.name}.")
    axis = wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        return input, constant(0, dtypes.int64)
    return _sorted(input, axis, descending=descending, stable=bool(stable))


@composed("argsort(Tensor input, int dim=-1, bool descending=False, *, bool stable=False) -> Tensor")
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The int64 indices that order the elements along `dim`, as `sort` gives them.

    Args: as `sort`.

    Raises: as `sort`.

    Example:
        >>> import raxis
        >>> raxis.argsort(raxis.tensor([3, 1, 2]))
        tensor([1, 2, 0])
    """
    return sort(input, dim, descending, stable=stable)[1]


@composed("msort(Tensor input) -> Tensor")
def msort(input: Tensor) -> Any:
    """The elements ordered along the first dimension.

    Args:
        input: any shape, real or bool.

    Example:
        >>> import raxis
        >>> raxis.msort(raxis.tensor([[3, 1], [2, 4]]))
        tensor([[2, 1],
                [3, 4]])
    """
    return sort(input, 0)[0]


@lowered(
    "topk(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
    composite=True,
    vjp={"input": _permutation_vjp},
)
def topk(input: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    """The `k` greatest (or smallest) elements along `dim` in order, and their indices. NaN counts as the greatest.

    Args:
        input: any shape, real.
        k: how many, at most the size of `dim`.
        dim: dimension.
        largest: False for the smallest.
        sorted: whether they must be in order (they are in either case).

    Raises:
        RuntimeError: if `k` is out of range.
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.topk(raxis.tensor([1, 5, 3]), 2).values
        tensor([5, 3])
    """
    if input.dtype.is_complex or input.dtype is dtypes.bool_:
        raise RuntimeError(f"topk does not support {input.dtype.name} dtypes")
    axis = wrap_dim(dim, input.ndim)
    shape = input._layout.shape
    if not 0 <= k <= (shape[axis] if shape else 1):
        raise RuntimeError("selected index k out of range")
    if not shape:
        return input, constant(0, dtypes.int64)
    stop = (*shape[:axis], k, *shape[axis + 1 :])
    return tuple(
        emit("slice", part, start=(0,) * len(shape), stop=stop, step=(1,) * len(shape))
        for part in _sorted(input, axis, descending=largest)
    )


@lowered(
    "kthvalue(Tensor input, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
    apart=True,
    composite=True,
    vjp={"input": selection_vjp},
)
def kthvalue(input: Tensor, k: int, dim: int, keepdim: bool) -> Any:
    """The `k`-th smallest element along `dim`, counted from 1, and its index. NaN counts as the greatest.

    Args:
        input: any shape, real.
        k: 1 for the smallest.
        dim: dimension.
        keepdim: keep the dimension with size 1.

    Raises:
        RuntimeError: if `k` is out of range.
        IndexError: if `dim` is out of range or has size 0.

    Example:
        >>> import raxis
        >>> raxis.kthvalue(raxis.tensor([5, 1, 3]), 2).values
        tensor(3)
    """
    require_ordered("kthvalue", input.dtype, dtypes.bool_)
    require_elements("kthvalue", input._layout, dim)
    axis = wrap_dim(dim, input.ndim)
    shape = input._layout.shape
    if not 1 <= k <= (shape[axis] if shape else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
    if not shape:
        return input, constant(0, dtypes.int64)
    values, indices = _sorted(input, axis, descending=False)
    position = constant(k - 1, dtypes.int64, kept_shape(shape, (axis,)))
    return select_along(values, indices, position, axis, keepdim)
