"""Views: tensors that share the storage of their operand.

Every view op is stride arithmetic with PyTorch's strides, also for dimensions of size 0 and 1. Here are those that
change the shape; `transposition` changes the order of dimensions, `slicing` takes a part, `splitting` gives several,
`strided_views` have any geometry.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from raxis.dtypes import DType
from raxis.interception import active, anyone
from raxis.layout import Layout, Shape, Strides, layout_of, view_strides, wrap_dim
from raxis.ops.table import composed, lowered, viewed
from raxis.ops.trace import broadcast, emit
from raxis.tensor import Tensor, view_of, wrap

Geometry = tuple[Shape, Strides, int]


# ---- other shapes ----------------------------------------------------------------------------------


def resolve_shape(size: Shape, numel: int) -> Shape:
    """`size` with its -1 replaced so that it has `numel` elements.

    Raises:
        RuntimeError: if the number of elements differs, or more than one size is -1.
    """
    known, unknown = 1, None
    for axis, length in enumerate(size):
        if length >= 0:
            known *= length
        elif length != -1:
            raise RuntimeError(f"invalid shape dimension {length} at index {axis} of shape {list(size)}")
        elif unknown is not None:
            raise RuntimeError("only one dimension can be inferred")
        else:
            unknown = axis
    if unknown is None and known == numel:
        return size
    if unknown is None or (known == 0 and numel) or (known and numel % known):
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    if known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size -1 "
            "can be any value and is ambiguous"
        )
    return (*size[:unknown], numel // known, *size[unknown + 1 :])


def reshaped(input: Tensor, size: Shape) -> Any:
    """The traced `input` in another shape."""
    shape = resolve_shape(size, input._layout.numel)
    return input if shape == input._layout.shape else emit("reshape", input, shape=shape)


def _restore_shape(grad: Tensor, input_layout: Layout) -> Tensor:
    return grad.reshape(input_layout.shape)


@viewed(
    "_view(Tensor input, int[] size) -> Tensor",
    lower=reshaped,
    vjp={"input": _restore_shape},
    method=False,
    function=False,
)
def _view(layout: Layout, size: Shape) -> Geometry:
    """The elements of `input` in row-major order in another shape."""
    shape = resolve_shape(size, layout.numel)
    strides = view_strides(layout, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            f"contiguous subspaces). Use .reshape(...) instead. The tensor has size {list(layout.shape)} and stride "
            f"{list(layout.strides)}, the view size {list(size)}."
        )
    return shape, strides, 0


@composed("view(Tensor input, int... size) -> Tensor", function=False, out=False)
def view(input: Tensor, *size: Any, **named: Any) -> Tensor:
    """The same elements in another shape, or (given a dtype) the same bytes as another dtype; shares memory.

    Args:
        input: any shape.
        size: the new sizes; one may be -1. Or one dtype.

    Raises:
        RuntimeError: if the number of elements differs, or the strides do not allow the shape without a copy.

    Example:
        >>> import raxis
        >>> raxis.arange(6).view(2, -1).shape
        raxis.Size([2, 3])
    """
    if named:
        size = (named["dtype"] if "dtype" in named else named["size"],)
    if len(size) == 1:
        only = size[0]
        if type(only) is DType:
            return _view_as_dtype(input, only)
        if not isinstance(only, int):
            size = only
    return _view(input, size)


@lowered(
    "_reshape_copy(Tensor input, int[] size) -> Tensor",
    vjp={"input": _restore_shape},
    method=False,
    function=False,
    out=False,
)
def _reshape_copy(input: Tensor, size: Shape) -> Any:
    """`input` in another shape, in new memory."""
    return reshaped(input, size)


@functools.lru_cache(maxsize=4096)
def _needs_copy(layout: Layout, size: Shape) -> bool:
    return view_strides(layout, resolve_shape(size, layout.numel)) is None


@composed("reshape(Tensor input, int... shape) -> Tensor", out=False)
def reshape(input: Tensor, *shape: Any, **named: Any) -> Tensor:
    """The same elements in another shape: a view where strides allow it, else a copy.

    Args:
        input: any shape.
        shape: the new sizes; one may be -1.

    Raises:
        RuntimeError: if the number of elements differs.

    Example:
        >>> import raxis
        >>> raxis.reshape(raxis.arange(6), (2, 3)).shape
        raxis.Size([2, 3])
    """
    if named:
        shape = tuple(named["shape"])
    elif len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    if not input._layout.is_contiguous and _needs_copy(input._layout, shape):
        return _reshape_copy(input, shape)
    return _view(input, shape)


def _view_as_dtype(input: Tensor, dtype: DType) -> Tensor:
    """The bytes of `input` read as another dtype."""
    layout = input._layout
    if dtype is layout.dtype:
        return alias(input)
    shape, strides, offset = _regrouped(layout, input._offset, dtype)
    return view_of(input, layout_of(dtype, shape, strides, layout.device), offset)


def _regrouped(layout: Layout, offset: int, dtype: DType) -> Geometry:
    """Shape, strides and offset of the same bytes in elements of another size."""
    old, new = layout.dtype.itemsize, dtype.itemsize
    if old == new:
        return layout.shape, layout.strides, offset
    if not layout.ndim:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {layout.dtype} as {dtype} (different element sizes)"
        )
    if layout.strides[-1] != 1:
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {layout.dtype} as {dtype} (different element sizes), but got "
            f"{layout.strides[-1]}"
        )
    if old > new:
        ratio = old // new
        strides = (*(stride * ratio for stride in layout.strides[:-1]), 1)
        return (*layout.shape[:-1], layout.shape[-1] * ratio), strides, offset * ratio
    ratio = new // old
    if layout.shape[-1] % ratio or offset % ratio or any(stride % ratio for stride in layout.strides[:-1]):
        raise RuntimeError(
            f"self.size(-1), storage_offset and the other strides must be divisible by {ratio} to view {layout.dtype} "
            f"as {dtype} (different element sizes), but got size {list(layout.shape)}, stride {list(layout.strides)} "
            f"and storage_offset {offset}"
        )
    strides = (*(stride // ratio for stride in layout.strides[:-1]), 1)
    return (*layout.shape[:-1], layout.shape[-1] // ratio), strides, offset // ratio


@composed("view_as(Tensor input, Tensor other) -> Tensor", function=False, out=False)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.view(other.shape)``."""
    return _view(input, other._layout.shape)


