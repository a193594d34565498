/* What the pieces of a run of samples come to: joined in groups, and where their extremes are. */
#include "measure.h"
#include "types.cuh"
#include "warp.cuh"

namespace GF_DEVICE {
namespace {

/* ---- groups ---- */

__device__ inline void join(struct piece *a, const struct piece *b)
{
    a->moments = gf_moments_merge(a->moments, b->moments);
    a->sum += b->sum;
    a->square_low += b->square_low;
    a->square_high += b->square_high;
    a->lowest = fmin(a->lowest, b->lowest);
    a->highest = fmax(a->highest, b->highest);
    a->nan += b->nan;
    a->plus_inf += b->plus_inf;
    a->minus_inf += b->minus_inf;
}

/* The first piece of a group, which for the first group is `lead` pieces early. */
__device__ inline uint64_t first_of(uint64_t group, unsigned lead)
{
    return group == 0 ? 0 : group * GROUP - lead;
}

__global__ void __launch_bounds__(GROUP)
    join_groups(const struct piece *pieces, uint64_t count, unsigned lead, struct piece *groups)
{
    struct piece *part = shared_memory<struct piece>();
    const unsigned t = threadIdx.x;
    const uint64_t at = static_cast<uint64_t>(blockIdx.x) * GROUP + t;

    part[t] = at >= lead && at - lead < count ? pieces[at - lead] : no_samples();
    for (unsigned step = 1; step < GROUP; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0)
            join(&part[t], &part[t + step]);
    }
    if (t == 0)
        groups[blockIdx.x] = part[0];
}

/* ---- extremes ---- */

constexpr unsigned THREADS = 1024;

/* Turned over for the greatest, so that the least is looked for in both cases. */
__device__ inline double extreme_of(const struct piece &p, bool greatest)
{
    return greatest ? -p.highest : p.lowest;
}

/* The least of the block's values, in all threads; `of_warps` has room for one of each warp. */
__device__ inline double block_min(double v, double *of_warps)
{
    v = warp_min(v);
    if (lane_number() == 0)
        of_warps[threadIdx.x / 32] = v;
    __syncthreads();
    return warp_min(of_warps[lane_number()]);
}

/* The first place of [0, count) where is(place) holds, for all threads; it must be there. */
template <typename Is> __device__ uint64_t first_place(uint64_t count, Is is, unsigned *least)
{
    if (threadIdx.x == 0)
        *least = 0xffffffffu;
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < count; i += THREADS)
        if (is(i)) {
            atomicMin(least, static_cast<unsigned>(i));
            break;
        }
    __syncthreads();
    return *least;
}

template <gf_type TYPE>
__global__ void __launch_bounds__(THREADS)
    find_extremes(const typename stored<TYPE>::type *samples, uint64_t count,
                  const struct piece *pieces, uint64_t piece_count, const struct piece *groups,
                  uint64_t group_count, unsigned lead, struct found *found)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    constexpr uint64_t LARGEST = in_piece<TYPE>;
    double *of_warps = shared_memory<double>();
    unsigned *least = reinterpret_cast<unsigned *>(of_warps + THREADS / 32);
    const bool greatest = blockIdx.x == 1;
    const double sign = greatest ? -1 : 1;
    double v = static_cast<double>(INFINITY);

    for (uint64_t i = threadIdx.x; i < group_count; i += THREADS)
        v = fmin(v, extreme_of(groups[i], greatest));
    v = block_min(v, of_warps);
    if (v == static_cast<double>(INFINITY)) {
        if (threadIdx.x == 0)
            found[blockIdx.x] = {NOWHERE, 0};
        return;
    }
    uint64_t first = first_of(
        first_place(group_count, [=](uint64_t i) { return extreme_of(groups[i], greatest) == v; },
                    least),
        lead);
    uint64_t rest = piece_count - first < GROUP ? piece_count - first : GROUP;
    first += first_place(
        rest, [=](uint64_t i) { return extreme_of(pieces[first + i], greatest) == v; }, least + 1);
    first *= LARGEST;
    rest = count - first < LARGEST ? count - first : LARGEST;
    /* The vector that holds it, then the sample in the vector. */
    auto in_vector = [=](uint64_t i) {
        unsigned here = static_cast<unsigned>(rest - N * i < N ? rest - N * i : N);
        struct vector_of<TYPE> s = {};
        load_vector(samples + first + N * i, here, &s);
        for (unsigned k = 0; k < here; k++)
            if (sign * asked<TYPE>::value(s.at[k]) == v)
                return k;
        return N;
    };
    uint64_t at = first_place((rest + N - 1) / N,
                              [=](uint64_t i) { return in_vector(i) < N; }, least + 2);
    if (threadIdx.x == 0) {
        at = first + N * at + in_vector(at);
        found[blockIdx.x].at = at;
        found[blockIdx.x].value = asked<TYPE>::value(samples[at]);
    }
}

}

cudaError_t launch_groups(const struct piece *pieces, uint64_t count, unsigned lead,
                          struct piece *groups, cudaStream_t stream)
{
    return launch(join_groups, dim3(static_cast<unsigned>(gf_ceil_div(lead + count, GROUP))),
                  dim3(GROUP), GROUP * sizeof(struct piece), stream, pieces, count, lead, groups);
}

cudaError_t launch_extremes(enum gf_type type, const void *samples, uint64_t count,
                            const struct piece *pieces, const struct piece *groups,
                            unsigned lead, struct found *found, cudaStream_t stream)
{
    const uint64_t piece_count = gf_ceil_div(count, piece_samples(type));

    return with_type(type, [=](auto of) {
        constexpr gf_type TYPE = decltype(of)::value;
        return launch(find_extremes<TYPE>, dim3(2), dim3(THREADS),
                      THREADS / 32 * sizeof(double) + 4 * sizeof(unsigned), stream,
                      static_cast<const typename stored<TYPE>::type *>(samples), count, pieces,
                      piece_count, groups, gf_ceil_div(lead + piece_count, GROUP), lead, found);
    });
}

}
