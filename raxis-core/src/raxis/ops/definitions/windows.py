"""Max and average over windows, and their derivatives, in primitives.

These ops work on the last dimensions, as many as the kernel has; all dimensions before them
are a batch. Places (`indices`) are positions in the row-major order of those last dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from raxis import dtypes
from raxis.dtypes import end_of_range
from raxis.layout import Layout
from raxis.ops.definitions.spatial import Sizes
from raxis.ops.formulas import wide
from raxis.ops.table import lowered
from raxis.ops.trace import cast, constant, emit
from raxis.tensor import Tensor

_UNROLLED = 8
"""Windows up to this size are combined slice by slice, which needs no copy of overlapping windows."""


def pooled_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows fit; with `ceil_mode` the last may reach beyond the padding, but must start before it."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def _padded(
    input: Tensor, fill: float, counts: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Tensor:
    """The input padded, or cropped, to exactly what the windows cover."""
    lead = input.ndim - len(kernel)
    low, high = [0] * lead, [0] * lead
    for size, count, width, step, before, spread in zip(
        input._layout.shape[lead:], counts, kernel, stride, padding, dilation, strict=True
    ):
        low.append(before)
        high.append(step * (count - 1) + spread * (width - 1) + 1 - size - before)
    if not (any(low) or any(high)):
        return input
    value = constant(fill, input.dtype)
    return emit("pad", input, value, low=tuple(low), high=tuple(high), interior=(0,) * len(low))


def _combine(combine: str, input: Tensor, kernel: Sizes, stride: Sizes, dilation: Sizes) -> Tensor:
    """Reduce every window of the last dimensions, one dimension after another."""
    lead = input.ndim - len(kernel)
    for axis, (width, step, spread) in enumerate(zip(kernel, stride, dilation, strict=True), lead):
        if width > _UNROLLED:
            windows = emit("unfold", input, dim=axis, size=width, step=step, dilation=spread)
            reduction = {"add": "reduce_sum", "maximum": "reduce_max"}[combine]
            input = emit(reduction, windows, dims=(input.ndim,))
        else:
            input = _combine_slices(combine, input, axis, width, step, spread)
    return input


def _combine_slices(combine: str, input: Tensor, axis: int, width: int, step: int, spread: int) -> Tensor:
    shape = input._layout.shape
    reach = shape[axis] - spread * (width - 1)
    start, stop, steps = [0] * len(shape), list(shape), [1] * len(shape)
    steps[axis] = step
    result: Tensor | None = None
    for offset in range(0, spread * width, spread):
        start[axis], stop[axis] = offset, offset + reach
        part = emit("slice", input, start=tuple(start), stop=tuple(stop), step=tuple(steps))
        result = part if result is None else emit(combine, result, part)
    assert result is not None  # windows have at least one element
    return result


_WINDOWS = "int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode"


def _max_gradient(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Tensor:
    return _max_pool_gradient(grad, input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_of_gradient(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Tensor:
    places = window_places(input, kernel_size, stride, padding, dilation, ceil_mode)
    return take_places(grad, places, len(kernel_size))


@lowered(
    f"_max_pool_gradient(Tensor grad, Tensor input, {_WINDOWS}) -> Tensor",
    vjp={"grad": _max_of_gradient},
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _max_pool_gradient(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Any:
    """Each window's gradient at the place of its greatest element, summed where windows overlap."""
    places = _places(input, kernel_size, stride, padding, dilation, ceil_mode)
    reach = (spread * (size - 1) + 1 for size, spread in zip(kernel_size, dilation, strict=True))
    overlapping = any(step < width for step, width in zip(stride, reach, strict=True))
    return _put(grad, places, input._layout.shape[input.ndim - len(kernel_size) :], overlapping)


