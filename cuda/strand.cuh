/* A strand of float samples (src/stats/moments.h) summed by a warp, the four lanes 4t .. 4t + 3 in
 * thread t. A tile is in shared memory and is gone through twice: its extremes say how to scale it
 * before anything is added up.
 *
 * Binary32 and binary16. Everything up to the sums is done in binary32, without scaling. With
 * S = 12 * 2^e the sum (x - c) + S lies in (11, 13) * 2^e, where a unit of the last place is
 * 2^(e - 20), and 12 * 2^20 is even; so it is rounded as d + GF_SPLITTER is, and
 * ((x - c) + S) - S is h * 2^e. x - c is exact as it is in double: c has no bit below x's last
 * one, and lies within a factor 2 of x or is 0. The rest, l * 2^e, is a multiple of x's last
 * place not larger than x - c, so it is exact as well. In double, sums of numbers 2^e as large
 * are 2^e as large, rounded alike, since nothing is near the ends of its range (products are
 * multiples of 2^-298 below 2^256); they are scaled when a part ends, which is exact.
 *
 * The sums of h and of h*h are exact in any order, so a thread has one of each; those of l and
 * l * (2h + l) are kept for each lane. */
#ifndef GPUFILT_CUDA_STRAND_CUH
#define GPUFILT_CUDA_STRAND_CUH

#include "measure.h"
#include "sample.cuh"
#include "warp.cuh"

namespace GF_DEVICE {

constexpr unsigned LANES = GF_LANES / 32;       /* of a thread */
constexpr unsigned ROWS = GF_TILE / GF_LANES;   /* samples of a lane in a tile */

/* More rows at once need more registers than there are. */
#ifdef GF_SIMT
#define GF_UNROLL_ROWS
#else
#define GF_UNROLL_ROWS _Pragma("unroll 2")
#endif

/* What is computed in: the sample's own type, or binary32. */
template <gf_type TYPE> struct computed { using type = float; };
template <> struct computed<GF_F64> { using type = double; };

/* A strand's sums, in shared memory. */
struct strand {
    struct gf_moments ended;    /* of the parts that have ended */
    /* The part that has not: */
    struct gf_lane_sums sum;
    struct gf_scale scale;
    uint32_t n;
    uint32_t nan, plus_inf, minus_inf;
    double least;
    double lowest, highest;     /* +infinity and -infinity without a finite sample */
};

/* A thread's share of the part of a strand that has not ended. */
struct part {
    struct gf_scale scale;
    uint32_t n;                 /* samples of all lanes */
    uint32_t least;             /* of the thread's binary32 samples; smallness() has the units */
    double h1, h2, l1[LANES], l2[LANES];
};

/* |x| as an integer that has its order, 0 being above all others. */
__device__ inline uint32_t smallness(float x) { return 2 * __float_as_uint(x) - 1; }
constexpr uint32_t NOT_SMALL = 0xffffffffu; /* of 0 */

__device__ inline double least_of(uint32_t smallness)
{
    return smallness == NOT_SMALL ? static_cast<double>(INFINITY)
                                  : static_cast<double>(__uint_as_float(smallness / 2 + 1));
}

__device__ inline void begin(struct part *p, struct gf_scale scale)
{
    p->scale = scale;
    p->n = 0;
    p->least = NOT_SMALL;
    p->h1 = p->h2 = 0;
    GF_UNROLL
    for (unsigned k = 0; k < LANES; k++)
        p->l1[k] = p->l2[k] = 0;
}

__device__ inline void begin(struct strand *strand)
{
    strand->ended = {};
    strand->n = strand->nan = strand->plus_inf = strand->minus_inf = 0;
}

/* ---- tiles ---- */

template <gf_type TYPE>
__device__ inline typename computed<TYPE>::type widened(typename stored<TYPE>::type s)
{
#ifndef GF_SIMT
    if constexpr (TYPE == GF_F16) {
        float v;
        asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(s));
        return v;
    }
#endif
    return value_of<TYPE, typename computed<TYPE>::type>(s);
}

/* In shared memory: 128 samples a row, 4 of a thread. A short tile is filled up with NaN. */
template <gf_type TYPE> struct tile {
    using Stored = typename stored<TYPE>::type;
    using T = typename computed<TYPE>::type;
    static constexpr unsigned bytes = GF_TILE * sizeof(Stored);

    const unsigned char *samples;

    /* The thread's samples of a row. Binary64 is read in halves: eight threads at a time read 128
     * bytes, and for these to be in different banks four of them begin with the second half. That
     * trades lanes 0 and 1 for 2 and 3, which no sum tells from each other. */
    __device__ __forceinline__ void row(unsigned j, T x[LANES]) const
    {
        constexpr unsigned size = sizeof(Stored) * LANES, part = size < 16 ? size : 16;
        struct alignas(part) vector {
            Stored at[part / sizeof(Stored)];
        };
        const unsigned lane = lane_number(), first = size > 16 ? lane / 4 % 2 * 16 : 0;
        const unsigned char *from = samples + j * 32 * size + lane * size;

        GF_UNROLL
        for (unsigned i = 0; i < size / part; i++) {
            struct vector v = *reinterpret_cast<const struct vector *>(from + (first ^ i * part));
            GF_UNROLL
            for (unsigned k = 0; k < part / sizeof(Stored); k++)
                x[i * (part / sizeof(Stored)) + k] = widened<TYPE>(v.at[k]);
        }
    }
};

