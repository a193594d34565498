/* What the pieces of a run of samples come to: joined in groups, and where their extremes are. */
#include "join.cuh"
#include "types.cuh"
#include "warp.cuh"

namespace GF_DEVICE {
namespace {

/* The first piece of a group, which for the first group is `lead` pieces early. */
__device__ inline uint64_t first_of(uint64_t group, unsigned lead)
{
    return group == 0 ? 0 : group * GROUP - lead;
}

constexpr unsigned THREADS = 1024;

#ifdef GF_SIMT
#define GF_UNROLL_SEARCH
#else
#define GF_UNROLL_SEARCH _Pragma("unroll 4")
#endif

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

/* The least of the threads' places, for all threads; one of them must be there. */
constexpr unsigned NO_PLACE = 0xffffffffu;
__device__ inline unsigned block_first(unsigned place, unsigned *least)
{
    if (threadIdx.x == 0)
        *least = NO_PLACE;
    __syncthreads();
    if (place != NO_PLACE)
        atomicMin(least, place);
    __syncthreads();
    return *least;
}

/* The first of `count` pieces whose extreme is v, for all threads. */
__device__ inline unsigned first_piece(const struct piece *pieces, unsigned count, bool greatest,
                                       double v, unsigned *least)
{
    unsigned place = NO_PLACE;

    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        if (extreme_of(pieces[i], greatest) == v && i < place)
            place = i;
    return block_first(place, least);
}

/* The first of `count` samples that is v, for all threads. Every thread looks at all of its own:
 * the next ones are loaded without waiting for an answer about the last. */
template <gf_type TYPE>
__device__ inline unsigned first_sample(const typename stored<TYPE>::type *samples, unsigned count,
                                        double v, unsigned *least)
{
    constexpr unsigned N = vector_of<TYPE>::size;
    const struct vector_of<TYPE> *vectors =
        reinterpret_cast<const struct vector_of<TYPE> *>(samples);
    unsigned place = NO_PLACE;

    GF_UNROLL_SEARCH
    for (unsigned i = threadIdx.x; i < count / N; i += THREADS) {
        const struct vector_of<TYPE> s = vectors[i];
        for (unsigned k = N; k-- > 0;)
            if (asked<TYPE>::value(s.at[k]) == v && N * i + k < place)
                place = N * i + k;
    }
    for (unsigned i = count / N * N + threadIdx.x; i < count; i += THREADS)
        if (asked<TYPE>::value(samples[i]) == v && i < place)
            place = i;
    return block_first(place, least);
}

template <gf_type TYPE>
__global__ void __launch_bounds__(THREADS)
    find_extremes(const typename stored<TYPE>::type *samples, uint64_t count,
                  const struct piece *pieces, uint64_t piece_count, const struct piece *groups,
                  uint64_t group_count, unsigned lead, struct found *found)
{
    constexpr uint64_t LARGEST = in_piece<TYPE>;
    double *of_warps = shared_memory<double>();
    unsigned *least = reinterpret_cast<unsigned *>(of_warps + THREADS / 32);
    const bool greatest = blockIdx.x == 1;
    double v = static_cast<double>(INFINITY);

    for (uint64_t i = threadIdx.x; i < group_count; i += THREADS)
        v = fmin(v, extreme_of(groups[i], greatest));
    v = block_min(v, of_warps);
    if (v == static_cast<double>(INFINITY)) {
        if (threadIdx.x == 0)
            found[blockIdx.x] = {NOWHERE, 0};
        return;
    }
    uint64_t first = first_of(first_piece(groups, static_cast<unsigned>(group_count), greatest, v,
                                          least), lead);
    uint64_t rest = piece_count - first < GROUP ? piece_count - first : GROUP;
    first += first_piece(pieces + first, static_cast<unsigned>(rest), greatest, v, least + 1);
    first *= LARGEST;
    rest = count - first < LARGEST ? count - first : LARGEST;
    first += first_sample<TYPE>(samples + first, static_cast<unsigned>(rest), greatest ? -v : v,
                                least + 2);
    if (threadIdx.x == 0)
        found[blockIdx.x] = {first, asked<TYPE>::value(samples[first])};
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
