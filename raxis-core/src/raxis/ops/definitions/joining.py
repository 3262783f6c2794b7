"""Several tensors into one: cat, stack and relatives."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from raxis import dtypes
from raxis.layout import Layout, broadcast_shapes, wrap_dim
from raxis.ops.definitions.creation import empty
from raxis.ops.promotion import result_type_of
from raxis.ops.table import composed, lowered
from raxis.ops.trace import cast, emit
from raxis.tensor import Tensor

# ---- cat and stack ---------------------------------------------------------------------------------


def _is_skipped(layout: Layout) -> bool:
    """Whether `cat` ignores an operand: an empty 1-D tensor goes with any shapes."""
    return layout.shape == (0,)


def _cat_axis(layouts: Sequence[Layout], dim: int) -> int:
    if not layouts:
        raise ValueError("expected a non-empty list of Tensors")
    for position, layout in enumerate(layouts):
        if layout.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {position}) cannot be concatenated")
    first = next((layout for layout in layouts if not _is_skipped(layout)), layouts[0])
    axis = wrap_dim(dim, first.ndim)
    for position, layout in enumerate(layouts):
        if not _is_skipped(layout):
            _check_agreement(first, layout, axis, position)
    return axis


def _check_agreement(first: Layout, other: Layout, axis: int, position: int) -> None:
    if other.ndim != first.ndim:
        raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {other.ndim}")
    for place, (expected, size) in enumerate(zip(first.shape, other.shape, strict=True)):
        if place != axis and expected != size:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {axis}. Expected size {expected} but got size {size} "
                f"for tensor number {position} in the list."
            )


def _cat_gradient(grad: Tensor, tensors_layout: Sequence[Layout], dim: int) -> list[Tensor | None]:
    axis = _cat_axis(tensors_layout, dim)
    parts: list[Tensor | None] = []
    start = 0
    for layout in tensors_layout:
        if _is_skipped(layout) and grad.ndim > 1:
            parts.append(None)
            continue
        parts.append(grad.narrow(axis, start, layout.shape[axis]))
        start += layout.shape[axis]
    return parts


@lowered(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    aliases=("concat", "concatenate"),
    apart=True,
    exact=False,
    refusal=TypeError,
    vjp={"tensors": _cat_gradient},
    method=False,
)
def cat(tensors: Sequence[Tensor], dim: int) -> Any:
    """The tensors one after another along `dim`.

    Args:
        tensors: at least one; equal sizes except in `dim`. Empty 1-D tensors are ignored.
        dim: an existing dimension.

    Raises:
        RuntimeError: if sizes do not match.

    Example:
        >>> import raxis
        >>> raxis.cat([raxis.tensor([1, 2]), raxis.tensor([3])])
        tensor([1, 2, 3])
    """
    axis = _cat_axis([tensor._layout for tensor in tensors], dim)
    dtype = result_type_of(tensors)
    kept = [tensor for tensor in tensors if not _is_skipped(tensor._layout)] or [tensors[0]]
    return emit("concatenate", *[cast(tensor, dtype) for tensor in kept], dim=axis)


@lowered(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    vjp={"tensors": lambda grad, dim: list(grad.unbind(dim))},
    exact=False,
    refusal=TypeError,
    method=False,
)
def stack(tensors: Sequence[Tensor], dim: int) -> Any:
    """The tensors along a new dimension `dim`.

    Args:
        tensors: at least one, all of one shape.
        dim: where the new dimension goes.

    Raises:
        RuntimeError: if the shapes differ.

    Example:
        >>> import raxis
        >>> raxis.stack([raxis.tensor([1, 2]), raxis.tensor([3, 4])], dim=1)
        tensor([[1, 3],
                [2, 4]])
    """
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tensors[0]._layout.shape
    for position, tensor in enumerate(tensors):
        if tensor._layout.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(tensor._layout.shape)} at entry {position}"
            )
    axis = wrap_dim(dim, len(shape) + 1)
    dtype = result_type_of(tensors)
    raised = (*shape[:axis], 1, *shape[axis:])
    return emit(
        "concatenate", *[emit("reshape", cast(tensor, dtype), shape=raised) for tensor in tensors], dim=axis
    )


# ---- with dimensions added -------------------------------------------------------------------------


def _each(tensors: tuple[Any, ...], view: Any) -> Any:
    """`view` of one tensor, or of each of several given as arguments or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return view(tensors[0])
    return tuple(view(item) for item in _listed(tensors))


