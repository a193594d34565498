/* From sums to the nearest integer sample, ties to even: quotients by one divisor, clipped
 * and counted where that can happen. */
#ifndef GPUFILT_CUDA_NEAREST_CUH
#define GPUFILT_CUDA_NEAREST_CUH

#include "launch.cuh"
#include "program.h"
#include "sample.cuh"

namespace GF_DEVICE {

struct nearest {
    bool clips;             /* a result may be outside the type, or NaN */
    bool by_scale;          /* float sums: times `scale`, exact or what the plan says */
    float scale;
    int32_t lowest, highest;
    /* Otherwise sums are integers of 31 bits and a sign. divisor is 2^shift where magic is 0;
     * else n / divisor = n * magic >> (32 + shift) for n below 2^31. */
    uint32_t divisor, magic, shift;
};

/* 1.5 * 2^23: added to a float of at most 2^22, it leaves the nearest integer, ties to even, in
 * the low bits. */
constexpr float TO_INTEGER = 12582912.0f;

/* sum / 2^shift; shift > 0. */
__device__ inline int32_t shifted(const struct nearest &r, int32_t sum)
{
    return (sum + ((1 << (r.shift - 1)) - 1) + (sum >> r.shift & 1)) >> r.shift;
}

__device__ inline int32_t quotient(const struct nearest &r, int32_t sum)
{
    uint32_t n, q, rest;

    if (r.magic == 0)
        return r.shift == 0 ? sum : shifted(r, sum);
    n = static_cast<uint32_t>(sum < 0 ? -sum : sum);
    q = __umulhi(n, r.magic) >> r.shift;
    rest = n - q * r.divisor;
    if (rest > r.divisor - rest || (rest == r.divisor - rest && q % 2 == 1))
        q++;
    return sum < 0 ? -static_cast<int32_t>(q) : static_cast<int32_t>(q);
}

/* Both without branches: where something clips, it is often much. `counts`: whether this one is
 * to be counted, 1 or 0. */
__device__ inline int32_t saturated(const struct nearest &r, int32_t v, uint32_t counts,
                                    struct tally &t)
{
    t.low += v < r.lowest ? counts : 0;
    t.high += v > r.highest ? counts : 0;
    return v < r.lowest ? r.lowest : v > r.highest ? r.highest : v;
}

/* A float sum that is a value times 1 / scale. */
__device__ inline int32_t rounded(const struct nearest &r, float sum, uint32_t counts,
                                  struct tally &t)
{
    float v = rintf(sum * r.scale), lowest = static_cast<float>(r.lowest);
    float highest = static_cast<float>(r.highest);

    t.nan += v != v ? counts : 0;
    t.low += v < lowest ? counts : 0;
    t.high += v > highest ? counts : 0;
    v = v != v ? 0.0f : v;
    return static_cast<int32_t>(v < lowest ? lowest : v > highest ? highest : v);
}

/* Adds a thread's tally to the block's three counters in shared memory. */
__device__ inline void count_clipped(const struct tally &t, uint32_t *clipped)
{
    if (t.low > 0)
        atomicAdd(&clipped[0], t.low);
    if (t.high > 0)
        atomicAdd(&clipped[1], t.high);
    if (t.nan > 0)
        atomicAdd(&clipped[2], t.nan);
}

/* N sums as samples: the bits of each are the low ones of a word, whose others may be set. Of
 * sum i, where bit i of `inside` is not set, nothing is counted. */
template <int N>
__device__ inline void nearest_samples(const struct nearest &r, const float (&sum)[N],
                                       uint32_t (&bits)[N], uint32_t inside, uint32_t *clipped)
{
    struct tally t = {};

    if (r.by_scale && !r.clips) {
        GF_UNROLL for (int i = 0; i < N; i++)
            bits[i] = __float_as_uint(fmaf(sum[i], r.scale, TO_INTEGER));
        return;
    }
    GF_UNROLL for (int i = 0; i < N; i++) {
        uint32_t counts = inside >> i & 1;
        int32_t v = r.by_scale
                        ? rounded(r, sum[i], counts, t)
                        : saturated(r, quotient(r, static_cast<int32_t>(sum[i])), counts, t);
        bits[i] = static_cast<uint32_t>(v);
    }
    count_clipped(t, clipped);
}

template <int N>
__device__ inline void nearest_samples(const struct nearest &r, const int32_t (&sum)[N],
                                       uint32_t (&bits)[N], uint32_t inside, uint32_t *clipped)
{
    struct tally t = {};

    if (r.magic == 0 && r.shift > 0 && !r.clips) {
        GF_UNROLL for (int i = 0; i < N; i++)
            bits[i] = static_cast<uint32_t>(shifted(r, sum[i]));
        return;
    }
    GF_UNROLL for (int i = 0; i < N; i++)
        bits[i] = static_cast<uint32_t>(saturated(r, quotient(r, sum[i]), inside >> i & 1, t));
    count_clipped(t, clipped);
}

/* ---- host ---- */

/* For a plan of integer samples, from sums in float, where they are not beyond 2^24 if they are
 * exact, or in integers; false where 31 bits are too few. */
bool nearest_of(const struct gf_plan *plan, bool floats, struct nearest *r);

}

#endif
