/* Moments of float samples, as src/stats/moments.h defines them: a block for each leaf, a warp for
 * each of its strands, the four lanes 4t .. 4t + 3 in thread t. A tile is in registers: its
 * extremes say how to scale it before anything is added up.
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
#include "measure.h"
#include "sample.cuh"
#include "warp.cuh"

namespace GF_DEVICE {
namespace {

constexpr unsigned WARPS = GF_LEAF_STRANDS, THREADS = 32 * WARPS;
constexpr unsigned LANES = GF_LANES / 32;       /* of a thread */
constexpr unsigned ROWS = GF_TILE / GF_LANES;   /* samples of a lane in a tile */
constexpr unsigned HELD = LANES * ROWS;         /* samples of a thread in a tile */

/* What is computed in: the sample's own type, or binary32. */
template <gf_type TYPE> struct computed { using type = float; };
template <> struct computed<GF_F64> { using type = double; };

/* Samples in a row that a thread loads at once. */
template <typename T> struct alignas(sizeof(T) * LANES < 16 ? sizeof(T) * LANES : 16) quad {
    T at[LANES];
};

/* A strand's sums, in shared memory. */
struct strand {
    struct piece found;         /* its moments are those of the parts that have ended */
    /* The part that has not: */
    struct gf_scale scale;
    uint32_t n;
    struct gf_lane_sums sum;
    double least;
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

/* ---- samples ---- */

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

/* A tile's samples: the lane's k-th of row j is x[LANES * j + k]. Missing ones are NaN. */
template <gf_type TYPE>
__device__ __forceinline__ void load_tile(const typename stored<TYPE>::type *from, uint32_t count,
                                          typename computed<TYPE>::type x[HELD])
{
    using Stored = typename stored<TYPE>::type;
    const unsigned first = LANES * lane_number();

    if (count == GF_TILE) {
        struct quad<Stored> row[ROWS];
        GF_UNROLL
        for (unsigned j = 0; j < ROWS; j++)
            row[j] = *reinterpret_cast<const struct quad<Stored> *>(from + GF_LANES * j + first);
        GF_UNROLL
        for (unsigned i = 0; i < HELD; i++)
            x[i] = widened<TYPE>(row[i / LANES].at[i % LANES]);
        return;
    }
    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++) {
        unsigned at = i / LANES * GF_LANES + first + i % LANES;
        x[i] = static_cast<typename computed<TYPE>::type>(__int_as_float(0x7fc00000));
        if (at < count)
            x[i] = widened<TYPE>(from[at]);
    }
}

template <typename T> __device__ inline bool is_finite(T x) { return x - x == 0; }

/* What a tile's finite samples are like; the same in all lanes. */
template <typename T> struct range {
    T lowest, highest;
    uint32_t n;
};

/* Of a tile that may hold others than finite samples, which are counted. */
template <typename T>
__device__ __forceinline__ struct range<T> range_of_some(const T x[HELD], uint32_t count,
                                                         struct strand *strand)
{
    struct range<T> r = {static_cast<T>(INFINITY), -static_cast<T>(INFINITY), 0};
    uint32_t plus = 0, minus = 0;

    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++) {
        if (is_finite(x[i])) {
            r.lowest = x[i] < r.lowest ? x[i] : r.lowest;
            r.highest = x[i] > r.highest ? x[i] : r.highest;
            r.n++;
        } else if (x[i] == x[i]) {
            plus += x[i] > 0;
            minus += x[i] < 0;
        }
    }
    r.n = warp_total(r.n);
    plus = warp_total(plus);
    minus = warp_total(minus);
    if (lane_number() == 0) {
        strand->found.plus_inf += plus;
        strand->found.minus_inf += minus;
        strand->found.nan += count - r.n - plus - minus;
    }
    __syncwarp();
    return r;
}

/* A thread's least and greatest sample of a tile; whether all are finite. */
template <typename T>
__device__ __forceinline__ bool range_of_all(const T x[HELD], struct range<T> *r)
{
    T check = 0; /* NaN times 0 is NaN, and so is infinity */

    r->lowest = r->highest = x[0];
    r->n = GF_TILE;
    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++) {
        r->lowest = min(r->lowest, x[i]);
        r->highest = max(r->highest, x[i]);
        check = multiply_add(x[i], static_cast<T>(0), check);
    }
    return check == 0;
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
    merge(&strand->found.moments, &m);
    strand->n = 0;
}

/* ---- tiles ---- */

/* Adds all samples of a tile, for exponents between LEAST_QUICK and MOST_QUICK, where S and its
 * last place are binary32 numbers. */
constexpr int LEAST_QUICK = -129, MOST_QUICK = 124;
__device__ __forceinline__ void add_all(const float x[HELD], struct part &p)
{
    const float center = static_cast<float>(p.scale.center);
    const float splitter = static_cast<float>(12 * gf_power_of_two(p.scale.exponent));

    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++) {
        float d = x[i] - center;
        float nearest = (d + splitter) - splitter;
        double h = static_cast<double>(nearest), l = static_cast<double>(d - nearest);
        p.h1 += h;
        p.h2 = fma(h, h, p.h2);
        p.l1[i % LANES] += l;
        p.l2[i % LANES] = fma(l, fma(2.0, h, l), p.l2[i % LANES]);
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
template <typename T> __device__ __forceinline__ void add_finite(const T x[HELD], struct part &p)
{
    constexpr bool scaled = sizeof(T) == 8;
    const double shrink = scaled ? gf_power_of_two(-p.scale.exponent) : 1;
    const double splitter = scaled ? GF_SPLITTER
                                   : GF_SPLITTER * gf_power_of_two(p.scale.exponent);

    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++)
        if (is_finite(x[i]))
            add_one(static_cast<double>(x[i]), i % LANES, p.scale.center, shrink, splitter, p);
}

