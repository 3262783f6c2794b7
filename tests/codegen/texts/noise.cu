typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[4]; } numbers;
static __device__ inline u32 rx_philox_u32(u64 key, u64 block, u32 word) {
    u32 k0 = (u32)key, k1 = (u32)(key >> 32), c0 = (u32)block, c1 = (u32)(block >> 32), c2 = 0, c3 = 0;
    for (u32 round = 0; round < 10; ++round) {
        const u64 left = (u64)c0 * 0xD2511F53u, right = (u64)c2 * 0xCD9E8D57u;
        c0 = (u32)(right >> 32) ^ c1 ^ k0;
        c2 = (u32)(left >> 32) ^ c3 ^ k1;
        c1 = (u32)right;
        c3 = (u32)left;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}
static __device__ inline i32 rx_random_i32(i64 key, i64 offset, i64 at) {
    return (i32)rx_philox_u32((u64)key, (u64)offset + (u64)(at >> 2), (u32)(at & 3));
}
extern "C" __global__ void raxis_noise(i32 *b0, const numbers n)
{
    const i64 point = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n.v[0]) return;
    const i64 i0 = point;
    const i64 v0 = (i64)n.v[1];
    const i64 v1 = (i64)n.v[2];
    const i32 v2 = rx_random_i32(v0, v1, i0);
    b0[n.v[3] + i0] = v2;
}
