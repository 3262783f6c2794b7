#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[10]; } numbers;
typedef struct { f32 re, im; } c64;
__kernel void raxis_lookup(__global i64 *b0, __global c64 *b1, __global c64 *b2, const numbers n)
{
    const i64 point = get_global_id(0);
    if (point >= n.v[0]) return;
    u32 point_rest = (u32)point;
    const i64 i1 = point_rest % (u32)n.v[1];
    point_rest /= (u32)n.v[1];
    const i64 i0 = point_rest;
    const i64 v0 = b0[n.v[2] + i0 * n.v[3]];
    const c64 v1 = b1[n.v[4] + i1 * n.v[5] + v0 * n.v[6]];
    b2[n.v[7] + i0 * n.v[8] + i1 * n.v[9]] = v1;
}
