"""Native loop bodies for tests of the thread pool."""

from __future__ import annotations

from functools import cache, lru_cache

from raxis_cpu.llvm.compile import Code, compile, host
from raxis_cpu.threads import keep_for_ever

_TEXT = """
target triple = "$triple"

; Increment the bytes [begin, end) of memory.
define void @mark(ptr %memory, i64 %begin, i64 %end) {
entry:
  br label %next
next:
  %index = phi i64 [ %begin, %entry ], [ %following, %next ]
  %place = getelementptr i8, ptr %memory, i64 %index
  %old = load i8, ptr %place
  %new = add i8 %old, 1
  store i8 %new, ptr %place
  %following = add i64 %index, 1
  %more = icmp slt i64 %following, %end
  br i1 %more, label %next, label %done
done:
  ret void
}

; Add 1 to the i64 at begin.
define void @count_begin(ptr %counts, i64 %begin, i64 %end) {
  %place = getelementptr i64, ptr %counts, i64 %begin
  %old = atomicrmw add ptr %place, i64 1 monotonic
  ret void
}

%nested = type { ptr, ptr, i64 }
; For every index, run parallel_for over a row of bytes: memory of rows, each `width` long.
define void @mark_rows(ptr %job, i64 %begin, i64 %end) {
entry:
  %parallel_for = load ptr, ptr %job
  %memory_place = getelementptr %nested, ptr %job, i64 0, i32 1
  %memory = load ptr, ptr %memory_place
  %width_place = getelementptr %nested, ptr %job, i64 0, i32 2
  %width = load i64, ptr %width_place
  br label %next
next:
  %index = phi i64 [ %begin, %entry ], [ %following, %next ]
  %offset = mul i64 %index, %width
  %row = getelementptr i8, ptr %memory, i64 %offset
  call void %parallel_for(ptr @mark, ptr %row, i64 %width, i64 1)
  %following = add i64 %index, 1
  %more = icmp slt i64 %following, %end
  br i1 %more, label %next, label %done
done:
  ret void
}

; Increment one byte.
define void @mark_one(ptr %memory, i64 %index) {
  %end = add i64 %index, 1
  call void @mark(ptr %memory, i64 %index, i64 %end)
  ret void
}
"""


@lru_cache(maxsize=1)
def _code() -> Code:
    code = Code(compile(_TEXT.replace("$triple", host().triple), host()))
    keep_for_ever(code)
    return code


@cache
def body(name: str) -> int:
    """The address of a body; looked up once, since llvmlite holds a lock for it, which a fork may find taken."""
    return _code().address(name)
