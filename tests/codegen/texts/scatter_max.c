#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef float f32; typedef double f64;
static inline u32 rx_bits_f32(f32 x) { u32 y; memcpy(&y, &x, sizeof y); return y; }
static inline f32 rx_real_f32(u32 x) { f32 y; memcpy(&y, &x, sizeof y); return y; }
static inline f32 rx_maximum_f32(f32 x, f32 y) { return x != x || x > y ? x : y; }
void raxis_scatter_max(f32 *b0, i64 *b1, f32 *b2, f32 *b3, const i64 *n)
{
    #pragma omp parallel for
    for (i64 point = 0; point < n[6]; ++point) {
        const i64 point0 = point;
        const f32 value = b2[n[2] + point0 * n[3]];
        u32 seen = rx_bits_f32(b3[n[4] + b1[n[0] + point0 * n[1]] * n[5]]), expected;
        do {
            expected = seen;
            const f32 old = rx_real_f32(expected);
            const f32 made = rx_maximum_f32(old, value);
            seen = __sync_val_compare_and_swap((u32 *)&b3[n[4] + b1[n[0] + point0 * n[1]] * n[5]], expected, rx_bits_f32(made));
        } while (seen != expected);
    }
}
