"""Plain C (C99, with the atomics of GCC and Clang), parallel by OpenMP where the compiler has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from raxis.codegen.dialect import Dialect

_PRELUDE = """\
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef float f32; typedef double f64;"""


def _same_bits(name: str, source: str, target: str) -> str:
    return f"{target} rx_{name}({source} x) {{ {target} y; memcpy(&y, &x, sizeof y); return y; }}"


class C(Dialect):
    """Plain C; there are no work-groups, points are shared by OpenMP's threads."""

    name = "C"
    prelude = _PRELUDE
    function = "static inline"
    kernel = "void"
    long_suffix = "LL"
    helpers: ClassVar[Mapping[str, str]] = {
        "bits_f32": _same_bits("bits_f32", "f32", "u32"),
        "real_f32": _same_bits("real_f32", "u32", "f32"),
        "bits_f64": _same_bits("bits_f64", "f64", "u64"),
        "real_f64": _same_bits("real_f64", "u64", "f64"),
    }

    def math(self, name: str, real: str) -> str:
        return f"{name}f" if real == "f32" else name

    def numbers_type(self, count: int) -> str:
        return ""

    @property
    def numbers_parameter(self) -> str:
        return "const i64 *n"

    def number(self, place: int) -> str:
        return f"n[{place}]"

    def points(self, count: str, body: Sequence[str]) -> list[str]:
        inner = [f"    {line}" for line in body]
        return ["#pragma omp parallel for", f"for (i64 point = 0; point < {count}; ++point) {{", *inner, "}"]

    def claim(self, flag: str, value: str) -> str:
        return f"__sync_bool_compare_and_swap((i32 *)&{flag}, 0, {value})"

    def exchange(self, type: str, place: str, expected: str, value: str) -> str:
        return f"__sync_val_compare_and_swap(({type} *)&{place}, {expected}, {value})"
