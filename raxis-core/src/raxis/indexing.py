"""``x[index]`` and ``x[index] = value``.

Ints, slices, None and Ellipsis give a view, found in one cache by (layout, index). Everything else first takes the
view of those parts and then reads or writes at index tensors, with NumPy's rule for where the indexed dimensions go.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from raxis import dtypes
from raxis.autograd.grad_mode import ever, mode
from raxis.frames import user_stacklevel
from raxis.interception import active, anyone, recording
from raxis.layout import Layout, layout_of
from raxis.ops import tables
from raxis.ops.arguments import is_number
from raxis.ops.definitions.advanced_indexing import check_mask, check_put_dtype, expand_masks, read_indexed
from raxis.ops.definitions.masking import as_int, as_number, masked_select, nonzero_positions
from raxis.ops.definitions.slicing import WHOLE, basic_index
from raxis.ops.table import OPS
from raxis.tensor import Tensor, view_of

if TYPE_CHECKING:
    from raxis.compiler.recording import Recording

_plans = OPS["_basic_index"].plans


def get_item(input: Tensor, index: Any) -> Tensor:
    """``input[index]``: a view for ints, slices, None and Ellipsis, else a copy.

    Raises:
        IndexError: if an index is out of range, of a wrong type, or there are too many.
        ValueError: if the step of a slice is not positive.

    Example:
        >>> import raxis
        >>> raxis.arange(6).view(2, 3)[:, raxis.tensor([2, 0])]
        tensor([[2, 0],
                [5, 3]])
    """
    kind = type(index)
    untaped = (input._edge is None or not mode.enabled) and not anyone.records
    if untaped and (kind is int or kind is slice):
        part = _row(input, index) if kind is int else _slab(input, index)
        if part is not None:
            return part
    key = _basic_key(index)
    if key is None:
        return _get_advanced(input, index)
    if untaped and not input._layout.traced:
        return _part(input, key)
    try:
        run = _plans[(input._layout, key)]
    except (KeyError, TypeError):
        return basic_index(input, _as_ints(key))
    return run(input, key)


def _row(input: Tensor, index: int) -> Tensor | None:
    """``input[index]`` off the tape; not cached by index, since loops go through many. None where it is an error."""
    layout, stride, size = _row_geometry(input._layout)
    if layout is None or not -size <= index < size:
        return None
    return _marked(view_of(input, layout, input._offset + index % size * stride), input)


def _marked(view: Tensor, input: Tensor) -> Tensor:
    if ever.inferred and input._inference:
        view._inference = True
    return view


def _slab(input: Tensor, index: slice) -> Tensor | None:
    """``input[index]`` off the tape; like `_row` for a slice."""
    _, stride, size = _row_geometry(input._layout)
    first, end, by = index.indices(size)
    if by <= 0 or not size:
        return None
    layout = _slab_layout(input._layout, len(range(first, end, by)), by)
    return _marked(view_of(input, layout, input._offset + first * stride), input)


@functools.lru_cache(maxsize=4096)
def _slab_layout(layout: Layout, count: int, by: int) -> Layout:
    shape, strides = (count, *layout.shape[1:]), (layout.strides[0] * by, *layout.strides[1:])
    return layout_of(layout.dtype, shape, strides, layout.device)


def _part(input: Tensor, key: tuple[Any, ...]) -> Tensor:
    """``input[key]`` off the tape, for a key as `_basic_key` gives it."""
    try:
        found = _parts.get((input._layout, key))
    except TypeError:  # a bound that cannot be hashed
        found = None
    layout, step = found or _remembered_part(input._layout, _as_ints(key))
    return _marked(view_of(input, layout, input._offset + step), input)


_parts: dict[tuple[Layout, tuple[Any, ...]], tuple[Layout, int]] = {}
"""Layouts of views and their distance from the operand's offset, by operand and index."""


def _remembered_part(layout: Layout, key: tuple[Any, ...]) -> tuple[Layout, int]:
    shape, strides, step = OPS["_basic_index"].body(layout, key)
    found = layout_of(layout.dtype, shape, strides, layout.device), step
    if len(_parts) >= tables.PLAN_LIMIT:
        _parts.clear()
    _parts[layout, key] = found
    return found


@functools.lru_cache(maxsize=4096)
def _row_geometry(layout: Layout) -> tuple[Layout | None, int, int]:
    """Layout, distance and number of the slices along the first dimension; no layout where there are none."""
    if not layout.ndim or layout.traced:
        return None, 0, 0
    row = layout_of(layout.dtype, layout.shape[1:], layout.strides[1:], layout.device)
    return row, layout.strides[0], layout.shape[0]


