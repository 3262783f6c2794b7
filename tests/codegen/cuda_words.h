/* What a C++ compiler must know to read CUDA C++. */
#include <math.h>
#define __device__
#define __global__
#define __shared__ static
#define asm(...) static_cast<void>(0)
struct place { unsigned x, y, z; };
extern place blockIdx, threadIdx, blockDim;
void __syncthreads();
unsigned __float_as_uint(float);
float __uint_as_float(unsigned);
long long __double_as_longlong(double);
double __longlong_as_double(long long);
int atomicCAS(int *, int, int);
unsigned atomicCAS(unsigned *, unsigned, unsigned);
unsigned long long atomicCAS(unsigned long long *, unsigned long long, unsigned long long);
