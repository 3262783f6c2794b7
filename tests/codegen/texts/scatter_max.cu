typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[7]; } numbers;
static __device__ inline u32 rx_bits_f32(f32 x) { return __float_as_uint(x); }
static __device__ inline f32 rx_real_f32(u32 x) { return __uint_as_float(x); }
static __device__ inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
extern "C" __global__ void raxis_scatter_max(f32 *b0, i64 *b1, f32 *b2, f32 *b3, const numbers n)
{
    const i64 point = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n.v[6]) return;
    const i64 point0 = point;
    const f32 value = b2[n.v[2] + point0 * n.v[3]];
    u32 seen = rx_bits_f32(b3[n.v[4] + b1[n.v[0] + point0 * n.v[1]] * n.v[5]]), expected;
    do {
        expected = seen;
        const f32 old = rx_real_f32(expected);
        const f32 made = rx_maximum_f32(old, value);
        seen = atomicCAS((u32 *)&b3[n.v[4] + b1[n.v[0] + point0 * n.v[1]] * n.v[5]], expected, rx_bits_f32(made));
    } while (seen != expected);
}
