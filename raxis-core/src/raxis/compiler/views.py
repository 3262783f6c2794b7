"""Reading and writing strided parts of memory as values of a program.

Memory is a value with a home: the region in which the value's elements lie. A view read from it becomes slices,
transposes and broadcasts; a write becomes a new value of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from raxis.compiler.memory import Region
from raxis.dtypes import bool_, int64
from raxis.layout import contiguous_strides
from raxis.ptir.builder import Builder
from raxis.ptir.program import Value


class Home(NamedTuple):
    """A value and where its elements lie."""

    value: Value
    region: Region


class Cut(NamedTuple):
    """A region as a slice of its home's dimensions: first element, count and step in each."""

    start: tuple[int, ...]
    size: tuple[int, ...]
    step: tuple[int, ...]
    placed: tuple[int, ...]
    """For each dimension of the region, the home dimension it runs along; -1 if it has one element or stride 0."""


def read(builder: Builder, home: Home, region: Region) -> Value:
    """The elements of `region`."""
    if home.region == region:
        return home.value
    if 0 in region.shape:
        return builder.constant(0, region.dtype, region.shape)
    found = _with_cut(builder, home, region)
    if found is not None:
        return _sliced(builder, found[0].value, found[1], region)
    return _gathered(builder, flattened(builder, home), region)


def write(builder: Builder, home: Home, region: Region, value: Value) -> Home:
    """The memory after `value` was written to `region`."""
    if home.region == region or _covers(region, home.region):
        return Home(value, region)
    if 0 in region.shape:
        return home
    found = None if 0 in region.strides else _with_cut(builder, home, region)
    if found is not None:
        home, cut = found
        return home._replace(value=_updated(builder, home.value, cut, _aligned(builder, value, cut)))
    flat = flattened(builder, home)
    length = prod(region.shape)
    places = _reshaped(builder, _places(builder, region, flat.region.offset), (length,))
    updated = builder.emit_all(
        "put", (flat.value, places, _reshaped(builder, value, (length,))), {"dim": 0, "reduce": "set"}
    )
    return flat._replace(value=updated[0])


def contains(home: Region, region: Region) -> bool:
    """Whether all elements of a region are known to lie in another."""
    if home == region or 0 in region.shape:
        return True
    if home.dtype is not region.dtype or 0 in home.shape:
        return False
    if not is_dense(home):
        return _cut(home, region) is not None
    first, last = _ends(region)
    begin, end = _ends(home)
    return begin <= first and last <= end


def _ends(region: Region) -> tuple[int, int]:
    """The places of the first and the last element."""
    reaches = [(size - 1) * stride for size, stride in zip(region.shape, region.strides, strict=True)]
    below, above = sum(min(reach, 0) for reach in reaches), sum(max(reach, 0) for reach in reaches)
    return region.offset + below, region.offset + above


def is_dense(region: Region) -> bool:
    """Whether every element place between the first and the last is used once."""
    pairs = sorted(
        (stride, size) for stride, size in zip(region.strides, region.shape, strict=True) if size != 1
    )
    expected = 1
    for stride, size in pairs:
        if stride != expected:
            return False
        expected *= size
    return True


def _covers(region: Region, home: Region) -> bool:
    return (
        region.dtype is home.dtype
        and region.offset == home.offset
        and prod(region.shape) == prod(home.shape)
        and is_dense(region)
        and is_dense(home)
    )


def flattened(builder: Builder, home: Home) -> Home:
    """The same memory as a vector.

    Raises:
        ValueError: if the home has gaps.
    """
    region = home.region
    if not is_dense(region):
        raise ValueError(f"memory with gaps has no vector form: {region}")
    order = sorted(range(len(region.shape)), key=lambda dim: (-region.strides[dim], dim))
    value = _transposed(builder, home.value, order)
    length = prod(region.shape)
    return Home(_reshaped(builder, value, (length,)), Region(region.dtype, (length,), (1,), region.offset))


# ---- regions as slices of the home -----------------------------------------------------------------


def _with_cut(builder: Builder, home: Home, region: Region) -> tuple[Home, Cut] | None:
    """A form of the home that `region` is a slice of, and the slice; None if there is none."""
    cut = _cut(home.region, region)
    if cut is not None:
        return home, cut
    forms = [home.region]
    if is_dense(home.region):
        length = prod(home.region.shape)
        forms.append(Region(home.region.dtype, (length,), (1,), home.region.offset))
    for form in forms:
        split = _split(form, region)
        cut = _cut(split, region)
        if cut is not None:
            whole_home = home if form is home.region else flattened(builder, home)
            return Home(_reshaped(builder, whole_home.value, split.shape), split), cut
    return None


