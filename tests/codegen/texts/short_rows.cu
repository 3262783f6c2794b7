typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[16]; } numbers;
static __device__ inline f32 rx_real_f32(u32 x) { return __uint_as_float(x); }
static __device__ inline f32 rx_inf_f32(void) { return (f32)rx_real_f32(0x7f800000u); }
static __device__ inline f32 rx_load_bf16(u16 h) { return rx_real_f32((u32)h << 16); }
static __device__ inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
static __device__ inline u32 rx_bits_f32(f32 x) { return __float_as_uint(x); }
static __device__ inline u16 rx_store_bf16(f32 x) {
    const u32 bits = rx_bits_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static __device__ inline f32 rx_round_bf16(f32 x) { return rx_load_bf16(rx_store_bf16(x)); }
extern "C" __global__ void raxis_softmax(u16 *b0, u16 *b1, const numbers n)
{
    const i64 point = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n.v[0]) return;
    const i64 i0 = point;
    f32 r1 = -rx_inf_f32();
    for (i64 place = 0; place < n.v[4]; place += 1) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[1] + i0 * n.v[2] + i1 * n.v[3]]);
        r1 = rx_maximum_f32(r1, v0);
    }
    const f32 v1 = rx_round_bf16(r1);
    f32 r4 = 0.0f;
    for (i64 place = 0; place < n.v[8]; place += 1) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[5] + i0 * n.v[6] + i1 * n.v[7]]);
        const f32 v2 = rx_round_bf16(v0 - v1);
        const f32 v3 = rx_round_bf16(exp(v2));
        r4 = r4 + v3;
    }
    const f32 v4 = rx_round_bf16(r4);
    for (i64 place = 0; place < n.v[15]; place += 1) {
        const i64 i1 = place;
        const f32 v0 = rx_load_bf16(b0[n.v[9] + i0 * n.v[10] + i1 * n.v[11]]);
        const f32 v2 = rx_round_bf16(v0 - v1);
        const f32 v3 = rx_round_bf16(exp(v2));
        const f32 v5 = rx_round_bf16(v3 / v4);
        b1[n.v[12] + i0 * n.v[13] + i1 * n.v[14]] = rx_store_bf16(v5);
    }
}
