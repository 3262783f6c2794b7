"""Accumulators: how rows are summed up, in every lane and then across lanes.

Floating-point sums are pairwise: after every `_CHUNK` steps the accumulator is carried into a binary counter of
partial sums (Higham, The accuracy of floating point summation, 1993), so the error grows with the logarithm of the
length.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from raxis.dtypes import Category, DType
from raxis.schedule.loops import Node
from raxis_cpu.llvm.complexes import add, multiply
from raxis_cpu.llvm.elementwise import maximum, minimum, select
from raxis_cpu.llvm.ir import I64, Function, Type, Value
from raxis_cpu.llvm.math.support import any_lane, is_nan
from raxis_cpu.llvm.registers import Complex, Register, register_type, rounded

_CHUNK = 16
_LEVELS = 40
"""Enough partial sums for any number of steps that memory can hold."""
_NONE_YET = (1 << 63) - 1
"""The position of an extreme before there is one."""


class Accumulator:
    """The running result of one reduction, in every lane."""

    def __init__(self, function: Function, node: Node, operand: DType, lanes: int) -> None:
        self._function = function
        self._node = node
        self._lanes = lanes
        self._combine = _combination(node.op, operand)
        type = register_type(operand, lanes)
        start = _identity(node.op, operand)
        self._parts = [function.variable(type, start)]
        if operand.is_complex:
            self._parts.append(function.variable(type, 0.0))

    def get(self) -> Register:
        """The result so far."""
        return _registers([part.get() for part in self._parts])

    def set(self, value: Register) -> None:
        """Replace it."""
        for part, new in zip(self._parts, _values(value), strict=True):
            part.set(new)

    def take(self, value: Register, position: Value | None, valid: Value | None) -> None:
        """Combine with one more value per lane, in the lanes that are `valid`."""
        now = self.get()
        new = self._combine(now, value)
        self.set(new if valid is None else select(valid, new, now))

    def settle(self) -> None:
        """Called after the last step."""

    def result(self, *, across: bool) -> Register:
        """The result of every lane, or of all lanes together."""
        return rounded(self._node.dtype, self.combined(across=across))

    def combined(self, *, across: bool) -> Register:
        """The result before it is rounded to its dtype."""
        value = self.get()
        lanes = self._lanes
        while across and lanes > 1:
            lanes //= 2
            low, high = (_registers([v.part(at, lanes) for v in _values(value)]) for at in (0, lanes))
            value = self._combine(low, high)
        return value


class PairwiseSum(Accumulator):
    """A floating-point sum."""

    def __init__(self, function: Function, node: Node, operand: DType, lanes: int) -> None:
        super().__init__(function, node, operand, lanes)
        self._steps = function.variable(I64, 0)
        size = Type(f"[{_LEVELS} x {self._parts[0].type}]")
        self._partial = [function.variable(size, align=64) for _ in self._parts]

    def take(self, value: Register, position: Value | None, valid: Value | None) -> None:
        super().take(value, position, valid)
        steps = self._steps.get() + 1
        self._steps.set(steps)
        with self._function.when((steps & (_CHUNK - 1)).compare("eq", 0)):
            self._carry(steps >> (_CHUNK.bit_length() - 1))

    def _carry(self, chunks: Value) -> None:
        """Add to the binary counter, of which `chunks` is the new value."""
        function = self._function
        level, left = function.variable(I64, 0), function.variable(I64, chunks)
        with function.repeat_while() as loop:
            loop.test((left.get() & 1).compare("eq", 0))
            self.set(_sum(self._at(level.get()), self.get()))
            level.set(level.get() + 1)
            left.set(left.get() >> 1)
        for partial, value in zip(self._places(level.get()), _values(self.get()), strict=True):
            function.store(value, partial)
        for part in self._parts:
            part.set(0.0)

    def _places(self, level: Value) -> list[Value]:
        nbytes = self._lanes * self._parts[0].type.bits // 8
        return [self._function.advance(partial.address, level * nbytes, 1) for partial in self._partial]

    def _at(self, level: Value) -> Register:
        type = self._parts[0].type
        return _registers([self._function.load(type, place) for place in self._places(level)])

    def settle(self) -> None:
        """Add the partial sums, smallest first."""
        function = self._function
        level = function.variable(I64, 0)
        left = function.variable(I64, self._steps.get() >> (_CHUNK.bit_length() - 1))
        with function.repeat_while() as loop:
            loop.test(left.get().compare("ne", 0))
            with function.when((left.get() & 1).compare("ne", 0)):
                self.set(_sum(self.get(), self._at(level.get())))
            level.set(level.get() + 1)
            left.set(left.get() >> 1)


class FloatExtreme(Accumulator):
    """The greatest or smallest float: NaN is remembered apart, which leaves one instruction to wait for."""

    def __init__(self, function: Function, node: Node, operand: DType, lanes: int) -> None:
        super().__init__(function, node, operand, lanes)
        self._predicate = "gt" if node.op == "reduce_max" else "lt"
        self._undefined = function.variable(Type("i1", lanes), False)

    def take(self, value: Register, position: Value | None, valid: Value | None) -> None:
        (new,), (best,) = _values(value), _values(self.get())
        undefined = is_nan(new)
        best = best.compare(self._predicate, new).select(best, new)
        if valid is not None:
            undefined = undefined & valid
            best = valid.select(best, self._parts[0].get())
        self._undefined.set(self._undefined.get() | undefined)
        self._parts[0].set(best)

    def combined(self, *, across: bool) -> Register:
        best, undefined, lanes = self._parts[0].get(), self._undefined.get(), self._lanes
        if across:
            undefined = any_lane(undefined)
        while across and lanes > 1:
            lanes //= 2
            low, high = best.part(0, lanes), best.part(lanes, lanes)
            best = low.compare(self._predicate, high).select(low, high)
        return undefined.select(float("nan"), best)


class Extreme(Accumulator):
    """argmax or argmin: the first NaN, else the first of the greatest or smallest."""

    def __init__(self, function: Function, node: Node, operand: DType, lanes: int) -> None:
        name = "reduce_max" if node.op == "argmax" else "reduce_min"
        super().__init__(function, node._replace(op=name, dtype=operand), operand, lanes)
        self._predicate = ("gt" if node.op == "argmax" else "lt") if operand.is_signed else "ugt"
        if node.op == "argmin" and not operand.is_signed:
            self._predicate = "ult"
        self._position = function.variable(Type("i64", lanes), _NONE_YET)

    def take(self, value: Register, position: Value | None, valid: Value | None) -> None:
        best, new = self._parts[0].get(), _values(value)[0]
        if position is None:
            raise TypeError("an extreme needs positions.")
        better = self._is_better(new, best)
        better = better if valid is None else better & valid
        self._parts[0].set(better.select(new, best))
        self._position.set(better.select(position, self._position.get()))

    def _is_better(self, new: Value, best: Value) -> Value:
        better = new.compare(self._predicate, best)
        return better | (is_nan(new) & ~is_nan(best)) if new.type.is_float else better

    def result(self, *, across: bool) -> Register:
        best, position, lanes = self._parts[0].get(), self._position.get(), self._lanes
        while across and lanes > 1:
            lanes //= 2
            best, position = self._better_half(best, position, lanes)
        # All are the least there is: the first of them.
        return position.compare("eq", _NONE_YET).select(0, position)

    def _better_half(self, best: Value, position: Value, lanes: int) -> tuple[Value, Value]:
        low, high = best.part(0, lanes), best.part(lanes, lanes)
        first, second = position.part(0, lanes), position.part(lanes, lanes)
        same = ~self._is_better(low, high)
        chosen = self._is_better(high, low) | (same & second.compare("lt", first))
        return chosen.select(high, low), chosen.select(second, first)


def accumulator(
    function: Function, node: Node, operand: DType, lanes: int, *, single: bool = False
) -> Accumulator:
    """The accumulator for a reduction node of operands of dtype `operand`; `single` if it takes one vector."""
    if node.op in {"argmax", "argmin"}:
        return Extreme(function, node, operand, lanes)
    if node.op == "reduce_sum" and operand.category >= Category.FLOAT and not single:
        return PairwiseSum(function, node, operand, lanes)
    if node.op in {"reduce_max", "reduce_min"} and operand.is_floating_point:
        return FloatExtreme(function, node, operand, lanes)
    return Accumulator(function, node, operand, lanes)


def _combination(op: str, dtype: DType) -> Callable[..., Register]:
    if dtype.is_complex:
        return add if op == "reduce_sum" else multiply
    return {
        "reduce_sum": _sum,
        "reduce_prod": lambda x, y: x * y,
        "reduce_max": lambda x, y: maximum(x, y, signed=dtype.is_signed),
        "reduce_min": lambda x, y: minimum(x, y, signed=dtype.is_signed),
        "reduce_and": lambda x, y: x & y,
        "reduce_or": lambda x, y: x | y,
    }[op]


def _sum(x: Register, y: Register) -> Register:
    if isinstance(x, Complex) and isinstance(y, Complex):
        return add(x, y)
    return x + y  # type: ignore[operator,return-value]


def _identity(op: str, dtype: DType) -> float:
    """The result over no elements."""
    if op in {"reduce_sum", "reduce_or"}:
        return 0
    if op == "reduce_prod":
        return 1
    if op == "reduce_and":
        return -1
    sign = -1 if op == "reduce_max" else 1
    if dtype.category is Category.FLOAT:
        return sign * float("inf")
    if dtype.category is Category.BOOL:
        return sign > 0
    limits = np.iinfo(dtype.numpy)
    return int(limits.max if sign > 0 else limits.min)


def _values(register: Register) -> list[Value]:
    return list(register) if isinstance(register, Complex) else [register]


def _registers(values: list[Value]) -> Register:
    return Complex(*values) if len(values) == 2 else values[0]