/* The stored bits of a NaN. */
template <gf_type TYPE> __device__ inline typename stored<TYPE>::type not_a_number()
{
    if constexpr (TYPE == GF_F16)
        return 0x7e00;
    else
        return static_cast<typename stored<TYPE>::type>(__uint_as_float(0x7fc00000));
}

/* Asks for the first `count` samples of a tile to come to shared memory. */
template <gf_type TYPE>
__device__ __forceinline__ void bring(const typename stored<TYPE>::type *from, uint32_t count,
                                      unsigned char *to)
{
    using Stored = typename stored<TYPE>::type;
    const unsigned lane = lane_number();

    if (count == GF_TILE) {
        GF_UNROLL
        for (unsigned at = 0; at < tile<TYPE>::bytes; at += 32 * 16)
            __pipeline_memcpy_async(
                to + at + 16 * lane,
                reinterpret_cast<const unsigned char *>(from) + at + 16 * lane, 16);
    } else if (count > 0) {
        for (unsigned i = lane; i < GF_TILE; i += 32)
            reinterpret_cast<Stored *>(to)[i] = i < count ? from[i] : not_a_number<TYPE>();
    }
}

template <typename T> __device__ inline bool is_finite(T x) { return x - x == 0; }

/* What a tile's finite samples are like. */
template <gf_type TYPE> struct range {
    typename computed<TYPE>::type lowest, highest;  /* the thread's, then the same in all lanes */
    uint32_t n;                                     /* in all lanes */
};

/* Of a tile of `count` samples that may hold others than finite ones, which are counted. */
template <gf_type TYPE>
__device__ __noinline__ struct range<TYPE>
range_of_some(struct tile<TYPE> from, uint32_t count, struct strand *strand)
{
    using T = typename computed<TYPE>::type;
    struct range<TYPE> r = {static_cast<T>(INFINITY), -static_cast<T>(INFINITY), 0};
    uint32_t plus = 0, minus = 0;

    for (unsigned j = 0; j < ROWS; j++) {
        T x[LANES];
        from.row(j, x);
        GF_UNROLL
        for (unsigned k = 0; k < LANES; k++) {
            if (is_finite(x[k])) {
                r.lowest = x[k] < r.lowest ? x[k] : r.lowest;
                r.highest = x[k] > r.highest ? x[k] : r.highest;
                r.n++;
            } else if (x[k] == x[k]) {
                plus += x[k] > 0;
                minus += x[k] < 0;
            }
        }
    }
    r.n = warp_total(r.n);
    plus = warp_total(plus);
    minus = warp_total(minus);
    if (lane_number() == 0) {
        strand->plus_inf += plus;
        strand->minus_inf += minus;
        strand->nan += count - r.n - plus - minus;
    }
    return r;
}

/* The lesser and the greater: of binary32 NaN when one of them is. */
__device__ inline float lesser(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float v;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b));
    return v;
#else
    return a < b || a != a ? a : b;
#endif
}
__device__ inline float greater(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float v;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(v) : "f"(a), "f"(b));
    return v;
#else
    return a > b || a != a ? a : b;
#endif
}
__device__ inline double lesser(double a, double b) { return fmin(a, b); }
__device__ inline double greater(double a, double b) { return fmax(a, b); }

/* A thread's least and greatest sample of a whole tile; whether all are finite. */
template <gf_type TYPE>
__device__ __forceinline__ bool range_of_all(struct tile<TYPE> from,
                                             struct range<TYPE> *r)
{
    using T = typename computed<TYPE>::type;
    T check = 0;

    r->lowest = static_cast<T>(INFINITY);
    r->highest = -r->lowest;
    r->n = GF_TILE;
    GF_UNROLL_ROWS
    for (unsigned j = 0; j < ROWS; j++) {
        T x[LANES];
        from.row(j, x);
        GF_UNROLL
        for (unsigned k = 0; k < LANES; k++) {
            r->lowest = lesser(r->lowest, x[k]);
            r->highest = greater(r->highest, x[k]);
            if constexpr (TYPE == GF_F64)
                check = fma(x[k], 0.0, check); /* NaN times 0 is NaN */
        }
    }
    return check == 0 && is_finite(r->lowest) && is_finite(r->highest);
}