def _listed(tensors: tuple[Any, ...]) -> Sequence[Tensor]:
    """Tensors given as arguments, or as one sequence."""
    return tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors


def _at_least_1d(tensor: Tensor) -> Tensor:
    return tensor.view(1) if tensor._layout.ndim == 0 else tensor


def _at_least_2d(tensor: Tensor) -> Tensor:
    if tensor._layout.ndim >= 2:
        return tensor
    return tensor.view(1, 1) if tensor._layout.ndim == 0 else tensor.unsqueeze(0)


def _at_least_3d(tensor: Tensor) -> Tensor:
    ndim = tensor._layout.ndim
    if ndim >= 3:
        return tensor
    return tensor.unsqueeze(-1) if ndim == 2 else _at_least_2d(tensor).unsqueeze(-1)


@composed("atleast_1d(Tensor... tensors) -> Tensor", method=False, out=False)
def atleast_1d(*tensors: Any) -> Any:
    """0-d tensors as tensors of one element, others as they are; a tuple for several."""
    return _each(tensors, _at_least_1d)


@composed("atleast_2d(Tensor... tensors) -> Tensor", method=False, out=False)
def atleast_2d(*tensors: Any) -> Any:
    """Tensors of fewer than two dimensions as ``(1, n)``, others as they are; a tuple for several."""
    return _each(tensors, _at_least_2d)


@composed("atleast_3d(Tensor... tensors) -> Tensor", method=False, out=False)
def atleast_3d(*tensors: Any) -> Any:
    """Tensors of fewer than three dimensions as ``(1, n, 1)`` or ``(m, n, 1)``, others as they are."""
    return _each(tensors, _at_least_3d)


def _joined(tensors: Sequence[Tensor], dim: int) -> Tensor:
    return cat(list(tensors), dim)


@composed("hstack(Tensor[] tensors) -> Tensor", exact=False, refusal=TypeError, method=False)
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors one after another along the second dimension (the first of 1-D tensors).

    Example:
        >>> import raxis
        >>> raxis.hstack([raxis.tensor([1]), raxis.tensor([2, 3])])
        tensor([1, 2, 3])
    """
    _require_some("hstack", tensors)
    raised = [_at_least_1d(tensor) for tensor in tensors]
    return _joined(raised, 0 if raised[0]._layout.ndim == 1 else 1)


@composed(
    "vstack(Tensor[] tensors) -> Tensor", exact=False, refusal=TypeError, aliases=("row_stack",), method=False
)
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors, at least 2-D, one after another along the first dimension."""
    _require_some("vstack", tensors)
    return _joined([_at_least_2d(tensor) for tensor in tensors], 0)


