"""Convolution of planes in LLVM IR: columns of a block of places are gathered, then multiplied by BLAS.

One task is a block of places: rows of one image, or several small images. Tasks run in parallel, each with BLAS in its
own thread and with one of the workspaces.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import cache

from raxis.dtypes import DType, float32, float64
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.threads import keep_for_ever

ELEMENTS = {float32: ("float", "sgemm"), float64: ("double", "dgemm")}
"""The dtypes served: LLVM's element and the routine of BLAS."""


class Slot(IntEnum):
    """What stands where in the 64-bit integers that describe a convolution."""

    IMAGE = 0  # addresses of the operands, the dense weight [groups, outputs, depth] and the dense result
    WEIGHT = 1
    RESULT = 2
    GEMM = 3
    USED = 4  # bits of the workspaces in use
    WORKSPACES = 5
    WORKSPACE_BYTES = 6
    COLUMN_BYTES = 7  # where in a workspace the block of products begins
    COUNT = 8
    GROUPS = 9
    CHANNELS = 10  # of one group, as the outputs are
    OUTPUTS = 11
    HEIGHT = 12
    WIDTH = 13
    ROWS = 14  # of the result
    PLACES = 15  # in a row of the result
    KERNEL_HEIGHT = 16
    KERNEL_WIDTH = 17
    ROW_STEP = 18
    PLACE_STEP = 19
    ROW_SPREAD = 20
    PLACE_SPREAD = 21
    TOP = 22
    LEFT = 23
    BLOCK_ROWS = 24
    ROW_BLOCKS = 25  # per image block
    BLOCK_IMAGES = 26  # more than 1 only if a block has all rows
    IMAGE_BLOCKS = 27
    BLOCK_OUTPUTS = 28
    OUTPUT_BLOCKS = 29
    IMAGE_STRIDE = 30  # in elements
    CHANNEL_STRIDE = 31
    ROW_STRIDE = 32
    PLACE_STRIDE = 33


Description = ctypes.c_int64 * len(Slot)


@cache
def convolution_body(dtype: DType, long_integers: bool) -> int:
    """Address of a body for `parallel_for` whose argument is a `Description`.

    A task is a block of places and of a group's outputs.

    Args:
        dtype: float32 or float64.
        long_integers: whether BLAS takes 64-bit sizes.
    """
    writer = _Writer(dtype, long_integers)
    code = Code(compile(f'target triple = "{host().triple}"\n{writer.text()}', host()))
    keep_for_ever(code)
    return code.address("convolve")


