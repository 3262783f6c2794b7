"""Finding places among boundaries, membership and histograms."""

from __future__ import annotations

from math import isfinite
from typing import Any

from raxis import dtypes
from raxis.dtypes import Category, promote_types
from raxis.ops.definitions.extrema import require_ordered
from raxis.ops.definitions.masking import as_int
from raxis.ops.definitions.reductions import constant_like, scalar_type
from raxis.ops.formulas import wide
from raxis.ops.promotion import result_type_of
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.tensor import Tensor

# ---- boundaries ------------------------------------------------------------------------------------------------------


def _searched(boundaries: Tensor, values: Tensor, right: bool, out_int32: bool) -> Any:
    dtype = promote_types(boundaries.dtype, values.dtype)
    found = emit("searchsorted", cast(boundaries, dtype), cast(values, dtype), right=right)
    return cast(found, dtypes.int32) if out_int32 else found


def _check_sequence(sequence: Tensor, values: Tensor) -> None:
    name = "searchsorted()"
    if sequence.ndim == 0:
        raise RuntimeError(f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
    if sequence.ndim > 1 and sequence._layout.shape[:-1] != values._layout.shape[:-1]:
        raise RuntimeError(
            f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
            f"input value tensor must match, but we got boundaries tensor {list(sequence.shape)} and input value "
            f"tensor {list(values.shape)}"
        )


def _check_sorter(sequence: Tensor, sorter: Tensor) -> None:
    if sorter.shape != sequence.shape:
        raise RuntimeError(
            "searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sequence.shape)} and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(
            f"searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_type(sorter.dtype)}"
        )


@lowered(
    "searchsorted(Tensor sorted_sequence, Tensor|Scalar input, *, bool out_int32=False, bool right=False, "
    "str? side=None, Tensor? sorter=None) -> Tensor",
    method=False,
)
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> Any:
    """Where each value would be inserted to keep the last dimension of `sorted_sequence` in order.

    Args:
        sorted_sequence: 1-D, or with the leading sizes of `input`; ascending along the last dimension.
        input: values to place, any shape, or a number.
        out_int32: give int32 instead of int64 indices.
        right: place after equal elements instead of before them.
        side: ``'left'`` or ``'right'``, another way to say `right`.
        sorter: int64 indices that order `sorted_sequence`, if it is not in order.

    Raises:
        RuntimeError: if shapes do not match, `side` contradicts `right`, or a sorter index is out of range.

    Example:
        >>> import raxis
        >>> raxis.searchsorted(raxis.tensor([1, 3, 5]), raxis.tensor([0, 3, 6]))
        tensor([0, 1, 3])
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if not isinstance(input, Tensor):
        raise TypeError("searchsorted(): argument 'input' (position 2) must be Tensor or Number")
    _check_sequence(sorted_sequence, input)
    boundaries = sorted_sequence
    if sorter is not None:
        _check_sorter(sorted_sequence, sorter)
        boundaries = emit("gather", boundaries, sorter, dim=boundaries.ndim - 1)
    values = input if boundaries.ndim > 1 else emit("reshape", input, shape=(input._layout.numel,))
    found = _searched(boundaries, values, right or side == "right", out_int32)
    return emit("reshape", found, shape=input._layout.shape)


@composed(
    "bucketize(Tensor|Scalar input, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    method=False,
)
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Any:
    """The index of the bucket each value falls in; `boundaries` separate the buckets.

    Args:
        input: values, any shape, or a number.
        boundaries: 1-D, ascending.
        out_int32: give int32 instead of int64 indices.
        right: boundaries belong to the bucket above them.

    Raises:
        RuntimeError: if `boundaries` is not 1-D.

    Example:
        >>> import raxis
        >>> raxis.bucketize(raxis.tensor([1, 4]), raxis.tensor([0, 2, 4]))
        tensor([1, 2])
    """
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# ---- membership ------------------------------------------------------------------------------------------------------


@lowered(
    "isin(Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=False, bool invert=False) "
    "-> Tensor",
    method=False,
)
def isin(elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool) -> Any:
    """Whether each of `elements` is among `test_elements`.

    Args:
        elements: any shape, or a number.
        test_elements: any shape, or a number.
        assume_unique: accepted for PyTorch's sake; the result does not depend on it.
        invert: tell which are not among them.

    Raises:
        RuntimeError: if an operand is complex.

    Example:
        >>> import raxis
        >>> raxis.isin(raxis.tensor([1, 2, 3]), raxis.tensor([3, 1]))
        tensor([ True, False,  True])
    """
    dtype = result_type_of((elements, test_elements))
    require_ordered("isin", dtype)
    if dtype is dtypes.bool_:
        dtype = dtypes.uint8
    shape, count = elements._layout.shape, test_elements._layout.numel
    if count == 0:
        return constant(invert, dtypes.bool_, shape)
    values = cast(elements, dtype)
    flat = emit("reshape", values, shape=(values._layout.numel,))
    tests = emit("reshape", cast(test_elements, dtype), shape=(count,))
    ordered, _ = emit("sort", tests, dim=0, descending=False, stable=False)
    place = emit("searchsorted", ordered, flat, right=False)
    nearest = emit("take", ordered, emit("minimum", place, constant_like(place, count - 1)), dim=0)
    found = emit("ne" if invert else "eq", nearest, flat)
    return emit("reshape", found, shape=shape)


# ---- histograms ------------------------------------------------------------------------------------------------------


@lowered(
    "_bincount(Tensor input, Tensor? weights, int size) -> Tensor",
    composite=True,
    method=False,
    function=False,
    out=False,
)
def _bincount(input: Tensor, weights: Tensor | None, size: int) -> Any:
    """How often, or with which weight, each of 0 to `size` - 1 occurs."""
    places = cast(input, dtypes.int64)
    if weights is None:
        amounts = constant_like(places, 1)
    else:
        amounts = cast(weights, weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64)
    zeros = constant(0, amounts._layout.dtype, (size,))
    return emit("scatter", zeros, places, amounts, dim=0, reduce="add")


@composed("bincount(Tensor input, Tensor? weights=None, int minlength=0) -> Tensor", out=False)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, ... occurs in `input`, or the sum of the weights where it does.

    Args:
        input: 1-D, integers that are not negative.
        weights: of the same length; float32 sums in float32, other dtypes in float64.
        minlength: least size of the result.

    Raises:
        RuntimeError: if `input` is not of this kind, or `weights` or `minlength` does not fit.

    Example:
        >>> import raxis
        >>> raxis.bincount(raxis.tensor([1, 3, 1]))
        tensor([0, 2, 0, 1])
    """
    if input.dtype.category is not Category.INTEGER:
        raise NotImplementedError(f'"bincount" not implemented for {scalar_type(input.dtype)!r}')
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    least, greatest = map(as_int, input.aminmax()) if input.ndim == 1 and input.numel() else (0, -1)
    if input.ndim != 1 or least < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and (weights.ndim != 1 or weights.shape != input.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    return _bincount(input, weights, max(greatest + 1, minlength))


@lowered(
    "_histc(Tensor input, Tensor low, Tensor high, int bins) -> Tensor",
    method=False,
    function=False,
    out=False,
)
def _histc(input: Tensor, low: Tensor, high: Tensor, bins: int) -> Any:
    """How many elements fall in each of `bins` equal intervals from `low` to `high`."""
    values = wide(emit("reshape", input, shape=(input._layout.numel,)))
    dtype, shape = values._layout.dtype, values._layout.shape
    low, high = (broadcast(cast(bound, dtype), shape) for bound in (low, high))
    fraction = emit("div", emit("sub", values, low), emit("sub", high, low))
    inside = emit("and", emit("ge", values, low), emit("le", values, high))
    position = emit("mul", fraction, constant_like(fraction, bins))
    place = cast(emit("select", inside, position, constant_like(position, 0)), dtypes.int64)
    place = emit("minimum", place, constant_like(place, bins - 1))
    counts = emit(
        "scatter", constant(0, dtypes.int64, (bins,)), place, cast(inside, dtypes.int64), dim=0, reduce="add"
    )
    return cast(counts, input.dtype)


@composed("histc(Tensor input, int bins=100, number min=0, number max=0) -> Tensor")
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall in each of `bins` equal intervals; elements outside and NaN are not counted.

    Args:
        input: any shape, floating point.
        bins: number of intervals.
        min: lower end of the range.
        max: upper end, which belongs to the last interval; equal to `min`: the extrema of `input` are the range.

    Raises:
        RuntimeError: if `bins` is not positive, `min` is above `max` or the range is not finite.

    Example:
        >>> import raxis
        >>> raxis.histc(raxis.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
        tensor([0., 2., 1., 0.])
    """
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f'"histc" not implemented for {scalar_type(input.dtype)!r}')
    if bins <= 0:
        raise RuntimeError(f"histc: bins must be > 0, but got {bins}")
    if min > max:
        raise RuntimeError("histc: max must be larger than min")
    if min == max and input.numel():
        bounds: Any = [bound.item() for bound in input.aminmax()]
        min, max = bounds
    if not (isfinite(min) and isfinite(max)):
        raise RuntimeError(f"histc: range of [{min:g}, {max:g}] is not finite")
    if min == max:
        min, max = min - 1, max + 1
    return _histc(input, input.new_full((), min), input.new_full((), max), bins)