@composed("dstack(Tensor[] tensors) -> Tensor", exact=False, refusal=TypeError, method=False)
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors, at least 3-D, one after another along the third dimension."""
    _require_some("dstack", tensors)
    return _joined([_at_least_3d(tensor) for tensor in tensors], 2)


@composed("column_stack(Tensor[] tensors) -> Tensor", exact=False, refusal=TypeError, method=False)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """1-D tensors as the columns of a matrix; matrices one beside another."""
    _require_some("column_stack", tensors)
    return hstack([
        tensor.reshape(tensor._layout.numel, 1) if tensor._layout.ndim <= 1 else tensor for tensor in tensors
    ])  # fmt: skip


def _require_some(name: str, tensors: Sequence[Tensor]) -> None:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    if not len(tensors):
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@composed("block_diag(Tensor... tensors) -> Tensor", method=False, out=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given matrices along its diagonal, zero elsewhere.

    Args:
        tensors: matrices; 1-D tensors count as one row, 0-d as one element.

    Raises:
        RuntimeError: if a tensor has more than two dimensions.

    Example:
        >>> import raxis
        >>> raxis.block_diag(raxis.tensor([[1, 2]]), raxis.tensor(3))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    for tensor in tensors:
        if tensor._layout.ndim > 2:
            raise RuntimeError(
                f"block_diag: Input tensors must have 2 or fewer dimensions, but got {tensor._layout.ndim} dimensions"
            )
    blocks = [_at_least_2d(tensor) for tensor in tensors]
    if not blocks:
        return empty(1, 0)
    width = sum(block._layout.shape[1] for block in blocks)
    rows = []
    left = 0
    for block in blocks:
        own = block._layout.shape[1]
        rows.append(block.constant_pad_nd((left, width - left - own)))
        left += own
    return _joined(rows, 0)


# ---- grids -----------------------------------------------------------------------------------------


@composed("broadcast_tensors(Tensor... tensors) -> Tensor", method=False, out=False)
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Every tensor expanded to the common shape of all.

    Raises:
        RuntimeError: if the shapes do not broadcast.
    """
    items = _listed(tensors)
    shape = broadcast_shapes(*[item._layout.shape for item in items])
    return tuple(item.expand(shape) for item in items)


@composed("meshgrid(Tensor... tensors, str indexing='ij') -> Tensor", method=False, out=False)
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Coordinates of a grid: tensor i varies along dimension i and repeats along the others.

    Args:
        tensors: 0-d or 1-D, all of one dtype.
        indexing: "ij", or "xy": the first tensor varies along the second dimension, the second along the first.

    Raises:
        RuntimeError: if a tensor has more dimensions, dtypes differ, or `indexing` is neither.

    Example:
        >>> import raxis
        >>> raxis.meshgrid(raxis.tensor([1, 2]), raxis.tensor([3, 4]), indexing="ij")[0]
        tensor([[1, 1],
                [2, 2]])
    """
    items = list(_listed(tensors))
    _check_grid(items, indexing)
    swap = indexing == "xy" and len(items) >= 2
    if swap:
        items[:2] = items[1::-1]
    shape = tuple(item._layout.numel for item in items)
    count = len(items)
    grids = [
        item.view(*(-1 if axis == place else 1 for axis in range(count))).expand(shape)
        for place, item in enumerate(items)
    ]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def _check_grid(items: Sequence[Tensor], indexing: str) -> None:
    if not items:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for item in items:
        if item._layout.ndim > 1:
            raise RuntimeError(
                f"meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(item._layout.shape)}"
            )
        if item.dtype is not items[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')


@composed("cartesian_prod(Tensor... tensors) -> Tensor", method=False, out=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of one element of each 1-D tensor, one a row, the last varying fastest."""
    items = _listed(tensors)
    for item in items:
        if item._layout.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(item._layout.shape)}")
    if len(items) == 1:
        return items[0]
    grids = meshgrid(*items, indexing="ij")
    return stack([grid.flatten() for grid in grids], 1)


@composed("combinations(Tensor input, int r=2, bool with_replacement=False) -> Tensor", out=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of `r` elements of a 1-D tensor, one a row, in the order of `itertools`.

    Raises:
        RuntimeError: if `input` is not 1-D or `r` is negative.
    """
    if input._layout.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._layout.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input._layout.numel), r))
    if r == 0 or not rows:
        return input.new_empty((0,) if r == 0 else (0, r))
    flat = [position for row in rows for position in row]
    return input.index_select(0, input.new_tensor(flat, dtype=dtypes.int64)).view(len(rows), r)