def _split(home: Region, region: Region) -> Region:
    """The home with its dimensions divided where the strides of `region` divide them."""
    shape: list[int] = []
    strides: list[int] = []
    steps = sorted({stride for stride, size in zip(region.strides, region.shape, strict=True) if size > 1})
    for size, stride in zip(home.shape, home.strides, strict=True):
        inside = [step for step in steps if stride < step < stride * size]
        parts_shape, parts_strides, below = [], [], stride
        for step in inside:
            if step % below == 0 and (stride * size) % step == 0:
                parts_shape.append(step // below)
                parts_strides.append(below)
                below = step
        parts_shape.append(stride * size // below if stride else size)
        parts_strides.append(below)
        shape += parts_shape[::-1]
        strides += parts_strides[::-1]
    return home._replace(shape=tuple(shape), strides=tuple(strides))


def _cut(home: Region, region: Region) -> Cut | None:
    """The region as a slice of the home's dimensions; None if it is none."""
    if home.dtype is not region.dtype or 0 in region.shape or 0 in home.shape:
        return None
    order = sorted(
        (dim for dim in range(len(home.shape)) if home.shape[dim] > 1), key=lambda dim: -home.strides[dim]
    )
    if any(home.strides[dim] <= 0 for dim in order):
        return None
    start, left = [0] * len(home.shape), region.offset - home.offset
    for dim in order:
        start[dim], left = divmod(left, home.strides[dim]) if left >= 0 else (-1, 0)
    count, step, placed = [1] * len(home.shape), [1] * len(home.shape), []
    for size, stride in zip(region.shape, region.strides, strict=True):
        if size == 1 or stride == 0:
            placed.append(-1)
            continue
        along = next((dim for dim in order if home.strides[dim] <= stride), -1)
        if along < 0 or stride % home.strides[along] or count[along] != 1:
            return None
        count[along], step[along] = size, stride // home.strides[along]
        placed.append(along)
    inside = all(
        first >= 0 and first + (number - 1) * gap < size
        for first, number, gap, size in zip(start, count, step, home.shape, strict=True)
    )
    return Cut(tuple(start), tuple(count), tuple(step), tuple(placed)) if inside and not left else None


def _sliced(builder: Builder, value: Value, cut: Cut, region: Region) -> Value:
    stop = tuple(
        first + (number - 1) * gap + 1
        for first, number, gap in zip(cut.start, cut.size, cut.step, strict=True)
    )
    if cut.size != value.type.shape:
        attributes = {"start": cut.start, "stop": stop, "step": cut.step}
        (value,) = builder.emit_all("slice", (value,), attributes)
    along = [dim for dim in cut.placed if dim >= 0]
    rest = [dim for dim in range(len(cut.size)) if dim not in along]
    value = _transposed(builder, value, [*along, *rest])
    spread = [
        dim for dim, (size, stride) in enumerate(zip(region.shape, region.strides, strict=True))
        if size > 1 and stride == 0
    ]  # fmt: skip
    shape = tuple(1 if dim in spread else size for dim, size in enumerate(region.shape))
    value = _reshaped(builder, value, shape)
    if spread:
        attributes = {"shape": region.shape, "dims": tuple(range(len(shape)))}
        (value,) = builder.emit_all("broadcast", (value,), attributes)
    return value


def _aligned(builder: Builder, value: Value, cut: Cut) -> Value:
    """A value of the region's shape in the order of the home's dimensions."""
    along = [position for position, dim in enumerate(cut.placed) if dim >= 0]
    rest = [position for position, dim in enumerate(cut.placed) if dim < 0]
    order = sorted(along, key=lambda position: cut.placed[position])
    return _reshaped(builder, _transposed(builder, value, [*order, *rest]), cut.size)


def _updated(builder: Builder, whole: Value, cut: Cut, part: Value) -> Value:
    """`whole` with the slice replaced by `part`."""
    if any(gap > 1 for gap in cut.step):
        return _masked(builder, whole, cut, part)
    return _joined(builder, whole, cut, part, 0)


def _joined(builder: Builder, whole: Value, cut: Cut, part: Value, dim: int) -> Value:
    shape = whole.type.shape
    while dim < len(shape) and cut.size[dim] == shape[dim]:
        dim += 1
    if dim == len(shape):
        return part
    start, stop = cut.start[dim], cut.start[dim] + cut.size[dim]

    def piece(first: int, last: int) -> Value:
        begin = tuple(first if axis == dim else 0 for axis in range(len(shape)))
        end = tuple(last if axis == dim else size for axis, size in enumerate(shape))
        return builder.emit_all("slice", (whole,), {"start": begin, "stop": end, "step": (1,) * len(shape)})[
            0
        ]

    middle = _joined(builder, piece(start, stop), _without(cut, dim, stop - start), part, dim + 1)
    pieces = [piece(0, start)] if start else []
    pieces.append(middle)
    if stop < shape[dim]:
        pieces.append(piece(stop, shape[dim]))
    return builder.emit_all("concatenate", pieces, {"dim": dim})[0]


def _without(cut: Cut, dim: int, size: int) -> Cut:
    start = tuple(0 if axis == dim else first for axis, first in enumerate(cut.start))
    return cut._replace(start=start, size=tuple(size if a == dim else n for a, n in enumerate(cut.size)))


def _masked(builder: Builder, whole: Value, cut: Cut, part: Value) -> Value:
    shape = whole.type.shape
    last = [first + (n - 1) * gap + 1 for first, n, gap in zip(cut.start, cut.size, cut.step, strict=True)]
    margins: dict[str, object] = {
        "low": cut.start,
        "high": tuple(size - end for size, end in zip(shape, last, strict=True)),
        "interior": tuple(gap - 1 for gap in cut.step),
    }
    zero = builder.constant(0, whole.type.dtype)
    (spread,) = builder.emit_all("pad", (part, zero), margins)
    inside = builder.constant(True, bool_, cut.size)
    (mask,) = builder.emit_all("pad", (inside, builder.constant(False, bool_)), margins)
    return builder.emit_all("select", (mask, spread, whole), {})[0]


# ---- regions of any kind ---------------------------------------------------------------------------


def _gathered(builder: Builder, flat: Home, region: Region) -> Value:
    packed = _rows(builder, flat, region)
    if packed is not None:
        return packed
    places = _places(builder, region, flat.region.offset)
    return builder.emit_all("take", (flat.value, places), {"dim": 0})[0]


def _rows(builder: Builder, flat: Home, region: Region) -> Value | None:
    """A dense region that is a run of the vector, in another shape."""
    if 0 in region.shape or not is_dense(region):
        return None
    start, length = region.offset - flat.region.offset, prod(region.shape)
    value = flat.value
    if length != flat.region.shape[0]:
        attributes = {"start": (start,), "stop": (start + length,), "step": (1,)}
        (value,) = builder.emit_all("slice", (value,), attributes)
    order = sorted(range(len(region.shape)), key=lambda dim: (-region.strides[dim], dim))
    value = _reshaped(builder, value, tuple(region.shape[dim] for dim in order))
    return _transposed(builder, value, [order.index(dim) for dim in range(len(order))])


def _places(builder: Builder, region: Region, base: int) -> Value:
    """The positions of a region's elements, counted from `base`."""
    shape = region.shape
    places = builder.constant(region.offset - base, int64, shape)
    for dim, stride in enumerate(region.strides):
        if stride and shape[dim] > 1:
            (index,) = builder.emit_all("iota", (), {"shape": shape, "dtype": int64, "dim": dim})
            (scaled,) = builder.emit_all("mul", (index, builder.constant(stride, int64, shape)), {})
            (places,) = builder.emit_all("add", (places, scaled), {})
    return places


def _reshaped(builder: Builder, value: Value, shape: tuple[int, ...]) -> Value:
    return value if value.type.shape == shape else builder.emit_all("reshape", (value,), {"shape": shape})[0]


def _transposed(builder: Builder, value: Value, order: Sequence[int]) -> Value:
    if list(order) == list(range(len(order))):
        return value
    return builder.emit_all("transpose", (value,), {"permutation": tuple(order)})[0]


def whole(dtype: Any, nbytes: int) -> Region:
    """All of a buffer as a vector."""
    shape = (nbytes // dtype.itemsize,)
    return Region(dtype, shape, contiguous_strides(shape), 0)