/* The smallest of the thread's samples of a tile, or of all lanes' where that is known. */
__device__ __forceinline__ uint32_t least_in(const float x[HELD], const struct range<float> &r)
{
    uint32_t least = NOT_SMALL;

    if (r.lowest > 0 || r.highest < 0)
        return smallness(fminf(fabsf(r.lowest), fabsf(r.highest)));
    GF_UNROLL
    for (unsigned i = 0; i < HELD; i++)
        least = min(least, smallness(x[i]));
    return least;
}

template <typename T>
__device__ __forceinline__ void add_tile(const T x[HELD], const struct range<T> &r, bool all,
                                         struct part &p, struct strand *strand)
{
    const struct gf_scale next = gf_scale_of(static_cast<double>(r.lowest),
                                             static_cast<double>(r.highest));

    if (p.n > 0 && !gf_scale_goes_on(p.scale, next)) {
        publish(p, strand);
        __syncwarp();
        if (lane_number() == 0)
            end_part<sizeof(T) == 8>(strand);
        __syncwarp();
        p.n = 0;
    }
    if (p.n == 0)
        begin(&p, next);
    p.n += r.n;
    if constexpr (sizeof(T) == 4)
        p.least = min(p.least, least_in(x, r));
    /* Nothing to add; and above the highest exponent nobody looks at the sums. */
    if (next.exponent == GF_CONSTANT || p.scale.exponent > GF_HIGHEST_EXPONENT)
        return;
    if constexpr (sizeof(T) == 4) {
        if (all && p.scale.exponent >= LEAST_QUICK && p.scale.exponent <= MOST_QUICK) {
            add_all(x, p);
            return;
        }
    }
    add_finite(x, p);
}

/* ---- leaves ---- */

/* A warp's strand of `count` samples. */
template <gf_type TYPE>
__device__ __forceinline__ void sum_strand(const typename stored<TYPE>::type *from, uint32_t count,
                                           struct strand *strand)
{
    using T = typename computed<TYPE>::type;
    struct part p;
    T lowest = static_cast<T>(INFINITY), highest = -lowest;

    begin(&p, gf_scale_of(0, 0));
    for (uint32_t at = 0; at < count; at += GF_TILE) {
        T x[HELD];
        struct range<T> r;
        uint32_t here = min(count - at, static_cast<uint32_t>(GF_TILE));

        load_tile<TYPE>(from + at, here, x);
        bool all = __all_sync(ALL_LANES, range_of_all(x, &r));
        if (!all)
            r = range_of_some(x, here, strand);
        if (r.n == 0)
            continue;
        r.lowest = warp_min(r.lowest);
        r.highest = warp_max(r.highest);
        lowest = r.lowest < lowest ? r.lowest : lowest;
        highest = r.highest > highest ? r.highest : highest;
        add_tile(x, r, all, p, strand);
    }
    publish(p, strand);
    if (lane_number() == 0) {
        strand->found.lowest = static_cast<double>(lowest);
        strand->found.highest = static_cast<double>(highest);
    }
}

/* Joins the block's strands, pairs of neighbours first; by the lanes of one warp. */
template <bool SCALED> __device__ void join_strands(struct strand *strands, struct piece *piece)
{
    const unsigned lane = lane_number();

    if (lane < WARPS)
        end_part<SCALED>(&strands[lane]);
    for (unsigned step = 1; step < WARPS; step *= 2) {
        __syncwarp();
        if (lane % (2 * step) == 0 && lane < WARPS) {
            struct piece *a = &strands[lane].found, *b = &strands[lane + step].found;
            merge(&a->moments, &b->moments);
            a->nan += b->nan;
            a->plus_inf += b->plus_inf;
            a->minus_inf += b->minus_inf;
            a->lowest = fmin(a->lowest, b->lowest);
            a->highest = fmax(a->highest, b->highest);
        }
    }
    if (lane == 0)
        *piece = strands->found;
}

template <gf_type TYPE>
__global__ void __launch_bounds__(THREADS, TYPE == GF_F64 ? 2 : 3)
    sum_leaves(const typename stored<TYPE>::type *samples, uint64_t count, struct piece *pieces)
{
    struct strand *strands = shared_memory<struct strand>();
    const unsigned warp = threadIdx.x / 32;
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * GF_LEAF +
                           static_cast<uint64_t>(warp) * GF_STRAND;

    if (lane_number() == 0) {
        strands[warp].found = no_samples();
        strands[warp].n = 0;
    }
    __syncwarp();
    if (first < count) {
        uint64_t here = min(count - first, static_cast<uint64_t>(GF_STRAND));
        sum_strand<TYPE>(samples + first, static_cast<uint32_t>(here), &strands[warp]);
    }
    __syncthreads();
    if (warp == 0)
        join_strands<TYPE == GF_F64>(strands, &pieces[blockIdx.x]);
}

template <gf_type TYPE>
cudaError_t launch_type(const void *samples, uint64_t count, struct piece *pieces,
                        cudaStream_t stream)
{
    return launch(sum_leaves<TYPE>, dim3(static_cast<unsigned>(gf_ceil_div(count, GF_LEAF))),
                  dim3(THREADS), WARPS * sizeof(struct strand), stream,
                  static_cast<const typename stored<TYPE>::type *>(samples), count, pieces);
}

}

cudaError_t launch_floats(enum gf_type type, const void *samples, uint64_t count,
                          struct piece *pieces, cudaStream_t stream)
{
    switch (type) {
    case GF_F16: return launch_type<GF_F16>(samples, count, pieces, stream);
    case GF_F32: return launch_type<GF_F32>(samples, count, pieces, stream);
    default: return launch_type<GF_F64>(samples, count, pieces, stream);
    }
}

}
