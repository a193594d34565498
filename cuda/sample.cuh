/* Samples on the device: read into and stored from the arithmetic's type, exactly as the
 * comment over struct gf_plan says. The type is a template parameter. */
#ifndef GPUFILT_CUDA_SAMPLE_CUH
#define GPUFILT_CUDA_SAMPLE_CUH

#include "launch.cuh"
#include "program.h"

#include <cmath>

namespace GF_DEVICE {

/* C type of a sample type: stored<GF_U16>::type; f16 is its bits. */
template <gf_type TYPE> struct stored;
#define X(NAME, name, ctype, size, floats, low, high)          \
    template <> struct stored<GF_##NAME> {                     \
        using type = ctype;                                    \
        static constexpr bool is_float = floats;               \
        static constexpr unsigned bytes = size;                \
        static constexpr double lowest = low, highest = high;  \
    };
GF_TYPES(X)
#undef X

/* Samples that did not fit their type, counted by one thread. */
struct tally {
    unsigned low, high, nan;
};

/* A stored sample's value in the arithmetic's type (int32_t, float or double). */
template <gf_type TYPE, typename Acc> __device__ inline Acc value_of(typename stored<TYPE>::type s)
{
    if constexpr (TYPE == GF_F16)
        return static_cast<Acc>(gf_f16_to_f32(s));
    else
        return static_cast<Acc>(s);
}

/* acc + tap * value, rounded once. */
__host__ __device__ inline int32_t multiply_add(int32_t tap, int32_t value, int32_t acc)
{
    return acc + tap * value;
}
__host__ __device__ inline float multiply_add(float tap, float value, float acc)
{
    return fmaf(tap, value, acc);
}
__host__ __device__ inline double multiply_add(double tap, double value, double acc)
{
    return fma(tap, value, acc);
}

/* NaN as the one that every backend stores. */
__device__ inline float one_nan(float v) { return v == v ? v : __uint_as_float(0x7fc00000u); }
__device__ inline double one_nan(double v)
{
    return v == v ? v : __longlong_as_double(0x7ff8000000000000);
}

/* An integer that may be beyond the integer type, saturated and counted. */
template <gf_type TYPE>
__device__ inline typename stored<TYPE>::type saturated(int64_t v, struct tally &t)
{
    constexpr int64_t lowest = static_cast<int64_t>(stored<TYPE>::lowest);
    constexpr int64_t highest = static_cast<int64_t>(stored<TYPE>::highest);

    if (v < lowest) {
        t.low++;
        v = lowest;
    } else if (v > highest) {
        t.high++;
        v = highest;
    }
    return static_cast<typename stored<TYPE>::type>(v);
}

/* Rounds to the type: integers to nearest, ties to even, saturated, NaN as 0; floats with the
 * one NaN that every backend stores. */
template <gf_type TYPE>
__device__ inline typename stored<TYPE>::type rounded(double v, struct tally &t)
{
    if constexpr (!stored<TYPE>::is_float) {
        if (v != v) {
            t.nan++;
            return 0;
        }
        v = rint(v);
        if (v < stored<TYPE>::lowest) {
            t.low++;
            v = stored<TYPE>::lowest;
        } else if (v > stored<TYPE>::highest) {
            t.high++;
            v = stored<TYPE>::highest;
        }
        return static_cast<typename stored<TYPE>::type>(static_cast<int64_t>(v));
    } else {
        typename stored<TYPE>::type s;
        bool infinite = false;
        if constexpr (TYPE == GF_F16) {
            s = gf_f64_to_f16(one_nan(v));
            infinite = (s & 0x7fff) == 0x7c00;
        } else if constexpr (TYPE == GF_F32) {
            s = one_nan(static_cast<float>(v));
            infinite = isinf(s);
        } else {
            s = one_nan(v);
        }
        if (infinite && !isinf(v)) {
            if (v < 0)
                t.low++;
            else
                t.high++;
        }
        return s;
    }
}

/* numerator / denominator to the nearest integer, ties to even; denominator not 0. */
__device__ inline int64_t divided(int64_t numerator, int64_t denominator)
{
    bool negative = (numerator < 0) != (denominator < 0);
    uint64_t n = numerator < 0 ? 0 - static_cast<uint64_t>(numerator)
                               : static_cast<uint64_t>(numerator);
    uint64_t d = denominator < 0 ? 0 - static_cast<uint64_t>(denominator)
                                 : static_cast<uint64_t>(denominator);
    uint64_t quotient, rest;

    if ((n | d) >> 32 == 0) { /* a device divides 32 bits in a fifth of the time */
        quotient = static_cast<uint32_t>(n) / static_cast<uint32_t>(d);
        rest = static_cast<uint32_t>(n) % static_cast<uint32_t>(d);
    } else {
        quotient = n / d;
        rest = n % d;
    }
    if (rest > d - rest || (rest == d - rest && quotient % 2 == 1))
        quotient++;
    return negative ? -static_cast<int64_t>(quotient) : static_cast<int64_t>(quotient);
}

/* The sum of `n` over the lanes of a full warp, in lane 0. */
__device__ inline unsigned warp_sum(unsigned n)
{
    for (int step = 16; step > 0; step /= 2)
        n += __shfl_down_sync(0xffffffffu, n, static_cast<unsigned>(step));
    return n;
}

/* Adds every thread's tally to the three device counters. All threads of a block call it,
 * whose x dimension is a multiple of 32. */
__device__ inline void add_tally(struct tally t, unsigned long long *counts)
{
    if (!__any_sync(0xffffffffu, static_cast<int>(t.low | t.high | t.nan)))
        return;
    t.low = warp_sum(t.low);
    t.high = warp_sum(t.high);
    t.nan = warp_sum(t.nan);
    if (threadIdx.x % 32 != 0)
        return;
    if (t.low)
        atomicAdd(&counts[0], static_cast<unsigned long long>(t.low));
    if (t.high)
        atomicAdd(&counts[1], static_cast<unsigned long long>(t.high));
    if (t.nan)
        atomicAdd(&counts[2], static_cast<unsigned long long>(t.nan));
}

}

#endif
