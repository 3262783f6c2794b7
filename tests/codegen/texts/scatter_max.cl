#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[7]; } numbers;
static inline u32 rx_bits_f32(f32 x) { return as_uint(x); }
static inline f32 rx_real_f32(u32 x) { return as_float(x); }
static inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
__kernel void raxis_scatter_max(__global f32 *b0, __global i64 *b1, __global f32 *b2, __global f32 *b3, const numbers n)
{
    const i64 point = get_global_id(0);
    if (point >= n.v[6]) return;
    const i64 point0 = point;
    const f32 value = b2[n.v[2] + point0 * n.v[3]];
    u32 seen = rx_bits_f32(b3[n.v[4] + b1[n.v[0] + point0 * n.v[1]] * n.v[5]]), expected;
    do {
        expected = seen;
        const f32 old = rx_real_f32(expected);
        const f32 made = rx_maximum_f32(old, value);
        seen = atomic_cmpxchg((volatile __global u32 *)&b3[n.v[4] + b1[n.v[0] + point0 * n.v[1]] * n.v[5]], expected, rx_bits_f32(made));
    } while (seen != expected);
}
