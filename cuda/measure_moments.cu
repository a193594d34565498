/* Moments of float samples, as src/stats/moments.h defines them. Blocks stay for the whole run and
 * take leaves in turn, ROUND of them between two barriers. Most of a block's warps sum strands,
 * each with a ring of its own, into which the next tile comes while one is summed. The last warp
 * ends the strands of the round before and joins them to leaves, a thread a strand: that takes
 * long chains of additions in double-double, which nobody waits for. */
#include "strand.cuh"

namespace GF_DEVICE {
namespace {

constexpr unsigned ROUND = 4;                       /* leaves */
constexpr unsigned STRANDS = ROUND * GF_LEAF_STRANDS;
static_assert(STRANDS == 32, "the last warp has a thread for each");

/* Warps that sum. */
template <gf_type TYPE> constexpr unsigned SUMMING = TYPE == GF_F64 ? 4 : 8;
template <gf_type TYPE> constexpr unsigned THREADS = 32 * (SUMMING<TYPE> + 1);
/* Blocks of a multiprocessor. A third of the narrow types would leave them so few registers that
 * what is spilled for a tile comes and goes through the second-level cache, as the first one gives
 * its room to shared memory, and is as much as the tile itself. */
template <gf_type TYPE> constexpr unsigned BLOCKS = TYPE == GF_F64 ? 3 : 2;

/* Strands of a leaf that a warp sums, one after the other. */
template <gf_type TYPE> constexpr unsigned RUN = GF_LEAF_STRANDS / SUMMING<TYPE>;

/* A warp's tiles, in the order in which it sums them. */
template <gf_type TYPE> struct tiles {
    const typename stored<TYPE>::type *samples;
    uint64_t count;
    uint64_t ahead;             /* the first sample of the tile to be asked for next */
    uint32_t run;               /* tiles of this leaf that are to be asked for */
    unsigned char *ring;
    uint32_t stage, flip;       /* bytes: the stage asked for last, and how the other differs */
    uint32_t asked;             /* samples of the tile there */

    /* Those of a tile there is none of are 0. */
    __device__ __forceinline__ void ask()
    {
        constexpr uint32_t all = RUN<TYPE> * GF_STRAND_TILES;
        asked = ahead < count ? static_cast<uint32_t>(min(count - ahead,
                                                          static_cast<uint64_t>(GF_TILE)))
                              : 0;
        bring<TYPE>(samples + ahead, asked, ring + stage);
        __pipeline_commit();
        ahead += GF_TILE;
        if (--run > 0)
            return;
        run = all;
        ahead += static_cast<uint64_t>(gridDim.x) * GF_LEAF - all * GF_TILE;
    }
    /* The next tile and how many samples it has. All lanes are done with the one before. */
    __device__ __forceinline__ struct tile<TYPE> take(uint32_t *here)
    {
        *here = asked;
        stage ^= flip;
        ask();
        if (flip != 0) {
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
            *here = asked;
        }
        __syncwarp(); /* what other lanes brought is there */
        return {ring + (stage ^ flip)};
    }
};

template <gf_type TYPE>
__device__ __forceinline__ void sum_strand(struct tiles<TYPE> &tiles, struct strand *strand)
{
    using T = typename computed<TYPE>::type;
    struct part p;
    T lowest = static_cast<T>(INFINITY), highest = -lowest;

    begin(&p, gf_scale_of(0, 0));
    if (lane_number() == 0)
        begin(strand);
    for (unsigned i = 0; i < GF_STRAND_TILES; i++) {
        struct range<TYPE> r;
        uint32_t here;

        __syncwarp();
        struct tile<TYPE> from = tiles.take(&here);
        if (here == 0)
            continue;
        bool all = __all_sync(ALL_LANES, range_of_all(from, &r));
        if (!all)
            r = range_of_some(from, here, strand);
        if (r.n == 0)
            continue;
        r.lowest = warp_min(r.lowest);
        r.highest = warp_max(r.highest);
        lowest = r.lowest < lowest ? r.lowest : lowest;
        highest = r.highest > highest ? r.highest : highest;
        __syncwarp(); /* the samples are read again, not kept in registers */
        add_tile(from, r, all, p, strand);
    }
    publish(p, strand);
    if (lane_number() == 0) {
        strand->lowest = static_cast<double>(lowest);
        strand->highest = static_cast<double>(highest);
    }
}

__device__ inline void join(struct strand *a, const struct strand *b)
{
    merge(&a->ended, &b->ended);
    a->nan += b->nan;
    a->plus_inf += b->plus_inf;
    a->minus_inf += b->minus_inf;
    a->lowest = fmin(a->lowest, b->lowest);
    a->highest = fmax(a->highest, b->highest);
}

__device__ inline void store(const struct strand &leaf, struct piece *piece)
{
    struct piece p = no_samples();

    p.moments = leaf.ended;
    p.lowest = leaf.lowest;
    p.highest = leaf.highest;
    p.nan = leaf.nan;
    p.plus_inf = leaf.plus_inf;
    p.minus_inf = leaf.minus_inf;
    *piece = p;
}

/* Ends a round's strands and joins them, pairs of neighbours first; by a warp. */
template <bool SCALED>
__device__ void finish_round(struct strand *strands, uint64_t round, uint64_t leaves,
                             struct piece *pieces)
{
    const unsigned t = lane_number(), place = t % GF_LEAF_STRANDS;
    const uint64_t leaf = (round * ROUND + t / GF_LEAF_STRANDS) * gridDim.x + blockIdx.x;
    const bool there = leaf < leaves;

