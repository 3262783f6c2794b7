"""Stacks of matrix products in LLVM IR: blocks of every product are given to BLAS, in parallel."""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import cache

from raxis.dtypes import DType, float32, float64
from raxis_cpu.blas import PLAIN, ROW_MAJOR
from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.llvm.ir import I64, PTR, Function, Type, Value
from raxis_cpu.threads import keep_for_ever

ELEMENTS = {float32: ("float", "s"), float64: ("double", "d")}
"""The dtypes served: LLVM's element and the letter of BLAS."""

STACK_DIMS = 4
"""Dims of a stack of matrices."""


class Slot(IntEnum):
    """What stands where in the 64-bit integers that describe a stack of products result = left · right."""

    LEFT = 0  # addresses
    RIGHT = 1
    RESULT = 2
    GEMM = 3
    GEMV = 4
    ROWS = 5
    COLUMNS = 6
    DEPTH = 7
    LEFT_FORM = 8  # PLAIN or TRANSPOSED
    RIGHT_FORM = 9
    LEFT_GAP = 10  # between the rows (or columns) in memory, in elements
    RIGHT_GAP = 11  # between the elements, if the right matrices are vectors
    LEFT_ROW = 12  # from a row of the left matrix to the next
    RIGHT_COLUMN = 13  # from a column of the right matrix to the next
    BLOCK_ROWS = 14
    ROW_BLOCKS = 15
    BLOCK_COLUMNS = 16
    COLUMN_BLOCKS = 17
    STACK = 18  # sizes of the stack's dims, then strides of the left and of the right stack
    LEFT_STACK = STACK + STACK_DIMS
    RIGHT_STACK = LEFT_STACK + STACK_DIMS


Description = ctypes.c_int64 * (Slot.RIGHT_STACK + STACK_DIMS)


@cache
def product_body(dtype: DType, long_integers: bool, vectors: bool) -> int:
    """Address of a body for `parallel_for`: argument is a `Description`, a task is a block of one product.

    Args:
        dtype: float32 or float64.
        long_integers: whether BLAS takes 64-bit sizes.
        vectors: whether the right matrices have one column.
    """
    writer = _Writer(dtype, long_integers, vectors)
    code = Code(compile(f'target triple = "{host().triple}"\n{writer.text()}', host()))
    keep_for_ever(code)
    return code.address("multiply")


class _Writer:
    """Writes the body."""

    def __init__(self, dtype: DType, long_integers: bool, vectors: bool) -> None:
        self._element = Type(ELEMENTS[dtype][0])
        self._size = dtype.itemsize
        self._integer = "i64" if long_integers else "i32"
        self._vectors = vectors
        self._function = Function("void @multiply(ptr %description, i64 %begin, i64 %end)")

    def text(self) -> str:
        """The definition."""
        function = self._function
        with function.loop(function.argument(I64, "begin"), function.argument(I64, "end")) as task:
            self._task(task)
        function.line("ret void")
        return function.text + "\ndeclare i64 @llvm.smin.i64(i64, i64)\n"

    def _get(self, slot: int) -> Value:
        description = self._function.argument(PTR, "description")
        return self._function.load(I64, self._function.advance(description, int(slot), 8))

    def _address(self, slot: Slot) -> Value:
        return self._function.emit(PTR, f"inttoptr {self._get(slot)} to ptr")

    def _divided(self, number: Value, by: Value) -> tuple[Value, Value]:
        quotient = self._function.emit(I64, f"sdiv {number}, {by.name}")
        return quotient, number - quotient * by

    def _task(self, task: Value) -> None:
        function = self._function
        rest, column_block = self._divided(task, self._get(Slot.COLUMN_BLOCKS))
        item, row_block = self._divided(rest, self._get(Slot.ROW_BLOCKS))
        rows, first_row = self._part(row_block, Slot.BLOCK_ROWS, Slot.ROWS)
        columns, first_column = self._part(column_block, Slot.BLOCK_COLUMNS, Slot.COLUMNS)
        left, right = self._starts(item)
        left = left + first_row * self._get(Slot.LEFT_ROW)
        right = right + first_column * self._get(Slot.RIGHT_COLUMN)
        width = self._get(Slot.COLUMNS)
        result = (item * self._get(Slot.ROWS) + first_row) * width + first_column
        places = (
            function.advance(self._address(slot), start, self._size)
            for slot, start in ((Slot.LEFT, left), (Slot.RIGHT, right), (Slot.RESULT, result))
        )
        self._call(rows, columns, width, *places)

    def _part(self, number: Value, size: Slot, total: Slot) -> tuple[Value, Value]:
        """How much block `number` has of the total, and where it begins."""
        first = number * self._get(size)
        return (self._get(total) - first).intrinsic("smin", self._get(size)), first

    def _starts(self, item: Value) -> tuple[Value, Value]:
        """Where a product's operands begin in their stacks."""
        left = right = self._function.constant(I64, 0)
        for dim in reversed(range(STACK_DIMS)):
            item, index = self._divided(item, self._get(Slot.STACK + dim))
            left = left + index * self._get(Slot.LEFT_STACK + dim)
            right = right + index * self._get(Slot.RIGHT_STACK + dim)
        return left, right

    def _call(
        self, rows: Value, columns: Value, width: Value, left: Value, right: Value, result: Value
    ) -> None:
        depth, left_gap, right_gap = self._sizes(
            self._get(Slot.DEPTH), self._get(Slot.LEFT_GAP), self._get(Slot.RIGHT_GAP)
        )
        rows, columns, width = self._sizes(rows, columns, width)
        left_form, right_form = (
            self._get(slot).convert("trunc", "i32") for slot in (Slot.LEFT_FORM, Slot.RIGHT_FORM)
        )
        one, zero = (self._function.constant(self._element, number) for number in (1, 0))
        if not self._vectors:
            self._blas(Slot.GEMM, left_form, right_form, rows, columns, depth, one, left, left_gap, right, right_gap,
                       zero, result, width)  # fmt: skip
            return
        plain = left_form.compare("eq", PLAIN)
        stored_rows, stored_columns = plain.select(rows, depth), plain.select(depth, rows)
        step = self._function.constant(Type(self._integer), 1)
        self._blas(Slot.GEMV, left_form, stored_rows, stored_columns, one, left, left_gap, right, right_gap, zero,
                   result, step)  # fmt: skip

    def _sizes(self, *values: Value) -> tuple[Value, ...]:
        return values if self._integer == "i64" else tuple(value.convert("trunc", "i32") for value in values)

    def _blas(self, routine: Slot, *arguments: Value) -> None:
        row_major = f"i32 {ROW_MAJOR}"
        text = ", ".join([row_major, *map(str, arguments)])
        self._function.line(f"call void {self._address(routine).name}({text})")
