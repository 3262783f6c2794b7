#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[17]; } numbers;
static inline f32 rx_real_f32(u32 x) { return as_float(x); }
static inline u32 rx_bits_f32(f32 x) { return as_uint(x); }
static inline f32 rx_load_f16(u16 h) {
    const u32 sign = (u32)(h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 1023u;
    if (exponent == 0) return rx_real_f32(sign | rx_bits_f32((f32)fraction * 5.9604644775390625e-8f));
    if (exponent == 31) return rx_real_f32(sign | 0x7f800000u | (fraction << 13));
    return rx_real_f32(sign | ((exponent + 112u) << 23) | (fraction << 13));
}
static inline u16 rx_store_f16(f32 x) {
    const u32 bits = rx_bits_f32(x), magnitude = bits & 0x7fffffffu;
    const u16 sign = (u16)((bits >> 16) & 0x8000u);
    if (magnitude > 0x7f800000u) return (u16)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return (u16)(sign | 0x7c00u);
    if (magnitude < 0x38800000u)
        return (u16)(sign | (u16)(rx_bits_f32(rx_real_f32(magnitude) + 0.5f) - 0x3f000000u));
    return (u16)(sign | (u16)((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
}
__kernel void raxis_product(__global u16 *b0, __global u16 *b1, __global u16 *b2, const numbers n)
{
    const i64 point = get_group_id(0);
    const u32 lane = get_local_id(0);
    __local f32 left[256];
    __local f32 right[256];
    f32 total[4][4];
    for (u32 i = 0; i < 4; ++i) for (u32 j = 0; j < 4; ++j) total[i][j] = 0;
    const u32 side = 8, tile = 32, row = lane / side, column = lane % side;
    u32 point_rest = (u32)point;
    const i64 point2 = point_rest % (u32)n.v[0];
    point_rest /= (u32)n.v[0];
    const i64 point1 = point_rest % (u32)n.v[1];
    point_rest /= (u32)n.v[1];
    const i64 point0 = point_rest;
    const i64 rows = n.v[2], columns = n.v[3], k = n.v[4];
    const i64 row0 = point1 * tile, column0 = point2 * tile;
    const i64 start0 = n.v[5] + point0 * n.v[6];
    const i64 start1 = n.v[7] + point0 * n.v[8];
    const i64 start2 = n.v[9] + point0 * n.v[10];
    for (i64 k0 = 0; k0 < k; k0 += side) {
        for (u32 at = lane; at < 256; at += 64) {
            const i64 i = row0 + at / side, p = k0 + at % side, j = column0 + at % tile, q = k0 + at / tile;
            left[at] = i < rows && p < k ? rx_load_f16(b0[start0 + i * n.v[11] + p * n.v[12]]) : 0;
            right[at] = j < columns && q < k ? rx_load_f16(b1[start1 + q * n.v[13] + j * n.v[14]]) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (u32 q = 0; q < side; ++q) {
            f32 x[4], y[4];
            #pragma unroll
            for (u32 i = 0; i < 4; ++i) {
                x[i] = left[(row + side * i) * side + q];
                y[i] = right[q * tile + column + side * i];
            }
            #pragma unroll
            for (u32 i = 0; i < 4; ++i)
                #pragma unroll
                for (u32 j = 0; j < 4; ++j) total[i][j] += x[i] * y[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (u32 i = 0; i < 4; ++i) for (u32 j = 0; j < 4; ++j) {
        const i64 r = row0 + row + side * i, c = column0 + column + side * j;
        if (r < rows && c < columns) b2[start2 + r * n.v[15] + c * n.v[16]] = rx_store_f16(total[i][j]);
    }
}
