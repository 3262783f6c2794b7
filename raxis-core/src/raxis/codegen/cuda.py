"""CUDA C++, to be compiled without contraction of products and sums (``--fmad=false``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from raxis.codegen.dialect import Dialect

_PRELUDE = """\
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;"""


class Cuda(Dialect):
    """CUDA C++; every block has 256 threads."""

    name = "CUDA C++"
    prelude = _PRELUDE
    function = "static __device__ inline"
    kernel = 'extern "C" __global__ void'
    shared = "__shared__"
    barrier = "__syncthreads();"
    group_size = 256
    long_suffix = "LL"
    helpers: ClassVar[Mapping[str, str]] = {
        "bits_f32": "u32 rx_bits_f32(f32 x) { return __float_as_uint(x); }",
        "real_f32": "f32 rx_real_f32(u32 x) { return __uint_as_float(x); }",
        "bits_f64": "u64 rx_bits_f64(f64 x) { return (u64)__double_as_longlong(x); }",
        "real_f64": "f64 rx_real_f64(u64 x) { return __longlong_as_double((i64)x); }",
        "load_f16": 'f32 rx_load_f16(u16 h) { f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }',
        "store_f16": 'u16 rx_store_f16(f32 x) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }',
    }

    def points(self, count: str, body: Sequence[str]) -> list[str]:
        return [
            "const i64 point = (i64)blockIdx.x * blockDim.x + threadIdx.x;",
            f"if (point >= {count}) return;",
            *body,
        ]

    def groups(self, body: Sequence[str]) -> list[str]:
        return ["const i64 point = blockIdx.x;", "const u32 lane = threadIdx.x;", *body]

    def claim(self, flag: str, value: str) -> str:
        return f"atomicCAS((i32 *)&{flag}, 0, {value}) == 0"

    def exchange(self, type: str, place: str, expected: str, value: str) -> str:
        return f"atomicCAS(({type} *)&{place}, {expected}, {value})"
