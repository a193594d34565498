/* A strand of float samples (src/stats/moments.h) summed by a warp, the four lanes 4t .. 4t + 3 in
 * thread t. A tile is in registers and is gone through twice: its extremes say how to scale it
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

/* What is computed in: the sample's own type, or binary32. */
template <gf_type TYPE> struct computed { using type = float; };
template <> struct computed<GF_F64> { using type = double; };

/* A part of a strand: tiles that were added up under one scale. */
struct strand_part {
    struct gf_lane_sums sum;    /* of binary32 and binary16 not scaled */
    double center, least;
    int exponent;
    uint32_t n;
};

/* What a warp leaves of a strand. */
struct strand {
    struct strand_part part[GF_STRAND_TILES];
    double lowest, highest;     /* +infinity and -infinity without a finite sample */
    uint32_t parts, nan, plus_inf, minus_inf;
};

/* A thread's share of the part that has not ended. */
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

/* The stored bits of a NaN. */
template <gf_type TYPE> __device__ inline typename stored<TYPE>::type not_a_number()
{
    if constexpr (TYPE == GF_F16)
        return 0x7e00;
    else
        return static_cast<typename stored<TYPE>::type>(__uint_as_float(0x7fc00000));
}

/* Asks for the first `count` samples of a tile to come to shared memory, by a warp; a short tile
 * is filled up with NaN, of none nothing is asked. */
template <gf_type TYPE>
__device__ __forceinline__ void bring(const typename stored<TYPE>::type *from, uint32_t count,
                                      unsigned char *to)
{
    using Stored = typename stored<TYPE>::type;
    const unsigned lane = lane_number();

    if (count == GF_TILE) {
        GF_UNROLL
        for (unsigned at = 0; at < GF_TILE * sizeof(Stored); at += 32 * 16)
            __pipeline_memcpy_async(
                to + at + 16 * lane,
                reinterpret_cast<const unsigned char *>(from) + at + 16 * lane, 16);
    } else if (count > 0) {
        for (unsigned i = lane; i < GF_TILE; i += 32)
            reinterpret_cast<Stored *>(to)[i] = i < count ? from[i] : not_a_number<TYPE>();
    }
    __pipeline_commit();
}

/* A thread's samples of a tile, in registers: 128 samples of the warp a row, 4 of the thread. */
template <gf_type TYPE> struct tile {
    using Stored = typename stored<TYPE>::type;
    using T = typename computed<TYPE>::type;
    static constexpr unsigned size = LANES * sizeof(Stored), vectors = size > 16 ? size / 16 : 1;
    struct alignas(size / vectors) vector {
        Stored at[LANES / vectors];
    };

    struct vector row[ROWS][vectors];

    __device__ __forceinline__ T at(unsigned j, unsigned k) const
    {
        return widened<TYPE>(row[j][k / (LANES / vectors)].at[k % (LANES / vectors)]);
    }
    /* From shared memory. Binary64 is read in halves: eight threads at a time read 128 bytes, and
     * for these to be in different banks four of them begin with the second half. That trades lanes
     * 0 and 1 for 2 and 3, which no sum tells from each other. */
    __device__ __forceinline__ void load(const unsigned char *from)
    {
        const unsigned lane = lane_number(), first = vectors > 1 ? lane / 4 % 2 : 0;

        GF_UNROLL
        for (unsigned j = 0; j < ROWS; j++)
            GF_UNROLL
            for (unsigned i = 0; i < vectors; i++)
                row[j][i] = reinterpret_cast<const struct vector *>(
                    from + (j * 32 + lane) * size)[first ^ i];
    }
};

template <typename T> __device__ inline bool is_finite(T x) { return x - x == 0; }

/* What a tile's finite samples are like. */
template <gf_type TYPE> struct range {
    typename computed<TYPE>::type lowest, highest;  /* the thread's, then the same in all lanes */
    uint32_t n;                                     /* in all lanes */
};