def set_item(input: Tensor, index: Any, value: Any) -> None:
    """``input[index] = value`` with `value` broadcast to what ``input[index]`` is.

    Args:
        input: written in place.
        index: as for `get_item`.
        value: a number, cast to `input`'s dtype; or a tensor: cast too, but of the same dtype where index tensors
            are among the indices.

    Raises:
        IndexError: if an index is out of range, of a wrong type, or there are too many.
        RuntimeError: if `value` does not broadcast, or autograd forbids the write.
    """
    _check_value(input, value)
    if _basic_key(index) is None:
        _set_advanced(input, index, value)
    else:
        _assign(input if index is Ellipsis else get_item(input, index), value)


def _basic_key(index: Any) -> tuple[Any, ...] | None:
    """The index in the hashable form of `basic_index`; None if it has other parts than those."""
    kind = type(index)
    if kind is int or index is None or index is Ellipsis:
        return (index,)
    if kind is slice:
        return ((index.start, index.stop, index.step),)
    if kind is not tuple:
        return None
    parts: list[Any] = []
    for item in index:
        kind = type(item)
        if kind is int or item is None or item is Ellipsis:
            parts.append(item)
        elif kind is slice:
            parts.append((item.start, item.stop, item.step))
        else:
            return None
    return tuple(parts)


def _as_ints(key: Sequence[Any]) -> tuple[Any, ...]:
    """The key with everything that stands for an int (NumPy integers, 0-d tensors) made one."""
    return tuple(
        [tuple([_slice_part(part) for part in item]) if type(item) is tuple else item for item in key]
    )


def _slice_part(part: Any) -> int | None:
    if part is None or type(part) is int:
        return part
    try:
        return operator.index(part)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


# ---- index tensors ---------------------------------------------------------------------------------


def _parse(input: Tensor, index: Any) -> tuple[Tensor, list[tuple[int, Tensor]]]:
    """The view of the basic parts of an index, and the index tensors with the dimension of the view each is for."""
    items = [_converted(input, item) for item in _as_tuple(index)]
    key, dims = _recipe(tuple(map(_kind_of, items)), input._layout.ndim)
    view: Tensor = input if key is None else basic_index(input, key)
    chosen = [item for item in items if isinstance(item, (bool, Tensor))]
    return view, [(dim, _as_index(view, item)) for dim, item in zip(dims, chosen, strict=True)]


_TRUTH = "truth"
"""Stands for bools and 0-d masks, which index an added dimension of size 1."""


def _kind_of(item: Any) -> Any:
    """What matters of one index for where the others go: hashable, and the same for all tensors of one layout."""
    if isinstance(item, bool):
        return _TRUTH
    if not isinstance(item, Tensor):
        return item
    layout = item._layout
    return _TRUTH if layout.dtype is dtypes.bool_ and not layout.ndim else layout


@functools.lru_cache(maxsize=4096)
def _recipe(parts: tuple[Any, ...], ndim: int) -> tuple[tuple[Any, ...] | None, tuple[int, ...]]:
    """The basic index to take first (None: none), and the dimension of its result for every index tensor."""
    consumed = sum(map(_consumed, parts))
    if consumed > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}, got {consumed}")
    missing = ndim - consumed
    key: list[Any] = []
    dims: list[int] = []
    position = 0
    for part in parts:
        added, rank = _basic_equivalent(part, missing)
        if part is Ellipsis:
            missing = 0
        if part is _TRUTH or isinstance(part, Layout):
            dims.append(position)
        key += added
        position += rank
    key += [WHOLE] * missing
    return (None if dims and all(part == WHOLE for part in key) else tuple(key)), tuple(dims)


def _consumed(part: Any) -> int:
    """How many dimensions an index stands for."""
    if part is None or part is Ellipsis or part is _TRUTH:
        return 0
    return part.ndim if isinstance(part, Layout) and part.dtype is dtypes.bool_ else 1


def _basic_equivalent(part: Any, missing: int) -> tuple[list[Any], int]:
    """The basic index that leaves the dimensions of `part` to it, and how many dimensions that gives."""
    if part is Ellipsis:
        return [WHOLE] * missing, missing
    if part is _TRUTH:
        return [None], 1
    if isinstance(part, Layout):
        return [WHOLE] * _consumed(part), _consumed(part)
    return [part], 0 if isinstance(part, int) else 1