@lowered(
    f"_max_pool(Tensor input, {_WINDOWS}) -> Tensor",
    vjp={"input": _max_gradient},
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def max_pool(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Any:
    """The greatest element of every window; NaN wins."""
    counts = _counts(input, kernel_size, stride, padding, dilation, ceil_mode)
    padded = _padded(input, end_of_range(input.dtype, -1), counts, kernel_size, stride, padding, dilation)
    return _combine("maximum", padded, kernel_size, stride, dilation)


@lowered(
    f"_window_places(Tensor input, {_WINDOWS}) -> Tensor",
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def window_places(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Any:
    """The place of the greatest element of every window."""
    return _places(input, kernel_size, stride, padding, dilation, ceil_mode)


def _places(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Tensor:
    counts = _counts(input, kernel_size, stride, padding, dilation, ceil_mode)
    windows = _padded(input, end_of_range(input.dtype, -1), counts, kernel_size, stride, padding, dilation)
    lead = input.ndim - len(kernel_size)
    for axis, (width, step, spread) in enumerate(zip(kernel_size, stride, dilation, strict=True), lead):
        windows = emit("unfold", windows, dim=axis, size=width, step=step, dilation=spread)
    winner = winner_of(windows, len(kernel_size))
    tables = [
        [[start * step - before + spread * offset for offset in range(width)] for start in range(count)]
        for count, width, step, before, spread in zip(
            counts, kernel_size, stride, padding, dilation, strict=True
        )
    ]
    return places_of(winner, tables, input._layout.shape[lead:])


def winner_of(windows: Tensor, rank: int) -> Tensor:
    """Which element of each window [..., kernel...] is the greatest, counted in row-major order."""
    shape = windows._layout.shape
    lead = len(shape) - rank
    flat = emit("reshape", windows, shape=(*shape[:lead], prod(shape[lead:])))
    return emit("argmax", flat, dim=lead)


def places_of(winner: Tensor, tables: Sequence[Sequence[Sequence[int]]], sizes: Sizes) -> Tensor:
    """Places from numbers of window elements; ``tables[axis][window][offset]`` is a coordinate."""
    shape = winner._layout.shape
    lead, widths = len(shape) - len(tables), [len(table[0]) for table in tables]
    offsets = list(product(*map(range, widths)))
    result: Tensor | None = None
    for axis, (table, size) in enumerate(zip(tables, sizes, strict=True)):
        # Padding never wins but where all elements are the lowest number: then the nearest element does.
        flat = [min(max(window[offset[axis]], 0), size - 1) for window in table for offset in offsets]
        window = emit("iota", shape=shape, dtype=dtypes.int64, dim=lead + axis)
        row = emit("add", emit("mul", window, constant(len(offsets), dtypes.int64, shape)), winner)
        lookup = emit("constant", value=tuple(flat), dtype=dtypes.int64, shape=(len(flat),))
        place = emit("take", lookup, row, dim=0)
        scaled = place if result is None else emit("mul", result, constant(size, dtypes.int64, shape))
        result = place if result is None else emit("add", scaled, place)
    assert result is not None  # kernels have at least one dimension
    return result


def _flattened(input: Tensor, rank: int) -> Tensor:
    """Lead dimensions and the last `rank` ones, each flattened to one."""
    shape = input._layout.shape
    lead = len(shape) - rank
    return emit("reshape", input, shape=(prod(shape[:lead]), prod(shape[lead:])))


@lowered(
    "_put_places(Tensor values, Tensor indices, int[] size, bool overlapping) -> Tensor",
    vjp={"values": lambda grad, indices, size: take_places(grad, indices, len(size))},
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def put_places(values: Tensor, indices: Tensor, size: Sizes, overlapping: bool) -> Any:
    """Zeros of the last dimensions `size` with `values` at the places `indices`, summed where these repeat."""
    return _put(values, indices, size, overlapping)


def _put(values: Tensor, indices: Tensor, size: Sizes, overlapping: bool) -> Tensor:
    rank = len(size)
    updates, places = _flattened(wide(values), rank), _flattened(indices, rank)
    zeros = constant(0, updates.dtype, (updates._layout.shape[0], prod(size)))
    filled = emit("scatter", zeros, places, updates, dim=1, reduce="add" if overlapping else "set")
    return cast(
        emit("reshape", filled, shape=(*values._layout.shape[: values.ndim - rank], *size)), values.dtype
    )


@lowered(
    "_take_places(Tensor input, Tensor indices, int rank) -> Tensor",
    vjp={
        "input": lambda grad, indices, input_layout, rank: (
            put_places(grad, indices, input_layout.shape[input_layout.ndim - rank :], True)
        )
    },
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def take_places(input: Tensor, indices: Tensor, rank: int) -> Any:
    """The elements at the places `indices` of the last `rank` dimensions."""
    taken = emit("gather", _flattened(input, rank), _flattened(indices, rank), dim=1)
    return emit("reshape", taken, shape=indices._layout.shape)


def _counts(
    input: Tensor, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> Sizes:
    """How many windows there are along each of the last dimensions."""
    sizes = input._layout.shape[input.ndim - len(kernel) :]
    counts = tuple(
        pooled_size(size, width, step, before, spread, ceil_mode)
        for size, width, step, before, spread in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input size: {list(input.shape)}. Calculated output size: {list(counts)} for kernel {list(kernel)}, "
            f"stride {list(stride)}, padding {list(padding)}, dilation {list(dilation)}. Output size is too small"
        )
    return counts


# ---- average ---------------------------------------------------------------------------------------


def _divided(
    sums: Tensor, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:  # fmt: skip
    """Window sums divided by the number of elements each window counts."""
    shape, dtype = sums._layout.shape, sums.dtype
    if divisor_override is not None:
        return emit("div", sums, constant(divisor_override, dtype, shape))
    divisor: Tensor | None = None
    lead = len(shape) - len(kernel)
    for axis, (size, width, step, before) in enumerate(
        zip(sizes, kernel, stride, padding, strict=True), lead
    ):
        reach = before if count_include_pad else 0
        counted = [
            min(place * step - before + width, size + reach) - max(place * step - before, -reach)
            for place in range(shape[axis])
        ]
        value = counted[0] if len(set(counted)) == 1 else tuple(counted)
        factor = constant(value, dtype, shape) if isinstance(value, int) else emit(
            "broadcast", emit("constant", value=value, dtype=dtype, shape=(shape[axis],)), shape=shape, dims=(axis,)
        )  # fmt: skip
        divisor = factor if divisor is None else emit("mul", divisor, factor)
    return emit("div", sums, divisor)  # type: ignore[arg-type]


_AVERAGED = (
    "int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, "
    "bool count_include_pad, int? divisor_override"
)


def _average_gradient(
    grad: Tensor, input_layout: Layout, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Tensor:  # fmt: skip
    sizes = input_layout.shape[input_layout.ndim - len(kernel_size) :]
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _average_pool_gradient(grad, sizes, *options)


def _average_of_gradient(
    grad: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:  # fmt: skip
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return average_pool(grad, *options)


@lowered(
    f"_average_pool(Tensor input, {_AVERAGED}) -> Tensor",
    vjp={"input": _average_gradient},
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def average_pool(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Any:  # fmt: skip
    """The mean of every window."""
    dense = (1,) * len(kernel_size)
    counts = _counts(input, kernel_size, stride, padding, dense, ceil_mode)
    padded = _padded(wide(input), 0, counts, kernel_size, stride, padding, dense)
    sums = _combine("add", padded, kernel_size, stride, dense)
    sizes = input._layout.shape[input.ndim - len(kernel_size) :]
    return cast(
        _divided(sums, sizes, kernel_size, stride, padding, count_include_pad, divisor_override), input.dtype
    )


@lowered(
    f"_average_pool_gradient(Tensor grad, int[] size, {_AVERAGED}) -> Tensor",
    vjp={"grad": _average_of_gradient},
    composite=True, method=False, function=False, out=False,
)  # fmt: skip
def _average_pool_gradient(
    grad: Tensor, size: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Any:  # fmt: skip
    """Each window's share of its gradient, summed over the windows of every element."""
    shares = _divided(wide(grad), size, kernel_size, stride, padding, count_include_pad, divisor_override)
    if kernel_size == stride and not any(padding):
        return cast(_repeated(shares, size, kernel_size), grad.dtype)
    lead = grad.ndim - len(size)
    low, high, interior = [0] * lead, [0] * lead, [0] * lead
    for length, count, width, step, before in zip(
        size, grad._layout.shape[lead:], kernel_size, stride, padding, strict=True
    ):
        low.append(width - 1 - before)
        high.append(length + before - step * (count - 1) - 1)
        interior.append(step - 1)
    spread = emit(
        "pad", shares, constant(0, shares.dtype), low=tuple(low), high=tuple(high), interior=tuple(interior)
    )
    ones = (1,) * len(size)
    return cast(_combine("add", spread, kernel_size, ones, ones), grad.dtype)


def _repeated(shares: Tensor, size: Sizes, kernel: Sizes) -> Tensor:
    """Every element over a window of its own; what `size` has beyond the windows is 0."""
    lead = shares.ndim - len(size)
    for axis, (length, width) in enumerate(zip(size, kernel, strict=True), lead):
        shape = shares._layout.shape
        dims = (*range(axis + 1), *range(axis + 2, len(shape) + 1))
        spread = emit("broadcast", shares, shape=(*shape[: axis + 1], width, *shape[axis + 1 :]), dims=dims)
        total = shape[axis] * width
        shares = emit("reshape", spread, shape=(*shape[:axis], total, *shape[axis + 1 :]))
        none, more = [0] * len(shape), [0] * len(shape)
        more[axis] = length - total
        if more[axis]:
            zero = constant(0, shares.dtype)
            shares = emit("pad", shares, zero, low=tuple(none), high=tuple(more), interior=tuple(none))
    return shares
