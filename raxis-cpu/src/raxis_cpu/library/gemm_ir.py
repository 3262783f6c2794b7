"""The text of the built-in that calls ``cblas_?gemm`` for a stack of matrices."""

from __future__ import annotations

from raxis import dtypes
from raxis.dtypes import DType
from raxis_cpu.llvm import runtime
from raxis_cpu.llvm.native import ARRAY_DATA, PAYLOAD

NUMBERS = (
    "table", "gemm", "get_threads", "set_threads", "order", "transpose_a", "transpose_b", "m", "n", "k",
    "lda", "ldb", "ldc", "count", "step_a", "step_b", "step_c",
)  # fmt: skip
"""What `self` holds, as int64: the runtime table, three functions of BLAS, then what `gemm._numbers` gives."""


def gemm_ir(dtype: DType, *, has_long_integers: bool) -> str:
    """``entry(a, offset, b, offset, c, offset)`` for one element type.

    The products are small: BLAS runs them in this thread, because waking another costs more than the work.
    """
    element = "float" if dtype is dtypes.float32 else "double"
    size = "i64" if has_long_integers else "i32"
    lines = [f"%numbers = getelementptr i8, ptr %self, i64 {PAYLOAD}"]
    for place, name in enumerate(NUMBERS):
        lines += [
            f"%at_{name} = getelementptr i64, ptr %numbers, i64 {place}",
            f"%{name} = load i64, ptr %at_{name}",
        ]
    lines.append("%entries = inttoptr i64 %table to ptr")
    lines += [
        f"%call_{name} = inttoptr i64 %{name} to ptr" for name in ("gemm", "get_threads", "set_threads")
    ]
    lines += _entries("as_integer", runtime.AS_INTEGER) + _entries("none", runtime.NONE)
    lines += _entries("increment", runtime.INCREMENT)
    for place, name in enumerate("abc"):
        lines += _operand(name, place, element)
    for name in ("order", "transpose_a", "transpose_b"):
        lines.append(f"%c_{name} = trunc i64 %{name} to i32")
    for name in ("m", "n", "k", "lda", "ldb", "ldc"):
        lines.append(
            f"%c_{name} = {'add i64 0, %' + name if has_long_integers else f'trunc i64 %{name} to i32'}"
        )
    sizes = [f"{size} %c_{name}" for name in ("m", "n", "k")]
    call = ", ".join([
        "i32 %c_order", "i32 %c_transpose_a", "i32 %c_transpose_b", *sizes, f"{element} 1.0", "ptr %here_a",
        f"{size} %c_lda", "ptr %here_b", f"{size} %c_ldb", f"{element} 0.0", "ptr %here_c", f"{size} %c_ldc",
    ])  # fmt: skip
    body = "\n  ".join(lines)
    return f"""define ptr @entry(ptr %self, ptr %arguments, i64 %given) {{
start:
  {body}
  %threads = call i32 %call_get_threads()
  call void %call_set_threads(i32 1)
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %again]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %again, label %done
again:
  {_here("a", element)}
  {_here("b", element)}
  {_here("c", element)}
  call void %call_gemm({call})
  %next = add i64 %i, 1
  br label %loop
done:
  call void %call_set_threads(i32 %threads)
  call void %increment(ptr %none)
  ret ptr %none
}}
"""


def _entries(name: str, entry: int) -> list[str]:
    return [
        f"%at_{name} = getelementptr i64, ptr %entries, i64 {entry}",
        f"%{name} = load ptr, ptr %at_{name}",
    ]


def _operand(name: str, place: int, element: str) -> list[str]:
    """The address of an operand's first element, from an array and an offset."""
    return [
        f"%slot_{name} = getelementptr ptr, ptr %arguments, i64 {2 * place}",
        f"%array_{name} = load ptr, ptr %slot_{name}",
        f"%data_{name} = getelementptr i8, ptr %array_{name}, i64 {ARRAY_DATA}",
        f"%memory_{name} = load ptr, ptr %data_{name}",
        f"%place_{name} = getelementptr ptr, ptr %arguments, i64 {2 * place + 1}",
        f"%number_{name} = load ptr, ptr %place_{name}",
        f"%offset_{name} = call i64 %as_integer(ptr %number_{name})",
        f"%first_{name} = getelementptr {element}, ptr %memory_{name}, i64 %offset_{name}",
    ]


def _here(name: str, element: str) -> str:
    return (
        f"%moved_{name} = mul i64 %i, %step_{name}\n  "
        f"%here_{name} = getelementptr {element}, ptr %first_{name}, i64 %moved_{name}"
    )