/* ---- parts ---- */

/* The thread's sums, added up over the warp by gf_lanes_total's tree, to the strand's open part.
 * Of the four sums a lane keeps two after the first step and one after the second. */
__device__ __forceinline__ void publish(const struct part &p, struct strand *strand)
{
    const unsigned lane = lane_number();
    const bool upper = lane & 16, odd = lane & 8;
    double l1 = (p.l1[0] + p.l1[1]) + (p.l1[2] + p.l1[3]);
    double l2 = (p.l2[0] + p.l2[1]) + (p.l2[2] + p.l2[3]);
    double l = (upper ? l2 : l1) + __shfl_xor_sync(ALL_LANES, upper ? l1 : l2, 16);
    double h = (upper ? p.h2 : p.h1) + __shfl_xor_sync(ALL_LANES, upper ? p.h1 : p.h2, 16);
    double sum = (odd ? h : l) + __shfl_xor_sync(ALL_LANES, odd ? l : h, 8);
    uint32_t least = warp_min(p.least);

    GF_UNROLL
    for (int step = 4; step > 0; step /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, step);
    if (lane == 0) {
        strand->scale.center = p.scale.center;
        strand->scale.exponent = p.scale.exponent;
        strand->n = p.n;
        strand->least = least_of(least);
        strand->sum.l1 = sum;
    } else if (lane == 8) {
        strand->sum.h1 = sum;
    } else if (lane == 16) {
        strand->sum.l2 = sum;
    } else if (lane == 24) {
        strand->sum.h2 = sum;
    }
}

__device__ __noinline__ inline void merge(struct gf_moments *into, const struct gf_moments *from)
{
    *into = gf_moments_merge(*into, *from);
}

/* Ends the open part: by one thread. `SCALED`: its sums are those that moments.h has. */
template <bool SCALED> __device__ __noinline__ void end_part(struct strand *strand)
{
    struct gf_lane_sums sum;
    struct gf_moments m;

    if (strand->n == 0)
        return;
    sum = strand->sum;
    if (!SCALED && strand->scale.exponent != GF_CONSTANT) {
        double shrink = gf_power_of_two(-strand->scale.exponent);
        sum.h1 *= shrink;
        sum.l1 *= shrink;
        sum.h2 *= shrink * shrink;
        sum.l2 *= shrink * shrink;
    }
    m = gf_strand_end(strand->scale, strand->n, &sum, SCALED ? 0 : strand->least);
    merge(&strand->ended, &m);
    strand->n = 0;
}

/* ---- sums ---- */

/* Adds all samples of a tile, for exponents between LEAST_QUICK and MOST_QUICK, where S and its
 * last place are binary32 numbers. `SMALLEST`: looks for the smallest as well. `CENTERED`: the
 * centre is not 0. */
constexpr int LEAST_QUICK = -129, MOST_QUICK = 124;
template <bool SMALLEST, bool CENTERED, gf_type TYPE>
__device__ __forceinline__ void add_all(struct tile<TYPE> from, struct part &p)
{
    const float center = static_cast<float>(p.scale.center);
    const float splitter = static_cast<float>(12 * gf_power_of_two(p.scale.exponent));

    GF_UNROLL_ROWS
    for (unsigned j = 0; j < ROWS; j++) {
        float x[LANES];
        from.row(j, x);
        GF_UNROLL
        for (unsigned k = 0; k < LANES; k++) {
            float d = CENTERED ? x[k] - center : x[k];
            float nearest = (d + splitter) - splitter;
            double h = static_cast<double>(nearest), l = static_cast<double>(d - nearest);
            if (SMALLEST)
                p.least = min(p.least, smallness(x[k]));
            p.h1 += h;
            p.h2 = fma(h, h, p.h2);
            p.l1[k] += l;
            p.l2[k] = fma(l, fma(2.0, h, l), p.l2[k]);
        }
    }
}

__device__ __forceinline__ void add_one(double x, unsigned k, double center, double shrink,
                                        double splitter, struct part &p)
{
    double d = x - center;
    double h = fma(d, shrink, splitter) - splitter;
    double l = fma(d, shrink, -h);

    p.h1 += h;
    p.h2 = fma(h, h, p.h2);
    p.l1[k] += l;
    p.l2[k] = fma(l, fma(2.0, h, l), p.l2[k]);
}

