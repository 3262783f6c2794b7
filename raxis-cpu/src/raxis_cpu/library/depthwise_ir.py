"""Depthwise convolution in LLVM IR: every plane of the result is a sum of shifted, scaled planes of one channel."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import cache

from raxis.dtypes import DType, float32, float64
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value, fma
from raxis_cpu.threads import keep_for_ever

ELEMENTS = {float32: "float", float64: "double"}
"""The dtypes served, and what LLVM calls their elements."""


class Slot(IntEnum):
    """What stands where in the 64-bit integers that describe a convolution."""

    IMAGE = 0  # addresses of the operands and of the dense result
    WEIGHT = 1
    RESULT = 2
    OUTPUTS = 3  # of one image
    MULTIPLE = 4  # outputs of one channel
    HEIGHT = 5
    WIDTH = 6
    ROWS = 7  # of the result
    PLACES = 8  # in a row of the result
    KERNEL_HEIGHT = 9
    KERNEL_WIDTH = 10
    ROW_STEP = 11
    PLACE_STEP = 12
    ROW_SPREAD = 13
    PLACE_SPREAD = 14
    TOP = 15
    LEFT = 16
    IMAGE_STRIDE = 17  # in elements
    CHANNEL_STRIDE = 18
    ROW_STRIDE = 19
    PLACE_STRIDE = 20


Description = ctypes.c_int64 * len(Slot)


@cache
def depthwise_body(dtype: DType) -> int:
    """Address of a body for `parallel_for` whose argument is a `Description`; a task is one plane of the result."""
    code = Code(compile(f'target triple = "{host().triple}"\n{_Writer(dtype).text()}', host()))
    keep_for_ever(code)
    return code.address("convolve")


class _Writer:
    """Writes the body."""

    def __init__(self, dtype: DType) -> None:
        self._element = Type(ELEMENTS[dtype])
        self._size = dtype.itemsize
        lanes = host().vector_bytes // self._size
        # Rows are short: what is left beyond whole registers is done in smaller ones.
        self._types = [
            Type(self._element.element, lanes >> halvings) for halvings in range(lanes.bit_length())
        ]
        self._function = Function("void @convolve(ptr %description, i64 %begin, i64 %end)")
        self._slots: dict[Slot, Value] = {}

    def text(self) -> str:
        """The definition."""
        function = self._function
        description = function.argument(PTR, "description")
        for slot in Slot:
            self._slots[slot] = function.load(I64, function.advance(description, int(slot), 8))
        with function.loop(function.argument(I64, "begin"), function.argument(I64, "end")) as task:
            self._plane(task)
        function.line("ret void")
        intrinsics = [f"declare i64 @llvm.{name}.i64(i64, i64)" for name in ("smin", "smax")]
        for type in self._types:
            intrinsics.append(f"declare {type} @llvm.fma.{type.suffix}({type}, {type}, {type})")
        return "\n".join([function.text, *intrinsics])

    def _address(self, slot: Slot, offset: Value) -> Value:
        start = self._function.emit(PTR, f"inttoptr {self._slots[slot]} to ptr")
        return self._function.advance(start, offset, self._size)

    def _divided(self, number: Value, by: Value) -> tuple[Value, Value]:
        quotient = self._function.emit(I64, f"sdiv {number}, {by.name}")
        return quotient, number - quotient * by

    def _plane(self, task: Value) -> None:
        function, slots = self._function, self._slots
        image, output = self._divided(task, slots[Slot.OUTPUTS])
        channel, _ = self._divided(output, slots[Slot.MULTIPLE])
        origin = image * slots[Slot.IMAGE_STRIDE] + channel * slots[Slot.CHANNEL_STRIDE]
        high, wide = slots[Slot.KERNEL_HEIGHT], slots[Slot.KERNEL_WIDTH]
        weight = self._address(Slot.WEIGHT, output * high * wide)
        size = slots[Slot.ROWS] * slots[Slot.PLACES]
        target = self._address(Slot.RESULT, task * size)
        self._clear(target, size)
        with function.loop(0, high) as down, function.loop(0, wide) as right:
            factor = function.load(self._element, function.advance(weight, down * wide + right, self._size))
            self._add_plane(target, origin, down, right, factor)

    def _clear(self, target: Value, count: Value) -> None:
        function = self._function
        with function.loop(0, count) as index:
            function.store(function.constant(self._element, 0), function.advance(target, index, self._size))

    def _add_plane(self, target: Value, origin: Value, down: Value, right: Value, factor: Value) -> None:
        """Add to the result what one kernel element sees of the image."""
        function, slots = self._function, self._slots
        first_row, rows_stop, above = self._inside(
            down, Slot.TOP, Slot.ROW_SPREAD, Slot.ROW_STEP, Slot.HEIGHT, Slot.ROWS
        )
        low, stop, before = self._inside(
            right, Slot.LEFT, Slot.PLACE_SPREAD, Slot.PLACE_STEP, Slot.WIDTH, Slot.PLACES
        )
        gap = slots[Slot.PLACE_STEP] * slots[Slot.PLACE_STRIDE]
        seen = origin + (low * slots[Slot.PLACE_STEP] - before) * slots[Slot.PLACE_STRIDE]
        count = stop - low
        dense = gap.compare("eq", 1)
        with function.loop(first_row, rows_stop) as row:
            line = (row * slots[Slot.ROW_STEP] - above) * slots[Slot.ROW_STRIDE]
            source = self._address(Slot.IMAGE, seen + line)
            start = function.advance(target, row * slots[Slot.PLACES] + low, self._size)
            self._add_row(start, source, factor, count, gap, dense)

    def _inside(
        self, at: Value, padding: Slot, spread: Slot, step: Slot, size: Slot, places: Slot
    ) -> tuple[Value, Value, Value]:
        """From which place on, and up to which, a kernel element sees the image; how far before the place it looks."""
        slots = self._slots
        before = slots[padding] - at * slots[spread]
        low, _ = self._divided(before + slots[step] - 1, slots[step])
        low = low.intrinsic("smax", 0)
        stop, _ = self._divided((slots[size] - 1 + before).intrinsic("smax", -1) + slots[step], slots[step])
        return low, stop.intrinsic("smin", slots[places]).intrinsic("smax", low), before

    def _add_row(
        self, target: Value, source: Value, factor: Value, count: Value, gap: Value, dense: Value
    ) -> None:  # fmt: skip
        function = self._function
        zero = function.constant(I64, 0)
        with function.when(dense):
            start = zero
            for type in self._types:
                stop = count & -type.lanes
                self._add(type, target, source, factor, (start, stop), 1)
                start = stop
        with function.when(~dense):
            self._add(self._element, target, source, factor, (zero, count), gap)

    def _add(
        self, type: Type, target: Value, source: Value, factor: Value, bounds: tuple[Value, Value], gap: Value | int
    ) -> None:  # fmt: skip
        function = self._function
        with function.loop(*bounds, type.lanes) as index:
            place = function.advance(target, index, self._size)
            seen = function.load(type, function.advance(source, index * gap, self._size), self._size)
            old = function.load(type, place, self._size)
            function.store(fma(seen, factor.splat(type.lanes), old), place, self._size)
