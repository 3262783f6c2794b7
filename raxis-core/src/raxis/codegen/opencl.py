"""OpenCL C 1.2 and later, with 64-bit floating point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from raxis.codegen.dialect import Dialect

_PRELUDE = """\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef float f32; typedef double f64;"""


class OpenCL(Dialect):
    """OpenCL C; every work-group has 64 work-items."""

    name = "OpenCL C"
    prelude = _PRELUDE
    function = "static inline"
    kernel = "__kernel void"
    memory = "__global"
    shared = "__local"
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    group_size = 64
    helpers: ClassVar[Mapping[str, str]] = {
        "bits_f32": "u32 rx_bits_f32(f32 x) { return as_uint(x); }",
        "real_f32": "f32 rx_real_f32(u32 x) { return as_float(x); }",
        "bits_f64": "u64 rx_bits_f64(f64 x) { return as_ulong(x); }",
        "real_f64": "f64 rx_real_f64(u64 x) { return as_double(x); }",
    }

    def points(self, count: str, body: Sequence[str]) -> list[str]:
        return ["const i64 point = get_global_id(0);", f"if (point >= {count}) return;", *body]

    def groups(self, body: Sequence[str]) -> list[str]:
        return ["const i64 point = get_group_id(0);", "const u32 lane = get_local_id(0);", *body]

    def claim(self, flag: str, value: str) -> str:
        return f"atomic_cmpxchg((volatile __global i32 *)&{flag}, 0, {value}) == 0"

    def exchange(self, type: str, place: str, expected: str, value: str) -> str:
        function = "atomic_cmpxchg" if type == "u32" else "atom_cmpxchg"
        return f"{function}((volatile __global {type} *)&{place}, {expected}, {value})"