def _as_tuple(index: Any) -> tuple[Any, ...]:
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and _is_legacy_tuple(index):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
            "x[seq], or x[raxis.tensor(seq)] to index the first dimension.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
        return tuple(index)
    return (index,)


def _is_legacy_tuple(index: list[Any]) -> bool:
    """Whether PyTorch takes this list for a tuple of indices."""
    if len(index) >= 32:
        return False
    return any(
        item is None or item is Ellipsis or isinstance(item, (slice, Tensor, list, tuple)) for item in index
    )


def _converted(input: Tensor, item: Any) -> Any:
    """An int, a slice triple, None, Ellipsis, bool or tensor."""
    if isinstance(item, Tensor):
        return _converted_tensor(item)
    if item is None or item is Ellipsis or isinstance(item, (bool, int)):
        return item
    if isinstance(item, slice):
        return (_slice_part(item.start), _slice_part(item.stop), _slice_part(item.step))
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, (Sequence, np.ndarray)) and not isinstance(item, (str, bytes)):
        return _converted_tensor(_index_tensor(input, item))
    try:
        return operator.index(item)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(item).__name__})"
        ) from None


def _index_tensor(input: Tensor, item: Any) -> Tensor:
    from raxis.ops.definitions.literals import tensor

    empty = isinstance(item, Sequence) and not len(item)
    return tensor(item, dtype=dtypes.int64 if empty else None, device=input.device)


def _converted_tensor(index: Tensor) -> Any:
    layout = index._layout
    if layout.dtype is dtypes.uint8:
        warnings.warn(
            "indexing with dtype raxis.uint8 is now deprecated, please use a dtype raxis.bool instead.",
            UserWarning,
            stacklevel=user_stacklevel(),
        )
        return index != 0
    if layout.ndim or layout.dtype.category is not dtypes.Category.INTEGER:
        return index
    return as_int(index) if _is_readable(index) else index.to(dtypes.int64)


def _is_readable(index: Tensor) -> bool:
    """Whether a 0-d index can be looked at: not while tracing or recording, nor if it differs between examples."""
    layout = index._layout
    if layout.traced or layout.device.differs(index):
        return False
    noting = recording()
    return noting is None or noting.reads_values


def _as_index(view: Tensor, item: Any) -> Tensor:
    """An index tensor on the device of what it indexes (those in host memory may index anything)."""
    if isinstance(item, bool):
        item = view.new_full((1,), item, dtype=dtypes.bool_)
    elif not item._layout.ndim and item.dtype is dtypes.bool_:
        item = item.view(1)
    own, device = item._layout.device, view._layout.device
    return item.to(device) if own is not device and own.type == "cpu" else item


def _is_plain(index: Any) -> bool:
    """Whether an index is one tensor of int64 positions, which needs no parsing."""
    return isinstance(index, Tensor) and index._layout.dtype is dtypes.int64 and index._layout.ndim > 0


def _are_plain(input: Tensor, indices: tuple[Any, ...]) -> bool:
    """Whether indices are tensors of int64 positions on the device of what they index, not too many."""
    own = input._layout
    return len(indices) <= own.ndim and all(
        _is_plain(index) and index._layout.device is own.device for index in indices
    )


def _is_whole_mask(input: Tensor, index: Any) -> bool:
    """Whether an index is a mask of the tensor's own shape and device."""
    if not isinstance(index, Tensor):
        return False
    own, other = input._layout, index._layout
    return other.dtype is dtypes.bool_ and own.shape == other.shape != () and own.device is other.device


def _get_advanced(input: Tensor, index: Any) -> Tensor:
    if _is_plain(index) and input._layout.ndim and index._layout.device is input._layout.device:
        return read_indexed(input, (index,), (0,))
    if type(index) is tuple and _are_plain(input, index):
        return read_indexed(input, index, tuple(range(len(index))))
    if _is_whole_mask(input, index):
        return masked_select(input, index)
    view, placed = _parse(input, index)
    if not placed:
        return view
    base = view
    view, placed = _at_numbers(view, placed)
    if not placed:
        recording = _recorded(base)
        if recording is not None:
            recording.note_copy(view, base, index)
        return view
    if len(placed) == 1 and placed[0][1]._layout.dtype is dtypes.bool_:
        return _get_masked(view, *placed[0])
    tensors, dims = expand_masks(placed, view._layout.shape)
    return read_indexed(view, tensors, dims)


