#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char i8; typedef short i16; typedef int i32; typedef long i64;
typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[15]; } numbers;
static inline f32 rx_real_f32(u32 x) { return as_float(x); }
static inline f32 rx_inf_f32(void) { return (f32)rx_real_f32(0x7f800000u); }
static inline f32 rx_load_bf16(u16 h) { return rx_real_f32((u32)h << 16); }
static inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
static inline u32 rx_bits_f32(f32 x) { return as_uint(x); }
static inline u16 rx_store_bf16(f32 x) {
    const u32 bits = rx_bits_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline f32 rx_round_bf16(f32 x) { return rx_load_bf16(rx_store_bf16(x)); }
__kernel void raxis_softmax(__global u16 *b0, __global u16 *b1, const numbers n)
{
    const i64 point = get_group_id(0);
    const u32 lane = get_local_id(0);
    const i64 i0 = point;
    f32 r1 = -rx_inf_f32();
    for (i64 place = lane; place < n.v[3]; place += 64) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[0] + i0 * n.v[1] + i1 * n.v[2]]);
        r1 = rx_maximum_f32(r1, v0);
    }
    __local f32 r1_all[64];
    r1_all[lane] = r1;
    for (u32 part = 32; part > 0; part /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < part) {
            r1_all[lane] = rx_maximum_f32(r1_all[lane], r1_all[lane + part]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    r1 = r1_all[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    const f32 v1 = rx_round_bf16(r1);
    f32 r4 = 0.0f;
    for (i64 place = lane; place < n.v[7]; place += 64) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[4] + i0 * n.v[5] + i1 * n.v[6]]);
        const f32 v2 = rx_round_bf16(v0 - v1);
        const f32 v3 = rx_round_bf16(exp(v2));
        r4 = r4 + v3;
    }
    __local f32 r4_all[64];
    r4_all[lane] = r4;
    for (u32 part = 32; part > 0; part /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < part) {
            r4_all[lane] = r4_all[lane] + r4_all[lane + part];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    r4 = r4_all[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    const f32 v4 = rx_round_bf16(r4);
    for (i64 place = lane; place < n.v[14]; place += 64) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[8] + i0 * n.v[9] + i1 * n.v[10]]);
        const f32 v2 = rx_round_bf16(v0 - v1);
        const f32 v3 = rx_round_bf16(exp(v2));
        const f32 v5 = rx_round_bf16(v3 / v4);
        b1[n.v[11] + i0 * n.v[12] + i1 * n.v[13]] = rx_store_bf16(v5);
    }
}