@composed("reshape_as(Tensor input, Tensor other) -> Tensor", function=False, out=False)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.reshape(other.shape)``."""
    return reshape(input, other._layout.shape)


@composed("ravel(Tensor input) -> Tensor", out=False)
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, in row-major order; a view if possible."""
    return reshape(input, -1) if input._layout.ndim != 1 else input.contiguous()


@composed("flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor", out=False)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` merged into one; a view if possible.

    Raises:
        IndexError: if a dimension is out of range.
        RuntimeError: if `start_dim` comes after `end_dim`.

    Example:
        >>> import raxis
        >>> raxis.zeros(2, 3, 4).flatten(1).shape
        raxis.Size([2, 12])
    """
    shape = _flat_shape(input._layout.shape, start_dim, end_dim)
    return input if shape is None else reshape(input, shape)


@functools.lru_cache(maxsize=4096)
def _flat_shape(shape: Shape, start_dim: int, end_dim: int) -> Shape | None:
    """`shape` with dimensions merged; None where that changes nothing."""
    start, end = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return (1,)
    if start == end:
        return None
    return (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


@composed("unflatten(Tensor input, int dim, int[] sizes) -> Tensor", out=False)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension `dim` split into dimensions of the given sizes; one may be -1.

    Raises:
        RuntimeError: if `sizes` is empty or does not multiply to the dimension's size.
    """
    shape = input._layout.shape
    axis = wrap_dim(dim, len(shape))
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = shape[axis] if shape else 1
    try:
        resolved = resolve_shape(sizes, size)
    except RuntimeError as error:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} ({size}) in the "
            f"input tensor: {error}"
        ) from None
    return _view(input, (*shape[:axis], *resolved, *shape[axis + 1 :]))


# ---- broadcasting ----------------------------------------------------------------------------------


def _expanded_shape(layout: Layout, size: Shape) -> Shape:
    lead = len(size) - layout.ndim
    if lead < 0:
        raise RuntimeError(
            f"expand({layout}, size={list(size)}): the number of sizes provided ({len(size)}) must be greater or equal "
            f"to the number of dimensions in the tensor ({layout.ndim})"
        )
    shape = list(size)
    for axis, wanted in enumerate(size):
        if wanted == -1 and axis < lead:
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, non-existing dimension {axis}"
            )
        own = 1 if axis < lead else layout.shape[axis - lead]
        if wanted == -1:
            shape[axis] = own
        elif wanted != own and (own != 1 or wanted < 0):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({own}) at non-singleton "
                f"dimension {axis}.  Target sizes: {list(size)}.  Tensor sizes: {list(layout.shape)}"
            )
    return tuple(shape)


@viewed(
    "expand(Tensor input, int... size) -> Tensor",
    lower=lambda input, size: broadcast(input, _expanded_shape(input._layout, size)),
    vjp={"input": lambda grad: grad},
    function=False,
)
def expand(layout: Layout, size: Shape) -> Geometry:
    """`input` with dimensions of size 1 repeated to the given sizes, and new leading dimensions; no copy.

    Args:
        input: any shape.
        size: the new sizes; -1 keeps a dimension's size.

    Raises:
        RuntimeError: if a dimension of another size than 1 would change.

    Example:
        >>> import raxis
        >>> raxis.ones(3, 1).expand(-1, 4).stride()
        (1, 0)
    """
    shape = _expanded_shape(layout, size)
    if not layout.ndim:
        return shape, (0,) * len(shape), 0
    lead = len(shape) - layout.ndim
    strides = [0] * len(shape)
    outer = 1
    for axis in range(len(shape) - 1, -1, -1):
        own, stride = (layout.shape[axis - lead], layout.strides[axis - lead]) if axis >= lead else (1, outer)
        strides[axis] = stride if own == shape[axis] else 0
        outer = shape[axis] * strides[axis]
    return shape, tuple(strides), 0


@composed("expand_as(Tensor input, Tensor other) -> Tensor", function=False, out=False)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``input.expand(other.shape)``."""
    return expand(input, other._layout.shape)


@composed("broadcast_to(Tensor input, int[] size) -> Tensor", out=False)
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """`input` expanded to `size`."""
    return expand(input, tuple(size))


# ---- dimensions of size 1 --------------------------------------------------------------------------


def _kept_axes(layout: Layout, dim: Any) -> list[int]:
    chosen = range(layout.ndim) if dim is None else {wrap_dim(item, layout.ndim) for item in dim}
    if dim is not None and len(chosen) != len(dim):
        raise RuntimeError(f"dim appears multiple times in the list of dims {list(dim)}")
    return [axis for axis in range(layout.ndim) if axis not in chosen or layout.shape[axis] != 1]


@viewed(
    "squeeze(Tensor input, int[]? dim=None) -> Tensor",
    lower=lambda input, dim: reshaped(input, _squeezed(input._layout, dim)[0]),
    vjp={"input": _restore_shape},
)
def squeeze(layout: Layout, dim: Any) -> Geometry:
    """`input` without its dimensions of size 1, or without those among `dim`.

    Raises:
        IndexError: if a dimension is out of range.

    Example:
        >>> import raxis
        >>> raxis.zeros(1, 3, 1).squeeze(0).shape
        raxis.Size([3, 1])
    """
    return _squeezed(layout, dim)


def _squeezed(layout: Layout, dim: Any) -> Geometry:
    kept = _kept_axes(layout, dim)
    return tuple(layout.shape[axis] for axis in kept), tuple(layout.strides[axis] for axis in kept), 0


@viewed(
    "unsqueeze(Tensor input, int dim) -> Tensor",
    lower=lambda input, dim: reshaped(input, _unsqueezed(input._layout, dim)[0]),
    vjp={"input": _restore_shape},
)
def unsqueeze(layout: Layout, dim: int) -> Geometry:
    """`input` with a new dimension of size 1 at `dim`.

    Raises:
        IndexError: if `dim` is out of range.

    Example:
        >>> import raxis
        >>> raxis.zeros(3).unsqueeze(1).shape
        raxis.Size([3, 1])
    """
    return _unsqueezed(layout, dim)


def _unsqueezed(layout: Layout, dim: int) -> Geometry:
    shape, strides = layout.shape, layout.strides
    axis = wrap_dim(dim, layout.ndim + 1)
    stride = shape[axis] * strides[axis] if axis < layout.ndim else 1
    return (*shape[:axis], 1, *shape[axis:]), (*strides[:axis], stride, *strides[axis:]), 0


# ---- the same geometry -----------------------------------------------------------------------------


@viewed(
    "alias(Tensor input) -> Tensor",
    lower=lambda input: input,
    vjp={"input": lambda grad: grad},
    method=False,
    function=False,
)
def alias(layout: Layout) -> Geometry:
    """A view of all of `input`."""
    return layout.shape, layout.strides, 0


@composed("detach(Tensor input) -> Tensor", out=False)
def detach(input: Tensor) -> Tensor:
    """A tensor that shares memory and version counter with `input` and is not part of the tape.

    Example:
        >>> import raxis
        >>> raxis.ones(2, requires_grad=True).detach().requires_grad
        False
    """
    if input._layout.traced:
        return input
    shared = wrap(input._storage, input._offset, input._layout)
    if input._inference:
        shared._inference = True
    if anyone.records and active.recording is not None:
        active.recording.note_made(shared)
    return shared


@composed("detach_(Tensor input) -> Tensor", out=False)
def detach_(input: Tensor) -> Tensor:
    """Take `input` off the tape, making it a leaf.

    Raises:
        RuntimeError: for views, which stay tied to their base.
    """
    if input._is_view():
        raise RuntimeError("Can't detach views in-place; use detach() instead.")
    input._edge = None
    return input


@composed("_is_view(Tensor input) -> bool", function=False, out=False)
def _is_view(input: Tensor) -> bool:
    """Whether the tensor was made by a view op."""
    return input._base is not None
