typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[9]; } numbers;
typedef struct { f32 re, im; } c64;
extern "C" __global__ void raxis_lookup_check(i64 *b0, c64 *b1, c64 *b2, i64 *b3, const numbers n)
{
    const i64 point = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n.v[0]) return;
    u32 point_rest = (u32)point;
    const i64 i1 = point_rest % (u32)n.v[1];
    point_rest /= (u32)n.v[1];
    const i64 i0 = point_rest;
    const i64 v0 = b0[n.v[2] + i0 * n.v[3]];
    if (v0 < 0 || v0 >= n.v[5]) {
        if (atomicCAS((i32 *)&b3[n.v[4]], 0, 2) == 0) b3[n.v[4] + 1] = v0;
    }
    const i64 c1 = v0 < 0 || v0 >= n.v[5] ? 0 : v0;
    const c64 v1 = b1[n.v[6] + i1 * n.v[7] + c1 * n.v[8]];
}