/* Of a tile of `count` samples that may hold others than finite ones, which are counted. */
template <gf_type TYPE>
__device__ __forceinline__ struct range<TYPE>
range_of_some(const struct tile<TYPE> &tile, uint32_t count, struct strand *strand)
{
    using T = typename computed<TYPE>::type;
    struct range<TYPE> r = {static_cast<T>(INFINITY), -static_cast<T>(INFINITY), 0};
    uint32_t plus = 0, minus = 0;

    GF_UNROLL
    for (unsigned i = 0; i < ROWS * LANES; i++) {
        T x = tile.at(i / LANES, i % LANES);
        if (is_finite(x)) {
            r.lowest = x < r.lowest ? x : r.lowest;
            r.highest = x > r.highest ? x : r.highest;
            r.n++;
        } else if (x == x) {
            plus += x > 0;
            minus += x < 0;
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
__device__ __forceinline__ bool range_of_all(const struct tile<TYPE> &tile,
                                             struct range<TYPE> *r)
{
    using T = typename computed<TYPE>::type;
    T check = 0;

    r->lowest = static_cast<T>(INFINITY);
    r->highest = -r->lowest;
    r->n = GF_TILE;
    GF_UNROLL
    for (unsigned i = 0; i < ROWS * LANES; i++) {
        T x = tile.at(i / LANES, i % LANES);
        r->lowest = lesser(r->lowest, x);
        r->highest = greater(r->highest, x);
        if constexpr (TYPE == GF_F64)
            check = fma(x, 0.0, check); /* NaN times 0 is NaN */
    }
    return check == 0 && is_finite(r->lowest) && is_finite(r->highest);
}

/* ---- parts ---- */

/* Ends the open part: the threads' sums, added up over the warp by gf_lanes_total's tree. Of the
 * four sums a lane keeps two after the first step and one after the second. */
__device__ __forceinline__ void end_part(const struct part &p, struct strand_part *to)
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
        to->sum.l1 = sum;
        to->center = p.scale.center;
        to->least = least_of(least);
        to->exponent = p.scale.exponent;
        to->n = p.n;
    } else if (lane == 8) {
        to->sum.h1 = sum;
    } else if (lane == 16) {
        to->sum.l2 = sum;
    } else if (lane == 24) {
        to->sum.h2 = sum;
    }
}

/* Its moments. `SCALED`: its sums are those that moments.h has, of binary64. */
template <bool SCALED> __device__ inline struct gf_moments moments_of(const struct strand_part &p)
{
    const struct gf_scale scale = {p.center, p.exponent};
    struct gf_lane_sums sum = p.sum;

    if (!SCALED && p.exponent != GF_CONSTANT) {
        double shrink = gf_power_of_two(-p.exponent);
        sum.h1 *= shrink;
        sum.l1 *= shrink;
        sum.h2 *= shrink * shrink;
        sum.l2 *= shrink * shrink;
    }
    return gf_strand_end(scale, p.n, &sum, SCALED, p.least);
}

/* ---- sums ---- */

/* Adds all samples of a tile, for exponents between LEAST_QUICK and MOST_QUICK, where S and its
 * last place are binary32 numbers. `SMALLEST`: looks for the smallest as well. `CENTERED`: the
 * centre is not 0. h is a number of last places of S: that many further is (x - c) + S among the
 * binary32 numbers, which adds up as integers. */
constexpr int LEAST_QUICK = -129, MOST_QUICK = 124;
template <bool SMALLEST, bool CENTERED, gf_type TYPE>
__device__ __forceinline__ void add_all(const struct tile<TYPE> &tile, struct part &p)
{
    const float center = static_cast<float>(p.scale.center);
    const double unit = gf_power_of_two(p.scale.exponent);
    const float splitter = static_cast<float>(12 * unit);
    uint32_t places = 0u - ROWS * LANES * __float_as_uint(splitter);

    GF_UNROLL
    for (unsigned i = 0; i < ROWS * LANES; i++) {
        const unsigned k = i % LANES;
        float x = tile.at(i / LANES, k), d = CENTERED ? x - center : x;
        float sum = d + splitter, nearest = sum - splitter;
        double h = static_cast<double>(nearest), l = static_cast<double>(d - nearest);
        if (SMALLEST)
            p.least = min(p.least, smallness(x));
        places += __float_as_uint(sum);
        p.h2 = fma(h, h, p.h2);
        p.l1[k] += l;
        p.l2[k] = fma(l, fma(2.0, h, l), p.l2[k]);
    }
    p.h1 += static_cast<double>(static_cast<int32_t>(places)) * (unit * 0x1p-20);
}

/* gf_lane_add() in a lane; `shrink` may be 1 and the splitters as much larger. */
template <bool FINE>
__device__ __forceinline__ void add_one(double x, unsigned k, double center, double shrink,
                                        double splitter, struct part &p)
{
    double d = x - center;
    double h = fma(d, shrink, splitter) - splitter;
    double l = fma(d, shrink, -h);
    double g = FINE ? fma(d, shrink, GF_FINE_SPLITTER) - GF_FINE_SPLITTER : h;

    p.h1 += g;
    p.h2 = fma(h, h, p.h2);
    p.l1[k] += FINE ? fma(d, shrink, -g) : l;
    p.l2[k] = fma(l, fma(2.0, h, l), p.l2[k]);
}

/* Adds the finite samples of a tile, which may be `ALL`; binary32 is not scaled, for what add_all()
 * has summed. */
template <bool ALL, gf_type TYPE>
__device__ __forceinline__ void add_finite(const struct tile<TYPE> &tile, struct part &p)
{
    constexpr bool scaled = TYPE == GF_F64;
    const double shrink = scaled ? gf_power_of_two(-p.scale.exponent) : 1;
    const double splitter = scaled ? GF_SPLITTER
                                   : GF_SPLITTER * gf_power_of_two(p.scale.exponent);

    GF_UNROLL
    for (unsigned i = 0; i < ROWS * LANES; i++) {
        auto x = tile.at(i / LANES, i % LANES);
        if (ALL || is_finite(x))
            add_one<scaled>(static_cast<double>(x), i % LANES, p.scale.center, shrink, splitter, p);
    }
}

/* The smallest of the thread's samples of a tile; what is not finite is above all others. */
template <gf_type TYPE> __device__ __forceinline__ uint32_t least_in(const struct tile<TYPE> &tile)
{
    uint32_t least = NOT_SMALL;

    GF_UNROLL
    for (unsigned i = 0; i < ROWS * LANES; i++)
        least = min(least, smallness(tile.at(i / LANES, i % LANES)));
    return least;
}

/* The smallest |x| of a tile whose samples have one sign, else 0. */
__device__ inline float nearest_to_0(float lowest, float highest)
{
    return lowest > 0 ? lowest : highest < 0 ? -highest : 0;
}

/* Adds a tile to the open part, whose scale it goes on with. */
template <gf_type TYPE>
__device__ __forceinline__ void add_scaled(const struct tile<TYPE> &tile,
                                           const struct range<TYPE> &r, bool all, bool constant,
                                           struct part &p)
{
    if constexpr (TYPE != GF_F64) {
        const float near = nearest_to_0(r.lowest, r.highest);
        if (near > 0)
            p.least = min(p.least, smallness(near));
        if (all && !constant && p.scale.exponent >= LEAST_QUICK &&
            p.scale.exponent <= MOST_QUICK) {
            if (p.scale.center != 0) /* then the samples have one sign */
                add_all<false, true>(tile, p);
            else if (near > 0)
                add_all<false, false>(tile, p);
            else
                add_all<true, false>(tile, p);
            return;
        }
        if (!(near > 0))
            p.least = min(p.least, least_in(tile));
    }
    /* Nothing to add; and above the highest exponent nobody looks at the sums. */
    if (constant || p.scale.exponent > GF_HIGHEST_EXPONENT)
        return;
    if (TYPE == GF_F64 && all)
        add_finite<true>(tile, p);
    else
        add_finite<false>(tile, p);
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
__device__ __forceinline__ bool surely_goes_on(const struct part &p, float lowest, float highest)
{
    const float largest = fmaxf(-lowest, highest), near = nearest_to_0(lowest, highest);
    int e = static_cast<int>(__float_as_uint(largest) >> 23) - 126;

    e += e & 1;
    return p.n > 0 && p.scale.center == 0 && lowest < highest && 2 * near <= largest &&
           e >= -124 && e <= p.scale.exponent && e - 1 >= p.scale.exponent - 4;
}

/* Adds a tile to the open part, or to a new one where that one cannot go on. */
template <gf_type TYPE>
__device__ __forceinline__ void add_tile(const struct tile<TYPE> &tile,
                                         const struct range<TYPE> &r, bool all, struct part &p,
                                         unsigned *parts, struct strand *strand)
{
    bool constant = false;

    if (TYPE == GF_F64 || !surely_goes_on(p, static_cast<float>(r.lowest),
                                          static_cast<float>(r.highest))) {
        const struct gf_scale next = gf_scale_of(static_cast<double>(r.lowest),
                                                 static_cast<double>(r.highest));
        if (p.n > 0 && !gf_scale_goes_on(p.scale, next)) {
            end_part(p, &strand->part[(*parts)++]);
            p.n = 0;
        }
        if (p.n == 0)
            begin(&p, next);
        constant = next.exponent == GF_CONSTANT;
    }
    p.n += r.n;
    add_scaled(tile, r, all, constant, p);
}

}

#endif