def _at_numbers(
    view: Tensor, placed: Sequence[tuple[int, Tensor]]
) -> tuple[Tensor, list[tuple[int, Tensor]]]:
    """The elements at those indices that stand for an int, copied; and the other indices, placed in what is left."""
    numbers, rest = _numbers_and_rest(placed)
    if not numbers:
        return view, rest
    dims, tensors = zip(*numbers, strict=True)
    left = [(dim - sum(taken < dim for taken in dims), item) for dim, item in rest]
    return read_indexed(view, tensors, dims), left


def _numbers_and_rest(placed: Sequence[tuple[int, Tensor]]) -> tuple[list[Any], list[Any]]:
    """The indices that stand for an int, and the others."""
    numbers = [item for item in placed if not item[1]._layout.ndim]
    return numbers, [item for item in placed if item[1]._layout.ndim]


def _recorded(tensor: Tensor) -> Recording | None:
    """The recording that a tensor takes part in; those of vmap do so through the tensor of all examples."""
    return active.recording if anyone.records and not tensor._layout.device.depth else None


def _get_masked(view: Tensor, dim: int, mask: Tensor) -> Tensor:
    """One mask: its dimensions are merged, and its positions read."""
    shape = view._layout.shape
    check_mask(mask, dim, shape)
    covered = mask._layout.ndim
    if covered == len(shape):
        return masked_select(view, mask)
    if covered > 1:
        view = view.reshape(*shape[:dim], mask._layout.numel, *shape[dim + covered :])
    return view.index_select(dim, nonzero_positions(mask))


# ---- assignment ------------------------------------------------------------------------------------


def _check_value(input: Tensor, value: Any) -> None:
    if not isinstance(value, (Tensor, np.ndarray)) and not is_number(value):
        raise TypeError(f"can't assign a {type(value).__name__} to a {input.dtype} tensor")


def _value_tensor(view: Tensor, value: Any) -> Tensor:
    """A tensor as it is, an array as a tensor of the view's dtype."""
    if isinstance(value, Tensor):
        return value
    from raxis.ops.definitions.literals import tensor

    return tensor(value, dtype=view.dtype, device=view.device)


def _assign(view: Tensor, value: Any) -> None:
    """Write the whole view."""
    if not isinstance(value, Tensor) and is_number(value):
        view.fill_(as_number(value, view._layout.dtype))
        return
    source = _value_tensor(view, value)
    extra = source._layout.ndim - view._layout.ndim
    if extra > 0 and set(source._layout.shape[:extra]) == {1}:
        source = source.reshape(source._layout.shape[extra:])
    view.copy_(source if source._layout.shape == view._layout.shape else source.expand(view._layout.shape))


def _set_advanced(input: Tensor, index: Any, value: Any) -> None:
    view, placed = _parse(input, index)
    if not placed:
        _assign(view, value)
        return
    numbers, rest = _numbers_and_rest(placed)
    if not numbers:
        _write_placed(view, placed, value)
        return
    if rest:
        part, rest = _at_numbers(view, placed)
        _write_placed(part, rest, value)
        value = part
    recording = _recorded(view)
    if recording is not None and isinstance(value, Tensor):
        recording.note_put_back(value, view, index)
    dims, tensors = zip(*numbers, strict=True)
    view._write_indexed_(tensors, _source(view, value, cast=True), dims, False)


def _source(view: Tensor, value: Any, *, cast: bool = False) -> Any:
    if is_number(value):
        return as_number(value, view.dtype)
    source = _value_tensor(view, value)
    return source.to(view.dtype) if cast else source


def _write_placed(view: Tensor, placed: Sequence[tuple[int, Tensor]], value: Any) -> None:
    """Write where index tensors with dimensions, or masks, say."""
    if len(placed) == 1 and placed[0][1].dtype is dtypes.bool_ and _is_single(value):
        _fill_masked(view, *placed[0], value)
        return
    source = _source(view, value)
    if isinstance(source, Tensor):
        check_put_dtype(view, source.dtype)
    tensors, dims = expand_masks(placed, view._layout.shape)
    view._write_indexed_(tensors, source, dims, False)


def _is_single(value: Any) -> bool:
    return not isinstance(value, (Tensor, np.ndarray)) or value.ndim == 0


def _fill_masked(view: Tensor, dim: int, mask: Tensor, value: Any) -> None:
    check_mask(mask, dim, view._layout.shape)
    trailing = view._layout.ndim - dim - mask._layout.ndim
    number = _value_tensor(view, value) if isinstance(value, np.ndarray) else value
    view.masked_fill_(mask.reshape(*mask._layout.shape, *(1,) * trailing), number)
