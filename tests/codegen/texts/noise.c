#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef float f32; typedef double f64;
static inline u32 rx_philox_u32(u64 key, u64 block, u32 word) {
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
static inline i32 rx_random_i32(i64 key, i64 offset, i64 at) {
    return (i32)rx_philox_u32((u64)key, (u64)offset + (u64)(at >> 2), (u32)(at & 3));
}
void raxis_noise(i32 *b0, const i64 *n)
{
    #pragma omp parallel for
    for (i64 point = 0; point < n[0]; ++point) {
        const i64 i0 = point;
        const i64 v0 = (i64)n[1];
        const i64 v1 = (i64)n[2];
        const i32 v2 = rx_random_i32(v0, v1, i0);
        b0[n[3] + i0] = v2;
    }
}
