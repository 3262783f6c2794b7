"""Tracing: running ops on stand-in tensors so that they record a program."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

from raxis.device import Device
from raxis.dtypes import Category, DType, int32, int64
from raxis.layout import layout_of
from raxis.ptir.builder import Builder
from raxis.ptir.program import Value
from raxis.ptir.types import TensorType
from raxis.tensor import Tensor


class Traced(Tensor):
    """A tensor without memory that stands for one value of the program being recorded."""

    _value: Value


class Tracer:
    """One program being recorded, for a given device."""

    def __init__(self, name: str, device: Device) -> None:
        self.builder = Builder(name)
        self.device = device
        self.random_blocks = 0
        self._random: tuple[Value, Value] | None = None

    def parameter(self, dtype: DType, shape: tuple[int, ...], *, by_value: bool = False) -> Traced:
        """A stand-in for one operand."""
        return self.wrap(self.builder.parameter(TensorType(dtype, shape), by_value=by_value))

    def wrap(self, value: Value) -> Traced:
        """The stand-in for a recorded value."""
        traced = object.__new__(Traced)
        traced._value = value
        traced._offset = 0
        traced._layout = layout_of(value.type.dtype, value.type.shape, None, self.device, traced=True)
        return traced

    def random_bits(self, dtype: DType, shape: tuple[int, ...]) -> Traced:
        """`shape` random words of int32 or int64, each call on counters of its own."""
        if self._random is None:
            scalar = TensorType(int64, ())
            self._random = (
                self.builder.parameter(scalar, by_value=True),
                self.builder.parameter(scalar, by_value=True),
            )
        key, offset = self._random
        if self.random_blocks:
            step = self.builder.constant(self.random_blocks, int64)
            (offset,) = self.builder.emit_all("add", [offset, step], {})
        words = 1 if dtype is int32 else 2
        count = words
        for size in shape:
            count *= size
        self.random_blocks += max(-(-count // 4), 1)
        (drawn,) = self.builder.emit_all("random_bits", [key, offset], {"dtype": dtype, "shape": shape})
        return self.wrap(drawn)

    @property
    def uses_random(self) -> bool:
        """Whether the program ends with the two by-value parameters key and offset."""
        return self._random is not None


class _Active(threading.local):
    tracer: Tracer | None = None


_active = _Active()


class tracing:
    """``with tracing(tracer):`` ops on traced tensors record into it."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer

    def __enter__(self) -> Tracer:
        self._outer = _active.tracer
        _active.tracer = self.tracer
        return self.tracer

    def __exit__(self, *exception: Any) -> None:
        _active.tracer = self._outer


def is_tracing() -> bool:
    """Whether this thread is inside a ``with tracing``."""
    return _active.tracer is not None


def current_tracer() -> Tracer:
    """The tracer of the innermost ``with tracing``."""
    tracer = _active.tracer
    if tracer is None:
        raise RuntimeError("a traced tensor was used after its trace ended; it has no values of its own.")
    return tracer


def emit(primitive: str, *operands: Tensor, **attributes: Any) -> Any:
    """Record one primitive on traced operands of equal dtype and shape; a tensor, or a tuple of them."""
    tracer = current_tracer()
    values = [operand._value for operand in operands]  # type: ignore[attr-defined]
    results = tracer.builder.emit(primitive, *values, **attributes)
    if isinstance(results, tuple):
        return tuple(tracer.wrap(result) for result in results)
    return tracer.wrap(results)


def constant(value: Any, dtype: DType, shape: Sequence[int] = ()) -> Traced:
    """A constant filled with one Python number.

    Raises:
        RuntimeError: if it is NaN or infinite and the dtype has no such number.
    """
    if isinstance(value, float) and dtype.category < Category.FLOAT and not math.isfinite(value):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow: {value}")
    return emit("constant", value=value, dtype=dtype, shape=tuple(shape))


def cast(operand: Tensor, dtype: DType) -> Tensor:
    """`operand` in `dtype`; itself if it has it already."""
    return operand if operand._layout.dtype is dtype else emit("cast", operand, dtype=dtype)


def broadcast(operand: Tensor, shape: tuple[int, ...]) -> Tensor:
    """`operand` broadcast to `shape`, dimensions aligned at the right; itself if it has it already."""
    own = operand._layout.shape
    if own == shape:
        return operand
    lead = len(shape) - len(own)
    return emit("broadcast", operand, shape=shape, dims=tuple(range(lead, len(shape))))