    if (there)
        end_part<SCALED>(&strands[t]);
    for (unsigned step = 1; step < GF_LEAF_STRANDS; step *= 2) {
        __syncwarp();
        if (there && place % (2 * step) == 0)
            join(&strands[t], &strands[t + step]);
    }
    if (there && place == 0)
        store(strands[t], &pieces[leaf]);
}

template <gf_type TYPE>
__global__ void __launch_bounds__(THREADS<TYPE>, BLOCKS<TYPE>)
    sum_leaves(const typename stored<TYPE>::type *samples, uint64_t count, unsigned stages,
               struct piece *pieces)
{
    /* Those of a round are finished while the next one's are summed. */
    struct strand *strands = shared_memory<struct strand>();
    unsigned char *rings = reinterpret_cast<unsigned char *>(strands + 2 * STRANDS);
    const unsigned warp = threadIdx.x / 32;
    const uint64_t leaves = (count + GF_LEAF - 1) / GF_LEAF;
    const uint64_t turn = static_cast<uint64_t>(ROUND) * gridDim.x;
    struct tiles<TYPE> tiles = {};

    tiles.samples = samples;
    tiles.count = count;
    tiles.ahead = static_cast<uint64_t>(blockIdx.x) * GF_LEAF + warp * RUN<TYPE> * GF_STRAND;
    tiles.run = RUN<TYPE> * GF_STRAND_TILES;
    tiles.ring = rings + warp * stages * tile<TYPE>::bytes;
    tiles.flip = stages == 2 ? tile<TYPE>::bytes : 0;
    if (warp < SUMMING<TYPE> && stages == 2)
        tiles.ask();
    for (uint64_t round = 0; round * turn + blockIdx.x < leaves; round++) {
        struct strand *now = strands + round % 2 * STRANDS;
        if (warp < SUMMING<TYPE>)
            for (unsigned i = 0; i < ROUND * RUN<TYPE>; i++)
                sum_strand(tiles, &now[i / RUN<TYPE> * GF_LEAF_STRANDS + warp * RUN<TYPE> +
                                       i % RUN<TYPE>]);
        __syncthreads();
        if (warp == SUMMING<TYPE>)
            finish_round<TYPE == GF_F64>(now, round, leaves, pieces);
    }
}

template <gf_type TYPE>
cudaError_t launch_type(const struct key_device *device, const void *samples, uint64_t count,
                        struct piece *pieces, cudaStream_t stream)
{
    constexpr size_t strands = 2 * STRANDS * sizeof(struct strand);
    constexpr size_t stage = SUMMING<TYPE> * tile<TYPE>::bytes;
    const unsigned stages = strands + 2 * stage <= device->shared ? 2 : 1;
    const uint64_t blocks = gf_min(gf_ceil_div(count, GF_LEAF),
                                   static_cast<uint64_t>(BLOCKS<TYPE>) * device->processors);

    return launch(sum_leaves<TYPE>, dim3(static_cast<unsigned>(blocks)), dim3(THREADS<TYPE>),
                  strands + stages * stage, stream,
                  static_cast<const typename stored<TYPE>::type *>(samples), count, stages, pieces);
}

}

cudaError_t launch_floats(const struct key_device *device, enum gf_type type, const void *samples,
                          uint64_t count, struct piece *pieces, cudaStream_t stream)
{
    switch (type) {
    case GF_F16: return launch_type<GF_F16>(device, samples, count, pieces, stream);
    case GF_F32: return launch_type<GF_F32>(device, samples, count, pieces, stream);
    default: return launch_type<GF_F64>(device, samples, count, pieces, stream);
    }
}

}
