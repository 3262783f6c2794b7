#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef float f32; typedef double f64;
static inline f32 rx_real_f32(u32 x) { f32 y; memcpy(&y, &x, sizeof y); return y; }
static inline f32 rx_inf_f32(void) { return (f32)rx_real_f32(0x7f800000u); }
static inline f32 rx_load_bf16(u16 h) { return rx_real_f32((u32)h << 16); }
static inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
static inline u32 rx_bits_f32(f32 x) { u32 y; memcpy(&y, &x, sizeof y); return y; }
static inline u16 rx_store_bf16(f32 x) {
    const u32 bits = rx_bits_f32(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (u16)((bits >> 16) | 0x40u);
    return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
static inline f32 rx_round_bf16(f32 x) { return rx_load_bf16(rx_store_bf16(x)); }
void raxis_softmax(u16 *b0, u16 *b1, const i64 *n)
{
    #pragma omp parallel for
    for (i64 point = 0; point < n[0]; ++point) {
        const i64 i0 = point;
        f32 r1 = -rx_inf_f32();
        for (i64 place = 0; place < n[4]; place += 1) {
            const i64 i1 = place;
            const f32 v0 = rx_load_bf16(b0[n[1] + i0 * n[2] + i1 * n[3]]);
            r1 = rx_maximum_f32(r1, v0);
        }
        const f32 v1 = rx_round_bf16(r1);
        f32 r4 = 0.0f;
        for (i64 place = 0; place < n[8]; place += 1) {
            const i64 i1 = place;
            const f32 v0 = rx_load_bf16(b0[n[5] + i0 * n[6] + i1 * n[7]]);
            const f32 v2 = rx_round_bf16(v0 - v1);
            const f32 v3 = rx_round_bf16(expf(v2));
            r4 = r4 + v3;
        }
        const f32 v4 = rx_round_bf16(r4);
        for (i64 place = 0; place < n[15]; place += 1) {
            const i64 i1 = place;
            const f32 v0 = rx_load_bf16(b0[n[9] + i0 * n[10] + i1 * n[11]]);
            const f32 v2 = rx_round_bf16(v0 - v1);
            const f32 v3 = rx_round_bf16(expf(v2));
            const f32 v5 = rx_round_bf16(v3 / v4);
            b1[n[12] + i0 * n[13] + i1 * n[14]] = rx_store_bf16(v5);
        }
    }
}
