"""Tensors of regular values: arange, linspace, logspace, eye and triangle indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from raxis import dtypes
from raxis.device import Device
from raxis.dtypes import Category, DType, scalar_category
from raxis.interop import to_device_memory
from raxis.layout import layout_of
from raxis.memory_format import layout as StorageLayout
from raxis.ops.call import repeated
from raxis.ops.creating import check_layout
from raxis.ops.definitions.factory import CREATION_OPTIONS
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import OPS, composed, created, lowered
from raxis.ops.trace import broadcast, cast, constant, emit
from raxis.placement import DeviceLike, as_device
from raxis.tensor import Tensor


@lowered(
    "_progression(Scalar start, Scalar step, int count, *, dtype dtype, device device) -> Tensor",
    method=False,
    function=False,
    out=False,
)
def _progression(start: Tensor, step: Tensor, count: int, dtype: DType, device: Device) -> Any:
    """``start + i * step`` for i in [0, count), computed in 64 bits."""
    index = emit("iota", shape=(count,), dtype=dtypes.int64, dim=0)
    wide = start._layout.dtype
    scaled = emit("mul", cast(index, wide), broadcast(cast(step, wide), (count,)))
    return cast(emit("add", scaled, broadcast(start, (count,))), dtype)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


@created(
    f"arange(Scalar start, Scalar? end=None, Scalar step=1, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor",
    method=False,
)
def arange(
    *args: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """Numbers from `start` to before `end` in steps of `step`: ``arange(end)`` or ``arange(start, end[, step])``.

    Args:
        start: first number.
        end: bound that is not reached.
        step: distance; not 0.
        dtype: default: int64 if all three are integers, else the default float dtype.

    Raises:
        RuntimeError: if `step` is 0, leads away from `end`, or a bound is not finite.

    Example:
        >>> import raxis
        >>> raxis.arange(3)
        tensor([0, 1, 2])
        >>> raxis.arange(1, 2, 0.5)
        tensor([1.0000, 1.5000])
    """
    start, end, step = (_number(value) for value in _bounds(args, start, end, step))
    integers = all(scalar_category(type(value)) <= Category.INTEGER for value in (start, end, step))
    if dtype is None:
        dtype = dtypes.int64 if integers else get_default_dtype()
    if dtype is dtypes.int64 and all(math.isfinite(value) for value in (start, end)):
        if step and not int(step):
            raise ValueError(f"step must be nonzero, but {step} becomes 0 in int64")
        start, end, step = int(start), int(end), int(step)
    count = _count(start, end, step)
    wide = float if dtype.category > Category.INTEGER else int
    return repeated(OPS["_progression"], wide(start), wide(step), count, dtype, as_device(device))


def _bounds(args: tuple[Any, ...], start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    if len(args) == 1 and end is None:
        return start, args[0], step
    names = dict(zip(("start", "end", "step"), args, strict=False))
    found = {"start": start, "end": end, "step": step, **names}
    if found["end"] is None or len(args) > 3:
        raise TypeError(
            f"arange() takes (end) or (start, end[, step]), but got {len(args)} positional arguments."
        )
    return found["start"], found["end"], found["step"]


def _count(start: Any, end: Any, step: Any) -> int:
    """The number of elements of a half-open range."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"upper bound and lower bound inconsistent with step sign: {start} -> {end} with step {step}"
        )
    if all(isinstance(value, int) for value in (start, end, step)):
        return -((start - end) // step)
    return math.ceil((end - start) / step)


@lowered(
    "_linspace(Scalar start, Scalar end, int steps, *, dtype dtype, device device) -> Tensor",
    method=False,
    function=False,
    out=False,
)
def _linspace(start: Tensor, end: Tensor, steps: int, dtype: DType, device: Device) -> Any:
    """`steps` equally spaced numbers; counted from the nearer end, so that both ends are exact."""
    wide = start._layout.dtype
    place = emit("iota", shape=(steps,), dtype=dtypes.int64, dim=0)
    index = cast(place, wide)
    step = (end - start) / max(steps - 1, 1)
    rising = step * index + start
    falling = end - step * ((steps - 1) - index)
    near_start = emit("lt", place, constant(max(steps // 2, 1), dtypes.int64, (steps,)))
    return cast(emit("select", near_start, rising, falling), dtype)


def _spaced_dtype(values: tuple[Any, ...], dtype: DType | None) -> DType:
    default = get_default_dtype()
    return dtype or (default.to_complex() if any(isinstance(value, complex) for value in values) else default)


_SPACED = f"Tensor? out=None, {CREATION_OPTIONS}) -> Tensor"


@created("linspace(Scalar start, Scalar end, int steps, *, " + _SPACED, method=False)
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """`steps` equally spaced numbers from `start` to `end`, both included.

    Args:
        start: first number.
        end: last number.
        steps: how many; not negative.
        dtype: default: the default float dtype, or its complex counterpart for complex ends.

    Raises:
        RuntimeError: if `steps` is negative.

    Example:
        >>> import raxis
        >>> raxis.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    return _spaced(_number(start), _number(end), steps, dtype, device)


def _spaced(
    start: Any, end: Any, steps: int, dtype: DType | None, device: DeviceLike | None
) -> Callable[[], Tensor]:
    if isinstance(steps, float):
        raise TypeError(f"argument 'steps' must be int, not float: {steps}")
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, but got {steps}")
    target = _spaced_dtype((start, end), dtype)
    return repeated(
        OPS["_linspace"], _end(start, target), _end(end, target), steps, target, as_device(device)
    )


def _end(value: Any, dtype: DType) -> Any:
    """One end of a range as a wide number; integer dtypes cut its fraction off first."""
    if dtype.is_complex:
        return complex(value)
    return float(int(value)) if dtype.category <= Category.INTEGER else float(value)


@created("logspace(Scalar start, Scalar end, int steps, float base=10.0, *, " + _SPACED, method=False)
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """``base ** linspace(start, end, steps)``.

    Raises:
        RuntimeError: if `steps` is negative.

    Example:
        >>> import raxis
        >>> raxis.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    target = _spaced_dtype((start, end), dtype)
    wide = dtypes.complex128 if target.is_complex else dtypes.float64
    first, last = (_end(_number(value), target) for value in (start, end))
    exponents = _spaced(first, last, steps, wide, device)
    return lambda: (base ** exponents()).to(target)


@lowered(
    "_eye(int n, int m, *, dtype dtype, device device) -> Tensor", method=False, function=False, out=False
)
def _eye(n: int, m: int, dtype: DType, device: Device) -> Any:
    """Ones on the diagonal."""
    row = emit("iota", shape=(n, m), dtype=dtypes.int64, dim=0)
    column = emit("iota", shape=(n, m), dtype=dtypes.int64, dim=1)
    return cast(emit("eq", row, column), dtype)


@created("eye(int n, int? m=None, *, " + _SPACED, method=False)
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: DeviceLike | None = None,
) -> Callable[[], Tensor]:
    """A matrix with ones on the diagonal and zeros elsewhere.

    Args:
        n: rows.
        m: columns; default: `n`.

    Raises:
        RuntimeError: if one is negative.

    Example:
        >>> import raxis
        >>> raxis.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    columns = n if m is None else m
    for name, count in (("n", n), ("m", columns)):
        if count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    return repeated(OPS["_eye"], n, columns, dtype or get_default_dtype(), as_device(device))


def _triangle_indices(name: str, row: int, col: int, offset: int, dtype: DType | None, device: Any) -> Tensor:
    """Coordinates on the lower (``tril``) or upper triangle, row by row."""
    if row < 0 or col < 0:
        raise RuntimeError(f"row and col must be non-negative, but got row={row} and col={col}")
    index = np.tril_indices(row, offset, col) if name == "tril" else np.triu_indices(row, offset, col)
    values = np.array(index, dtype=np.int64).reshape(2, -1)
    layout = layout_of(dtype or dtypes.int64, values.shape, None, as_device(device))
    return to_device_memory(values, layout.dtype, layout)


_TRIANGLE = "(int row, int col, int offset=0, *, dtype? dtype=None, layout? layout=None, device? device=None) -> Tensor"


@composed("tril_indices" + _TRIANGLE, method=False, out=False)
def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Coordinates of the elements on and below a diagonal: shape ``(2, count)``, int64 by default.

    Example:
        >>> import raxis
        >>> raxis.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    check_layout(layout)
    return _triangle_indices("tril", row, col, offset, dtype, device)


@composed("triu_indices" + _TRIANGLE, method=False, out=False)
def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Coordinates of the elements on and above a diagonal: shape ``(2, count)``, int64 by default.

    Example:
        >>> import raxis
        >>> raxis.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    check_layout(layout)
    return _triangle_indices("triu", row, col, offset, dtype, device)
