/* Reductions over the lanes of a full warp. */
#ifndef GPUFILT_CUDA_WARP_CUH
#define GPUFILT_CUDA_WARP_CUH

#include "launch.cuh"

namespace GF_DEVICE {

constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ inline unsigned lane_number() { return threadIdx.x % 32; }

/* The sum over all lanes, in every lane. */
template <typename T> __device__ inline T warp_total(T v)
{
    GF_UNROLL
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(ALL_LANES, v, step);
    return v;
}

template <typename T> __device__ inline T warp_min(T v)
{
    GF_UNROLL
    for (int step = 16; step > 0; step /= 2) {
        T other = __shfl_xor_sync(ALL_LANES, v, step);
        v = other < v ? other : v;
    }
    return v;
}

template <typename T> __device__ inline T warp_max(T v)
{
    GF_UNROLL
    for (int step = 16; step > 0; step /= 2) {
        T other = __shfl_xor_sync(ALL_LANES, v, step);
        v = other > v ? other : v;
    }
    return v;
}

#if defined(GF_SIMT) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
/* Integers in one instruction; a float goes as an integer that has its order, where -0 comes
 * before +0. NaN must not be among them. */
template <> __device__ inline unsigned warp_min(unsigned v)
{
    return __reduce_min_sync(ALL_LANES, v);
}
template <> __device__ inline unsigned warp_max(unsigned v)
{
    return __reduce_max_sync(ALL_LANES, v);
}
__device__ inline int in_order(int bits) { return bits ^ ((bits >> 31) & 0x7fffffff); }
template <> __device__ inline float warp_min(float v)
{
    return __int_as_float(in_order(__reduce_min_sync(ALL_LANES, in_order(__float_as_int(v)))));
}
template <> __device__ inline float warp_max(float v)
{
    return __int_as_float(in_order(__reduce_max_sync(ALL_LANES, in_order(__float_as_int(v)))));
}
#endif

}

#endif