/* Adds the finite samples of a tile; binary32 is not scaled, for what add_all() has summed. */
template <gf_type TYPE>
__device__ __forceinline__ void add_finite(struct tile<TYPE> from, struct part &p)
{
    constexpr bool scaled = TYPE == GF_F64;
    const double shrink = scaled ? gf_power_of_two(-p.scale.exponent) : 1;
    const double splitter = scaled ? GF_SPLITTER
                                   : GF_SPLITTER * gf_power_of_two(p.scale.exponent);

    GF_UNROLL_ROWS
    for (unsigned j = 0; j < ROWS; j++) {
        typename computed<TYPE>::type x[LANES];
        from.row(j, x);
        GF_UNROLL
        for (unsigned k = 0; k < LANES; k++)
            if (is_finite(x[k]))
                add_one(static_cast<double>(x[k]), k, p.scale.center, shrink, splitter, p);
    }
}

/* The smallest of the thread's samples of a tile; what is not finite is above all others. */
template <gf_type TYPE> __device__ __forceinline__ uint32_t least_in(struct tile<TYPE> from)
{
    uint32_t least = NOT_SMALL;

    for (unsigned j = 0; j < ROWS; j++) {
        float x[LANES];
        from.row(j, x);
        GF_UNROLL
        for (unsigned k = 0; k < LANES; k++)
            least = min(least, smallness(x[k]));
    }
    return least;
}

/* The smallest |x| of a tile whose samples have one sign, else 0. */
__device__ inline float nearest_to_0(float lowest, float highest)
{
    return lowest > 0 ? lowest : highest < 0 ? -highest : 0;
}

/* Adds a tile to the open part, whose scale it goes on with. */
template <gf_type TYPE>
__device__ __forceinline__ void add_scaled(struct tile<TYPE> from, const struct range<TYPE> &r,
                                           bool all, bool constant, struct part &p)
{
    if constexpr (TYPE != GF_F64) {
        const float near = nearest_to_0(r.lowest, r.highest);
        if (near > 0)
            p.least = min(p.least, smallness(near));
        if (all && !constant && p.scale.exponent >= LEAST_QUICK &&
            p.scale.exponent <= MOST_QUICK) {
            if (p.scale.center != 0) /* then the samples have one sign */
                add_all<false, true>(from, p);
            else if (near > 0)
                add_all<false, false>(from, p);
            else
                add_all<true, false>(from, p);
            return;
        }
        if (!(near > 0))
            p.least = min(p.least, least_in(from));
    }
    /* Nothing to add; and above the highest exponent nobody looks at the sums. */
    if (!constant && p.scale.exponent <= GF_HIGHEST_EXPONENT)
        add_finite(from, p);
}

/* Whether a tile goes on with the open part, where a few instructions can tell: true only if
 * gf_scale_goes_on() is and the tile is not constant. For parts whose centre is 0.
 *
 * Let L be the largest |x| and e = gf_exponent_above(L), so that L is 2^(e-2) or more (L is no
 * denormal number: e is -124 or more). Where samples have both signs or one is 0, gf_scale_of
 * answers centre 0 and e. Else let all but a half of L be in the range R: L/2 <= R <= L, also
 * when R is rounded. Then with 2^r, the power above R: 2^r > L/2, which is no less than the
 * nearest sample, so the centre is 0 again; the exponent is e unless L >= 2^r, and then r < e and
 * r > e - 3 are even, so it is r + 1 = e - 1. */
template <gf_type TYPE>
__device__ __forceinline__ bool surely_goes_on(const struct part &p, const struct range<TYPE> &r)
{
    const float largest = fmaxf(-r.lowest, r.highest), near = nearest_to_0(r.lowest, r.highest);
    int e = static_cast<int>(__float_as_uint(largest) >> 23) - 126;

    e += e & 1;
    return p.n > 0 && p.scale.center == 0 && r.lowest < r.highest && 2 * near <= largest &&
           e >= -124 && e <= p.scale.exponent && e - 1 >= p.scale.exponent - 4;
}

template <gf_type TYPE>
__device__ __forceinline__ void add_tile(struct tile<TYPE> from, const struct range<TYPE> &r,
                                         bool all, struct part &p, struct strand *strand)
{
    if constexpr (TYPE != GF_F64)
        if (surely_goes_on(p, r)) {
            p.n += r.n;
            add_scaled(from, r, all, false, p);
            return;
        }
    const struct gf_scale next = gf_scale_of(static_cast<double>(r.lowest),
                                             static_cast<double>(r.highest));
    if (p.n > 0 && !gf_scale_goes_on(p.scale, next)) {
        publish(p, strand);
        __syncwarp();
        if (lane_number() == 0)
            end_part<TYPE == GF_F64>(strand);
        __syncwarp();
        p.n = 0;
    }
    if (p.n == 0)
        begin(&p, next);
    p.n += r.n;
    add_scaled(from, r, all, next.exponent == GF_CONSTANT, p);
}

}

#endif
