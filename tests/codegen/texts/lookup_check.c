#include <math.h>
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef float f32; typedef double f64;
typedef struct { f32 re, im; } c64;
void raxis_lookup_check(i64 *b0, c64 *b1, c64 *b2, i64 *b3, const i64 *n)
{
    #pragma omp parallel for
    for (i64 point = 0; point < n[0]; ++point) {
        u32 point_rest = (u32)point;
        const i64 i1 = point_rest % (u32)n[1];
        point_rest /= (u32)n[1];
        const i64 i0 = point_rest;
        const i64 v0 = b0[n[2] + i0 * n[3]];
        if (v0 < 0 || v0 >= n[5]) {
            if (__sync_bool_compare_and_swap((i32 *)&b3[n[4]], 0, 2)) b3[n[4] + 1] = v0;
        }
        const i64 c1 = v0 < 0 || v0 >= n[5] ? 0 : v0;
        const c64 v1 = b1[n[6] + i1 * n[7] + c1 * n[8]];
    }
}
