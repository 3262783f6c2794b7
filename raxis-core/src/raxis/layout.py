"""Layouts: dtype, shape, strides and device of a tensor, and the arithmetic on them.

Strides and offsets count elements, as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from raxis.device import Device
from raxis.dtypes import DType
from raxis.size import Size

Shape = tuple[int, ...]
Strides = tuple[int, ...]

_INTERN_LIMIT = 1 << 16
LARGEST = (1 << 63) - 1
"""The greatest number of elements or bytes: sizes fit a signed 64-bit integer, as in PyTorch."""
_interned: dict[tuple[DType, Shape, Strides, Device, bool], Layout] = {}


class Layout:
    """An immutable description of a tensor's elements.

    Layouts are interned: equal descriptions are the same object (up to a bounded table, so identity is
    an optimisation and never a guarantee). `traced` marks tensors that stand for values of a program
    being recorded; `size` is the shape as the user sees it.
    """

    __slots__ = ("device", "dtype", "is_contiguous", "ndim", "numel", "shape", "size", "strides", "traced")

    def __init__(self, dtype: DType, shape: Shape, strides: Strides, device: Device, traced: bool) -> None:
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.device = device
        self.traced = traced
        self.size = tuple.__new__(Size, shape)  # without Size's checks
        self.ndim = len(shape)
        self.numel = math.prod(shape)
        if self.numel > LARGEST:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(shape)}")
        self.is_contiguous = self.numel == 0 or _runs_contiguously(shape, strides)

    @property
    def nbytes(self) -> int:
        """Bytes of a dense tensor with these elements."""
        return self.numel * self.dtype.itemsize

    def check_nbytes(self) -> None:
        """Raise RuntimeError if no storage can hold the elements: their bytes do not fit 63 bits."""
        if self.nbytes > LARGEST:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(self.shape)}")

    def __repr__(self) -> str:
        return f"Layout({self.dtype}, shape={self.shape}, strides={self.strides}, device='{self.device}')"


def layout_of(
    dtype: DType, shape: Shape, strides: Strides | None, device: Device, traced: bool = False
) -> Layout:
    """The interned layout; `strides` None means row-major."""
    if strides is None:
        strides = contiguous_strides(shape)
    key = (dtype, shape, strides, device, traced)
    found = _interned.get(key)
    if found is None:
        if len(_interned) >= _INTERN_LIMIT:
            _interned.clear()
        found = _interned.setdefault(key, Layout(*key))
    return found


def contiguous_strides(shape: Sequence[int]) -> Strides:
    """Row-major strides.

    Example:
        >>> contiguous_strides((2, 3, 4))
        (12, 4, 1)
    """
    if len(shape) == 1:
        return (1,)
    strides = []
    step = 1
    for size in shape[::-1]:
        strides.append(step)
        if size > 1:
            step *= size
    return tuple(strides[::-1])


def _runs_contiguously(shape: Shape, strides: Strides) -> bool:
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """The common shape of operands under broadcasting.

    Raises:
        RuntimeError: if two sizes differ and neither is 1.
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for axis, size in enumerate(shape, ndim - len(shape)):
            if size != 1:
                if result[axis] not in (1, size):
                    raise RuntimeError(_broadcast_message(shapes, axis, result[axis], size))
                result[axis] = size
    return tuple(result)


def _broadcast_message(shapes: Sequence[Sequence[int]], axis: int, first: int, second: int) -> str:
    given = " and ".join(str(list(shape)) for shape in shapes)
    return (
        f"The size of tensor a ({first}) must match the size of tensor b ({second}) at non-singleton "
        f"dimension {axis}: the shapes {given} do not broadcast together."
    )


def dense_strides_like(shape: Shape, operands: Sequence[Layout]) -> Strides:
    """Strides of a dense result that keeps the operands' order of dimensions, as PyTorch's iterators do.

    The first operand that orders two dimensions decides; contiguous operands give row-major strides.
    """
    whole = [operand for operand in operands if operand.shape == shape]
    if whole and all(operand.is_contiguous for operand in whole):
        return contiguous_strides(shape)
    padded = [_padded_strides(operand, shape) for operand in operands]
    order = _innermost_first(shape, padded)
    strides = [0] * len(shape)
    step = 1
    for axis in order:
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


