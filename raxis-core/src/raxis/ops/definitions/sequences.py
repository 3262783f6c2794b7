"""Tensors of regular values: arange, linspace, logspace, eye and triangle indices."""

from __future__ import annotations

import math
from typing import Any

from raxis import dtypes
from raxis.device import Device
from raxis.dtypes import Category, DType, scalar_category
from raxis.memory_format import layout as StorageLayout
from raxis.ops.definitions.factory import CREATION_OPTIONS, check_layout, marked, prepared
from raxis.ops.promotion import get_default_dtype
from raxis.ops.table import composed, lowered
from raxis.ops.trace import broadcast, cast, emit
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


@composed(
    f"arange(Scalar start, Scalar? end=None, Scalar step=1, *, Tensor? out=None, {CREATION_OPTIONS}) -> Tensor",
    method=False,
    out=False,
)
def arange(
    *args: Any,
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: StorageLayout | None = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
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
    check_layout(layout)
    start, end, step = (_number(value) for value in _bounds(args, start, end, step))
    integers = all(scalar_category(type(value)) <= Category.INTEGER for value in (start, end, step))
    if dtype is None:
        dtype = out.dtype if out is not None else dtypes.int64 if integers else get_default_dtype()
    count = _count(start, end, step)
    if dtype.category <= Category.INTEGER:
        start, step = int(start), int(step)
    target = as_device(device) if out is None else out.device
    wide = float if dtype.category > Category.INTEGER else int
    made = _progression(wide(start), wide(step), count, dtype=dtype, device=target)
    if out is not None:
        return prepared(out, (count,), None).copy_(made)
    return marked(made, requires_grad)


def _bounds(args: tuple[Any, ...], start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    if len(args) == 1 and end is None:
        return start, args[0], step
    names = dict(zip(("start", "end", "step"), args, strict=False))
    found = {"start": start, "end": end, "step": step, **names}
    if found["end"] is None or len(args) > 3:
        raise TypeError(f"arange() takes (end) or (start, end[, step]), but got {len(args)} positional arguments.")
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