class _Writer:
    """Writes the body; values are named after the slots."""

    def __init__(self, dtype: DType, long_integers: bool) -> None:
        self._element = Type(ELEMENTS[dtype][0])
        self._size = dtype.itemsize
        lanes = host().vector_bytes // self._size
        # Rows are short: what is left beyond whole registers is copied by smaller ones.
        self._types = [
            Type(self._element.element, lanes >> halvings) for halvings in range(lanes.bit_length())
        ]
        self._integer = "i64" if long_integers else "i32"
        self._function = Function("void @convolve(ptr %description, i64 %begin, i64 %end)")
        self._slots: dict[Slot, Value] = {}

    def text(self) -> str:
        """The module's definitions."""
        function = self._function
        for slot in Slot:
            self._slots[slot] = function.load(I64, self._place(slot))
        workspace_bit = self._take_workspace()
        begin, end = function.argument(I64, "begin"), function.argument(I64, "end")
        with function.loop(begin, end) as task:
            self._task(task, self._workspace(workspace_bit))
        bit = function.constant(I64, 1) << workspace_bit
        used = self._place(Slot.USED).name
        function.emit(I64, f"atomicrmw xor ptr {used}, {bit} release")
        function.line("ret void")
        return _TAKE + function.text + "\ndeclare i64 @llvm.cttz.i64(i64, i1)\n" + _INTRINSICS

    def _place(self, slot: Slot) -> Value:
        return self._function.advance(self._function.argument(PTR, "description"), int(slot), 8)

    def _get(self, *slots: Slot) -> tuple[Value, ...]:
        return tuple(self._slots[slot] for slot in slots)

    def _address(self, slot: Slot) -> Value:
        return self._function.emit(PTR, f"inttoptr {self._slots[slot]} to ptr")

    def _take_workspace(self) -> Value:
        return self._function.call(I64, "@take_workspace", self._place(Slot.USED))

    def _workspace(self, number: Value) -> Value:
        offset = number * self._slots[Slot.WORKSPACE_BYTES]
        return self._function.advance(self._address(Slot.WORKSPACES), offset, 1)

    def _divided(self, number: Value, by: Value) -> tuple[Value, Value]:
        quotient = self._function.emit(I64, f"sdiv {number}, {by.name}")
        return quotient, number - quotient * by

    def _task(self, task: Value, workspace: Value) -> None:
        function = self._function
        rest, output_block = self._divided(task, self._slots[Slot.OUTPUT_BLOCKS])
        rest, row_block = self._divided(rest, self._slots[Slot.ROW_BLOCKS])
        group, image_block = self._divided(rest, self._slots[Slot.IMAGE_BLOCKS])
        images, first_image = self._part(image_block, Slot.BLOCK_IMAGES, Slot.COUNT)
        rows, first_row = self._part(row_block, Slot.BLOCK_ROWS, Slot.ROWS)
        outputs, first_output = self._part(output_block, Slot.BLOCK_OUTPUTS, Slot.OUTPUTS)
        places = images * rows * self._slots[Slot.PLACES]
        with function.loop(0, images) as image:
            self._gather(workspace, group, first_image, image, first_row, rows, places)
        plane = self._slots[Slot.ROWS] * self._slots[Slot.PLACES]
        channel = group * self._slots[Slot.OUTPUTS] + first_output
        start = first_image * self._slots[Slot.GROUPS] * self._slots[Slot.OUTPUTS] + channel
        start = start * plane + first_row * self._slots[Slot.PLACES]
        target = function.advance(self._address(Slot.RESULT), start, self._size)
        direct = self._slots[Slot.BLOCK_IMAGES].compare("eq", 1)
        with function.when(direct):
            self._multiply(workspace, channel, outputs, places, target, plane)
        with function.when(~direct):
            block = function.advance(workspace, self._slots[Slot.COLUMN_BYTES], 1)
            self._multiply(workspace, channel, outputs, places, block, places)
            self._distribute(block, target, images, outputs, places)

    def _part(self, number: Value, size: Slot, total: Slot) -> tuple[Value, Value]:
        """How much block `number` has of the total, and where it begins."""
        first = number * self._slots[size]
        return (self._slots[total] - first).intrinsic("smin", self._slots[size]), first

    def _multiply(
        self, columns: Value, channel: Value, outputs: Value, places: Value, target: Value, spacing: Value
    ) -> None:
        """Write the products of the weight's rows from `channel` on with the columns, `spacing` between rows."""
        function, integer = self._function, self._integer
        channels, high, wide = self._get(Slot.CHANNELS, Slot.KERNEL_HEIGHT, Slot.KERNEL_WIDTH)
        depth = channels * high * wide
        weight = function.advance(self._address(Slot.WEIGHT), channel * depth, self._size)
        rows, columns_, inner, gap = (
            value.convert("trunc", integer) if integer == "i32" else value
            for value in (outputs, places, depth, spacing)
        )
        one, zero = (function.constant(self._element, number) for number in (1, 0))
        order, plain = "i32 101", "i32 111"  # row-major, not transposed
        arguments = ", ".join(
            map(str, (order, plain, plain, rows, columns_, inner, one, weight, inner, columns, columns_, zero,
                      target, gap))
        )  # fmt: skip
        function.line(f"call void {self._address(Slot.GEMM).name}({arguments})")

    def _distribute(self, block: Value, target: Value, images: Value, outputs: Value, places: Value) -> None:
        """Copy products [output, image, place] of several images to where they belong."""
        function = self._function
        plane = self._slots[Slot.ROWS] * self._slots[Slot.PLACES]
        planes = self._slots[Slot.GROUPS] * self._slots[Slot.OUTPUTS]
        with function.loop(0, images) as image, function.loop(0, outputs) as output:
            source = function.advance(block, output * places + image * plane, self._size)
            start = (image * planes + output) * plane
            self._copy(function.advance(target, start, self._size), source, plane)

    def _gather(
        self, workspace: Value, group: Value, first_image: Value, image: Value, first_row: Value, rows: Value,
        places: Value,
    ) -> None:  # fmt: skip
        """Write an image's columns [channel, kernel row, kernel place] of the block."""
        function = self._function
        channels, high, wide = self._get(Slot.CHANNELS, Slot.KERNEL_HEIGHT, Slot.KERNEL_WIDTH)
        origin = (first_image + image) * self._slots[Slot.IMAGE_STRIDE]
        column = image * rows * self._slots[Slot.PLACES]
        with (
            function.loop(0, channels) as channel,
            function.loop(0, high) as down,
            function.loop(0, wide) as right,
        ):
            number = (channel * high + down) * wide + right
            target = function.advance(workspace, number * places + column, self._size)
            plane = origin + (group * channels + channel) * self._slots[Slot.CHANNEL_STRIDE]
            low, stop = self._inside(right)
            with function.loop(0, rows) as row:
                self._row(target, plane, first_row + row, row, down, right, low, stop)

    def _inside(self, right: Value) -> tuple[Value, Value]:
        """From which place on, and up to which, a kernel element sees the image and not the padding."""
        left, spread, step = self._get(Slot.LEFT, Slot.PLACE_SPREAD, Slot.PLACE_STEP)
        before = left - right * spread
        low, _ = self._divided(before + step - 1, step)
        low = low.intrinsic("smax", 0).intrinsic("smin", self._slots[Slot.PLACES])
        stop, _ = self._divided((self._slots[Slot.WIDTH] - 1 + before).intrinsic("smax", -1) + step, step)
        stop = stop.intrinsic("smin", self._slots[Slot.PLACES]).intrinsic("smax", low)
        return low, stop

    def _row(
        self, target: Value, plane: Value, place: Value, row: Value, down: Value, right: Value, low: Value, stop: Value
    ) -> None:  # fmt: skip
        function = self._function
        step, spread, top = self._get(Slot.ROW_STEP, Slot.ROW_SPREAD, Slot.TOP)
        places = self._slots[Slot.PLACES]
        line = place * step + down * spread - top
        inside = line.compare("ge", 0) & line.compare("lt", self._slots[Slot.HEIGHT])
        start = function.advance(target, row * places, self._size)
        with function.when(~inside):
            self._clear(start, function.constant(I64, 0), places)
        with function.when(inside):
            self._clear(start, function.constant(I64, 0), low)
            self._clear(start, stop, places)
            seen = low * self._slots[Slot.PLACE_STEP] + right * self._slots[Slot.PLACE_SPREAD]
            seen = (seen - self._slots[Slot.LEFT]) * self._slots[Slot.PLACE_STRIDE]
            seen = plane + line * self._slots[Slot.ROW_STRIDE] + seen
            source = function.advance(self._address(Slot.IMAGE), seen, self._size)
            self._copy_spaced(function.advance(start, low, self._size), source, stop - low)

    def _clear(self, start: Value, first: Value, stop: Value) -> None:
        function = self._function
        with function.loop(first, stop) as index:
            function.store(function.constant(self._element, 0), function.advance(start, index, self._size))

    def _copy_spaced(self, target: Value, source: Value, count: Value) -> None:
        function = self._function
        gap = self._slots[Slot.PLACE_STEP] * self._slots[Slot.PLACE_STRIDE]
        dense = gap.compare("eq", 1)
        with function.when(dense):
            self._copy(target, source, count)
        with function.when(~dense), function.loop(0, count) as index:
            element = function.load(self._element, function.advance(source, index * gap, self._size))
            function.store(element, function.advance(target, index, self._size))

    def _copy(self, target: Value, source: Value, count: Value) -> None:
        """Copy contiguous elements."""
        start = self._function.constant(I64, 0)
        for type in self._types:
            stop = count & -type.lanes
            with self._function.loop(start, stop, type.lanes) as index:
                value = self._function.load(
                    type, self._function.advance(source, index, self._size), self._size
                )
                self._function.store(value, self._function.advance(target, index, self._size), self._size)
            start = stop


_INTRINSICS = """
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
"""

_TAKE = """
; Claim the first workspace that is free; all are taken only if there are more threads than bits.
define internal i64 @take_workspace(ptr %used) {
entry:
  br label %look
look:
  %bits = load atomic i64, ptr %used monotonic, align 8
  %free = xor i64 %bits, -1
  %number = call i64 @llvm.cttz.i64(i64 %free, i1 false)
  %none = icmp eq i64 %free, 0
  br i1 %none, label %look, label %claim
claim:
  %bit = shl i64 1, %number
  %taken = or i64 %bits, %bit
  %result = cmpxchg ptr %used, i64 %bits, i64 %taken acquire monotonic
  %success = extractvalue { i64, i1 } %result, 1
  br i1 %success, label %done, label %look
done:
  ret i64 %number
}
"""