def _padded_strides(operand: Layout, shape: Shape) -> Strides:
    lead = len(shape) - operand.ndim
    own = [
        0 if size == 1 and shape[lead + axis] != 1 else stride
        for axis, (size, stride) in enumerate(zip(operand.shape, operand.strides, strict=True))
    ]
    return (0,) * lead + tuple(own)


def _innermost_first(shape: Shape, operands: Sequence[Strides]) -> list[int]:
    order = list(range(len(shape) - 1, -1, -1))
    for position in range(1, len(order)):
        place = position
        for candidate in range(position - 1, -1, -1):
            verdict = _compare(order[candidate], order[place], shape, operands)
            if verdict > 0:
                order[candidate], order[place] = order[place], order[candidate]
                place = candidate
            elif verdict < 0:
                break
    return order


def _compare(first: int, second: int, shape: Shape, operands: Sequence[Strides]) -> int:
    """Positive if `first` must be outside `second`, negative if inside, 0 if no operand decides."""
    for strides in operands:
        low, high = strides[first], strides[second]
        if low == 0 or high == 0:
            continue
        if low != high:
            return 1 if low > high else -1
        if shape[first] > shape[second]:
            return 1
    return 0


def extent(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements between the first element and one past the last; 0 for empty tensors."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def overlaps_itself(layout: Layout) -> bool:
    """Whether two indices may name the same element (always so with stride 0 and size > 1)."""
    if layout.is_contiguous:
        return False
    reach = 1
    axes = [(stride, size) for size, stride in zip(layout.shape, layout.strides, strict=True) if size > 1]
    for stride, size in sorted(axes):
        if stride < reach:
            return True
        reach = stride * (size - 1) + reach
    return False


def view_strides(layout: Layout, shape: Shape) -> Strides | None:
    """Strides that show `layout`'s elements in `shape` without copying; None if there are none.

    `shape` must have as many elements as `layout`.
    """
    if layout.numel == 0 or layout.strides == contiguous_strides(layout.shape):
        if layout.numel == 0 and layout.shape == shape:
            return layout.strides
        return contiguous_strides(shape)
    strides: list[int] = [0] * len(shape)
    target = len(shape) - 1
    chunk_elements = view_elements = 1
    chunk_stride = layout.strides[-1] if layout.ndim else 1
    for axis in range(layout.ndim - 1, -1, -1):
        chunk_elements *= layout.shape[axis]
        outer = layout.strides[axis - 1] if axis else None
        ends = axis == 0 or (layout.shape[axis - 1] != 1 and outer != chunk_elements * chunk_stride)
        if not ends:
            continue
        while target >= 0 and (view_elements < chunk_elements or shape[target] == 1):
            strides[target] = view_elements * chunk_stride
            view_elements *= shape[target]
            target -= 1
        if view_elements != chunk_elements:
            return None
        if axis:
            chunk_stride = layout.strides[axis - 1]
            chunk_elements = view_elements = 1
    return tuple(strides) if target == -1 else None


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension index made non-negative; 0-d tensors have the one virtual dimension 0.

    Raises:
        IndexError: if `dim` is not in ``[-ndim, ndim - 1]``.
    """
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
        )
    return dim + limit if dim < 0 else dim


def wrap_dims(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Sorted distinct dimension indices; None and an empty sequence mean all of them.

    Raises:
        IndexError: if one is out of range.
        RuntimeError: if one appears twice.
    """
    if dims is None or dims == ():
        return tuple(range(ndim))
    given = (dims,) if isinstance(dims, int) else dims
    wrapped = [wrap_dim(dim, ndim) for dim in given]
    for dim in wrapped:
        if wrapped.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return tuple(sorted(wrapped)) if ndim else ()
