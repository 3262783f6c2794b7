typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;
typedef float f32; typedef double f64;
typedef struct { i64 v[17]; } numbers;
static __device__ inline f32 rx_load_f16(u16 h) { f32 x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h)); return x; }
static __device__ inline u16 rx_store_f16(f32 x) { u16 h; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x)); return h; }
extern "C" __global__ void raxis_product(u16 *b0, u16 *b1, u16 *b2, const numbers n)
{
    const i64 point = blockIdx.x;
    const u32 lane = threadIdx.x;
    __shared__ f32 left[1024];
    __shared__ f32 right[1024];
    f32 total[4][4];
    for (u32 i = 0; i < 4; ++i) for (u32 j = 0; j < 4; ++j) total[i][j] = 0;
    const u32 side = 16, tile = 64, row = lane / side, column = lane % side;
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
        for (u32 at = lane; at < 1024; at += 256) {
            const i64 i = row0 + at / side, p = k0 + at % side, j = column0 + at % tile, q = k0 + at / tile;
            left[at] = i < rows && p < k ? rx_load_f16(b0[start0 + i * n.v[11] + p * n.v[12]]) : 0;
            right[at] = j < columns && q < k ? rx_load_f16(b1[start1 + q * n.v[13] + j * n.v[14]]) : 0;
        }
        __syncthreads();
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
        __syncthreads();
    }
    for (u32 i = 0; i < 4; ++i) for (u32 j = 0; j < 4; ++j) {
        const i64 r = row0 + row + side * i, c = column0 + column + side * j;
        if (r < rows && c < columns) b2[start2 + r * n.v[15] + c * n.v[16]] = rx_store_f16(total[i][j]);
    }
}
